"""How cost grows with the number of chunks: one database that grows, measured at each size.

python scripts/bench/scale.py --data DIR --server DSN [--engine plain] [--sizes 10000 100000]

Texts are real: windows over CUAD and the NDAs, at another length and offset in each pass. Of the
vectors only the drawn windows' are the model's; every other window has that of the drawn one
next to it in the same document, with noise.
"""

import argparse
import json
import os
import random
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean, quantiles
from typing import Any

import numpy as np
import psutil
import psycopg
from psycopg import Connection

from common import ENGINES, Text, cache_folder, opened, questions, texts, windows_home
from lexichord import SyncLexichord
from lexichord.providers import Vectors
from lexichord.providers.embed.local import LocalEmbedder
from search import documents, recall, throughput

LENGTHS, STRIDE = (800, 740, 860, 680, 920, 770, 830, 710, 890, 650), 265  # characters
DRAWN, NOISE = 20_000, 0.02
CLIENTS = (1, 4, 8)
PROBES, PROBE_LENGTH = 200, 200  # spans of the texts, besides the questions, that vectors are for
SHARES = (0.001, 0.01, 0.1)  # of the documents, which a filter lets through
TAIL = 1000  # chunks that are stored after the indexes were built, at least
LEGS = {
    "hybrid": "select from lexichord.hybrid_search(%(text)s, %(vector)s)",
    "dense": "select from lexichord.dense_candidates(%(vector)s)",
    "keyword": "select from lexichord.keyword_candidates(%(text)s)",
    "files": "select from lexichord.discover_files(%(text)s, %(vector)s)",
}

type Pair = tuple[str, str]


