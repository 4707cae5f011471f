"""Tenants learn nothing of each other: by no function, no table, no count, no error, no score."""

import json
import os
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from hashlib import sha256
from itertools import count
from typing import Any

import psycopg
import pytest
from psycopg import errors

from lexichord.db import schema
from tests.conftest import new_database
from tests.sql import corpus
from tests.sql.calls import BY_VECTOR, OF_THE_SERVER, READS
from tests.sql.corpus import Connection, call, ids, put, value
from tests.sql.test_reader import FUNCTIONS, password

NUMBERS = count()
OTHER = {"north": "south", "south": "north"}
OF_LISTS = {"documents", "files", "scope", "chunk_ids", "chunks"}  # with ids
SCOPES: dict[str, dict[str, Any]] = {
    "hybrid_search": BY_VECTOR,
    "variant_candidates": BY_VECTOR,
    "propose_candidates": BY_VECTOR,
    "feedback_chunks": BY_VECTOR,
    "discover_files": BY_VECTOR,
    "relevance_feedback": BY_VECTOR,
    "link_documents": {"words": ["animal1", "animal2"]},
    "find_definitions": {"terms": ["w1"]},
    "search_variants": {"variants": '[{"name": "x", "text": "w1"}]'},
    "list_documents": {},
    "count_documents": {},
    "count_by": {"key": "title"},
    "complete_word": {"beginning": "w"},
    "scope_documents": {},
}
DATA = "lexichord_data"
INDEXED = {  # what a tenant may ask of a table itself, and by which index it is answered
    "chunk_hnsw|chunk_dense": f"select id from {DATA}.chunk where embedding is not null "
    "order by embedding <=> '[1,0,0,0]' limit 10",
    "keyword_document": f"select chunk_id from {DATA}.keyword where document_id = any('{{1,2}}')",
    "chunk_document_id_ordinal_key": f"select id from {DATA}.chunk where document_id = 2",
    "document_pkey|document_id_dataset_id_key": f"select id from {DATA}.document where id = 3",
    "document_uri|document_dataset_id_uri_key": f"select id from {DATA}.document "
    "where starts_with(uri, 'north/1')",
    "card_term_pkey": f"select document_id from {DATA}.card_term where lexeme = 'w1'",
}
WAITS = "select count(*) from pg_locks where pid = %s and not granted"
TABLES = """
select c.relname from pg_class c where c.relnamespace = 'lexichord_data'::regnamespace
and c.relkind in ('r', 'v') order by c.relname"""


@contextmanager
def login(owner: Connection, group: str = "lexichord_reader") -> Iterator[Connection]:
    """Connect as a new role of a group."""
    name = f"tenant{os.getpid()}_{next(NUMBERS)}"
    owner.execute(f"create role {name} login password '{name}' in role {group}".encode())
    arguments: dict[str, Any] = {"user": name, "password": name, "options": "-c timezone=UTC"}
    try:
        with psycopg.connect(owner.info.dsn, autocommit=True, **arguments) as connection:
            yield connection
    finally:
        owner.execute(f"drop owned by {name}; drop role {name}".encode())


@contextmanager
def of_tenant(owner: Connection, tenant: str, *principals: str) -> Iterator[Connection]:
    with login(owner) as connection:
        role = connection.info.user
        call(owner, "add_tenant", name=tenant, roles=[role], principals=list(principals))
        yield connection


@pytest.fixture(scope="module")
def owner(template: str) -> Iterator[Connection]:
    """The library, each of its datasets a tenant's."""
    with (
        new_database(template, copy_of=template) as dsn,
        psycopg.connect(dsn, autocommit=True, options="-c timezone=UTC") as owner,
    ):
        corpus.library(owner)
        owner.execute("analyze")
        call(owner, "turn_tenants_on")
        for name in OTHER:
            call(owner, "add_tenant", name=name, datasets=[name])
        yield owner


@pytest.fixture(params=OTHER)
def tenant(owner: Connection, request: pytest.FixtureRequest) -> Iterator[Connection]:
    with of_tenant(owner, request.param) as connection:
        connection.execute("select set_config('test.tenant', %s, false)", [request.param])
        yield connection


