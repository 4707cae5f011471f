"""A second space beside the first: filled, indexed, swapped, swapped back, dropped."""

import threading
from collections.abc import Sequence
from random import Random
from typing import Any

import psycopg
import pytest
from psycopg import errors

from tests.sql.corpus import Connection, Row, call, engine_of, ids, put, random_vectors, value

OLD, NEW = "test/tiny/4", "test/other/3"
COLUMNS = (
    "select string_agg(attname, ',' order by attname) from pg_attribute "
    "where attrelid = 'lexichord_data.chunk'::regclass and not attisdropped "
    "and attname ~ 'embedding'"
)
INDEXES = "select string_agg(indexname, ',' order by indexname) from pg_indexes "
INDEXES += "where tablename = 'chunk' and indexname ~ 'hnsw|dense|missing'"


def start(connection: Connection, model: str = "other", dimension: int = 3) -> None:
    call(connection, "start_reembed", provider="test", model=model, dimension=dimension)


def build(connection: Connection, filled: bool) -> None:
    for row in call(connection, "reembed_index_statements", filled=filled):
        connection.execute(row["reembed_index_statements"].encode())


def vector(chunk: int, dimension: int = 3) -> str:
    random = Random(chunk)
    return str([round(random.gauss(0, 1), 3) for _ in range(dimension)])


def missing(connection: Connection) -> list[Row]:
    return call(connection, "chunks_without_other", after=0, batch=100_000)


def fill(connection: Connection, rows: Sequence[Row], space: str = NEW) -> int:
    return int(
        call(
            connection,
            "set_other_vectors",
            space=space,
            chunk_ids=[row["chunk_id"] for row in rows],
            row_versions=[row["row_version"] for row in rows],
            vectors=[vector(row["chunk_id"], int(space.split("/")[-1])) for row in rows],
        )[0]["set_other_vectors"]
    )


def swap(connection: Connection, **arguments: Any) -> tuple[bool, int]:
    row = call(connection, "swap_spaces", **arguments)[0]
    return row["swapped"], row["missing"]


def status(connection: Connection) -> Row:
    return call(connection, "reembed_status")[0]


def stock(connection: Connection, documents: int = 30) -> None:
    random = Random(3)
    for number in range(documents):
        put(connection, f"d{number}", ["w1 w2", "w3", f"x{number}"], random_vectors(random, 3))
    call(connection, "build_indexes")


def moved(connection: Connection) -> None:
    """Take all steps to the other space."""
    start(connection)
    build(connection, filled=False)
    fill(connection, missing(connection))
    build(connection, filled=True)
    assert swap(connection) == (True, 0)


def space(connection: Connection) -> str:
    return str(value(connection, "select space from lexichord.configuration()"))


def nearest(connection: Connection, query: str, **arguments: Any) -> list[int]:
    return ids(call(connection, "dense_candidates", query_vector=query, **arguments))


def test_before_and_after_the_swap_and_back(fresh: Connection) -> None:
    stock(fresh)
    before = nearest(fresh, "[1,0,0,0]")
    indexes = value(fresh, INDEXES)
    assert call(fresh, "reembed_status") == []
    start(fresh)
    start(fresh)  # what is made is found
    build(fresh, filled=False)
    rows = missing(fresh)
    assert len(rows) == 90
    assert fill(fresh, rows[:40]) == 40
    assert swap(fresh) == (False, 50)
    assert (space(fresh), nearest(fresh, "[1,0,0,0]")) == (OLD, before)
    assert fill(fresh, rows) == 50  # none twice
    assert (status(fresh)["missing"], status(fresh)["embedded"]) == (0, 90)
    build(fresh, filled=True)
    build(fresh, filled=True)
    assert value(fresh, "select count(*) from pg_index where not indisvalid") == 0
    assert swap(fresh) == (True, 0)

    assert space(fresh) == NEW
    assert value(fresh, COLUMNS) == "embedding,other_embedding"
    expected = ids(call(fresh, "exact_dense_candidates", query_vector="[1,0,0]"))
    assert nearest(fresh, "[1,0,0]") == expected
    assert (status(fresh)["state"], status(fresh)["other_space"]) == ("swapped", OLD)
    with pytest.raises(
        errors.DataException, match=f"of {OLD}, the database's vectors are of {NEW}"
    ):
        call(fresh, "hybrid_search", query="w1", query_vector="[1,0,0,0]", query_space=OLD)

    build(fresh, filled=False)
    assert swap(fresh) == (True, 0)
    assert (space(fresh), nearest(fresh, "[1,0,0,0]")) == (OLD, before)
    assert status(fresh)["state"] == "filling"  # forward again, if that is wanted
    assert call(fresh, "drop_other")[0]["drop_other"] == NEW
    assert (value(fresh, COLUMNS), value(fresh, INDEXES)) == ("embedding", indexes)
    assert status(fresh)["state"] == "dropped"
    assert call(fresh, "find_problems") == []


