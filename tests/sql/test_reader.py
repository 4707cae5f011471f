"""Members of lexichord_reader may do all that reads, and nothing else."""

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import count
from typing import Any, LiteralString

import psycopg
import pytest
from psycopg import errors

from lexichord.db import schema, search
from lexichord.db.pool import Database
from lexichord.errors import DatabaseError
from lexichord.types import Question
from tests.sql import calls
from tests.sql.calls import BY_VECTOR, OF_A_TABLE, OF_THE_SERVER, READS, ROW_TYPED, VECTOR
from tests.sql.corpus import MOST, Connection, Row, call, engine_of, put, value

NUMBERS = count()
OF_ONE_ENGINE = {
    *("dense_probes", "index_word", "keyword_plan", "keyword_statement", "lexeme_text"),
    *("bound_statement", "sealing", "segment_name", "segment_proposals", "segment_statement"),
    *("dense_storage", "near_chunks"),
    *("blocks_above", "block_chunks", "bound_levels", "constant_vector"),
}
# A function in neither list fails: if it only reads what a reader may, its comment ends "Readers
# may call it." and its call goes into calls.READS; else its call goes into calls.OTHERS.
OF_LEXICHORD_DATA = """
    add_terms count_chunks count_document forget_contexts forget_other_vector add_keywords
    add_missing_keywords add_inserted_keywords replace_keyword add_change queue_row
    make_queue_function owns_queue_function most_compared_rows fill_principals average_length
    impact impact_vector add_to_tail drop_from_tail fill_keyword_text join_writers
    table_statements compared_columns
    replace_impacts add_missing_vectors add_vectors spread_vectors seen_documents is_spread
"""
OTHERS = {*OF_LEXICHORD_DATA.split(), *ROW_TYPED, *(name for name, _ in calls.OTHERS)}
SECRETS = {
    *("tenant", "tenant_role", "writer_lock"),
    *("run", "run_file", "query", "query_hit", "chunk_context", "api_key", "api_call"),
    *("evaluation", "evaluation_query", "evaluation_result", "evaluation_set", "judgment"),
}
ROUTINES = """
    select p.pronamespace::regnamespace::text, p.proname,
           array(select t::regtype::text from unnest(p.proargtypes) as t)
    from pg_proc p, lexichord.reader_rights() r where """
FUNCTIONS = (
    ROUTINES
    + "p.prokind = 'f' and p.pronamespace::regnamespace::text in ('lexichord', 'lexichord_data')"
)
MAINTENANCE = ROUTINES + "p.proname = any(r.maintenance)"
TABLES = """
    select c.relname from pg_class c, lexichord.reader_rights() r
    where c.relnamespace = 'lexichord_data'::regnamespace and c.relkind = 'r'"""


@contextmanager
def member(connection: Connection) -> Iterator[Connection]:
    """Connect as a new login role that is a member of lexichord_reader and of nothing else."""
    name = f"app{os.getpid()}_{next(NUMBERS)}"
    login: dict[str, Any] = {"user": name, "password": name}
    statement = f"create role {name} login password '{name}' in role lexichord_reader"
    with psycopg.connect(connection.info.dsn, autocommit=True, **password(connection)) as owner:
        owner.execute("set default_transaction_read_only = off")
        owner.execute(statement.encode())
        try:
            options = "-c timezone=UTC"
            with psycopg.connect(
                connection.info.dsn, autocommit=True, options=options, **login
            ) as reader:
                yield reader
        finally:
            owner.execute(f"drop owned by {name}; drop role {name}".encode())


def password(connection: Connection) -> dict[str, Any]:
    return {"password": connection.info.password} if connection.info.password else {}


@pytest.fixture
def reader(library: Connection) -> Iterator[Connection]:
    with member(library) as reader:
        yield reader


def names(connection: Connection, statement: str) -> set[str]:
    return {row[-1] for row in connection.execute(statement.encode())}


