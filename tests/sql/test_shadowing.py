"""Nothing that another role puts into a schema is called in place of what is meant."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest

from lexichord.db.pool import Database
from lexichord.db.reembed import build_reembed_indexes, hold_reembed, start_reembed
from lexichord.db.schema import FOLDERS, Choice, bound_space, check, prepare
from lexichord.db.search import hybrid_search
from lexichord.db.server import scratch_database
from lexichord.db.store import finish_run, start_run, store_document
from lexichord.errors import DatabaseError
from lexichord.types import Chunk, Document, EmbeddingSpace, Question
from tests.conftest import NUMBERS, at, new_database
from tests.conftest import SPACE as BOUND
from tests.sql.calls import MORE, OTHERS, READS, ROW_TYPED
from tests.sql.corpus import SPACE, Connection, call, library, offered, value

# of lexichord_data
INNER = {
    *("dense_probes", "dense_storage", "index_word", "lexeme_text"),
    *("key_expression", "key_type", "key_values", "row_columns", "hidden_documents"),
    *("is_bound", "own_datasets", "own_principals", "own_statistics"),
}
# They need vechord's own tables and extensions.
REFUSED = {
    *("prepare_vechord", "write_vechord"),
    "keep_hidden_postings",  # of a segment that is not there
}
TABLES = (
    "create table public.n_document (key bigint primary key, title text, text text)",
    "create table public.n_chunk (doc bigint references public.n_document, seq integer, "
    "content text, context text, vec vector(4))",
    "insert into public.n_document values (1, 'T', 'b a')",
    "insert into public.n_chunk values (1, 2, 'a', '', '[1,0,0,0]')",
)


PLANTED = Path(__file__).with_name("planted.sql")
TAKE_OVER = """
create function public.starts_with(text, text) returns boolean language plpgsql as $$
begin
    execute pg_catalog.format('alter role %I superuser', '{role}');
    return true;
end $$
"""


@contextmanager
def planter(server: str) -> Iterator[str]:
    """A role that may do no more than every role, for longer than the databases that it is in."""
    role = f"planter{os.getpid()}_{next(NUMBERS)}"
    with psycopg.connect(at(server, "postgres"), autocommit=True) as connection:
        connection.execute(f"create role {role}".encode())
        try:
            yield role
        finally:
            connection.execute(f"drop role {role}".encode())


def run_as(connection: Connection, role: str, script: str) -> None:
    """Run what the role may run where every role may create in public, as on Postgres 14."""
    connection.execute("set citus.enable_ddl_propagation = off")  # that is no worker's to run
    connection.execute("grant create on schema public to public")
    connection.execute(f"set role {role}; set search_path = pg_catalog".encode())
    connection.execute(script.encode())
    connection.execute("reset role; reset search_path")


def test_a_search_makes_nobody_superuser(template: str) -> None:
    with (
        planter(template) as role,
        new_database(template, copy_of=template) as dsn,
        psycopg.connect(dsn, autocommit=True) as connection,
    ):
        library(connection)
        run_as(connection, role, TAKE_OVER.format(role=role))
        assert call(connection, "hybrid_search", query="w0", uri_prefix="north")
        assert not value(connection, "select rolsuper from pg_roles where rolname = %s", role)


@pytest.fixture(scope="module")
def planted(template: str) -> Iterator[str]:
    """A database full of what somebody else planted."""
    with planter(template) as role, new_database(template, copy_of=template) as dsn:
        with psycopg.connect(dsn, autocommit=True) as connection:
            library(connection)
            for statement in TABLES:
                connection.execute(statement.encode())
            run_as(connection, role, PLANTED.read_text())
        yield dsn


@pytest.fixture(params=['"$user", public', "public, pg_catalog"])
def shadowed(planted: str, request: pytest.FixtureRequest) -> Iterator[str]:
    """A copy of it where sessions look by each of these paths."""
    with new_database(planted, copy_of=planted) as dsn:
        path = f"alter database {urlsplit(dsn).path[1:]} set search_path = {request.param}"
        with psycopg.connect(dsn, options="-c search_path=pg_catalog") as connection:
            connection.execute(path.encode())
        yield dsn


def functions(connection: Connection) -> set[str]:
    rows = connection.execute(
        "select proname from pg_proc where pronamespace = 'lexichord'::regnamespace"
    )
    return {name for (name,) in rows}


def safely(dsn: str, statement: str) -> Any:
    """Ask where nothing planted is in sight."""
    with psycopg.connect(dsn, options="-c search_path=pg_catalog") as connection:
        return value(connection, statement)


def caught(dsn: str) -> bool:
    return bool(safely(dsn, "select is_called from public.caught"))


def test_what_was_planted_would_be_called(shadowed: str) -> None:
    with psycopg.connect(shadowed) as connection:
        connection.execute("select starts_with('a'::name, 'a'::text)")
    assert caught(shadowed)


def test_no_function_calls_what_others_planted(shadowed: str) -> None:
    with psycopg.connect(shadowed, autocommit=True) as connection:
        heard: list[str] = []
        present = functions(connection)
        connection.add_notice_handler(lambda note: heard.append(str(note.message_primary)))
        for function, arguments in [*READS.items(), *MORE, *OTHERS]:
            if function not in present:  # of another engine, or of lexichord_data
                continue
            failed = None
            try:
                call(connection, function, **arguments)
            except psycopg.Error as error:
                failed = error
            assert not caught(shadowed), (function, heard)
            assert failed is None or function in REFUSED, (function, failed)
            if function == "set_query_vectors":
                connection.execute("call lexichord.prepare_query('w0')")
                found = (
                    "lexichord.search_table(null::public.n_document, 'a', condition => 'key > 0')"
                )
                connection.execute(f"select * from {found}".encode())
                assert not caught(shadowed)


async def test_nor_does_the_program(shadowed: str) -> None:
    engine = safely(shadowed, "select engine from lexichord_data.configuration")
    safely(shadowed, "update lexichord_data.function_release set sha256 = 'old' returning sha256")
    with pytest.raises(DatabaseError, match="run lexichord init"):
        check(shadowed)
    prepare(shadowed, Choice(engine, "english", BOUND))
    check(shadowed)
    assert bound_space(shadowed) == SPACE
    with scratch_database(shadowed) as scratch:
        check(scratch)
    document = Document("north", "u", "t", "text/plain", "0" * 64, "r", "w0 w1")
    async with Database(shadowed, size=2) as database:
        run = await start_run(database, "north", "s", 1)
        chunk = Chunk(0, 5, "w0 w1")
        await store_document(database, document, [chunk], [[1, 0, 0, 0]], run)
        await finish_run(database, run)
        await start_reembed(database, EmbeddingSpace("p", "m", 4))
        async with hold_reembed(database) as holder:
            await build_reembed_indexes(database, holder, filled=True)
        hits = await hybrid_search(database, Question("w0 w1", k=100))
        assert "u" in [hit.uri for hit in hits]
    assert not caught(shadowed)


def test_every_function_is_among_the_calls(library: Connection) -> None:
    called = {name for name, _ in [*READS.items(), *OTHERS]}
    assert functions(library) <= called | ROW_TYPED
    of_engines = {name for engine in FOLDERS for name in offered(engine)}
    assert called - functions(library) <= INNER | of_engines
