"""lexichord beside other hybrid searches: the same chunks, vectors, k and depth, one run.

python scripts/bench/compare_peers.py --data DIR --store DIR [quality speed]
python scripts/bench/compare_peers.py --data DIR --store DIR --filled DSN DSN --peers LanceDB speed

lexichord is asked on the embedded server, and on each engine of which a server is named by
LEXICHORD_TEST_DSN_TEXTSEARCH or _VECTORCHORD; or in the databases that bench/scale.py filled.
"""

import argparse
import json
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from common import ENGINES, questions
from lexichord.db.server import embedded_server
from lexichord.providers import Vectors
from lexichord.providers.embed.local import LocalEmbedder
from lexichord.settings import load_settings
from peers import Peer, Place, Rows, new_database, seconds
from peers.ours import Ours
from quality import KS, _document
from scale import Corpus

PACKAGES = (
    *("lexichord", "langchain-postgres", "lancedb", "pgvector", "vechord", "bm25s", "numpy"),
    *("qdrant-edge-py", "duckdb", "apsw", "sqlite-vec"),
)
RESAMPLES, SEED = 10_000, 20261121
ROUNDS = 3  # of queries/s, peers taking turns
SECONDS = 3.0
CLIENTS = (1, 4, 8)
OURS = "lexichord"

type Search = Callable[[str, Vectors, int], Sequence[int]]
type Questions = Sequence[tuple[str, Vectors]]


PEERS = {  # imported when their turn comes, so that one that is missing is a failure among others
    "LangChain PGVectorStore": ("peers.langchain", "WeightedSum"),
    "LangChain, RRF": ("peers.langchain", "ReciprocalRank"),
    "LanceDB": ("peers.lance", "Lance"),
    "pgvector-python's example": ("peers.postgres", "Example"),
    "pg_fts": ("peers.postgres", "PgFts"),
    "ParadeDB": ("peers.postgres", "ParadeDb"),
    "vechord": ("peers.vechord_peer", "Vechord"),
    "bm25s + numpy": ("peers.floor", "Floor"),
    "DuckDB": ("peers.duck", "Duck"),
    "SQLite": ("peers.sqlite", "Sqlite"),
    "Qdrant Edge": ("peers.qdrant", "Qdrant"),
}
TWIN = "LangChain, RRF"  # the same table as the other's, and the same two queries


class Failures(dict[str, str]):
    """Why a peer failed, by its name; what failed is left alone from then on."""

    @contextmanager
    def noted(self, name: str) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            line = str(error).strip().partition("\n")[0]
            self[name] = f"failed: {type(error).__name__}: {line}"


def filled(
    place: Place, rows: Rows, names: Sequence[str], failures: Failures, stack: ExitStack
) -> dict[str, tuple[Peer, float]]:
    """Open and fill peers, each with the seconds that filling takes."""
    done = {}
    for name in names:
        with failures.noted(name):
            module, kind = PEERS[name]
            peer: Peer = getattr(import_module(module), kind)(place)
            stack.callback(peer.close)
            done[name] = peer, peer.fill(rows)
    return done


def quality(place: Place, data: Path, store: Path) -> None:
    """Pass@k of every peer on the codebase set: the chunks alone, and with our contexts.

    On all questions, and on the half by which none of lexichord's constants was chosen.
    """
    documents = json.loads((data / "codebase/codebase_chunks.json").read_text())
    with (data / "codebase/evaluation_set.jsonl").open() as lines:
        queries = [json.loads(line) for line in lines]
    numbers = {document["original_uuid"]: n for n, document in enumerate(documents)}
    unseen = np.array([numbers[query["golden_doc_uuids"][0]] % 2 == 1 for query in queries])
    vectors = LocalEmbedder(store).embed([query["query"] for query in queries], "query")
    questions = [(query["query"], vector) for query, vector in zip(queries, vectors, strict=True)]
    for kind in ("plain", "contextual"):
        with ExitStack() as stack:
            ours = Ours(new_database(place.server, f"peers_{kind}"), store)
            stack.callback(ours.close)
            ours.ingest(map(_document, documents), contextual=kind == "contextual")
            rows, ids = ours.rows()
            golden = [[ids[uri, n] for uri, n in query["golden_chunk_uuids"]] for query in queries]
            print(f"\n{kind}: {len(rows.ids)} chunks, {len(queries)} questions")
            print("Pass@5/10/20, all | half B; difference to lexichord in Pass@10, 95 % interval")
            failures = Failures()
            peers = filled(place, rows, place.peers, failures, stack)
            searches = {OURS: ours.search, f"{OURS}, query": ours.query}
            searches |= {name: peer.search for name, (peer, _) in peers.items()}
            _report_quality(searches, questions, golden, unseen, failures)