def other(tenant: Connection) -> str:
    return OTHER[value(tenant, "select current_setting('test.tenant')")]


def answer(asker: Connection, name: str, where: str, /, **arguments: Any) -> object:
    """Give what a function returns, an error's text where it is one."""
    try:
        return call(asker, name, where, **arguments)
    except psycopg.Error as error:
        return (error.sqlstate, error.diag.message_primary, error.diag.message_detail)


def answers(owner: Connection, asker: Connection) -> dict[str, object]:
    """Give what a caller gets of each function that reads, and of each table."""
    functions = owner.execute(FUNCTIONS.encode()).fetchall()
    given = {
        name: answer(asker, name, where, **READS[name])
        for where, name, _ in functions
        if name in READS.keys() - OF_THE_SERVER
    }
    for (table,) in owner.execute(TABLES):
        try:
            rows = asker.execute(f"select t::text from lexichord_data.{table} as t".encode())
            given[f"table {table}"] = sorted(rows.fetchall())
        except errors.InsufficientPrivilege:
            given[f"table {table}"] = "refused"
    return given


def store_more(owner: Connection, dataset: str) -> None:
    """Store what others' statistics, languages, lists and errors would tell of."""
    start = next(NUMBERS)
    for number in range(start, start + 12):
        put(
            owner,
            f"{dataset}/more{number}.md",
            [f"w1 w2 animal1 NDAs w{number % 12} new{number}", "w0 w1 w1"],
            [[1, 0, 0, 0.01 * number]] * 2,
            dataset=dataset,
            title=f"The tale of animal1 {number}",
            metadata={"year": 2002, f"key{number}": number},
            text_config="pg_catalog.german",
        )
    call(owner, "fold_statistics")
    put(owner, f"{dataset}/unfolded{start}.md", ["w1 w3 w3"], dataset=dataset)


def test_what_others_store_changes_no_answer(owner: Connection, tenant: Connection) -> None:
    call(owner, "fold_statistics")
    before, all_before = answers(owner, tenant), answers(owner, owner)
    store_more(owner, other(tenant))
    after, all_after = answers(owner, tenant), answers(owner, owner)
    assert [name for name in before if before[name] != after[name]] == []
    changed = [name for name in before if all_before[name] != all_after[name]]
    assert [name for name in before if str(before[name]).startswith("('42501'")] == []
    assert len(changed) > 40, changed  # or there was nothing to be learned


def test_what_others_asked_changes_no_answer(owner: Connection, tenant: Connection) -> None:
    """A question whose vector is known already is found otherwise, which would tell of it."""
    asked = {"query": f"w1 w2 {other(tenant)}"}
    before = call(tenant, "hybrid_search", **asked), call(owner, "hybrid_search", **asked)
    call(owner, "request_vector", **asked)
    digest = sha256(asked["query"].encode()).digest()
    vectors = {"digests": [digest], "vectors": ["{-1,0,0,0.1}"], "faults": [None]}
    call(owner, "set_query_vectors", space=corpus.SPACE, **vectors)
    assert call(tenant, "hybrid_search", **asked) == before[0]
    assert call(owner, "hybrid_search", **asked) != before[1]  # or there was nothing to be learned


def test_own_documents_are_found(owner: Connection, tenant: Connection) -> None:
    own = OTHER[other(tenant)]
    for name, arguments in SCOPES.items():
        rows = call(tenant, name, **arguments)
        assert rows or name == "find_definitions", name
        assert {row["dataset"] for row in rows if "dataset" in row} <= {own}, name
    assert [row["dataset"] for row in call(tenant, "list_datasets")] == [own]


def unknown(answered: object, numbers: list[int]) -> str:
    """Write an answer without the ids that were asked for."""
    return re.sub(rf"\b({'|'.join(map(str, numbers))})\b", "?", str(answered))