def test_the_new_index_is_used(fresh: Connection) -> None:
    if engine_of(fresh) == "citus":
        pytest.skip("so few chunks a shard are read without: see test_citus")
    random = Random(5)
    for number in range(60):
        put(fresh, f"d{number}", [f"w{line}" for line in range(60)], random_vectors(random, 60))
    call(fresh, "build_indexes")
    moved(fresh)
    fresh.execute("analyze lexichord_data.chunk")
    dense, keyword = call(fresh, "index_use")
    assert dense["used"], dense
    assert keyword["used"] or keyword["plan"] is None, keyword
    assert len(nearest(fresh, "[1,0,0]", depth=200)) == 200
    assert value(fresh, "select lexichord.dense_recall('[1,0,0]', 10)") > 0.8
    assert call(fresh, "outgrown_indexes") == []
    call(fresh, "drop_other")
    if engine_of(fresh) == "vectorchord":
        builds = "select string_agg(index_name, ',' order by index_name) "
        builds += "from lexichord_data.index_build"
        assert value(fresh, builds) == "chunk_dense"
    assert call(fresh, "index_use")[0]["used"]
    call(fresh, "rebuild_indexes")
    assert call(fresh, "index_use")[0]["used"]


def test_what_others_store_meanwhile(fresh: Connection) -> None:
    stock(fresh, 2)
    start(fresh)
    build(fresh, filled=False)
    rows = missing(fresh)
    put(fresh, "d0", ["w1 w2", "another"], [[1, 0, 0, 0], [0, 1, 0, 0]])  # replaced
    put(fresh, "new", ["w9"], [[1, 1, 0, 0]])
    assert fill(fresh, rows) == 3
    assert swap(fresh) == (False, 3)
    fill(fresh, missing(fresh))
    put(fresh, "d1", ["w1 w2"], [[1, 0, 0, 0]])
    assert swap(fresh) == (False, 1)
    fill(fresh, missing(fresh))
    assert swap(fresh) == (True, 0)
    put(fresh, "later", ["w9"], [[1, 1, 0]])
    assert status(fresh)["missing"] == 1
    build(fresh, filled=False)
    assert swap(fresh) == (False, 1)
    assert swap(fresh, incomplete=True) == (True, 1)
    assert len(call(fresh, "chunks_without_vector", after=0, batch=9)) == 1


def test_a_row_that_was_written_since_it_was_read_is_left(fresh: Connection) -> None:
    put(fresh, "a", ["w1"], [[1, 0, 0, 0]])
    start(fresh)
    build(fresh, filled=False)
    rows = missing(fresh)
    fresh.execute("update lexichord_data.chunk set context = 'other words'")
    assert fill(fresh, rows) == 0
    assert fill(fresh, missing(fresh)) == 1
    fresh.execute("update lexichord_data.chunk set context = 'others again'")
    assert len(missing(fresh)) == 1  # its vector was made of other words


def test_no_change_of_vectors_reaches_the_keyword_index(fresh: Connection) -> None:
    stock(fresh)
    before = rows_of_keyword(fresh)
    moved(fresh)
    assert rows_of_keyword(fresh) == before
    assert call(fresh, "count_faults")[1]["amount"] == 0


def rows_of_keyword(connection: Connection) -> list[tuple[str, ...]]:
    return connection.execute(
        "select ctid::text, xmin::text from lexichord_data.keyword order by chunk_id"
    ).fetchall()


def test_refused_before_anything_is_changed(fresh: Connection) -> None:
    limit = value(fresh, "select lexichord.most_dimensions()")
    with pytest.raises(errors.InvalidParameterValue, match="are of test/tiny/4 already"):
        start(fresh, "tiny", 4)
    with pytest.raises(errors.InvalidParameterValue, match=f"more dimensions.*which is {limit}"):
        start(fresh, "huge", limit + 1)
    for function in ("swap_spaces", "drop_other"):
        with pytest.raises(errors.InvalidParameterValue, match="there are no other vectors"):
            call(fresh, function)
    assert value(fresh, COLUMNS) == "embedding"
    start(fresh)
    with pytest.raises(errors.InvalidParameterValue, match=f"a change to {NEW} is under way"):
        start(fresh, "third", 5)
    with pytest.raises(errors.InvalidParameterValue, match="no column for vectors of test/third/5"):
        fill(fresh, [{"chunk_id": 1, "row_version": "1"}], "test/third/5")
    swap(fresh)
    for model, dimension in (("third", 5), ("tiny", 4)):
        with pytest.raises(errors.InvalidParameterValue, match=f"of {OLD}, are still kept"):
            start(fresh, model, dimension)
    call(fresh, "drop_other")
    start(fresh, "third", 5)


