"""Measure indexed tables: the triggers' cost, filling, freshness, memory, conditions, the queue.

python scripts/bench/indexed_tables.py --dsn SERVER [--rows 5000] [--seconds 30]

Makes a database on that server, which runs on this Linux machine, and drops it. The
embedder is the local one.
"""

import argparse
import asyncio
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import numpy as np
import psutil
import psycopg

from lexichord.db import schema
from lexichord.db.pool import Database
from lexichord.ingest.flow import INGEST_LIMITS
from lexichord.ingest.table_worker import TableWorker
from lexichord.providers import Embedder, EmbedKind, Vectors
from lexichord.providers.embed.local import LOCAL_SPACE, LocalEmbedder
from lexichord.settings import load_settings

type Connection = psycopg.Connection[Any]

TABLE = (
    "create table article (id bigint generated always as identity primary key, author text, "
    "title text, body text, views integer default 0, created_at timestamptz default now()); "
    "create index on article (author); create index on article (created_at)"
)
INDEX = (
    "select lexichord.index_table('public.article', text => '{title,body}', title => 'title', "
    "metadata => '{author}')"
)
WRITER_ROUNDS = 7
WARM_UP_UPDATES = 6  # of each writer: its session has planned by then
WORDS = [
    *("parcel", "delivery", "late", "refund", "invoice"),
    *("customer", "warehouse", "driver", "weather", "order"),
]


@contextmanager
def new_database(server: str) -> Iterator[str]:
    name = f"bench_tables_{os.getpid()}"
    with psycopg.connect(server, autocommit=True) as admin:
        admin.execute(f"create database {name}".encode())
        try:
            yield urlunsplit(urlsplit(server)._replace(path=f"/{name}"))
        finally:
            admin.execute(f"drop database {name} with (force)".encode())


def text(number: int) -> str:
    return f"{' '.join(random.choices(WORDS, k=20))} {number}"


def insert(connection: Connection, rows: int) -> None:
    with connection.cursor().copy("copy article (author, title, body) from stdin") as copy:
        for number in range(rows):
            copy.write_row((f"author {number % 50}", f"Title {number}", text(number)))


def seconds(connection: Connection, statement: str) -> float:
    """Give the time on a processor that the server's process takes, whatever else runs."""
    before = spent(connection)
    connection.execute(statement.encode())
    return spent(connection) - before


def spent(connection: Connection) -> float:
    """Give the time on a processor that a connection's process has taken so far."""
    schedule = Path(f"/proc/{connection.info.backend_pid}/schedstat")
    return int(schedule.read_text().split()[0]) / 1e9


def trigger_cost(connection: Connection, rounds: int) -> None:
    """Alternate with and without triggers: the machine's load is then the same for both."""
    for name, change in (("text", "body = body || '!'"), ("another column", "views = views + 1")):
        for rows in (1, 50, 1000, 20_000):
            statement = f"update article set {change} where id <= {rows}"
            times: dict[str, list[float]] = {"disable": [], "enable": []}
            for number in range(rounds):
                for state in ("disable", "enable") if number % 2 else ("enable", "disable"):
                    connection.execute(f"alter table article {state} trigger user".encode())
                    connection.execute("vacuum article")
                    times[state].append(seconds(connection, statement))
            plain, indexed = (min(times[state]) for state in ("disable", "enable"))
            middle = median(times["enable"]) / median(times["disable"])
            print(
                f"update of {rows} rows, {name}: {plain * 1e3:.1f} ms plain, "
                f"{indexed * 1e3:.1f} indexed (best: {indexed / plain - 1:+.0%}, "
                f"median: {middle - 1:+.0%})",
                flush=True,
            )
    connection.execute("alter table article enable trigger user")
    connection.execute("truncate lexichord_data.table_change")


