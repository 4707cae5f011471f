"""A new version replaces the functions; what others built on them stays, or is named."""

import os
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row

from lexichord.db.schema import Choice, check, prepare
from lexichord.errors import DatabaseError, SchemaOutdatedError
from tests.conftest import ROOT
from tests.migrations.conftest import ANOTHER_VERSION, run_statements
from tests.sql.corpus import SHARED, call, put, value

LAST = max(path.stem for path in SHARED)
# What is mended at once: each of a group is of another function.
OF_ANOTHER_SHAPE = [
    [
        # another row shape
        "drop function lexichord.list_keys(); create function lexichord.list_keys() "
        "returns table (key text) language sql as 'select null::text'",
        # another result
        "drop function lexichord.is_narrow(bigint[]); create function lexichord.is_narrow("
        "documents bigint[]) returns int language sql as 'select 1'",
        # fewer and other parameters
        "drop function lexichord.list_runs; create function lexichord.list_runs() "
        "returns int language sql as 'select 1'",
        "drop function lexichord.document_text(bigint); create function lexichord.document_text("
        "document text) returns text language sql as 'select document'",
        # none
        "drop function lexichord.hybrid_search",
        # two that are no more
        "create function lexichord.old_thing(a int) returns int language sql as 'select 1'",
        "create function lexichord.old_thing(a text) returns int language sql as 'select 1'",
    ],
    [
        # other names of parameters
        "drop function lexichord.is_narrow(bigint[]); create function lexichord.is_narrow("
        "ids bigint[]) returns boolean language sql as 'select true'",
        # another default
        "create or replace function lexichord.document_text(document bigint default 1) "
        "returns text language sql as 'select null::text'",
    ],
    # more parameters
    [
        "drop function lexichord.is_narrow(bigint[]); create function lexichord.is_narrow("
        "documents bigint[], most int default 1) returns boolean language sql as 'select true'"
    ],
    # one of the same name beside it, made before and after it
    ["create function lexichord.is_narrow(a text) returns int language sql as 'select 1'"],
    [
        "create function lexichord.is_narrow(a text) returns int language sql as 'select 1'; "
        "drop function lexichord.is_narrow(bigint[]); create function lexichord.is_narrow("
        "documents bigint[]) returns boolean language sql as 'select true'"
    ],
]


def rows(connection: psycopg.Connection, table: str) -> list[dict[str, Any]]:
    with connection.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(f"select * from {table}".encode()).fetchall()


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
    for newer in ("99.0.0", "99.0.0rc1", "99.0", "1.99999.0.dev3"):
        run_statements(dsn, f"update lexichord_data.function_release set version = '{newer}'")
        with pytest.raises(SchemaOutdatedError, match=f"by lexichord {newer}, this is .*: upgrade"):
            prepare(dsn, choice)
        assert signatures(dsn) == before


def test_any_older_version_is_brought_up_to_date(dsn: str, choice: Choice) -> None:
    for older in ("0.0.1rc2", "0.0", f"{version('lexichord')}rc1"):
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


@pytest.mark.parametrize(
    ("name", "function", "use"),
    [
        (
            "old_thing",
            "create function lexichord.old_thing() returns int language sql as 'select 1'",
            "create view public.mine as select lexichord.old_thing()",
        ),
        (
            "list_keys",
            "create or replace function lexichord.list_keys(fewest bigint) "
            "returns table (key text) language sql as 'select null::text'",
            "create view public.mine as select * from lexichord.list_keys(3)",
        ),
        (  # with a column that is no more
            "list_keys",
            "drop function lexichord.list_keys(); create function lexichord.list_keys() "
            "returns table (key text, gone text) language sql as 'select null::text, null::text'",
            "create view public.mine as select * from lexichord.list_keys()",
        ),
    ],
)
def test_what_depends_on_a_function_that_must_go_is_named(
    dsn: str, choice: Choice, name: str, function: str, use: str
) -> None:
    ours = signatures(dsn)
    run_statements(dsn, function, use, ANOTHER_VERSION)
    before = signatures(dsn)
    message = rf"^lexichord\.{name}\(.*\(view public\.mine depends.*drop them"
    with pytest.raises(DatabaseError, match=message):
        prepare(dsn, choice)
    assert signatures(dsn) == before
    run_statements(dsn, "drop view public.mine")
    prepare(dsn, choice)
    check(dsn)
    assert signatures(dsn) == ours


def test_functions_of_another_shape_are_mended(dsn: str, choice: Choice) -> None:
    ours = signatures(dsn)
    for group in OF_ANOTHER_SHAPE:
        for old in group:
            before = signatures(dsn)
            run_statements(dsn, old)
            assert signatures(dsn) != before, old
        run_statements(dsn, ANOTHER_VERSION)
        prepare(dsn, choice)
        assert signatures(dsn) == ours, group
    with psycopg.connect(dsn) as connection:
        put(connection, "a", ["w1"])
        assert len(call(connection, "hybrid_search", query="w1")) == 1