def with_nulls(schema: str, function: str, types: list[str]) -> str:
    """A call with a null for each argument, which no planner does without calling."""
    columns = ", ".join(f"null::{each} as a{number}" for number, each in enumerate(types))
    arguments = ", ".join(f"x.a{number}" for number in range(len(types)))
    return f"select {schema}.{function}({arguments}) from (select {columns} offset 0) as x"


def test_every_function_is_classified(library: Connection) -> None:
    functions = {name for _, name, _ in library.execute(FUNCTIONS.encode())}
    listed = value(library, "select functions from lexichord.reader_rights()")
    assert len(listed) == len(set(listed))
    assert set(listed) & functions == (READS.keys() | OF_A_TABLE) & functions
    assert set(listed) - functions <= OF_ONE_ENGINE
    assert functions - READS.keys() - OF_A_TABLE - OTHERS == set()
    assert READS.keys() - functions <= OF_ONE_ENGINE
    assert not READS.keys() & OTHERS


def test_every_table_is_classified(library: Connection) -> None:
    listed = set(value(library, "select tables from lexichord.reader_rights()"))
    unlisted = names(library, TABLES) - listed - SECRETS
    assert {name for name in unlisted if not name.startswith("keyword_part_")} == set()
    assert not listed & SECRETS


def test_every_read_gives_a_member_what_it_gives_the_owner(
    library: Connection, reader: Connection
) -> None:
    functions = [(where, name) for where, name, _ in library.execute(FUNCTIONS.encode())]
    tried = 0
    for where, name in functions:
        if name in READS.keys() - OF_THE_SERVER:
            results = [call(each, name, where, **READS[name]) for each in (library, reader)]
            assert results[0] == results[1], name
            tried += 1
    assert tried > 80


def test_what_is_not_a_read_is_refused(library: Connection, reader: Connection) -> None:
    functions = library.execute(FUNCTIONS.encode()).fetchall()
    refused = [each for each in functions if each[1] not in READS.keys() | OF_A_TABLE]
    assert len(refused) > 50
    for each in refused:
        with pytest.raises(errors.InsufficientPrivilege, match=f"for function {each[1]}"):
            reader.execute(with_nulls(*each).encode())


def test_a_member_stops_no_writer(fresh: Connection) -> None:
    with member(fresh) as reader, reader.transaction():
        reader.execute("select pg_advisory_xact_lock(hashtextextended('lexichord.write', 0))")
        with pytest.raises(errors.InsufficientPrivilege), reader.transaction():
            reader.execute("lock table lexichord_data.writer_lock in access share mode")
        fresh.execute("set lock_timeout = '2s'")
        put(fresh, "a", ["w1"])
        call(fresh, "delete_documents", documents=[1])


def test_the_extensions_maintenance_is_refused(library: Connection, reader: Connection) -> None:
    functions = library.execute(MAINTENANCE.encode()).fetchall()
    extensions = {row["extension"] for row in call(library, "named_extensions")}
    assert len(functions) >= (0 if extensions <= {"vector", "citus"} else 4)
    for each in functions:
        with pytest.raises(errors.InsufficientPrivilege, match=f"for function {each[1]}"):
            reader.execute(with_nulls(*each).encode())


def test_maintenance_functions_of_a_new_version_are_noticed(library: Connection) -> None:
    """All that PUBLIC may call by the name of an index, a table or a statement."""
    left = """
        select p.oid::regprocedure::text
        from pg_proc p join pg_depend d on d.objid = p.oid and d.classid = 'pg_proc'::regclass
        join pg_extension e on e.oid = d.refobjid and d.refclassid = 'pg_extension'::regclass
        where e.extname in ('vector', 'pg_textsearch', 'vchord', 'vchord_bm25')
        and (p.provolatile = 'v' or 'regclass'::regtype = any(p.proargtypes)
             or 'text'::regtype = any(p.proargtypes))
        and not 'internal'::regtype = any(p.proargtypes)
        and has_function_privilege('lexichord_reader', p.oid, 'execute')"""
    assert names(library, left) <= {
        # what searches are made of
        "to_bm25query(text)",
        "to_bm25query(text,text)",
        "bm25_textarray_text_score(text[],text)",
        "bm25_get_current_score()",
        "bm25_text_text_score(text,text)",
        "bm25_text_bm25query_score(text,bm25query)",
        "bm25_catalog.to_bm25query(regclass,bm25_catalog.bm25vector)",
    }