def _report_quality(
    searches: Mapping[str, Search],
    questions: Questions,
    golden: Sequence[Sequence[int]],
    unseen: np.ndarray[Any, Any],
    failures: Failures,
) -> None:
    own = None
    for name, search in searches.items():
        with failures.noted(name):
            results = [search(text, vector, max(KS)) for text, vector in questions]
            scores = np.array(
                [
                    [np.isin(right, hits[:k]).mean() for k in KS]
                    for right, hits in zip(golden, results, strict=True)
                ]
            )
            own = scores if name == OURS else own
            means = [*100 * scores.mean(axis=0), *100 * scores[unseen].mean(axis=0)]
            shown = "{:6.2f} {:6.2f} {:6.2f} | {:6.2f} {:6.2f} {:6.2f}".format(*means)
            beside = "-" if own is None else _difference(100 * (scores - own)[:, 1])
            print(f"  {name:28} {shown}   {beside}")
    _report_failures(failures)


def _difference(change: np.ndarray[Any, Any]) -> str:
    """The mean of paired differences, with the interval of a bootstrap over questions."""
    drawn = np.random.default_rng(SEED).integers(len(change), size=(RESAMPLES, len(change)))
    low, high = np.percentile(change[drawn].mean(axis=1), [2.5, 97.5])
    return f"{change.mean():+.2f} ({low:+.2f} to {high:+.2f})"


def speed(place: Place, data: Path, store: Path) -> None:
    """Ingest, disk, latency and queries/s over windows of contracts, vectors given.

    100k of them, or as many as a filled database has. Vectors are the model's or near to one of
    these, as bench/scale.py has them.
    """
    embedder = LocalEmbedder(store)
    names = questions(data)
    pairs = list(zip(names, embedder.embed(names, "query"), strict=True))
    failures = Failures()
    with ExitStack() as stack:
        engines = _filled(place, store) if place.filled else _stored(place, data, store)
        for ours in engines.values():
            stack.callback(ours.close)
        rows, _ = engines[next(iter(engines))].rows()
        print(f"\nspeed: {len(rows.ids)} chunks, {len(pairs)} questions, k 10; load {_load()}")
        peers: dict[str, tuple[Peer, float]] = {}
        for name in place.peers:
            if name != TWIN:
                peers |= filled(place, rows, [name], failures, stack)
            if name in peers:
                _report_ingest(name, peers[name][0], len(rows.ids) / peers[name][1])
        searches: dict[str, Search] = {}
        for name, ours in engines.items():
            searches |= {name: ours.search, f"{name}, query": ours.query}
            searches[f"{name}, in SQL"] = ours.search_in_sql
        searches |= {name: peer.search for name, (peer, _) in peers.items()}
        _report_latency(searches, pairs, failures)
        _report_throughput(searches, pairs, failures)
        _report_failures(failures)


def _stored(place: Place, data: Path, store: Path) -> dict[str, Ours]:
    """lexichord on every engine, each with the windows stored anew."""
    corpus = Corpus(data, LocalEmbedder(store))
    engines = {}
    for engine, server in place.engines.items():
        name = f"{OURS}, {engine}"
        engines[name] = Ours(new_database(server, "peers_windows"), store, engine)
        documents = (corpus.stored(*each) for each in islice(corpus.documents(), len(corpus.texts)))
        spent = seconds(partial(engines[name].ingest, documents, contextual=False))
        _report_ingest(name, engines[name], engines[name].count() / spent)
    return engines