def test_a_failure_half_way_leaves_the_old_functions(dsn: str, choice: Choice) -> None:
    """The last file in order cannot be replaced: the server refuses it."""
    run_statements(
        dsn,
        "create or replace function lexichord.card_candidates(query text, depth integer "
        "default 100, documents bigint[] default null) returns table (document_id bigint, "
        "rank bigint, score double precision) language sql as 'select 1::bigint, 1::bigint, 1.0'",
        "create function public.refuse_last() returns event_trigger language plpgsql as $$ begin "
        "if exists (select from pg_event_trigger_ddl_commands() as c "
        f"where c.object_identity like 'lexichord.{LAST}(%') then "
        "raise exception 'not this one'; end if; end $$",
        "create event trigger refuse_last on ddl_command_end when tag in ('CREATE FUNCTION') "
        "execute function public.refuse_last()",
        ANOTHER_VERSION,
    )
    before = signatures(dsn)
    with pytest.raises(DatabaseError, match="not this one"):
        prepare(dsn, choice)
    assert signatures(dsn) == before


SEARCH_OF_BEFORE = (  # fewer arguments and columns, in another order
    "drop function lexichord.hybrid_search",
    "create function lexichord.hybrid_search(query text, k integer default 10) "
    "returns table (uri text, score double precision, chunk_id bigint) language sql as "
    "'select ''of before'', 1.0::float8, 1::bigint'",
    "create view public.hits as select * from lexichord.hybrid_search('w1')",
    "create view public.places as select uri from public.hits",
    "create materialized view public.kept as select * from lexichord.hybrid_search('w1', k => 1)",
    "create function public.count_hits() returns bigint language sql "
    "begin atomic select count(*) from lexichord.hybrid_search('w1'); end",
    ANOTHER_VERSION,
)
HIT_VIEWS = {
    "hits": "lexichord.hybrid_search('w1')",
    "numbered": "lexichord.search_each(array['w1'], array[1])",
    "varied": """lexichord.search_variants('[{"name": "v", "text": "w1"}]')""",
}
LATER = {  # the edits that add a column to each hit
    "sql/types/hit.sql": ("later text[] := '{}'", "later text[] := '{length integer}'"),
    "sql/search/hybrid_search.sql": ("b.fused_score\n", "b.fused_score, length(h.content)\n"),
    "sql/search/search_variants.sql": (
        "f.ranks, f.parts\n",
        "f.ranks, f.parts, length(h.content)\n",
    ),
}
PREPARE = (
    "import sys; from lexichord.db.schema import Choice, prepare; prepare(sys.argv[1], Choice())"
)
FORMER = "select count(*) from pg_proc where pronamespace = to_regnamespace('lexichord_former')"


def test_views_survive_a_search_that_gains_arguments_and_columns(dsn: str, choice: Choice) -> None:
    run_statements(dsn, *SEARCH_OF_BEFORE)
    with psycopg.connect(dsn, autocommit=True) as connection:
        assert value(connection, "select uri from public.places") == "of before"
        put(connection, "a", ["w1"])
        for _ in range(2):
            prepare(dsn, choice)
            check(dsn)
            connection.execute("refresh materialized view public.kept")
            for view in ("hits", "kept"):
                rows = connection.execute(f"select uri, chunk_id from public.{view}".encode())
                assert rows.fetchall() == [("a", 1)]
            assert value(connection, "select uri from public.places") == "a"
            assert value(connection, "select public.count_hits()") == 1
            run_statements(dsn, ANOTHER_VERSION)


def test_views_survive_a_hit_that_gains_a_column(dsn: str, tmp_path: Path) -> None:
    """By a program that was edited as its next version would be."""
    run_statements(
        dsn, *(f"create view public.{view} as select * from {f}" for view, f in HIT_VIEWS.items())
    )
    for part in ("src", "sql", "migrations"):
        shutil.copytree(ROOT / part, tmp_path / part)
    for name, (old, new) in LATER.items():
        text = (tmp_path / name).read_text()
        assert text.count(old) == 1, name
        (tmp_path / name).write_text(text.replace(old, new))
    with psycopg.connect(dsn, autocommit=True) as connection:
        put(connection, "a", ["w1 w2"])
        connection.execute("select lexichord.build_indexes()")
        before = {view: rows(connection, f"public.{view}") for view in HIT_VIEWS}
        environment = {**os.environ, "PYTHONPATH": str(tmp_path / "src")}
        subprocess.run([sys.executable, "-c", PREPARE, dsn], env=environment, check=True)
        for view, function in HIT_VIEWS.items():
            assert rows(connection, f"public.{view}") == before[view] != []
            assert rows(connection, function) == [{**row, "length": 5} for row in before[view]]
        assert value(connection, FORMER) == 0


def test_a_function_of_before_leaves_its_grants_and_goes_with_the_last_view(
    dsn: str, choice: Choice
) -> None:
    run_statements(
        dsn,
        *SEARCH_OF_BEFORE,
        "revoke all on function lexichord.hybrid_search from public",
        "grant execute on function lexichord.hybrid_search to pg_monitor with grant option",
    )
    prepare(dsn, choice)
    ours = signatures(dsn)
    with psycopg.connect(dsn, autocommit=True) as connection:
        acl = "select proacl::text from pg_proc where oid = to_regproc('lexichord.hybrid_search')"
        granted = value(connection, acl)
        assert "pg_monitor=X*/" in granted
        assert "{=X/" not in granted
        assert ",=X/" not in granted
        assert value(connection, FORMER) == 1
        run_statements(
            dsn,
            "create or replace function public.count_hits() returns bigint language sql "
            "begin atomic select count(*) from lexichord.hybrid_search('w1'); end",
            "drop view public.hits cascade",
            "drop materialized view public.kept",
            ANOTHER_VERSION,
        )
        prepare(dsn, choice)
        assert value(connection, FORMER) == 0
        assert value(connection, "select to_regnamespace('lexichord_former') is null")
    assert signatures(dsn) == ours
