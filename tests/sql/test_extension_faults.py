"""known_faults: which versions of the extensions have which faults, and what is said of them."""

import pytest

from lexichord.db.schema import ENGINES
from tests.sql.corpus import Connection, Row, call, put, value

ENGINE = "select engine from lexichord.configuration()"
LESS = "select lexichord.release_numbers(%s) < lexichord.release_numbers(%s)"
INSTALL = "install vector {} or later and run: alter extension vector update; "
REBUILD = "select lexichord.rebuild_indexes();"


def faults(connection: Connection, version: str, extension: str = "vector") -> list[Row]:
    """List the faults as if this version were installed: no server has them all."""
    connection.execute(
        "update pg_extension set extversion = %s where extname = %s", [version, extension]
    )
    engine = "plain" if extension == "vector" else value(connection, ENGINE)
    return call(connection, "extension_faults", engine=engine)


@pytest.mark.parametrize(
    ("version", "numbers"),
    [("0.8", [0, 8, 0]), ("0.8.2", [0, 8, 2]), ("1.5.0-dev", [1, 5, 0]), ("1.10.0rc1", [1, 10, 0])],
)
def test_versions_are_compared_by_their_numbers(
    connection: Connection, version: str, numbers: list[int]
) -> None:
    assert value(connection, "select lexichord.release_numbers(%s)", version) == numbers


@pytest.mark.parametrize(
    ("version", "mended_in", "severity"),
    [
        ("0.7.4", ["0.8.0", "0.8.3", "0.8.2"], ["refuse", "warn", "warn"]),
        ("0.8.1", ["0.8.3", "0.8.2"], ["warn", "warn"]),
        ("0.8.2", ["0.8.3"], ["warn"]),
        ("0.8.2-dev", ["0.8.3"], ["warn"]),
        ("0.8.3", ["0.8.4"], ["warn"]),
        ("0.8.4", [], []),
        ("0.10.0", [], []),
    ],
)
def test_a_version_has_the_faults_of_its_range(
    connection: Connection, version: str, mended_in: list[str], severity: list[str]
) -> None:
    found = faults(connection, version)
    assert [fault["mended_in"] for fault in found] == mended_in
    assert [fault["severity"] for fault in found] == severity
    assert {fault["version"] for fault in found} <= {version}
    for fault in found:
        assert fault["remedy"] == INSTALL.format(fault["mended_in"]) + REBUILD


def test_releases_of_pg_textsearch_before_1_4_are_refused(connection: Connection) -> None:
    if value(connection, ENGINE) != "textsearch":
        pytest.skip("the engine has no pg_textsearch")
    faults(connection, "0.8.5")
    amounts = [("0.6.1", 6, 0), ("1.2.0", 2, 0), ("1.3.1", 1, 1), ("1.4.0", 0, 2)]
    for version, *expected in amounts:
        found = [fault["severity"] for fault in faults(connection, version, "pg_textsearch")]
        assert [found.count("refuse"), found.count("warn")] == expected


def test_searches_go_without_the_cache_that_makes_all_wait(connection: Connection) -> None:
    """pg_textsearch 1.4.0 with it: 2 searches, 8 writers and a vacuum hung for good twice."""
    if value(connection, ENGINE) != "textsearch":
        pytest.skip("the engine has no pg_textsearch")
    put(connection, "a.md", ["w1 w2", "w2 w3"])
    call(connection, "build_indexes")
    put(connection, "b.md", ["w1 w4"])
    said: list[str] = []
    connection.add_notice_handler(lambda notice: said.append(notice.message_primary or ""))
    connection.execute("set pg_textsearch.log_cache_state = on")
    connection.execute("set client_min_messages = log")
    assert len(call(connection, "keyword_candidates", query="w1")) == 2
    assert any("disabled_by_guc" in line for line in said)
    assert not any("cold_build" in line for line in said)


def test_only_a_version_to_refuse_is_a_problem(connection: Connection) -> None:
    if value(connection, ENGINE) == "vectorchord":
        pytest.skip("the engine has no HNSW index")
    assert faults(connection, "0.8.2")
    assert call(connection, "find_problems") == []
    refused = faults(connection, "0.7.4")[0]
    assert call(connection, "find_problems") == [
        {"problem": f"vector 0.7.4: {refused['problem']}", "remedy": refused["remedy"]}
    ]


def test_the_table_is_sound(connection: Connection) -> None:
    known = call(connection, "known_faults")
    assert len({(fault["extension"], fault["problem"]) for fault in known}) == len(known) > 10
    for fault in known:
        assert all(fault["extension"] in ENGINES[engine] for engine in fault["engines"])
        first, last, mended = (
            fault[name] for name in ("first_version", "last_version", "mended_in")
        )
        assert (last is None) == (mended is None)
        assert not first or not last or not value(connection, LESS, last, first)
        assert not last or value(connection, LESS, last, mended)
