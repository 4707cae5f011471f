"""A Citus cluster against one server: how far the first ten agree, and what a search takes.

python scripts/bench/cluster.py --data DIR --server COORDINATOR [--sizes 10000 100000] [--workers 3]

Both databases hold scale.py's windows; the one server is the coordinator's, with the engine plain.
On one machine all servers share its processors. Databases are made, and dropped at the end.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import fmean, median
from threading import Event
from typing import Any

import psycopg
from psycopg import Connection

from common import texts, windows_home
from lexichord import SyncLexichord
from lexichord.db import schema
from lexichord.providers.embed.local import LocalEmbedder
from scale import Corpus, grow, percentiles

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.conftest import new_cluster, new_database, nodes_of

PARTS, K, QUERIES = (80, 60, 60), 10, 25
NAMES = ("one server", "cluster")
DRAWN = 4_000  # windows that are embedded
WRITERS, WRITTEN = 4, 8  # documents a writer
FIRST_TEN = "select uri, char_start from lexichord.hybrid_search(%s, %s::public.halfvec, k => %s)"

type Pair = tuple[str, str]
type Hits = list[tuple[str, int]]


def asked(data: Path, embedder: LocalEmbedder) -> list[Pair]:
    """Questions on contracts, of an encyclopaedia, and parts of what is stored; their vectors."""
    cases = json.loads((data / "legalbenchrag/benchmarks/contractnli.json").read_text())["tests"]
    articles = json.loads((data / "xquad/xquad.en.json").read_text())["data"]
    parts = [text.text[5_000:5_100] for text in texts(data / "legalbenchrag/corpus/cuad")]
    sets = (
        [case["query"] for case in cases],
        [q["question"] for a in articles for p in a["paragraphs"] for q in p["qas"]],
        [" ".join(part.split()) for part in parts if part],
    )
    chosen = [each[:: len(each) // part][:part] for each, part in zip(sets, PARTS, strict=True)]
    asked = [text for each in chosen for text in each]
    return [*zip(asked, map(str, embedder.embed(asked, "query").tolist()), strict=True)]


def first_ten(connection: Connection, pair: Pair) -> tuple[Hits, float]:
    started = time.perf_counter()
    hits = connection.execute(FIRST_TEN, (*pair, K)).fetchall()
    return hits, 1000 * (time.perf_counter() - started)


def compare(dsns: Sequence[str], pairs: Sequence[Pair]) -> dict[str, object]:
    """Return milliseconds, and how far the first ten are those of one server without an index.

    What a vector index misses is its own, and differs from one to the next.
    """
    spent: list[list[float]] = [[], []]
    shared: list[list[float]] = [[], []]
    same: list[list[bool]] = [[], []]
    with ExitStack() as stack:
        connect = partial(psycopg.connect, autocommit=True)
        both = [stack.enter_context(connect(dsn)) for dsn in dsns]
        exact = stack.enter_context(connect(dsns[0], options="-c enable_indexscan=off"))
        for pair in [*pairs[:20], *pairs]:  # the first ones warm up
            best, _ = first_ten(exact, pair)
            for number, connection in enumerate(both):
                hits, took = first_ten(connection, pair)
                spent[number].append(took)
                shared[number].append(len(set(hits) & set(best)) / max(len(best), 1))
                same[number].append(hits[:1] == best[:1])
    return {
        name: {
            "ms": percentiles(spent[number][20:]),
            "first ten": round(fmean(shared[number][20:]), 4),
            "first hit": round(fmean(same[number][20:]), 4),
        }
        for number, name in enumerate(NAMES)
    }


def query_ms(lexichord: SyncLexichord, pairs: Sequence[Pair]) -> float:
    spent = []
    for text, _ in pairs[:QUERIES]:
        started = time.perf_counter()
        lexichord.query(text)
        spent.append(1000 * (time.perf_counter() - started))
    return median(spent)


def written(dsn: str, corpus: Corpus, writers: int) -> float:
    """Return chunks a second, by so many writers at once."""
    documents = islice(reversed([*corpus.documents()]), writers * WRITTEN)
    whole = [corpus.stored(f"{writers}/{each[0]}", *each[1:]) for each in documents]
    parts = [whole[n::writers] for n in range(writers)]

    def write(part: list[dict[str, Any]]) -> None:
        with SyncLexichord(dsn=dsn) as lexichord:
            lexichord.ingest(documents=part, context="none")

    started = time.perf_counter()
    with ThreadPoolExecutor(writers) as pool:
        list(pool.map(write, parts))
    chunks = sum(len(document["chunks"]) for part in parts for document in part)
    return chunks / (time.perf_counter() - started)


def searched_meanwhile(
    dsn: str, pairs: Sequence[Pair], change: Callable[[], object]
) -> dict[str, float]:
    """Return how long a change took, and what searches beside it gave and took."""
    done, longest, wrong = Event(), 0.0, 0

    def search() -> int:
        nonlocal longest, wrong
        count = 0
        with psycopg.connect(dsn, autocommit=True) as connection:
            expected = [first_ten(connection, pair)[0] for pair in pairs[:20]]
            ready.set()
            while not done.is_set():
                hits, spent = first_ten(connection, pairs[count % 20])
                longest, wrong = max(longest, spent), wrong + (hits != expected[count % 20])
                count += 1
        return count

    ready = Event()
    with ThreadPoolExecutor(1) as pool:
        searches = pool.submit(search)
        ready.wait()
        started = time.perf_counter()
        try:
            change()
        finally:
            done.set()
        seconds = time.perf_counter() - started
        return {"s": seconds, "searches": searches.result(), "changed": wrong, "ms": longest}


def moved(dsn: str, pairs: Sequence[Pair]) -> Iterator[tuple[str, dict[str, float]]]:
    """Empty a worker, then have Citus balance its shards again, while searches go on."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        workers = "select nodename, nodeport from pg_dist_node where shouldhaveshards order by 2"
        place = connection.execute(workers).fetchall()[-1]

        def drain() -> None:
            connection.execute("select citus_drain_node(%s, %s)", place)

        def balance() -> None:
            keep = "select citus_set_node_property(%s, %s, 'shouldhaveshards', true)"
            connection.execute(keep, place)
            connection.execute("select rebalance_table_shards('lexichord_data.chunk_vector')")

        for name, change in (("drained", drain), ("balanced", balance)):
            yield name, searched_meanwhile(dsn, pairs, change)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the public sets")
    parser.add_argument("--server", required=True, help="DSN of the coordinator of a cluster")
    parser.add_argument("--sizes", nargs="+", type=int, default=[10_000, 100_000])
    parser.add_argument("--workers", type=int, default=3, help="of those that there are")
    arguments = parser.parse_args()
    embedder = LocalEmbedder(windows_home())
    pairs = asked(arguments.data, embedder)
    corpus = Corpus(arguments.data, embedder, DRAWN)
    nodes = nodes_of(arguments.server)[: arguments.workers + 1]
    with ExitStack() as stack:
        dsns = [
            stack.enter_context(new_database(arguments.server)),
            stack.enter_context(new_cluster(nodes))[0],
        ]
        for dsn, engine in zip(dsns, ("plain", "citus"), strict=True):
            schema.prepare(dsn, schema.Choice(engine, None, embedder.space))
        both = [stack.enter_context(SyncLexichord(dsn=dsn)) for dsn in dsns]
        for size in arguments.sizes:
            figures: dict[str, object] = {"load": os.getloadavg()[0], "workers": len(nodes) - 1}
            connections = [psycopg.connect(dsn, autocommit=True) for dsn in dsns]
            for name, lexichord, connection in zip(NAMES, both, connections, strict=True):
                figures[f"{name} stored"] = grow(lexichord, connection, corpus, size)
            figures |= compare(dsns, pairs)
            for name, lexichord, dsn in zip(NAMES, both, dsns, strict=True):
                figures[f"{name}, query, ms"] = query_ms(lexichord, pairs)
                figures[f"{name}, chunks/s by 1 and {WRITERS}"] = [
                    written(dsn, corpus, writers) for writers in (1, WRITERS)
                ]
            if len(nodes) > 2:
                figures |= dict(moved(dsns[1], pairs))
            print(size, json.dumps(figures, default=str), flush=True)


if __name__ == "__main__":
    main()
