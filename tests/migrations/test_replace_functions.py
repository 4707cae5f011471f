"""A new version replaces the functions; what others built on them stays, or is named."""

from importlib.metadata import version
from typing import Any

import psycopg
import pytest

from lexichord.db.schema import Choice, check, prepare
from lexichord.errors import DatabaseError, SchemaOutdatedError
from tests.migrations.conftest import ANOTHER_VERSION, run_statements
from tests.sql.corpus import call, put, value

OF_ANOTHER_SHAPE = [
    # another row shape
    "drop function lexichord.list_keys(); create function lexichord.list_keys() "
    "returns table (key text) language sql as 'select null::text'",
    # another result
    "drop function lexichord.is_narrow(bigint[]); create function lexichord.is_narrow("
    "documents bigint[]) returns int language sql as 'select 1'",
    # other names of parameters
    "drop function lexichord.is_narrow(bigint[]); create function lexichord.is_narrow("
    "ids bigint[]) returns boolean language sql as 'select true'",
    # fewer, more and other parameters
    "drop function lexichord.list_runs; create function lexichord.list_runs() "
    "returns int language sql as 'select 1'",
    "drop function lexichord.is_narrow(bigint[]); create function lexichord.is_narrow("
    "documents bigint[], most int default 1) returns boolean language sql as 'select true'",
    "drop function lexichord.document_text(bigint); create function lexichord.document_text("
    "document text) returns text language sql as 'select document'",
    # another default
    "create or replace function lexichord.document_text(document bigint default 1) "
    "returns text language sql as 'select null::text'",
    # one of the same name beside it, made before and after it
    "create function lexichord.is_narrow(a text) returns int language sql as 'select 1'",
    "create function lexichord.is_narrow(a text) returns int language sql as 'select 1'; "
    "drop function lexichord.is_narrow(bigint[]); create function lexichord.is_narrow("
    "documents bigint[]) returns boolean language sql as 'select true'",
    # none
    "drop function lexichord.hybrid_search",
]


def signatures(dsn: str) -> set[Any]:
    """What the functions are, without the numbers that they have in this database."""
    with psycopg.connect(dsn) as connection:
        rows = connection.execute(
            "select oid::regprocedure::text, pg_get_function_result(oid), "
            "md5(pg_get_functiondef(oid)), obj_description(oid) "
            "from pg_proc where pronamespace = 'lexichord'::regnamespace"
        )
        return set(rows.fetchall())


def oids(dsn: str) -> dict[str, int]:
    with psycopg.connect(dsn) as connection:
        return dict(
            connection.execute(
                "select oid::regprocedure::text, oid::int from pg_proc "
                "where pronamespace = 'lexichord'::regnamespace"
            ).fetchall()
        )


def test_functions_of_another_version_are_told_and_replaced(dsn: str, choice: Choice) -> None:
    before, ours = oids(dsn), signatures(dsn)
    run_statements(
        dsn,
        ANOTHER_VERSION,
        "update lexichord_data.function_release set version = '0.0.1'",
        "create or replace function lexichord.is_narrow(documents bigint[]) returns boolean "
        "language sql as 'select false'",
    )
    with pytest.raises(SchemaOutdatedError, match="another version of lexichord: run lexichord"):
        check(dsn)
    prepare(dsn, choice)
    check(dsn)
    assert (oids(dsn), signatures(dsn)) == (before, ours)
    with psycopg.connect(dsn) as connection:
        released = "select version from lexichord_data.function_release"
        assert value(connection, released) == version("lexichord")


def test_an_older_program_refuses(dsn: str, choice: Choice) -> None:
    of_the_newer = "create function lexichord.later() returns int language sql as 'select 1'"
    run_statements(dsn, ANOTHER_VERSION, of_the_newer)
    before = signatures(dsn)
    for newer in ("99.0.0", "99.0.0rc1", "99.0", "0.99999.0.dev3"):
        run_statements(dsn, f"update lexichord_data.function_release set version = '{newer}'")
        with pytest.raises(SchemaOutdatedError, match=f"by lexichord {newer}, this is .*: upgrade"):
            prepare(dsn, choice)
        assert signatures(dsn) == before


