"""The SQL interface: what holds for every function and file."""

import hashlib
import re

import pytest

from lexichord.db.schema import FOLDERS
from lexichord.types import SearchOptions
from tests.conftest import ROOT
from tests.sql.corpus import (
    NO_FUNCTIONS,
    OF_AN_ENGINE,
    OF_WORKERS,
    SHARED,
    SIGNATURES,
    Connection,
    declared,
    engine_of,
    inner_functions,
    offered,
    signatures,
    value,
)

# A procedure that commits may have no path of its own: what it names is qualified.
COMMITS = {"prepare_query"}
# Who writes into an indexed table needs no right on ours, so these write as their owner.
OF_TRIGGERS = {"queue_row", "spread_vectors"}
OF_TENANTS = {"own_principals", "own_statistics"}  # what they read is not the caller's to read
PATHS = ("pg_catalog, pg_temp", "pg_catalog, lexichord_data, pg_temp")
EXTENDS_ITS_PATH = {
    "keyword_proposals",
    "segment_proposals",
    "index_use",
}  # while a statement of qualified names is run
OWN = "pronamespace in ('lexichord'::regnamespace, 'lexichord_data'::regnamespace)"


def test_no_name_stands_for_two_functions(library: Connection) -> None:
    rows = library.execute(SIGNATURES.encode()).fetchall()
    assert len(rows) == len({name for name, _, _ in rows})


def test_every_function_runs_as_its_caller_on_a_fixed_path(library: Connection) -> None:
    rows = library.execute(
        f"select proname, prosecdef, proconfig, prosrc from pg_proc where {OWN} "
        "and prosqlbody is null"  # else it was read when it was made
    ).fetchall()
    assert len(rows) > 50
    for name, definer, settings, body in rows:
        assert not definer or name in OF_TRIGGERS | OF_TENANTS | OF_WORKERS, name
        if name in COMMITS:
            continue
        (path,) = [each for each in settings or [] if each.startswith("search_path=")]
        assert path.removeprefix("search_path=") in PATHS, name
        assert "set_config('search_path'" not in body or name in EXTENDS_ITS_PATH, name
        if "\\" in body:  # else a session's setting would change what its literals mean
            assert "standard_conforming_strings=on" in settings, name


def test_the_defaults_are_those_of_the_options(library: Connection) -> None:
    options = SearchOptions()
    assert value(library, "select lexichord.default_k()") == options.k
    assert value(library, "select lexichord.default_depth()") == options.depth


def test_what_forbids_plans_forbids_compiling_them(library: Connection) -> None:
    """Before PostgreSQL 18 what is forbidden costs so much that it is compiled: 250 ms a call."""
    rows = library.execute(
        f"select proname, proconfig from pg_proc where {OWN} "
        "and proconfig::text ~ '[{,]enable_.*=off'"
    ).fetchall()
    assert rows
    for name, settings in rows:
        assert "jit=off" in settings, name


def test_every_function_says_what_it_is_for(library: Connection) -> None:
    silent = library.execute(
        "select proname from pg_proc where pronamespace = 'lexichord'::regnamespace "
        "and coalesce(obj_description(oid, 'pg_proc'), '') = ''"
    ).fetchall()
    assert silent == []


def test_installed_are_the_files_of_the_engine_and_no_others(library: Connection) -> None:
    engine = engine_of(library)
    files = [
        *SHARED,
        *(path for each in FOLDERS[engine] for path in (ROOT / "sql/engine" / each).glob("*.sql")),
    ]
    rows = library.execute(
        "select proname from pg_proc where pronamespace = 'lexichord'::regnamespace"
    ).fetchall()
    assert {path.stem for path in files} - NO_FUNCTIONS == {name for (name,) in rows}


def test_the_files_are_found_each_by_a_name_of_its_own() -> None:
    assert len(SHARED) > 250
    assert len(SHARED) == len({path.name for path in SHARED})


def test_the_folders_are_topics_that_can_be_looked_through() -> None:
    listed = re.findall(r"(?m)^\| `(\w+)` \| \w", (ROOT / "sql/README.md").read_text())
    folders = {path for path in (ROOT / "sql").iterdir() if path.is_dir()}
    assert sorted(listed) == sorted(path.name for path in folders)
    assert len(folders) > 15
    assert all(len(list(path.glob("*.sql"))) <= 60 for path in folders)
    assert not list((ROOT / "sql").glob("*.sql"))


def test_a_file_that_is_named_is_there() -> None:
    texts = (
        path.read_text(encoding="utf-8")
        for folder in ("src", "scripts", "tests", "docs/sql", "docs/reference")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".md", ".py", ".toml")
    )
    named = {name for text in texts for name in re.findall(r"\bsql/(?:\w+/)*\w+\.sql\b", text)}
    assert len(named) > 100
    assert {name for name in named if not (ROOT / name).is_file()} == set()


def test_a_file_holds_the_one_function_that_it_is_named_after() -> None:
    for path in (ROOT / "sql").rglob("*.sql"):
        if path.stem in NO_FUNCTIONS or path.parent.name in ("types", "state"):
            continue
        for kind in ("create or replace", "comment on"):
            made = re.findall(rf"(?m)^{kind} (?:function|procedure) (\S+?)\(", path.read_text())
            assert made == [f"lexichord.{path.stem}"], path


def test_engines_offer_the_same() -> None:
    offers = [{name: offered(engine)[name] for name in OF_AN_ENGINE} for engine in FOLDERS]
    assert all(each == offers[0] for each in offers)
    assert len(OF_AN_ENGINE) <= 13


@pytest.mark.parametrize("engine", FOLDERS)
def test_what_an_engine_does_its_own_way_is_called_as_before(engine: str) -> None:
    own = offered(engine)
    shared = {path.stem: declared(path) for path in SHARED if path.stem in own}
    assert shared == {name: own[name] for name in shared}
    assert len(shared) <= 5


def test_of_an_engine_only_what_all_offer_is_anybodys_to_call(library: Connection) -> None:
    engine = engine_of(library)
    own = offered(engine).keys() - {path.stem for path in SHARED}
    assert own - inner_functions(library) <= OF_AN_ENGINE


@pytest.mark.parametrize("engine", FOLDERS)
def test_nothing_else_of_an_engine_is_called_from_outside(engine: str) -> None:
    inner = offered(engine).keys() - OF_AN_ENGINE - {path.stem for path in SHARED}
    shared = "".join(path.read_text() for path in SHARED)
    assert not inner & set(re.findall(r"lexichord\.(\w+)\(", shared))


def test_the_ledger_has_each_migration_with_its_digest(library: Connection) -> None:
    rows = library.execute("select number, name, sha256 from lexichord_data.migration order by 1")
    files = sorted((ROOT / "migrations").glob("*.sql"))
    assert rows.fetchall() == [
        (int(path.name[:4]), path.stem[5:], hashlib.sha256(path.read_bytes()).hexdigest())
        for path in files
    ]
    assert [int(path.name[:4]) for path in files] == list(range(35, 35 + len(files)))


def test_the_descriptions_name_nothing_else(library: Connection) -> None:
    text = "".join(path.read_text() for path in (ROOT / "docs/sql").glob("*.md"))
    named = set(re.findall(r"`(\w+)\(", text))
    assert len(named) > 20
    assert named <= signatures(library).keys()
