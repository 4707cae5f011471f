"""The role lexichord_reader is made and granted by init, as far as who runs it may."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from psycopg import errors

from lexichord.db.schema import ENGINES, Choice, prepare
from tests.conftest import at
from tests.migrations.conftest import ANOTHER_VERSION, run_statements
from tests.own_server import Server, own_server
from tests.sql.corpus import call, engine_of, put, value

MAY_CALL = "select has_function_privilege(%s, 'lexichord.' || %s, 'execute')"
MAY_READ = "select has_table_privilege('lexichord_reader', 'lexichord_data.' || %s, 'select')"


@pytest.fixture
def server(template: str) -> Iterator[Server]:
    """A server of the engine on which nobody has made the role."""
    with psycopg.connect(template) as connection:
        libraries = value(connection, "show shared_preload_libraries")
        if engine_of(connection) == "citus":
            pytest.skip("a server alone is no cluster")
    with own_server(template, libraries) as server:
        yield server


def test_init_without_rights_succeeds_and_says_what_is_missing(
    server: Server, choice: Choice
) -> None:
    theirs = at(server.dsn, "theirs")
    run_statements(server.dsn, "create role plain login", "create database theirs owner plain")
    assert choice.engine
    run_statements(theirs, *(f"create extension {name} cascade" for name in ENGINES[choice.engine]))
    if choice.engine == "vectorchord":
        run_statements(theirs, "grant usage on schema bm25_catalog to plain")
    plain = theirs.replace("postgres@", "plain@")
    prepare(plain, choice)
    with psycopg.connect(plain, autocommit=True) as connection:
        put(connection, "a", ["w1 w2", "w3"], [[1, 0, 0, 0], [0, 1, 0, 0]])
        connection.execute("select lexichord.build_indexes()")
        remedies = [row["remedy"] for row in call(connection, "find_problems")]
        assert remedies[0] == "create role lexichord_reader nologin;"
        if choice.engine == "plain":  # pgvector has nothing that everybody may call and should not
            assert remedies[1:] == []
        else:
            assert remedies[1].startswith("revoke execute on routine ")
            assert remedies[1].endswith(" to plain;")
            assert remedies[2:] == []
        for _ in range(2):  # the schemas' usage is told of once the role is there
            for remedy in [row["remedy"] for row in call(connection, "find_problems")]:
                run_statements(plain if "grant_reader" in remedy else theirs, remedy)
        assert call(connection, "find_problems") == []
        put(connection, "b", ["w4"], [[1, 0, 0, 0]])
        connection.execute("select lexichord.build_indexes()")
    run_statements(server.dsn, "create role app login in role lexichord_reader")
    with psycopg.connect(theirs.replace("postgres@", "app@"), autocommit=True) as app:
        assert call(app, "hybrid_search", query="w1")[0]["uri"] == "a"
        with pytest.raises(errors.InsufficientPrivilege):
            call(app, "delete_documents", documents=[1])


def test_databases_that_are_made_at_once_share_the_role(server: Server, choice: Choice) -> None:
    names = ["one", "two", "three"]
    run_statements(server.dsn, *(f"create database {name}" for name in names))
    dsns = [at(server.dsn, name) for name in names]
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda dsn: prepare(dsn, choice), dsns))
    for dsn in dsns:
        with psycopg.connect(dsn) as connection:
            assert call(connection, "reader_gaps") == []
            assert value(connection, MAY_CALL, "lexichord_reader", "list_keys()")


def test_a_replacement_grants_again_and_keeps_the_grants_of_others(
    dsn: str, choice: Choice
) -> None:
    acl = "select proacl::text from pg_proc where proname = 'delete_documents'"
    run_statements(
        dsn,
        "grant execute on function lexichord.delete_documents to pg_monitor",
        "grant select, insert on lexichord_data.run to pg_monitor",
        # what a later version thinks otherwise of, or somebody has changed
        "grant execute on function lexichord.recount to public, lexichord_reader",
        "revoke execute on function lexichord.hybrid_search from public, lexichord_reader",
        "drop function lexichord.list_keys(); create function lexichord.list_keys() "
        "returns table (key text) language sql as 'select null::text'",
        "drop function lexichord.touch_run; create function lexichord.touch_run(a int) "
        "returns int language sql as 'select 1'",
        "grant all on all tables in schema lexichord_data to lexichord_reader",
        "grant all on all sequences in schema lexichord_data to lexichord_reader",
        ANOTHER_VERSION,
    )
    with psycopg.connect(dsn, autocommit=True) as connection:
        before = value(connection, acl)
        assert "pg_monitor=X" in before
        prepare(dsn, choice)
        assert value(connection, acl) == before
        assert value(
            connection, "select has_table_privilege('pg_monitor', 'lexichord_data.run', 'insert')"
        )
        for function, may in [
            ("recount()", False),
            ("touch_run(bigint, jsonb)", False),
            ("list_keys()", True),
        ]:
            for role in ("lexichord_reader", "pg_checkpoint"):
                assert value(connection, MAY_CALL, role, function) == may, function
        assert value(
            connection,
            "select has_function_privilege('lexichord_reader', oid, 'execute') "
            "from pg_proc where proname = 'hybrid_search'",
        )
        assert value(connection, MAY_READ, "chunk")
        assert not value(connection, MAY_READ, "run")
        assert not value(
            connection,
            "select has_table_privilege('lexichord_reader', 'lexichord_data.chunk', 'insert')",
        )
        assert call(connection, "reader_gaps") == []


def test_keys_are_never_granted(dsn: str, choice: Choice) -> None:
    run_statements(
        dsn,
        "create table if not exists lexichord_data.api_key (hash text)",
        "select lexichord.grant_reader()",
    )
    with psycopg.connect(dsn, autocommit=True) as connection:
        assert not value(connection, MAY_READ, "api_key")
        run_statements(dsn, "grant select on lexichord_data.api_key to lexichord_reader")
        assert [row["problem"] for row in call(connection, "find_problems")] == [
            "lexichord_reader may do too much with lexichord_data.api_key"
        ]
        prepare(dsn, choice)
        assert not value(connection, MAY_READ, "api_key")


def test_another_writer_needs_what_the_description_says(dsn: str, choice: Choice) -> None:
    vectorchord = choice.engine == "vectorchord"
    role = f"writer{os.getpid()}"
    schemas = "lexichord, lexichord_data"
    with psycopg.connect(dsn, autocommit=True) as connection:
        put(connection, "a", ["w1", "w2"], [[1, 0, 0, 0], [0, 1, 0, 0]])
        connection.execute("select lexichord.build_indexes()")
    run_statements(
        dsn,
        f"create role {role}",
        f"grant usage on schema {schemas}{', bm25_catalog' if vectorchord else ''} to {role}",
        f"grant select, insert, update, delete on all tables in schema lexichord_data to {role}",
        f"grant execute on all functions in schema {schemas} to {role}",
    )
    try:
        prepare(dsn, choice)  # takes none of it
        with psycopg.connect(dsn, autocommit=True) as writer:
            writer.execute(f"set role {role}".encode())
            put(writer, "b", ["w3"], [[0, 0, 1, 0]])
            writer.execute("select lexichord.build_indexes()")
            (hit,) = call(writer, "keyword_candidates", query="w3")
            assert call(writer, "delete_documents", documents=[hit["document_id"]])
    finally:
        run_statements(dsn, f"drop owned by {role}", f"drop role {role}")


def test_a_schema_that_readers_may_fill_is_a_problem(dsn: str) -> None:
    run_statements(dsn, "grant create on schema public to public")
    with psycopg.connect(dsn, autocommit=True) as connection:
        (row,) = call(connection, "find_problems")
        assert "may create objects in schema public" in row["problem"]
        run_statements(dsn, row["remedy"])
        assert call(connection, "find_problems") == []


def test_whoever_may_create_where_functions_look_is_named(dsn: str) -> None:
    roles = {name: f"{name}{os.getpid()}" for name in ("guest", "other guest", "third")}
    run_statements(dsn, *(f'create role "{name}"' for name in roles.values()))
    guest, other, third = roles.values()
    try:
        run_statements(
            dsn,
            f"grant create on schema lexichord_data to public, {guest}",
            f'grant create on schema lexichord to "{other}" with grant option',
            f"set role '{other}'; grant create on schema lexichord to {third}; reset role",
            f"grant all on schema lexichord to {guest}",
        )
        with psycopg.connect(dsn, autocommit=True) as connection:
            rows = call(connection, "find_problems")
            looked = "which the functions look into"
            assert [row["problem"] for row in rows] == [
                f'"{other}", {guest}, {third} may create objects in schema lexichord, {looked}',
                f"{guest}, every role may create objects in schema lexichord_data, {looked}",
            ]
            run_statements(dsn, *(row["remedy"] for row in rows))
            assert call(connection, "find_problems") == []
    finally:
        run_statements(
            dsn, *(f'drop owned by "{name}"; drop role "{name}"' for name in roles.values())
        )


def test_who_could_change_the_functions_anyway_is_not_named(dsn: str) -> None:
    owner, superuser = (f"{name}{os.getpid()}" for name in ("owner", "super"))
    run_statements(dsn, f"create role {owner}", f"create role {superuser} superuser")
    try:
        with psycopg.connect(dsn, autocommit=True) as connection:
            database = value(connection, "select current_database()")
            run_statements(
                dsn,
                f"alter database {database} owner to {owner}",
                f"grant create on schema lexichord, lexichord_data, public to {owner}, {superuser}",
                "grant create on schema lexichord to pg_database_owner",
            )
            assert call(connection, "schema_gaps") == []
            run_statements(dsn, f"alter database {database} owner to current_user")
            (own,) = call(connection, "schema_gaps")[:1]
            assert own["problem"].startswith(f"{owner} may create objects in schema lexichord,")
    finally:
        run_statements(dsn, f"drop owned by {owner}, {superuser}; drop role {owner}, {superuser}")