def test_ids_of_others_are_as_ids_that_are_not_there(owner: Connection, tenant: Connection) -> None:
    foreign = "select {} from lexichord_data.{} t join lexichord_data.dataset s "
    foreign += "on s.id = t.dataset_id where s.name = %s order by t.id limit 2"
    documents, chunks = (
        [row[0] for row in owner.execute(foreign.format("t.id", name).encode(), [other(tenant)])]
        for name in ("document", "chunk")
    )
    missing, asked = [10**9 + 1, 10**9 + 2], 0
    calls = [(name, arguments) for name, arguments in READS.items()]
    calls += [(name, {**arguments, "documents": [1]}) for name, arguments in SCOPES.items()]
    calls += [("hybrid_search", {**BY_VECTOR, "boost": {"1": 1}})]
    present = {name: where for where, name, _ in owner.execute(FUNCTIONS.encode())}
    for name, arguments in calls:
        if name not in present:
            continue
        results = []
        for of_documents, of_chunks in ((documents, chunks), (missing, missing)):
            changed = {
                key: with_ids(given, of_chunks if key.startswith("chunk") else of_documents)
                for key, given in arguments.items()
                if (isinstance(given, list) and key in OF_LISTS) or key in ("document", "source")
            }
            if "boost" in arguments:
                changed["boost"] = {str(of_documents[0]): 1}
            if not changed:
                break
            given = answer(tenant, name, present[name], **{**arguments, **changed})
            results.append(unknown(given, [*documents, *chunks, *missing]))
        asked += bool(results)
        assert not results or results[0] == results[1], name
    assert asked > 25


def with_ids(given: Any, numbers: list[int]) -> Any:
    return numbers[: len(given)] if isinstance(given, list) else numbers[0]


def test_names_of_others_are_as_names_that_are_not_there(tenant: Connection) -> None:
    name = other(tenant)
    for function, arguments in SCOPES.items():
        for scope in (
            {"datasets": [name]},
            {"uri_prefix": f"{name}/"},
            {"filter": {"key": "dataset", "op": "eq", "value": name}},
        ):
            missing = json.loads(json.dumps(scope).replace(name, "nowhere"))
            results = [
                answer(tenant, function, "lexichord", **arguments, **each)
                for each in (scope, missing)
            ]
            assert str(results[0]).replace(name, "nowhere") == str(results[1]), (function, scope)
            assert "P0002" in str(results[0]) or name not in str(results[0])


def test_keys_of_others_metadata_are_unknown(owner: Connection, tenant: Connection) -> None:
    put(
        owner,
        f"{other(tenant)}/k.md",
        ["w1"],
        dataset=other(tenant),
        metadata={f"of_{other(tenant)}": 1},
    )
    asked = {"filter": {"key": f"of_{other(tenant)}", "op": "eq", "value": 1}}
    with pytest.raises(errors.InvalidParameterValue, match="no document in scope has the key"):
        call(tenant, "hybrid_search", **BY_VECTOR, **asked)


def test_candidates_of_others_show_nothing(owner: Connection, tenant: Connection) -> None:
    (made,) = call(owner, "propose_candidates", **BY_VECTOR)
    for function in ("discover_files", "feedback_chunks", "variant_candidates"):
        own = call(tenant, function, **BY_VECTOR)
        assert call(tenant, function, **BY_VECTOR, candidates=made["propose_candidates"]) == own


def test_without_a_tenant_nothing_is_seen(owner: Connection) -> None:
    with login(owner) as nobody:
        nobody.execute("select set_config('lexichord.tenant', 'north', false)")
        for name in SCOPES:
            rows = call(nobody, name, **SCOPES[name])
            seen = [value for row in rows for value in row.values() if value]
            assert not seen or name in ("relevance_feedback", "scope_documents")
        assert call(nobody, "count_documents") == [{"count_documents": 0}]
        for table in ("document", "chunk", "keyword", "card_term", "term", "dataset", "corpus"):
            assert value(nobody, f"select count(*) from lexichord_data.{table}") == 0
        assert value(nobody, "select chunk_count from lexichord_data.corpus_statistics") == 0