def test_any_older_version_is_brought_up_to_date(dsn: str, choice: Choice) -> None:
    for older in ("0.0.1", "0.0.1rc2", "0.0"):
        set_version = f"update lexichord_data.function_release set version = '{older}'"
        run_statements(dsn, ANOTHER_VERSION, set_version)
        prepare(dsn, choice)
        check(dsn)


def test_grants_views_and_functions_of_others_survive(dsn: str, choice: Choice) -> None:
    run_statements(
        dsn,
        "revoke all on function lexichord.list_keys() from public",
        "grant execute on function lexichord.list_keys() to pg_monitor",
        "create view public.hits as select * from lexichord.hybrid_search('w1')",
        "create view public.narrow as select lexichord.is_narrow(array[1]) as narrow",
        "create function public.count_hits() returns bigint language sql "
        "begin atomic select count(*) from lexichord.hybrid_search('w1'); end",
        ANOTHER_VERSION,
    )
    with psycopg.connect(dsn, autocommit=True) as connection:
        put(connection, "a", ["w1"])
        acl = "select proacl::text from pg_proc where proname = 'list_keys'"
        granted = value(connection, acl)
        prepare(dsn, choice)
        assert value(connection, acl) == granted
        assert "pg_monitor=X" in granted
        assert value(connection, "select uri from public.hits") == "a"
        assert value(connection, "select public.count_hits()") == 1
    check(dsn)


def test_a_function_that_vanished_is_dropped(dsn: str, choice: Choice) -> None:
    ours = signatures(dsn)
    run_statements(
        dsn,
        "create function lexichord.old_thing(a int) returns int language sql as 'select 1'",
        "create function lexichord.old_thing(a text) returns int language sql as 'select 1'",
        ANOTHER_VERSION,
    )
    prepare(dsn, choice)
    assert signatures(dsn) == ours


@pytest.mark.parametrize(
    ("function", "use"),
    [
        (
            "create function lexichord.old_thing() returns int language sql as 'select 1'",
            "create view public.mine as select lexichord.old_thing()",
        ),
        (
            "create or replace function lexichord.list_keys(fewest bigint) "
            "returns table (key text) language sql as 'select null::text'",
            "create view public.mine as select * from lexichord.list_keys(3)",
        ),
    ],
)
def test_what_depends_on_a_function_that_must_go_is_named(
    dsn: str, choice: Choice, function: str, use: str
) -> None:
    run_statements(dsn, function, use, ANOTHER_VERSION)
    before = signatures(dsn)
    with pytest.raises(DatabaseError, match=r"lexichord\.\w+\(.*\(view mine depends.*drop them"):
        prepare(dsn, choice)
    assert signatures(dsn) == before
    run_statements(dsn, "drop view public.mine")
    prepare(dsn, choice)
    check(dsn)


def test_functions_of_another_shape_are_mended(dsn: str, choice: Choice) -> None:
    ours = signatures(dsn)
    for old in OF_ANOTHER_SHAPE:
        run_statements(dsn, old, ANOTHER_VERSION)
        assert signatures(dsn) != ours, old
        prepare(dsn, choice)
        assert signatures(dsn) == ours, old
    with psycopg.connect(dsn) as connection:
        put(connection, "a", ["w1"])
        assert len(call(connection, "hybrid_search", query="w1")) == 1


def test_a_failure_half_way_leaves_the_old_functions(dsn: str, choice: Choice) -> None:
    """The last file in order cannot be replaced, for it is a procedure here."""
    run_statements(
        dsn,
        "create or replace function lexichord.card_candidates(query text, depth integer "
        "default 100, documents bigint[] default null) returns table (document_id bigint, "
        "rank bigint, score double precision) language sql as 'select 1::bigint, 1::bigint, 1.0'",
        "drop function lexichord.store_document",
        "create procedure lexichord.store_document(dataset text, uri text, title text, "
        "media_type text, sha256 text, recipe text, content text, metadata jsonb) "
        "language sql as 'select 1'",
        ANOTHER_VERSION,
    )
    before = signatures(dsn)
    with pytest.raises(DatabaseError):
        prepare(dsn, choice)
    assert signatures(dsn) == before
