"""Store, replace, delete, vacuum and kill at random while questions are asked; count lost hits.

A clear hit scores 3 % above the last of the depth. Exact scoring in the search's own snapshot says
which there are; tests/sql/test_no_hit_lost.py compares exact scoring with plain Python.

python scripts/soak.py --server DSN --engine plain [--writers 8] [--questions 100000] [--kill]

Works in a database of its own on that server, and drops it. --kill sends SIGKILL to sessions of
that database: for a server on this machine that may lose its connections.
"""

import argparse
import os
import signal
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from threading import Event, Lock
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg

from bench_data import ENGINES
from lexichord.db import schema
from lexichord.types import EmbeddingSpace

SPACE = EmbeddingSpace("soak", "random", 8)
DEPTH = 100
CLEAR = 1.03  # times the score of the last of the depth
WORDS = 20_000
DOCUMENTS = 400  # uris of a writer
SEGMENTS = """
create or replace function lexichord.sealing(
    out least_chunks bigint, out tail_chunks bigint, out segments_a_tier integer,
    out is_allowed boolean)
language sql immutable parallel safe set search_path = pg_catalog, pg_temp
as 'select {0} * 4, {0}, 3, true'
"""
SEARCH = "select chunk_id, score from lexichord.{}(%s, {}) order by score desc, chunk_id"

type Connection = psycopg.Connection[Any]


@dataclass
class Soak:
    """One run: what it does to which database, and what came of it."""

    dsn: str
    questions: int
    kills: bool
    counts: Counter[str] = field(default_factory=Counter)
    lock: Lock = field(default_factory=Lock)
    done: Event = field(default_factory=Event)

    def count(self, **amounts: int) -> None:
        with self.lock:
            self.counts.update(amounts)

    def write(self, writer: int) -> None:
        """Store, replace and delete until the last question is answered."""
        random = Random(writer)
        while not self.done.is_set():
            try:
                with psycopg.connect(self.dsn, autocommit=True) as connection:
                    while not self.done.is_set():
                        change(connection, random, f"{writer}/{random.randrange(DOCUMENTS)}")
                        self.count(changes=1)
            except psycopg.OperationalError:
                self.count(cut=1)
                time.sleep(0.2)

    def disturb(self) -> None:
        """Vacuum, build indexes and kill sessions until the last question is answered."""
        random = Random("disturb")
        while not self.done.wait(random.uniform(1, 4)):
            try:
                with psycopg.connect(self.dsn, autocommit=True) as connection:
                    self._disturb(connection, random)
            except psycopg.OperationalError:
                self.count(cut=1)

    def _disturb(self, connection: Connection, random: Random) -> None:
        choice = random.choice(["vacuum", "build", "end", "kill"])
        if choice == "vacuum":
            connection.execute("vacuum")
        elif choice == "build":
            connection.execute("select lexichord.build_indexes()")
        else:
            row = connection.execute(
                "select pid from pg_stat_activity where datname = current_database() "
                "and pid <> pg_backend_pid() order by random() limit 1"
            ).fetchone()
            if row and choice == "kill" and self.kills:
                os.kill(row[0], signal.SIGKILL)
            elif row:
                connection.execute("select pg_terminate_backend(%s)", row)
        self.count(**{choice: 1})

    def ask(self, reader: int) -> None:
        random = Random(f"reader {reader}")
        while self.counts["questions"] < self.questions:
            try:
                with psycopg.connect(self.dsn) as connection:
                    connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
                    while self.counts["questions"] < self.questions:
                        self.count(questions=1, **compare(connection, question(random)))
            except psycopg.OperationalError:
                self.count(cut=1)
                time.sleep(0.2)


def question(random: Random) -> str:
    return " ".join(words(random, random.choice([1, 1, 2, 3, 5, 8, 13, 20, 40, 60])))


def words(random: Random, count: int) -> Iterator[str]:
    """Yield words of which few are frequent, as in any text."""
    for _ in range(count):
        yield f"w{int(WORDS ** random.random())}"