def test_a_server_names_the_tenant_in_each_transaction(owner: Connection) -> None:
    with login(owner, "lexichord_server") as server:
        assert call(server, "tenancy") == [{"has_tenants": True, "is_bound": True, "serves": True}]
        assert call(server, "list_documents") == []
        for name in (*OTHER, "nobody"):
            with server.transaction():
                server.execute("select set_config('lexichord.tenant', %s, true)", [name])
                assert {row["dataset"] for row in call(server, "list_documents")} == {name} & {
                    *OTHER
                }
                hits = call(server, "hybrid_search", **BY_VECTOR)
                assert {row["dataset"] for row in hits} == {name} & {*OTHER}
        assert call(server, "list_documents") == []
        for statement in (
            "delete from lexichord_data.document",
            "select * from lexichord_data.api_key",
        ):
            with pytest.raises(errors.InsufficientPrivilege):
                server.execute(statement.encode())
    assert not call(owner, "tenancy")[0]["is_bound"]
    assert call(owner, "reader_gaps") == []


def test_a_role_past_policies_serves_nobody(owner: Connection) -> None:
    with login(owner, "lexichord_server") as server:
        owner.execute(f"alter role {server.info.user} bypassrls".encode())
        assert call(server, "tenancy") == [
            {"has_tenants": True, "is_bound": False, "serves": False}
        ]


def test_a_role_that_is_set_is_bound_as_its_own_login(owner: Connection) -> None:
    with of_tenant(owner, "north") as tenant, psycopg.connect(owner.info.dsn) as session:
        session.execute(f"set local role {tenant.info.user}".encode())
        assert {row["dataset"] for row in call(session, "hybrid_search", **BY_VECTOR)} == {"north"}
        session.execute("reset role")
        assert len({row["dataset"] for row in call(session, "list_documents")}) > 1


def test_principals_hide_documents_from_the_tenants_others(owner: Connection) -> None:
    row = put(
        owner,
        "north/law.md",
        ["w1 w2 w2"],
        [[1, 0, 0, 0]],
        dataset="north",
        metadata={"principals": ["legal", 'a "b"']},
    )
    document = row["document_id"]
    asked = {"query": "w2", "query_vector": "[1,0,0,0]", "query_space": corpus.SPACE}
    with (
        of_tenant(owner, "north") as plain,
        of_tenant(owner, "north", "legal", "us") as lawyer,
        login(owner, "lexichord_server") as server,
    ):
        for asker, sees in ((plain, False), (lawyer, True), (owner, True)):
            for name in ("hybrid_search", "variant_candidates", "feedback_chunks"):
                rows = call(asker, name, **asked)
                assert (document in ids(rows, "document_id")) == sees, name
            for table in ("chunk", "keyword", "card_term"):
                rows = value(
                    asker,
                    f"select count(*) from lexichord_data.{table} where document_id = {document}",
                )
                assert bool(rows) == sees
            assert bool(call(asker, "read_document", document=document)) == sees
        for principals, sees in (("{}", False), ("{us}", False), (r'{"a \"b\""}', True)):
            with server.transaction():
                server.execute(
                    "select set_config('lexichord.tenant', 'north', true), "
                    "set_config('lexichord.principals', %s, true)",
                    [principals],
                )
                found = ids(call(server, "hybrid_search", **asked), "document_id")
                assert (document in found) == sees
        call(owner, "set_metadata", document=document, changes={"principals": None})
        assert document in ids(call(plain, "hybrid_search", **asked), "document_id")
        call(owner, "set_metadata", document=document, changes={"principals": "us"})
        assert document not in ids(call(plain, "hybrid_search", **asked), "document_id")
        assert document in ids(call(lawyer, "hybrid_search", **asked), "document_id")
        call(owner, "set_metadata", document=document, changes={"principals": []})
        assert document not in ids(call(lawyer, "hybrid_search", **asked), "document_id")
    for wrong in (7, {"a": "b"}, ["a", 7]):
        with pytest.raises(errors.InvalidParameterValue, match="principals is a text or a list"):
            call(owner, "set_metadata", document=document, changes={"principals": wrong})