def _filled(place: Place, store: Path) -> dict[str, Ours]:
    databases = [Ours(dsn, store) for dsn in place.filled]
    return {f"{OURS}, {ours.engine}": ours for ours in databases}


def _report_ingest(name: str, peer: Ours | Peer, rate: float) -> None:
    print(f"  {name:28} {rate:8.0f} rows/s  {peer.size() / 2**20:6.0f} MiB  load {_load()}")


def _report_latency(
    searches: Mapping[str, Search], questions: Questions, failures: Failures
) -> None:
    """One client, all peers taking turns on every question; two rounds warm up."""
    spent: dict[str, list[float]] = {name: [] for name in searches}
    for number in range(12):
        for text, vector in questions:
            for name in searches:
                if name not in failures:
                    with failures.noted(name):
                        started = time.perf_counter()
                        searches[name](text, vector, 10)
                        if number > 1:
                            spent[name].append((time.perf_counter() - started) * 1000)
    own, *_ = searches
    print(f"milliseconds p50 and p95, ratio of p50 to {own}; load {_load()}")
    for name in [name for name in searches if name not in failures]:
        half, most = np.percentile(spent[name], [50, 95])
        print(f"  {name:28} {half:8.2f} {most:8.2f} {half / np.median(spent[own]):8.2f}")


def _report_throughput(
    searches: Mapping[str, Search], questions: Questions, failures: Failures
) -> None:
    rates: dict[str, list[list[float]]] = {name: [] for name in searches}
    for _ in range(ROUNDS):
        for name in [name for name in searches if name not in failures]:
            with failures.noted(name):
                rates[name].append([_throughput(searches[name], questions, n) for n in CLIENTS])
    first, *_ = searches
    print(f"queries/s with {CLIENTS} clients, ratios to {first}; load {_load()}")
    own = np.median(rates[first], axis=0)
    for name in [name for name in searches if name not in failures]:
        medians = np.median(rates[name], axis=0)
        row = "".join(f"{rate:8.1f}" for rate in medians)
        print(f"  {name:28} {row}", "".join(f"{ratio:8.2f}" for ratio in medians / own))


def _throughput(search: Search, questions: Questions, clients: int) -> float:
    """Queries a second of so many threads of this process."""
    done, errors = [0] * clients, []
    until = time.perf_counter() + SECONDS

    def client(number: int) -> None:
        try:
            while time.perf_counter() < until:
                search(*questions[(done[number] * clients + number) % len(questions)], 10)
                done[number] += 1
        except Exception as error:
            errors.append(error)

    started = time.perf_counter()
    threads = [threading.Thread(target=client, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return sum(done) / (time.perf_counter() - started)


def _report_failures(failures: Failures) -> None:
    for name, reason in failures.items():
        print(f"  {name:28} {reason}")


def _load() -> str:
    return f"{os.getloadavg()[0]:.1f}"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "missing"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the public sets")
    parser.add_argument("--store", type=Path, required=True, help="folder for all databases")
    parser.add_argument("--filled", nargs="+", default=[], help="DSNs of filled databases")
    parser.add_argument("--peers", nargs="+", default=list(PEERS), choices=PEERS)
    parser.add_argument("parts", nargs="*", default=list(PARTS), help=", ".join(PARTS))
    arguments = parser.parse_args()
    os.environ.setdefault("LANCEDB_LOG", "error")  # it warns of its own defaults at every query
    print(", ".join(f"{package} {_version(package)}" for package in PACKAGES))
    folder = arguments.store / "files"
    shutil.rmtree(folder, ignore_errors=True)
    with embedded_server(load_settings(home=arguments.store)) as server:
        place = Place(_engines(server), folder, arguments.filled, arguments.peers)
        for part in arguments.parts:
            PARTS[part](place, arguments.data, arguments.store)


def _engines(embedded: str) -> dict[str, str]:
    """The server of each engine."""
    variables = {name: f"LEXICHORD_TEST_DSN_{name.upper()}" for name in ENGINES[1:]}
    named = {name: os.environ[key] for name, key in variables.items() if key in os.environ}
    return {ENGINES[0]: embedded, **named}


PARTS = {"quality": quality, "speed": speed}


if __name__ == "__main__":
    main()