def change(connection: Connection, random: Random, uri: str) -> None:
    if random.random() < 0.25:
        connection.execute(
            "select lexichord.delete_documents(array(select id from lexichord_data.document "
            "where uri = %s))",
            [uri],
        )
        return
    lines = [" ".join(words(random, random.randint(3, 120))) for _ in range(random.randint(1, 30))]
    with connection.transaction():
        connection.execute("select lexichord.stage_chunks()")
        with connection.cursor().copy(
            "copy staged_chunk (ordinal, heading, char_start, char_end, content, context, "
            "keyword_context, metadata, embedding) from stdin"
        ) as copy:
            for number, line in enumerate(lines):
                vector = [round(random.gauss(0, 1), 3) for _ in range(SPACE.dimension)]
                copy.write_row((number, "", 0, len(line), line, "", "", "{}", str(vector)))
        connection.execute(
            "select lexichord.store_document('d', %s, %s, 'text/plain', repeat('0', 64), 'r', %s, "
            "'{}')",
            [uri, uri, "\n".join(lines)],
        )


def compare(connection: Connection, query: str) -> dict[str, int]:
    """Return how many hits there are and are lost, by the index against exact scoring."""
    with connection.transaction():
        best = connection.execute(
            SEARCH.format("exact_keyword_candidates", DEPTH).encode(), [query]
        ).fetchall()
        hits = dict(
            connection.execute(SEARCH.format("keyword_candidates", DEPTH).encode(), [query])
        )
    clear = [chunk for chunk, score in best if score > CLEAR * best[-1][1]]
    lost = [chunk for chunk in clear if chunk not in hits]
    return {
        "clear hits": len(clear),
        "lost": len(lost),
        "lost of the first ten": len({*lost} & {chunk for chunk, _ in best[:10]}),
        "too few": int(len(hits) < len(best)),
    }


@contextmanager
def database(server: str, engine: str, segment_chunks: int | None) -> Iterator[str]:
    name = f"soak_{os.getpid()}"
    with psycopg.connect(server, autocommit=True) as admin:
        admin.execute(f"create database {name}".encode())
        try:
            dsn = urlunsplit(urlsplit(server)._replace(path=f"/{name}"))
            schema.prepare(dsn, schema.Choice(engine, "simple", SPACE))
            if segment_chunks and engine != "textsearch":
                with psycopg.connect(dsn) as connection:
                    connection.execute(SEGMENTS.format(segment_chunks).encode())
            yield dsn
        finally:
            with psycopg.connect(server, autocommit=True) as own:
                own.execute(f"drop database {name} with (force)".encode())


def rebuilt(dsn: str, amount: int) -> tuple[Counter[str], Counter[str]]:
    """Ask the same questions before and after both indexes were built anew."""
    counts: list[Counter[str]] = []
    with psycopg.connect(dsn) as connection:
        for build in ("select", "select lexichord.rebuild_indexes()"):
            connection.execute(build.encode())
            connection.commit()
            random, total = Random("rebuilt"), Counter[str]()
            for _ in range(amount):
                total.update(compare(connection, question(random)))
            counts.append(total)
    return counts[0], counts[1]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--server", required=True, help="DSN of a database that may create others")
    parser.add_argument("--engine", choices=ENGINES, default="plain")
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--readers", type=int, default=2)
    parser.add_argument("--questions", type=int, default=100_000)
    parser.add_argument("--segment-chunks", type=int, help="size of the smallest segments")
    parser.add_argument("--kill", action="store_true")
    arguments = parser.parse_args()
    with database(arguments.server, arguments.engine, arguments.segment_chunks) as dsn:
        soak = Soak(dsn, arguments.questions, arguments.kill)
        with ThreadPoolExecutor(arguments.writers + arguments.readers + 1) as pool:
            tasks = [pool.submit(soak.write, number) for number in range(arguments.writers)]
            tasks.append(pool.submit(soak.disturb))
            for reader in [pool.submit(soak.ask, n) for n in range(arguments.readers)]:
                reader.result()
            soak.done.set()
            for task in tasks:
                task.result()
        print(dict(soak.counts))
        before, after = rebuilt(dsn, 500)
        print("before a rebuild", dict(before), "after it", dict(after))
        with psycopg.connect(dsn) as connection:
            print(connection.execute("select * from lexichord.count_faults()").fetchall())


if __name__ == "__main__":
    main()