def test_an_unknown_dataset_is_told_with_those_of_the_tenant(tenant: Connection) -> None:
    own = value(tenant, "select dataset from lexichord.list_datasets()")
    for name in ("nowhere", OTHER[own]):
        with pytest.raises(errors.NoDataFound, match=f"no dataset '{name}'") as caught:
            call(tenant, "count_documents", datasets=[name])
        assert caught.value.diag.message_hint == f"Take one of '{own}'"


def test_a_tenants_lists_are_exact(owner: Connection, tenant: Connection) -> None:
    """By statistics of its own: as in a database that holds nothing else."""
    scope = call(tenant, "scope_documents")[0]["scope_documents"]
    hits = call(tenant, "variant_candidates", **BY_VECTOR)
    for channel, exact in (
        (
            "dense",
            call(tenant, "exact_dense_candidates", query_vector="[1,0,0,0]", documents=scope),
        ),
        ("keyword", call(tenant, "exact_keyword_candidates", query="w1 w2", documents=scope)),
    ):
        found = {r["chunk_id"]: r[f"{channel}_rank"] for r in hits if r[f"{channel}_rank"]}
        assert found
        assert found == {row["chunk_id"]: row["rank"] for row in exact if row["chunk_id"] in found}


def is_clustered(connection: Connection) -> bool:
    return bool(value(connection, "select engine = 'citus' from lexichord.configuration()"))


@pytest.mark.parametrize("index", INDEXED)
def test_a_policy_costs_no_index(owner: Connection, index: str) -> None:
    if is_clustered(owner) and index == "chunk_hnsw|chunk_dense":
        pytest.skip("it is on other servers, and its rows are read as their owner")
    with of_tenant(owner, "north") as tenant, tenant.transaction():
        schema = value(tenant, "select named_schema from lexichord.named_extensions() limit 1")
        tenant.execute(f"set local search_path = pg_catalog, {schema}".encode())
        tenant.execute("set local enable_seqscan = off; set local enable_sort = off")
        lines = tenant.execute(f"explain {INDEXED[index]}".encode()).fetchall()
        assert re.search(rf"\b({index})\b", str(lines)), lines


def test_searches_run_as_the_owner_and_nothing_else_does(owner: Connection) -> None:
    statement = (
        "select proname from pg_proc where prosecdef and pronamespace = 'lexichord'::regnamespace"
    )
    wanted = "select function_name from lexichord.tenant_functions() where runs_as_owner"
    always = {(name,) for name in corpus.OF_WORKERS} if is_clustered(owner) else set()
    assert {*owner.execute(statement)} == {*owner.execute(wanted)} | always


def test_what_is_new_is_closed(owner: Connection) -> None:
    with of_tenant(owner, "north") as tenant:
        owner.execute("create table lexichord_data.newcomer as select 1 as a")
        owner.execute("grant select on lexichord_data.newcomer to lexichord_reader")
        call(owner, "guard_tenants")
        assert value(tenant, "select count(*) from lexichord_data.newcomer") == 0
        owner.execute("drop table lexichord_data.newcomer")


def test_functions_that_are_replaced_are_guarded_again(owner: Connection) -> None:
    owner.execute("update lexichord_data.function_release set sha256 = ''")
    schema.prepare(owner.info.dsn, schema.Choice())
    test_searches_run_as_the_owner_and_nothing_else_does(owner)
    with of_tenant(owner, "north") as tenant:
        assert {row["dataset"] for row in call(tenant, "hybrid_search", **BY_VECTOR)} == {"north"}


def test_segments_made_later_are_closed(owner: Connection) -> None:
    store_more(owner, "south")
    call(owner, "unseal_keywords")
    call(owner, "seal_keywords")
    rows = owner.execute(
        "select c.relname, c.relrowsecurity from pg_class c where c.relkind = 'r' "
        "and c.relnamespace = 'lexichord_data'::regnamespace"
    ).fetchall()
    assert [name for name, guarded in rows if not guarded] == []