class Corpus:
    """Documents of windows with their vectors."""

    def __init__(self, data: Path, embedder: LocalEmbedder, drawn: int = DRAWN) -> None:
        self.texts = list(texts(data / "legalbenchrag/corpus"))
        random.Random(7).shuffle(self.texts)
        self.space = str(embedder.space)
        places = [
            (number, start)
            for number, text in enumerate(self.texts)
            for start in range(0, len(text.text), LENGTHS[0])
        ]
        self.drawn = sorted(random.Random(7).sample(places, drawn))
        self.vectors = self._embedded(embedder)

    def _embedded(self, embedder: LocalEmbedder) -> Vectors:
        file = cache_folder() / f"scale-{len(self.drawn)}.npy"
        if not file.exists():
            pieces = [self.texts[n].text[start : start + LENGTHS[0]] for n, start in self.drawn]
            file.parent.mkdir(parents=True, exist_ok=True)
            np.save(file, embedder.embed(pieces, "document"))
        vectors: Vectors = np.load(file)
        return vectors

    def probes(self, embedder: LocalEmbedder) -> list[Pair]:
        """Spans of texts with their vectors: the questions alone are too few to tell."""
        draw = random.Random(9)
        spans = []
        for text in draw.sample(self.texts, PROBES):
            start = draw.randrange(max(1, len(text.text) - PROBE_LENGTH))
            spans.append(text.text[start : start + PROBE_LENGTH])
        return paired(spans, embedder)

    def documents(self) -> Iterator[tuple[str, Text, list[tuple[int, str]]]]:
        """All documents of all passes with their windows, each pass's uris its own."""
        for turn, length in enumerate(LENGTHS):
            for text in self.texts:
                starts = range(turn * STRIDE // len(LENGTHS), len(text.text), STRIDE)
                windows = [(start, text.text[start : start + length]) for start in starts]
                yield f"{turn}/{text.path.name}", text, windows

    def stored(self, uri: str, text: Text, windows: list[tuple[int, str]]) -> dict[str, Any]:
        vectors = self._near(self.texts.index(text), [start for start, _ in windows], uri)
        chunks = [
            {"content": content, "start": start, "vector": vector.tolist()}
            for (start, content), vector in zip(windows, vectors, strict=True)
        ]
        return {"uri": uri, "text": text.text, "space": self.space, "chunks": chunks}

    def _near(self, number: int, starts: list[int], seed: str) -> Vectors:
        places = np.array(self.drawn)
        own = np.flatnonzero(places[:, 0] == number)
        if not len(own):
            own = np.array([number % len(self.drawn)])
        nearest = own[np.abs(places[own, 1] - np.array(starts)[:, None]).argmin(axis=1)]
        noise = np.random.default_rng(list(seed.encode())).normal(0, NOISE, (len(starts), 384))
        vectors = self.vectors[nearest] + noise
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        return (vectors / norms).astype(np.float32)  # type: ignore[no-any-return]


def paired(asked: list[str], embedder: LocalEmbedder) -> list[Pair]:
    """Return texts, each with its vector as a query, as SQL takes it."""
    vectors = embedder.embed(asked, "query").tolist()
    return [(text, str(vector)) for text, vector in zip(asked, vectors, strict=True)]


def grow(
    lexichord: SyncLexichord, connection: Connection, corpus: Corpus, size: int
) -> dict[str, float]:
    """Store documents until there are so many chunks, and build the vector index after them."""
    before, started = count(connection), time.perf_counter()
    if before < size:
        # Loading without the vector index and building it after is several times faster.
        own = connection.execute("select index_name from lexichord.vector_index('embedding')")
        for (name,) in own:
            connection.execute(f"drop index if exists lexichord_data.{name}".encode())
    store(lexichord, connection, corpus, size)
    seconds = time.perf_counter() - started
    return {"stored": count(connection) - before, "stored in s": seconds}


def store(lexichord: SyncLexichord, connection: Connection, corpus: Corpus, size: int) -> None:
    known = {uri for (uri,) in connection.execute("select uri from lexichord_data.document")}
    amount = count(connection)

    def missing() -> Iterator[dict[str, Any]]:
        nonlocal amount
        for uri, text, windows in corpus.documents():
            if amount >= size:
                return
            if uri not in known:
                amount += len(windows)
                yield corpus.stored(uri, text, windows)

    report = lexichord.ingest(documents=missing(), context="none")
    assert not report.failed, report.failed


def count(connection: Connection) -> int:
    row = connection.execute("select count(*) from lexichord_data.chunk").fetchone()
    assert row is not None
    return int(row[0])


def latencies(connection: Connection, pairs: list[Pair]) -> dict[str, dict[str, float]]:
    """Milliseconds p50 and p95 of each leg; all take turns on every question."""
    spent: dict[str, list[float]] = {name: [] for name in LEGS}
    for text, vector in [*pairs[: len(pairs) // 10], *pairs]:  # the first tenth warms up
        for name, statement in LEGS.items():
            started = time.perf_counter()
            connection.execute(statement.encode(), {"text": text, "vector": vector}).fetchall()
            spent[name].append((time.perf_counter() - started) * 1000)
    measured = {name: times[len(pairs) // 10 :] for name, times in spent.items()}
    return {name: percentiles(times) for name, times in measured.items()}


def percentiles(times: list[float]) -> dict[str, float]:
    return {"p50": quantiles(times, n=20)[9], "p95": quantiles(times, n=20)[18]}


def keyword_recall(connection: Connection, pairs: list[Pair]) -> dict[str, float]:
    """Share of exact scoring's best, ties counted as found."""
    shares: dict[int, list[float]] = {10: [], 100: []}
    for text in dict.fromkeys(text for text, _ in pairs):
        proposed, exact = (
            connection.execute(
                f"select score from lexichord.{name}_candidates(%s, 100)".encode(), (text,)
            ).fetchall()
            for name in ("keyword", "exact_keyword")
        )
        for depth, found in shares.items():
            border = exact[:depth][-1][0] - 1e-6
            found.append(sum(s >= border for (s,) in proposed[:depth]) / len(exact[:depth]))
    return {f"@{depth}": fmean(found) for depth, found in shares.items()}


def scoped(dsn: str, connection: Connection, pairs: list[Pair]) -> dict[str, dict[str, float]]:
    """Hybrid search in a share of the documents, and the recall of its vectors."""
    ids, result = documents(dsn), {}
    statement = b"select from lexichord.hybrid_search(%s, %s, documents => %s)"
    for share in SHARES:
        scope = ids[: max(1, round(share * len(ids)))]
        times = []
        for text, vector in pairs:
            started = time.perf_counter()
            connection.execute(statement, (text, vector, scope)).fetchall()
            times.append((time.perf_counter() - started) * 1000)
        p50 = quantiles(times, n=20)[9]
        result[str(share)] = {"p50": p50, "recall@10": recall(dsn, pairs[:17], scope)}
    return result


def queries(lexichord: SyncLexichord, asked: list[str]) -> dict[str, dict[str, float]]:
    """Milliseconds p50 and p95 of whole queries, asked for the first time and then again."""
    spent: dict[str, list[float]] = {"first": [], "again": []}
    for name, rounds in (("first", 1), ("again", 3)):
        for question in asked * rounds:
            started = time.perf_counter()
            lexichord.query(question)
            spent[name].append((time.perf_counter() - started) * 1000)
    return {name: percentiles(times) for name, times in spent.items()}


def memory(connection: Connection) -> float:
    """MiB of the server's processes, what they share counted once; needs the right to look."""
    backend = psutil.Process(connection.info.backend_pid)
    server = backend.parent()
    assert server is not None
    return sum(map(_proportional, [server, *server.children()])) / 2**20


def _proportional(process: psutil.Process) -> float:
    """Bytes of a process, its share of what is shared; none if it has ended meanwhile."""
    try:
        return float(process.memory_full_info().pss)
    except psutil.NoSuchProcess:
        return 0.0


def sizes(connection: Connection) -> dict[str, float]:
    """MiB of the tables and indexes that are largest."""
    rows = connection.execute(
        "select relname, pg_relation_size(oid) / 2 ^ 20 from pg_class "
        "where relnamespace = 'lexichord_data'::regnamespace and relkind in ('r', 'i', 't') "
        "order by 2 desc limit 10"
    )
    return {name: round(size, 1) for name, size in rows}


def measure(
    lexichord: SyncLexichord, connection: Connection, pairs: list[Pair], probes: list[Pair]
) -> dict[str, object]:
    dsn = lexichord.core.database.dsn
    return {
        "load": os.getloadavg()[0],
        "legs, ms": latencies(connection, pairs),
        "query, ms": queries(lexichord, list(dict.fromkeys(text for text, _ in pairs))),
        "scopes": scoped(dsn, connection, pairs),
        "vector recall@10": recall(dsn, pairs[:17] + probes, None),
        "keyword recall": keyword_recall(connection, pairs),
        "queries/s": {n: throughput(dsn, pairs, n, 5) for n in CLIENTS},
        "MiB": sizes(connection),
        "server's MiB": memory(connection),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the public sets")
    parser.add_argument("--server", required=True, help="a server's DSN")
    parser.add_argument("--engine", choices=ENGINES, default="plain")
    parser.add_argument("--sizes", nargs="+", type=int, default=[10_000, 100_000])
    parser.add_argument("--rounds", type=int, default=68, help="questions asked of each case")
    arguments = parser.parse_args()
    embedder = LocalEmbedder(windows_home())
    pairs = paired(questions(arguments.data), embedder)
    pairs = (pairs * (arguments.rounds // len(pairs) + 1))[: arguments.rounds]
    corpus = Corpus(arguments.data, embedder)
    probes = corpus.probes(embedder)
    for size in arguments.sizes:
        # Opened anew, so that no sentence's vector is known from the size before.
        with opened("scale", arguments.engine, arguments.server) as lexichord:
            dsn = lexichord.core.database.dsn
            with psycopg.connect(dsn, autocommit=True) as connection:
                grown = grow(lexichord, connection, corpus, size)
                measured = measure(lexichord, connection, pairs, probes)
                figures = {"chunks": count(connection), **grown, **measured}
                store(lexichord, connection, corpus, count(connection) + TAIL)
                figures["legs with a tail, ms"] = latencies(connection, pairs)
                print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    main()
