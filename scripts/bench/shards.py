"""Shards against one database: how far the first ten agree, and what a search takes.

Two builds of one database, the second with the documents in another order, say how far agreement
can go. All databases are on one server, or with `--nodes` on those of a Citus cluster, asked in SQL
of its coordinator: as long as all are on one machine, shards share its processors.
"""

import argparse
import asyncio
import json
import random
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import mean, median
from urllib.parse import urlsplit, urlunsplit

import psycopg

from common import Text, _document, texts, windows_home
from lexichord import SyncLexichord
from lexichord.db import schema, search
from lexichord.providers.embed.local import LocalEmbedder
from lexichord.types import Question, Scope

_names: list[str] = []
QUESTIONS, ROUNDS, K = 200, 3, 10
CORPORA = ("contractnli",)


def asked(data: Path, embedder: LocalEmbedder) -> list[Question]:
    """Questions of LegalBench-RAG with their vectors."""
    files = [data / f"legalbenchrag/benchmarks/{name}.json" for name in CORPORA]
    queries = {test["query"] for file in files for test in json.loads(file.read_text())["tests"]}
    chosen = random.Random(7).sample(sorted(queries), QUESTIONS)
    vectors = embedder.embed(chosen, "query")
    space = str(embedder.space)
    return [
        Question(query=query, vector=vector.tolist(), space=space, scope=Scope(), k=K)
        for query, vector in zip(chosen, vectors, strict=True)
    ]


@contextmanager
def database(server: str, name: str, space: LocalEmbedder) -> Iterator[str]:
    """Make a database, and drop it at the end."""
    with psycopg.connect(server, autocommit=True) as admin:
        admin.execute(f"drop database if exists {name} with (force)".encode())
        admin.execute(f"create database {name}".encode())
        try:
            dsn = urlunsplit(urlsplit(server)._replace(path=f"/{name}"))
            schema.prepare(dsn, schema.Choice("plain", "english", space.space))
            yield dsn
        finally:
            admin.execute(f"drop database {name} with (force)".encode())


def filled(
    stack: ExitStack,
    servers: Sequence[str],
    shards: int,
    corpus: Sequence[Text],
    embedder: LocalEmbedder,
) -> SyncLexichord:
    """Store documents in one database, or over shards; those of several servers are Citus nodes."""
    name = f"bench_shards_{shards}_{len(_names)}"
    _names.append(name)
    is_cluster = len(servers) > 1
    dsns = [
        stack.enter_context(
            database(servers[n % len(servers)], name if is_cluster else f"{name}_{n}", embedder)
        )
        for n in range(shards)
    ]
    if is_cluster and shards > 1:
        join_nodes(dsns)
    if shards > 1:
        with SyncLexichord(dsn=dsns[0]) as home:
            for dsn in dsns[1:]:
                home.add_shard(dsn)
    lexichord = stack.enter_context(SyncLexichord(dsn=dsns[0]))
    started = time.perf_counter()
    lexichord.ingest(documents=(_document(text, embedder) for text in corpus), context="none")
    if is_cluster and shards > 1:
        with psycopg.connect(dsns[0]) as coordinator:
            coordinator.execute("select lexichord.fan_out()")
    print(f"{shards} shards: ingest {time.perf_counter() - started:.1f} s")
    return lexichord


def join_nodes(dsns: Sequence[str]) -> None:
    """Make nodes of databases of one name, the first one's the coordinator."""
    for dsn in dsns:
        with psycopg.connect(dsn, autocommit=True) as node:
            node.execute("create extension citus")
    with psycopg.connect(dsns[0], autocommit=True) as coordinator:
        for number, dsn in enumerate(dsns):
            place = (urlsplit(dsn).hostname, urlsplit(dsn).port)
            add = "citus_add_node(%s, %s)" if number else "citus_set_coordinator_host(%s, %s)"
            coordinator.execute(f"select {add}".encode(), place)
            holds = "select citus_set_node_property(%s, %s, 'shouldhaveshards', true)"
            coordinator.execute(holds, place)


type Found = list[list[tuple[str, int]]]


def ask(lexichord: SyncLexichord, questions: Sequence[Question]) -> tuple[Found, list[float]]:
    """Return each question's hits, and milliseconds."""
    found, spent = [], []

    async def run() -> None:
        for question in questions:
            started = time.perf_counter()
            hits = await search.hybrid_search(lexichord.core.database, question)
            spent.append(1000 * (time.perf_counter() - started))
            found.append([(hit.uri, hit.start) for hit in hits])
        await asyncio.sleep(0)

    lexichord.run(run())
    return found, spent


SEARCH = """
    select uri, char_start
    from lexichord.hybrid_search(%s, %s::public.halfvec, k => %s, query_space => %s)"""


def ask_in_sql(
    lexichord: SyncLexichord, questions: Sequence[Question]
) -> tuple[Found, list[float]]:
    """Return each question's hits, and milliseconds, of the function as an application calls it."""
    found, spent = [], []
    with psycopg.connect(lexichord.core.database.dsn, autocommit=True) as connection:
        for question in questions:
            asked = (question.query, str(question.vector), question.k, question.space)
            started = time.perf_counter()
            hits = connection.execute(SEARCH, asked).fetchall()
            spent.append(1000 * (time.perf_counter() - started))
            found.append([(uri, start) for uri, start in hits])
    return found, spent


def show(name: str, found: Found, others: Found) -> None:
    """Print the share of the first ten in both, and of the same first hit."""
    pairs = list(zip(found, others, strict=True))
    shared = mean(len(set(a) & set(b)) / max(len(a), 1) for a, b in pairs)
    first = mean(a[:1] == b[:1] for a, b in pairs)
    print(f"{name}: first ten {shared:.3f}, first {first:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--server", help="DSN of a server for databases of its own")
    where.add_argument("--nodes", nargs="+", help="DSNs of servers with Citus, at least two")
    parser.add_argument("--documents", type=int, default=130)
    parser.add_argument("--shards", type=int, nargs="+", default=[2, 4])
    arguments = parser.parse_args()
    servers = arguments.nodes or [arguments.server]
    search_all = ask_in_sql if arguments.nodes else ask
    embedder = LocalEmbedder(windows_home())
    corpus = random.Random(7).sample(
        list(texts(arguments.data / "legalbenchrag/corpus")), arguments.documents
    )
    questions = asked(arguments.data, embedder)
    with ExitStack() as stack:
        make = stack, servers
        one = filled(*make, 1, corpus, embedder)
        found, _ = search_all(one, questions)
        with ExitStack() as other:
            again = filled(other, servers, 1, corpus[::-1], embedder)
            show("second build", found, search_all(again, questions)[0])
        built = {n: filled(*make, n, corpus, embedder) for n in arguments.shards}
        spent: dict[int, list[float]] = {n: [] for n in (1, *built)}
        for _ in range(ROUNDS):
            for number, lexichord in {1: one, **built}.items():
                others, times = search_all(lexichord, questions)
                spent[number] += times
                if number > 1 and len(spent[number]) == len(questions):
                    show(f"{number} shards", found, others)
        for number, times in spent.items():
            least = sorted(times)[len(times) // 10]
            print(f"{number} shards: p50 {median(times):.1f} ms, the tenth part under {least:.1f}")


if __name__ == "__main__":
    main()