def test_rows_with_a_security_of_their_own_and_tenants_exclude_each_other(
    owner: Connection,
) -> None:
    owner.execute("create table public.note (id int primary key, body text)")
    owner.execute("alter table public.note enable row level security")
    with pytest.raises(errors.InvalidParameterValue, match="where tenants are on"):
        call(owner, "index_table", source="public.note", text=["body"])
    owner.execute("alter table public.note disable row level security")
    call(owner, "index_table", source="public.note", text=["body"])
    owner.execute("alter table public.note enable row level security")
    call(owner, "follow_tables")
    (row,) = call(owner, "list_indexed_tables")
    assert "does not go together with tenants" in row["fault"]
    call(owner, "drop_index_table", source="public.note")
    owner.execute("drop table public.note")


def test_a_dataset_or_role_has_one_tenant(owner: Connection) -> None:
    with of_tenant(owner, "north") as tenant:
        role = tenant.info.user
        for given, words in (
            ({"datasets": ["north"]}, "dataset north is of tenant north"),
            ({"roles": [role]}, f"role {role} is of tenant north"),
            ({"roles": ["nobody_at_all"]}, "there is no role nobody_at_all"),
        ):
            with pytest.raises(errors.InvalidParameterValue, match=words):
                call(owner, "add_tenant", name="south", **given)


def test_two_who_add_a_dataset_at_once_do_not_both_get_it(owner: Connection) -> None:
    owner.execute("insert into lexichord_data.dataset (name) values ('free')")
    options: dict[str, Any] = {"autocommit": True, **password(owner)}
    with (
        psycopg.connect(owner.info.dsn, **options) as one,
        psycopg.connect(owner.info.dsn, **options) as other,
        ThreadPoolExecutor(2) as threads,
    ):
        with owner.transaction():
            owner.execute("select from lexichord_data.dataset where name = 'free' for update")
            adding = {
                threads.submit(call, each, "add_tenant", name=name, datasets=["free"]): each
                for name, each in (("first", one), ("second", other))
            }
            for added, each in adding.items():
                while not value(owner, WAITS, each.info.backend_pid):
                    assert not added.done()
        (refused,) = filter(None, [added.exception() for added in adding])
        assert "dataset free is of tenant" in str(refused)
    for name in ("first", "second"):
        call(owner, "drop_tenant", name=name)
    owner.execute("delete from lexichord_data.dataset where name = 'free'")


def test_a_dropped_tenant_sees_nothing(owner: Connection) -> None:
    call(owner, "add_tenant", name="third", datasets=["third"])
    put(owner, "third/1.md", ["w1"], dataset="third")
    call(owner, "create_api_key", name="k", digest=b"3" * 32, tenant="third")
    with of_tenant(owner, "third") as tenant:
        assert len(call(tenant, "list_documents")) == 1
        assert call(owner, "drop_tenant", name="third") == [{"drop_tenant": True}]
        assert call(tenant, "list_documents") == []
    assert call(owner, "drop_tenant", name="third") == [{"drop_tenant": False}]
    assert call(owner, "find_api_key", digest=b"3" * 32) == []
    assert len(call(owner, "list_documents", datasets=["third"])) == 1


def test_there_are_no_policies_until_tenants_are_on(library: Connection) -> None:
    """Nor does a plan show what asks for the tenant."""
    assert (
        value(
            library,
            "select count(*) from pg_class where relrowsecurity "
            "and relnamespace = 'lexichord_data'::regnamespace",
        )
        == 0
    )
    statement = "select id from lexichord_data.dataset s where not lexichord_data.is_bound() or "
    statement += "s.id = any ((select lexichord_data.own_datasets())::bigint[])"
    lines = library.execute(f"explain (costs off) {statement}".encode()).fetchall()
    assert lines == [("Seq Scan on dataset s",)]
    with pytest.raises(errors.InvalidParameterValue, match="tenants are off"):
        call(library, "add_tenant", name="north")
