"""Extensions may stand in any schema: functions name their objects by the one that init found."""

from dataclasses import replace

import psycopg
import pytest

from lexichord.db.schema import Choice, check, prepare
from lexichord.errors import ConfigError, SchemaOutdatedError
from tests.migrations.conftest import run_statements
from tests.sql.corpus import Connection, call, library, value

EXTENSIONS = {
    "plain": ["vector"],
    "citus": ["vector"],
    "textsearch": ["vector", "pg_textsearch"],
    "vectorchord": ["vector", "vchord"],
}
PLACES = """
    select e.extname, n.nspname from pg_extension e join pg_namespace n on n.oid = e.extnamespace
    where e.extname in ('vector', 'pg_textsearch', 'vchord')"""
ON_WORKERS = "set citus.enable_ddl_propagation = on"  # of a Citus cluster
BY_VECTOR = {"query": "w0 w1", "query_vector": "[1,0,0,0]"}


def places(connection: Connection) -> dict[str, str]:
    return dict(connection.execute(PLACES).fetchall())


def searches(connection: Connection) -> None:
    """Search by both channels, through their indexes."""
    assert call(connection, "hybrid_search", **BY_VECTOR)
    (learned,) = call(connection, "relevance_feedback", **BY_VECTOR)
    assert learned["vector"] is not None
    assert {row["index_name"] for row in call(connection, "index_use") if row["plan"]}


def test_extensions_elsewhere_are_found(empty: str, choice: Choice) -> None:
    """In a schema that no session looks into, of a name to be quoted."""
    assert choice.engine is not None
    schema = '"My Extensions"'
    statements = [f"create extension {name} schema {schema}" for name in EXTENSIONS[choice.engine]]
    run_statements(empty, ON_WORKERS, f"create schema {schema}", *statements)
    prepare(empty, choice)
    check(empty)
    with psycopg.connect(empty, autocommit=True) as connection:
        library(connection)
        searches(connection)
        assert call(connection, "find_problems") == [
            {"problem": "chunks without a vector: 1", "remedy": "ingest again with an embedder"}
        ]
        assert "public" not in set(places(connection).values())


def test_what_init_makes_stands_where_its_caller_would_make_it(empty: str, choice: Choice) -> None:
    with psycopg.connect(empty) as connection:
        database = value(connection, "select current_database()")
    run_statements(
        empty, "create schema app", f"alter database {database} set search_path = app, public"
    )
    prepare(empty, choice)
    with psycopg.connect(empty, autocommit=True) as connection:
        assert set(places(connection).values()) == {"app"}
        library(connection)
        searches(connection)


def test_without_a_schema_of_its_own_init_takes_public(empty: str, choice: Choice) -> None:
    with psycopg.connect(empty) as connection:
        database = value(connection, "select current_database()")
    run_statements(empty, f"alter database {database} set search_path = nothing")
    prepare(empty, choice)
    with psycopg.connect(empty, autocommit=True) as connection:
        assert set(places(connection).values()) == {"public"}


def test_extensions_that_were_moved_are_told_and_followed(dsn: str, choice: Choice) -> None:
    assert choice.engine is not None
    moved = [name for name in EXTENSIONS[choice.engine] if name != "pg_textsearch"]  # it cannot be
    with psycopg.connect(dsn, autocommit=True) as connection:
        library(connection)
        run_statements(
            dsn, "create view public.hits as select * from lexichord.hybrid_search('w0')"
        )
        connection.execute("create schema extensions")
        for name in moved:
            connection.execute(f"alter extension {name} set schema extensions".encode())
        assert call(connection, "find_problems") == [
            {
                "problem": f"the extension {name} was moved from schema public to extensions",
                "remedy": "run lexichord init",
            }
            for name in moved
        ]
        with pytest.raises(SchemaOutdatedError, match=r"vector.* run lexichord init"):
            check(dsn)
        prepare(dsn, choice)
        check(dsn)
        searches(connection)
        assert connection.execute("select from public.hits").fetchall()


def test_a_schema_that_would_end_a_quotation_is_refused(empty: str, choice: Choice) -> None:
    schema, extension = """create schema "it's" """, """create extension vector schema "it's" """
    run_statements(empty, ON_WORKERS, schema, extension)
    with pytest.raises(ConfigError, match="rename it"):
        prepare(empty, choice)
    run_statements(empty, ON_WORKERS, """alter schema "it's" rename to its""")
    prepare(empty, choice)


def test_a_text_configuration_of_the_callers_own_is_found(empty: str, choice: Choice) -> None:
    run_statements(empty, "create text search configuration public.mine (copy = pg_catalog.german)")
    mine = replace(choice, text_config="mine")
    prepare(empty, mine)
    prepare(empty, mine)
    with psycopg.connect(empty) as connection:
        assert value(connection, "select lexichord.lexemes('die Häuser')::text") == "'haus':2"
        assert call(connection, "configuration")[0]["text_config"] == "public.mine"
