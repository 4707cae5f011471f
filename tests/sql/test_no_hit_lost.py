"""Whatever is written, in whatever order: both channels find what plain Python finds."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from random import Random

import numpy as np
import psycopg
import pytest

from tests.sql import oracle
from tests.sql.corpus import (
    Connection,
    call,
    put,
    random_lines,
    random_vectors,
    small_segments,
)

DEPTH = 100
NAMES = [f"w{number}" for number in range(800)]
WEIGHTS = [1 / (number + 1) for number in range(800)]


@dataclass
class Writer:
    """Stores, replaces and deletes documents of its own, and knows what should be stored."""

    name: str
    dsn: str
    random: Random
    lines: dict[str, list[str]] = field(default_factory=dict)
    vectors: dict[str, list[list[float]]] = field(default_factory=dict)

    def run(self, operations: int) -> None:
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            for _ in range(operations):
                if self.lines and self.random.random() < 0.2:
                    self._delete(connection, self.random.choice([*self.lines]))
                else:
                    self._store(connection, f"{self.name}{self.random.randrange(40)}")
            call(connection, "build_indexes")

    def _store(self, connection: Connection, uri: str) -> None:
        count = self.random.randint(1, 12)
        self.lines[uri] = [*random_lines(self.random, count, words=800, longest=90)]
        self.vectors[uri] = random_vectors(self.random, count)
        put(connection, uri, self.lines[uri], self.vectors[uri])

    def _delete(self, connection: Connection, uri: str) -> None:
        rows = connection.execute("select id from lexichord_data.document where uri = %s", [uri])
        call(connection, "delete_documents", documents=[row[0] for row in rows])
        del self.lines[uri], self.vectors[uri]


@pytest.fixture
def _small_segments(fresh: Connection) -> None:
    small_segments(fresh)


@pytest.mark.usefixtures("_small_segments")
def test_many_runs_of_one_writer(dsn: str, fresh: Connection) -> None:
    random = Random(11)
    writer = Writer("a", dsn, random)
    for _ in range(8):
        writer.run(12)
        check_both_channels(fresh, [writer], random)
        assert call(fresh, "find_problems") == []


@pytest.mark.usefixtures("_small_segments")
def test_many_writers_at_once(dsn: str, fresh: Connection) -> None:
    writers = [Writer(name, dsn, Random(name)) for name in "abcd"]
    with ThreadPoolExecutor(len(writers)) as pool:
        for number in range(3):
            list(pool.map(lambda writer: writer.run(10), writers))
            check_both_channels(fresh, writers, Random(number))


def check_both_channels(connection: Connection, writers: Sequence[Writer], random: Random) -> None:
    """Compare with plain Python, by questions of 1 to 60 words and by random vectors."""
    rows = connection.execute(
        "select d.uri, c.ordinal, c.id from lexichord_data.chunk c "
        "join lexichord_data.document d on d.id = c.document_id"
    )
    chunks = {(uri, ordinal): chunk_id for uri, ordinal, chunk_id in rows}
    texts, vectors = {}, {}
    for writer in writers:
        for uri, lines in writer.lines.items():
            for ordinal, line in enumerate(lines):
                texts[chunks[uri, ordinal]] = line
                vectors[chunks[uri, ordinal]] = writer.vectors[uri][ordinal]
    assert len(chunks) == len(texts)
    parameters = call(connection, "bm25_parameters")[0]
    for _ in range(12):
        query = " ".join(random.choices(NAMES, WEIGHTS, k=random.choice([1, 2, 5, 15, 60])))
        check_keywords(connection, query, oracle.bm25(texts, query, **parameters))
    for _ in range(3):
        check_vectors(connection, vectors, random_vectors(random, 1)[0])


def check_keywords(connection: Connection, query: str, exact: Mapping[int, float]) -> None:
    """No hit clearly better than the last one is missing, and each score is the exact one."""
    hits = {
        row["chunk_id"]: row["score"]
        for row in call(connection, "keyword_candidates", query=query, depth=DEPTH)
    }
    best = sorted(exact.values(), reverse=True)[:DEPTH]
    assert len(hits) == len(best)
    lost = {chunk for chunk, score in exact.items() if score > 1.03 * best[-1]} - hits.keys()
    assert not lost, f"{query} lost {len(lost)} clear hits"
    assert hits == pytest.approx({chunk: exact[chunk] for chunk in hits}, rel=1e-5)


def check_vectors(
    connection: Connection, vectors: Mapping[int, Sequence[float]], query: Sequence[float]
) -> None:
    rows = call(connection, "dense_candidates", query_vector=str([*query]), depth=DEPTH)
    stored = np.array([*vectors.values()])
    cosines = stored @ query / np.linalg.norm(stored, axis=1) / np.linalg.norm(query)
    exact = dict(zip(vectors, cosines, strict=True))
    best = sorted(exact, key=exact.__getitem__, reverse=True)[:DEPTH]
    assert len(rows) == len(best)
    assert len({row["chunk_id"] for row in rows} & {*best}) >= 0.97 * len(best)