@pytest.mark.parametrize("dimension", [1536, 2000, 4000])
def test_wide_vectors_fit_beside_the_old_ones(fresh: Connection, dimension: int) -> None:
    content = " ".join(f"word{number}" for number in range(400))
    for number in range(3):
        put(fresh, f"d{number}", [f"{content} {number}"], [[1, 0, 0, number]])
    for model, size in (("wide", dimension), ("wider", 1536)):
        start(fresh, model, size)
        build(fresh, filled=False)
        assert fill(fresh, missing(fresh), f"test/{model}/{size}") == 3
        build(fresh, filled=True)
        assert swap(fresh) == (True, 0)
        assert len(nearest(fresh, vector(1, size))) == 3
        if model == "wide":
            call(fresh, "drop_other")
    assert len(nearest(fresh, vector(1, 1536))) == 3


def test_vectors_of_the_space_before_are_not_stored(fresh: Connection) -> None:
    put(fresh, "a", ["w1"])
    arguments = {"chunk_ids": [1], "vectors": ["[1,0,0,0]"]}
    with pytest.raises(errors.DataException, match="are of test/third/4, the database's are of"):
        call(fresh, "set_vectors", space="test/third/4", **arguments)
    assert call(fresh, "set_vectors", space=OLD, **arguments)[0]["set_vectors"] == 1


def test_samples_are_recorded_queries_or_else_what_is_stored(fresh: Connection) -> None:
    put(fresh, "a", ["w1 and. More", "  "], headings=["", ""])
    put(fresh, "b", ["w2"], headings=["A heading"])
    stored = [row["sample_queries"] for row in call(fresh, "sample_queries")]
    assert sorted(stored) == ["A heading", "w1 and."]
    for words in ("first", None, "second", "first"):
        call(
            fresh,
            "record_query",
            intent="search",
            confidence=1.0,
            abstained=False,
            hits=psycopg.types.json.Jsonb([]),
            version="1",
            query=words,
        )
    recorded = [row["sample_queries"] for row in call(fresh, "sample_queries", amount=2)]
    assert recorded == ["first", "second"]


def test_the_overlap_of_two_spaces(fresh: Connection) -> None:
    vectors = [[1.0, 0, 0, 0], [0.9, 0.1, 0, 0], [0, 1.0, 0, 0], [0, 0, 1.0, 0]]
    put(fresh, "a", ["w1", "w2", "w3", "w4"], vectors)
    start(fresh)
    build(fresh, filled=False)
    rows = missing(fresh)
    others = ["[1,0,0]", "[0,0,1]", "[0.9,0.1,0]", "[0,1,0]"]
    call(
        fresh,
        "set_other_vectors",
        space=NEW,
        chunk_ids=[row["chunk_id"] for row in rows],
        row_versions=[row["row_version"] for row in rows],
        vectors=others,
    )
    overlap = "select lexichord.space_overlap('[1,0,0,0]', '[1,0,0]', %s)"
    assert [value(fresh, overlap, k) for k in (1, 2, 10)] == [1, 0.5, 1]


def test_a_swap_gives_up_soon_and_readers_pass(fresh: Connection, dsn: str) -> None:
    stock(fresh, 3)
    start(fresh)
    build(fresh, filled=False)
    fill(fresh, missing(fresh))
    with psycopg.connect(dsn) as reader:  # in a transaction
        reader.execute("select count(*) from lexichord_data.chunk")
        for function in ("swap_spaces", "drop_other"):
            with pytest.raises(errors.LockNotAvailable):
                call(fresh, function, wait_ms=50)
        assert space(fresh) == OLD
    assert swap(fresh) == (True, 0)


def test_a_search_that_began_before_the_swap_is_of_one_space(fresh: Connection, dsn: str) -> None:
    """Its statement has its snapshot already when the swap comes in between: it is refused."""
    stock(fresh, 3)
    start(fresh, "same", 4)
    build(fresh, filled=False)
    fill(fresh, missing(fresh), "test/same/4")
    build(fresh, filled=True)
    statement = (
        "with first as materialized (select pg_advisory_lock(7)) "
        "select chunk_id from first, lexichord.hybrid_search('w1', '[1,0,0,0]', "
        f"query_space => '{OLD}') order by 1"
    )
    problems: list[Exception] = []

    def late() -> None:
        with psycopg.connect(dsn, autocommit=True) as other:
            try:
                other.execute(statement.encode()).fetchall()
            except psycopg.Error as error:
                problems.append(error)

    fresh.execute("select pg_advisory_lock(7)")
    thread = threading.Thread(target=late)
    thread.start()
    waiting = "select count(*) from pg_locks where locktype = 'advisory' and not granted"
    while not value(fresh, waiting):
        pass
    assert swap(fresh) == (True, 0)
    fresh.execute("select pg_advisory_unlock(7)")
    thread.join()
    assert [str(error).split("\n")[0] for error in problems] == [
        f"the query's vector is of {OLD}, the database's vectors are of test/same/4"
    ]


def test_one_at_a_time(fresh: Connection, dsn: str) -> None:
    assert call(fresh, "hold_reembed")[0]["hold_reembed"]
    with psycopg.connect(dsn) as other:
        assert not call(other, "hold_reembed")[0]["hold_reembed"]