def writers(dsn: str, count: int, rows: int, lasting: float) -> tuple[float, float]:
    """Give the transactions a second of so many writers, each of so many rows, and what one takes.

    The latter is the server's time on a processor.
    """
    done, took = [0] * count, [0.0] * count
    ready = threading.Barrier(count)

    def write(number: int) -> None:
        def update() -> None:
            first = number * 1000 + random.randrange(900)
            connection.execute(
                "update article set body = reverse(body) where id between %s and %s",
                [first, first + rows - 1],
            )

        with psycopg.connect(dsn, autocommit=True) as connection:
            for _ in range(WARM_UP_UPDATES):
                update()
            ready.wait()
            before, end = spent(connection), time.monotonic() + lasting
            while time.monotonic() < end:
                update()
                done[number] += 1
            took[number] = spent(connection) - before

    threads = [threading.Thread(target=write, args=[number]) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(done) / lasting, sum(took) / sum(done)


def many_writers(dsn: str, connection: Connection, lasting: float) -> None:
    """Alternate with and without triggers, in short rounds: the load is then nearly the same."""
    resting = "insert into lexichord_data.worker (host, resting_until) values ('bench', 'infinity')"
    steps = {
        "plain": "alter table article disable trigger user",
        "indexed": "alter table article enable trigger user",
        "indexed, each notifies": resting,
    }
    runs: dict[tuple[str, int], list[tuple[float, float]]] = {}
    for _ in range(WRITER_ROUNDS):
        for name, step in steps.items():
            connection.execute(step.encode())
            for rows in (1, 100):
                connection.execute("vacuum article")
                runs.setdefault((name, rows), []).append(writers(dsn, 16, rows, lasting))
        connection.execute(
            "truncate lexichord_data.table_change; delete from lexichord_data.worker"
        )
    for (name, rows), values in runs.items():
        rate, took = (median(column) for column in zip(*values, strict=True))
        pairs = zip(values, runs["plain", rows], strict=True)
        ratio = median(each[0] / plain[0] for each, plain in pairs)
        print(
            f"16 writers of {rows} rows, {name}: {rate:.0f} transactions/s ({ratio - 1:+.0%}), "
            f"{took * 1e6:.0f} us of the server's processor time each",
            flush=True,
        )


@contextmanager
def worker(dsn: str, *arguments: str) -> Iterator[psutil.Popen]:
    command = [sys.executable, "-m", "lexichord", "worker", "--dsn", dsn, *arguments]
    process = psutil.Popen(command, stdout=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def memory(process: psutil.Popen) -> float:
    family = [process, *process.children(recursive=True)]
    return float(sum(each.memory_info().rss for each in family)) / 2**20


def fill(dsn: str, connection: Connection, rows: int) -> None:
    embedder = LocalEmbedder(load_settings().home)
    connection.execute("truncate article restart identity")
    insert(connection, rows)
    fetched = connection.execute("select title, body from article").fetchall()
    pieces = [f"{title}\n\n{body}" for title, body in fetched]
    embedder.embed(pieces[:8], "document")
    started = time.perf_counter()
    ordered = sorted(pieces, key=len)
    for first in range(0, rows, INGEST_LIMITS.slice_chunks):
        embedder.embed(ordered[first : first + INGEST_LIMITS.slice_chunks], "document")
    bare = rows / (time.perf_counter() - started)
    del embedder
    stored = "select count(*) from lexichord_data.table_row"
    most, first_at, first_rows = 0.0, 0.0, 0
    with worker(dsn) as process:
        while True:
            ((count,),) = connection.execute(stored.encode()).fetchall()
            most = max(most, memory(process))
            if count and not first_at:
                first_at, first_rows = time.perf_counter(), count
            if count == rows:
                break
            time.sleep(0.2)
        rate = (rows - first_rows) / (time.perf_counter() - first_at)
    print(
        f"filling {rows} rows: {rate:.0f} rows/s, the embedder alone {bare:.0f} "
        f"({rate / bare:.0%}); worker and its reader {most:.0f} MB",
        flush=True,
    )


def freshness(dsn: str, connection: Connection, lasting: float) -> None:
    """Change 20 rows a second; ask until each is found as it is by now."""
    times: list[float] = []
    marks: dict[str, float] = {}
    with worker(dsn), psycopg.connect(dsn, autocommit=True) as asking:
        resting = "select count(*) from lexichord.list_workers() where is_resting"
        while asking.execute(resting.encode()).fetchone() == (0,):
            time.sleep(0.2)
        end = time.monotonic() + lasting
        number = 0
        following = time.monotonic()
        while time.monotonic() < end or (marks and time.monotonic() < end + 30):
            if time.monotonic() >= following and time.monotonic() < end:
                number += 1
                mark = f"mark{number:06d}"
                row = 1 + number % 500
                connection.execute("update article set body = %s where id = %s", [mark, row])
                marks[mark] = time.monotonic()
                following += 1 / 20
            if marks:
                rows = asking.execute(
                    "select substring(content from 'mark[0-9]+') from lexichord_data.chunk "
                    "where document_id in (select document_id from lexichord_data.table_row "
                    "where key = any(%s)) and content like '%%mark%%'",
                    [[str(1 + int(mark[4:]) % 500) for mark in marks]],
                ).fetchall()
                for (mark,) in rows:
                    if mark in marks:
                        times.append(time.monotonic() - marks.pop(mark))
            time.sleep(0.005)
    times.sort()
    print(
        f"commit to searchable at 20 rows/s, {len(times)} changes: p50 "
        f"{1e3 * times[len(times) // 2]:.0f} ms, p99 {1e3 * times[int(len(times) * 0.99)]:.0f} ms, "
        f"{len(marks)} not found",
        flush=True,
    )


def queue_growth(dsn: str, connection: Connection, changes: int) -> None:
    """Change rows one by one while a taker works them off; every tenth row is a dead letter."""
    connection.execute("set synchronous_commit = off")
    ended = threading.Event()
    taking = threading.Thread(target=take_away, args=[dsn, ended])
    taking.start()
    largest = 0
    for part in range(10):
        started = time.perf_counter()
        connection.execute(
            f"do $$ begin for i in 1..{changes // 10} loop "
            "update article set body = reverse(body) where id = 1 + i % 500; commit; "
            "end loop; end $$".encode()
        )
        each = (time.perf_counter() - started) / (changes // 10)
        sizes = [size(connection, name) for name in ("table_change", "table_failure")]
        largest = max(largest, sizes[0])
        print(
            f"{changes // 10 * (part + 1)} changes: {1e6 * each:.0f} us each, queue "
            f"{sizes[0] / 2**10:.0f} kB, dead letters {sizes[1] / 2**10:.0f} kB",
            flush=True,
        )
    ended.set()
    taking.join()
    for name in ("table_change", "table_failure"):
        connection.execute(f"vacuum lexichord_data.{name}".encode())
    rows = connection.execute("select count(*) from lexichord_data.table_failure").fetchall()
    print(
        f"at most {largest / 2**10:.0f} kB; after vacuum {size(connection, 'table_change')} bytes, "
        f"{rows[0][0]} dead letters in {size(connection, 'table_failure') / 2**10:.0f} kB"
    )
    connection.execute("reset synchronous_commit")


def take_away(dsn: str, ended: threading.Event) -> None:
    """Do as a worker does with the queue, but for embedding and storing."""
    failing = (
        "insert into lexichord_data.table_failure as f (table_id, key, reason) "
        "select %s, k, 'bench' from unnest(%s::text[]) as k where k like '%%7' "
        "on conflict (table_id, key) do update set attempts = f.attempts + 1, failed_at = now()"
    )
    took = list[float]()
    with psycopg.connect(dsn) as connection:
        while True:
            started = time.perf_counter()
            row = connection.execute("select * from lexichord.take_changes(512)").fetchone()
            took.append(time.perf_counter() - started)
            if row is not None and row[2]:
                connection.execute(failing, [row[0], row[2]])
                connection.execute("select lexichord.finish_changes(%s)", [row[1]])
            connection.commit()
            if row is None:
                if ended.is_set():
                    break
                time.sleep(0.01)
    tenth = len(took) // 10
    print(
        f"taking up to 512 changes: median {1e3 * median(took[:tenth]):.1f} ms in the first tenth, "
        f"{1e3 * median(took[-tenth:]):.1f} in the last"
    )


def size(connection: Connection, table: str) -> int:
    statement = "select pg_total_relation_size(%s::regclass)"
    ((amount,),) = connection.execute(statement, [f"lexichord_data.{table}"]).fetchall()
    return int(amount)


class RandomVectors:
    """An embedder for what depends on the amount of vectors alone."""

    space = LOCAL_SPACE

    def embed(self, texts: Sequence[str], kind: EmbedKind) -> Vectors:
        """Return random unit vectors."""
        shape = len(texts), LOCAL_SPACE.dimension
        rows = np.random.default_rng().normal(size=shape).astype(np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def conditions(dsn: str, connection: Connection, rows: int) -> None:
    """Search by vectors alone under conditions of some widths; compare with every row's cosine."""
    asyncio.run(store_random(dsn))
    for count in (10, 100, 1000, rows // 2, rows - 10):
        wanted = f"mod(article.id, {rows}) < {count}"
        took, found = list[float](), 0
        for _ in range(20):
            (vector,) = RandomVectors().embed([""], "query")
            text = str([float(each) for each in vector])
            started = time.perf_counter()
            got = connection.execute(
                "select (h.item).id from lexichord.search_table(null::public.article, 'x', "
                "%s::halfvec, k => 10, condition => %s, weights => '{1,0}') as h",
                [text, wanted],
            ).fetchall()
            took.append(time.perf_counter() - started)
            exact = connection.execute(
                "select r.key::bigint from lexichord_data.chunk c join lexichord_data.table_row r "
                f"using (document_id) join article on article.id::text = r.key where {wanted} "
                "order by (c.embedding <=> %s::halfvec) + 0 limit 10".encode(),
                [text],
            ).fetchall()
            found += len(set(got) & set(exact))
        recall, middle = found / 200, 1e3 * median(took)
        print(f"condition of {count} rows: recall@10 {recall:.3f}, {middle:.1f} ms", flush=True)


async def store_random(dsn: str) -> None:
    async def follow() -> tuple[Embedder, str]:
        return RandomVectors(), str(RandomVectors.space)

    async with Database(dsn, size=4) as database:
        await TableWorker(database, follow).run(until_idle=True)


PARTS = ("triggers", "writers", "fill", "freshness", "queue", "conditions")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dsn", required=True)
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--changes", type=int, default=1_000_000, help="that the queue takes")
    parser.add_argument("--only", nargs="*", default=PARTS, choices=PARTS)
    arguments = parser.parse_args()
    with new_database(arguments.dsn) as dsn:
        schema.prepare(dsn, schema.Choice("plain"))
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute(TABLE.encode())
            insert(connection, 20_000)
            connection.execute(INDEX.encode())
            connection.execute("truncate lexichord_data.table_change")
            if "triggers" in arguments.only:
                trigger_cost(connection, 9)
            if "writers" in arguments.only:
                many_writers(dsn, connection, 1.5)
            if "fill" in arguments.only:
                fill(dsn, connection, arguments.rows)
            if "freshness" in arguments.only:
                freshness(dsn, connection, arguments.seconds)
            if "queue" in arguments.only:
                queue_growth(dsn, connection, arguments.changes)
            if "conditions" in arguments.only:
                connection.execute("truncate article restart identity")
                insert(connection, arguments.rows)
                conditions(dsn, connection, arguments.rows)


if __name__ == "__main__":
    main()
