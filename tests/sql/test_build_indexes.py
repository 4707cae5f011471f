import pytest

from tests.sql.corpus import Connection, Vector, call, put, small_segments, value

INDEXES = "select count(*) from lexichord.index_use() where plan is not null"

ANALYZED = ["document", "dataset", "configuration", "embedding_space", "corpus", "chunk"]
ANALYZED += ["term_change"]  # of rows that were folded
ROWS_KNOWN = """
select relname, reltuples from pg_class
where relnamespace = 'lexichord_data'::regnamespace and relname = any(%s)"""


def built(connection: Connection) -> int:
    """How many indexes a small corpus has: so few chunks are not sealed."""
    return 1 + int(value(connection, "select count(*) from lexichord.keyword_index()"))


def test_an_empty_table_gets_no_index(connection: Connection) -> None:
    assert value(connection, "select lexichord.build_indexes()") is False
    assert value(connection, INDEXES) == 0


def test_builds_once(connection: Connection) -> None:
    put(connection, "a", ["w1", "w2"], [[1, 0, 0, 0], [0, 1, 0, 0]])
    assert value(connection, "select lexichord.build_indexes()") is True
    assert value(connection, INDEXES) == built(connection)
    assert value(connection, "select lexichord.build_indexes()") is False


@pytest.mark.parametrize("vectors", [[], [[1, 0, 0, 0]]])
def test_small_tables_have_statistics_as_well(
    connection: Connection, vectors: list[Vector]
) -> None:
    """Autovacuum makes none of them, and the planner guessed ten full pages."""
    put(connection, "a", ["w1"], vectors)
    call(connection, "build_indexes")
    rows = dict(connection.execute(ROWS_KNOWN, [ANALYZED]).fetchall())
    assert rows == dict.fromkeys(ANALYZED, 1) | {"term_change": 0}


def test_builds_what_is_missing(connection: Connection) -> None:
    put(connection, "a", ["w1", "w2"], [[1, 0, 0, 0], [0, 1, 0, 0]])
    call(connection, "build_indexes")
    for row in call(connection, "index_use")[: built(connection)]:
        connection.execute(f"drop index lexichord_data.{row['index_name']}".encode())
        assert value(connection, "select lexichord.build_indexes()") is True
        assert value(connection, INDEXES) == built(connection)


@pytest.mark.parametrize("table", ["keyword_part_1", "keyword_part_1_term"])
def test_a_segment_whose_tables_are_gone_is_made_anew(connection: Connection, table: str) -> None:
    """As where statements that make tables did not come along with the rows."""
    small_segments(connection)
    put(connection, "a", [f"w1 w{number}" for number in range(2, 122)])
    call(connection, "build_indexes")
    if value(connection, f"select to_regclass('lexichord_data.{table}') is null"):
        pytest.skip("this engine's segments are no tables of their own")
    connection.execute(f"drop table lexichord_data.{table}".encode())
    assert len(call(connection, "keyword_candidates", query="w1", depth=200)) == 120
    assert value(connection, "select lexichord.rebuild_indexes()") is True
    assert len(call(connection, "keyword_candidates", query="w1", depth=200)) == 120
    assert value(connection, "select count(*) from lexichord_data.keyword_segment") == 1
