"""dense_recall: how much of what is nearest the vector index finds."""

from random import Random

import pytest

from tests.sql.corpus import Connection, call, put, value

NORTH = "[1,0,0,0]"
FORGETFUL = """
create or replace function lexichord.dense_candidates(
    query_vector halfvec, depth integer default 100, documents bigint[] default null
) returns table (chunk_id bigint, document_id bigint, rank bigint, score double precision)
language sql stable as $$
    select e.chunk_id, e.document_id, row_number() over (order by e.rank), e.score
    from lexichord.exact_dense_candidates(query_vector, depth, documents) as e
    where e.rank <> 1 and (e.rank <= 3 or e.rank > 5)
$$
"""


def recall(connection: Connection, k: int, **arguments: object) -> float | None:
    rows = call(connection, "dense_recall", query_vector=NORTH, k=k, **arguments)
    return rows[0]["dense_recall"] if rows else None


@pytest.fixture
def fan(connection: Connection) -> Connection:
    """Ten chunks, each a little further from north than the one before."""
    vectors = [[1.0, place / 10, 0.0, 0.0] for place in range(10)]
    put(connection, "fan", [f"w{place}" for place in range(10)], vectors=vectors)
    return connection


def test_what_the_index_misses_is_not_counted(fan: Connection) -> None:
    assert recall(fan, 10) == 1
    fan.execute("set local citus.enable_ddl_propagation = off")  # it would be made on workers
    fan.execute(FORGETFUL.encode())  # misses the nearest, the fourth and the fifth
    assert [recall(fan, k) for k in (1, 2, 3, 4, 5, 10)] == pytest.approx(
        [0, 1 / 2, 2 / 3, 2 / 4, 2 / 5, 7 / 10]
    )


def test_one_of_several_equally_near_is_as_good_as_another(connection: Connection) -> None:
    put(connection, "same", ["one", "two", "three"], vectors=[[1.0, 0.0, 0.0, 0.0]] * 3)
    connection.execute(FORGETFUL.encode())
    assert recall(connection, 1) == 1


def test_fewer_chunks_than_asked_for_and_none_at_all(fan: Connection) -> None:
    assert recall(fan, 50) == 1
    assert (
        recall(fan, 5, documents=[value(fan, "select max(id) + 1 from lexichord_data.document")])
        is None
    )


@pytest.mark.parametrize("k", [10, 100])
def test_an_index_finds_nearly_all(wide: Connection, k: int) -> None:
    vectors = [[Random(seed).gauss(0, 1) for _ in range(4)] for seed in range(0, 80, 4)]
    shares = [value(wide, "select lexichord.dense_recall(%s, %s)", str(v), k) for v in vectors]
    assert 0.99 <= sum(shares) / len(shares) <= 1