def test_tables_are_for_reading_or_for_nothing(library: Connection, reader: Connection) -> None:
    tables = names(library, TABLES)
    assert tables >= SECRETS - {"api_key"}
    for table in tables:
        changes = ["insert into {} default values", "delete from {}", "truncate {}"]
        looks = ["select from {}"] if table in SECRETS else []
        for statement in (*changes, *looks, "alter table {} add column x int", "drop table {}"):
            with pytest.raises(errors.InsufficientPrivilege):
                reader.execute(statement.format(f"lexichord_data.{table}").encode())


@pytest.mark.parametrize(
    "statement",
    [
        "select nextval('lexichord_data.document_id_seq')",
        "create table lexichord_data.mine (a int)",
        "create function lexichord.mine() returns int language sql as 'select 1'",
        "create view public.mine as select 1",
        "select lexichord.forget_queries(interval '0')",
        "select * from lexichord.store_document('a', 'b', 'c', 'd', 'e', 'f', 'g')",
        "set role lexichord_reader; set role postgres",
    ],
)
def test_other_ways_are_closed(reader: Connection, statement: LiteralString) -> None:
    with pytest.raises((errors.InsufficientPrivilege, errors.UndefinedFunction)):
        reader.execute(statement)


def test_a_members_own_tables_do_not_stand_in_for_ours(
    library: Connection, reader: Connection
) -> None:
    reader.execute(
        "create temp table chunk (id bigint, content text); create temp table corpus (a int); "
        "create function pg_temp.upper(text) returns text language sql as 'select null::text'"
    )
    hits = [call(each, "hybrid_search", **BY_VECTOR) for each in (library, reader)]
    assert hits[0]
    assert hits[0] == hits[1]


def test_errors_of_arguments_are_the_same(reader: Connection) -> None:
    for arguments in ({"datasets": ["none"]}, {"documents": [0]}, {"k": 0}):
        with pytest.raises(psycopg.Error) as raised:
            call(reader, "hybrid_search", query="w1", **arguments)
        assert not isinstance(raised.value, errors.InsufficientPrivilege)


def test_a_member_uses_the_same_indexes(wide: Connection) -> None:
    with member(wide) as reader:
        plans = [call(each, "index_use") for each in (wide, reader)]
        assert plans[0] == plans[1]
        if engine_of(wide) != "citus":  # see test_citus
            assert len(plans[0]) == 2
            assert all(row["used"] for row in plans[1])
        arguments = {"query": "w0 w1", "query_vector": VECTOR, "filter": MOST}
        hits: list[list[Row]] = [
            call(each, "hybrid_search", **arguments) for each in (wide, reader)
        ]
        assert hits[0] == hits[1]


async def test_the_program_searches_as_a_member(dsn: str, fresh: Connection) -> None:
    put(fresh, "a", ["w1 w2", "w3"])
    call(fresh, "build_indexes")
    with member(fresh) as reader:
        login = f"{reader.info.dsn} password={reader.info.user}"
        schema.check(login)
        async with Database(login, size=1) as database:
            question = Question("w1", k=1)
            (hit,) = await search.hybrid_search(database, question)
            with pytest.raises(DatabaseError, match="permission denied for function delete_docu"):
                await database.call("delete_documents", documents=[hit.document_id])
    assert hit.uri == "a"


def test_dropping_the_role_takes_each_databases_grants_first(fresh: Connection) -> None:
    """In a transaction that is undone: other databases of the server share the role."""
    with closing(fresh), fresh.transaction(force_rollback=True):
        with (
            pytest.raises(errors.DependentObjectsStillExist),
            fresh.transaction(),
        ):
            fresh.execute("drop role lexichord_reader")
        fresh.execute("drop owned by lexichord_reader")
        assert call(fresh, "reader_gaps")
        fresh.execute("select lexichord.grant_reader()")
        assert not call(fresh, "reader_gaps")
