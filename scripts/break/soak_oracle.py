"""BM25 over the texts of a snapshot's chunks, in numpy, by none of the statistics that are stored.

A chunk is read once for as long as its row stays the same; document frequencies and lengths are
counted each time.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray

CLEAR = 1.03  # times the score of the last of the depth
SAME = 1e-3  # of a score: impacts are stored in single precision

type Connection = psycopg.Connection[Any]
type Bag = tuple[NDArray[np.uint16], NDArray[np.float64]]  # words by number, how often each
type Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Verdict:
    """What one question's hits are, against what they should be."""

    clear: int
    lost: list[int]
    lost_of_ten: list[int]
    too_few: bool
    wrong_scores: int


@dataclass(frozen=True)
class Postings:
    """What a snapshot's chunks add to scores: of word w the rows starts[w] to starts[w + 1]."""

    chunk_ids: NDArray[np.int64]
    rows: NDArray[np.int64]
    parts: Floats
    starts: NDArray[np.int64]

    def scores(self, question: str) -> Floats:
        """Return the score of every chunk."""
        slices, weights = [], []
        for number, times in Counter(numbers(question).tolist()).items():
            start, end = self.starts[number : number + 2].tolist()
            slices.append(np.arange(start, end))
            weights.append(np.full(slices[-1].size, float(times)))
        places = np.concatenate(slices)
        parts = self.parts[places] * np.concatenate(weights)
        return np.bincount(self.rows[places], parts, self.chunk_ids.size)

    def judge(self, question: str, depth: int, hits: Sequence[tuple[int, float]]) -> Verdict:
        """Compare the hits, chunk and score, with the best of all chunks."""
        scores = self.scores(question)
        best = np.argsort(-scores, kind="stable")[:depth]
        best = best[scores[best] > 0]
        clear = best[scores[best] > CLEAR * scores[best[-1]]] if best.size else best
        found = np.array([chunk for chunk, _ in hits], np.int64)
        lost = ~np.isin(self.chunk_ids[clear], found)
        own = np.minimum(np.searchsorted(self.chunk_ids, found), self.chunk_ids.size - 1)
        given = np.array([score for _, score in hits])
        wrong = (self.chunk_ids[own] != found) | (np.abs(scores[own] - given) > SAME * given)
        return Verdict(
            clear.size,
            self.chunk_ids[clear[lost]].tolist(),
            self.chunk_ids[clear[:10][lost[:10]]].tolist(),
            len(hits) < best.size,
            int(wrong.sum()),
        )


@dataclass
class Oracle:
    """Reads chunks, and keeps what it has read."""

    words: int
    bags: dict[tuple[int, str], Bag] = field(default_factory=dict)

    def postings(self, connection: Connection) -> Postings:
        """Return the postings of the chunks that the transaction sees."""
        living = connection.execute(
            "select id, xmin::text from lexichord_data.chunk order by id"
        ).fetchall()
        bags = self._read(connection, living)
        average, k1, b = _parameters(connection)
        sizes = np.array([words.size for words, _ in bags])
        words = np.concatenate([words for words, _ in bags])
        times = np.concatenate([times for _, times in bags])
        rows = np.repeat(np.arange(len(bags)), sizes)
        lengths = np.bincount(rows, times)[rows]
        df = np.bincount(words, minlength=self.words)
        idf = np.log(1 + (len(bags) - df + 0.5) / (df + 0.5))
        parts = idf[words] * times * (k1 + 1) / (times + k1 * (1 - b + b * lengths / average))
        order = np.argsort(words, kind="stable")
        starts = np.concatenate([[0], np.cumsum(df)])
        return Postings(np.array([row[0] for row in living]), rows[order], parts[order], starts)

    def _read(self, connection: Connection, living: list[Any]) -> list[Bag]:
        kept = {row: self.bags[row] for row in living if row in self.bags}
        new = [row[0] for row in living if row not in kept]
        for chunk, version, content in connection.execute(
            "select id, xmin::text, content from lexichord_data.chunk where id = any(%s)", [new]
        ):
            words, times = np.unique(numbers(content), return_counts=True)
            kept[chunk, version] = words, times.astype(float)
        self.bags = kept
        return [kept[row] for row in living]


def numbers(text: str) -> NDArray[np.uint16]:
    """Return the numbers of a text's words, w1 and so on."""
    return np.array(text.replace("w", " ").split(), np.uint16)


def _parameters(connection: Connection) -> tuple[float, float, float]:
    """Return the mean length by which impacts were made, k1 and b."""
    row = connection.execute(
        "select average_length, k1, b from lexichord.bm25_parameters()"
    ).fetchone()
    assert row is not None
    return row[0], row[1], row[2]
