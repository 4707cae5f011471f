"""Store, replace, delete, vacuum and kill at random while questions are asked; count lost hits.

A clear hit scores 3 % above the last of the depth. BM25 over the texts of the search's own
snapshot says which there are (soak_oracle.py), and what every hit's score should be. Lost by writes
is a clear hit that the same engine finds once its indexes are built anew: now and then they are,
with the writers held and all of it rolled back, so that the written ones go on.

python scripts/break/soak.py --server DSN --engine plain [--writers 8] [--questions 100000]
    [--minutes 30] [--kill]

Works in a database of its own on that server, and drops it. --kill sends SIGKILL to sessions of
that database: for a server on this machine that may lose its connections. Where no question was
answered for minutes, what the sessions wait for is written out and one of them killed, so that the
server starts anew.

With `--engine citus` the server is the coordinator of a cluster, on this machine all. Shards are
moved from worker to worker meanwhile, and workers' sessions killed as well. Where the writers are
held, all vectors on the workers are compared with the coordinator's.
"""

import argparse
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from threading import Event, Lock
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg

from lexichord.db import schema
from lexichord.db.schema import ENGINES
from lexichord.types import EmbeddingSpace
from soak_oracle import Oracle

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.conftest import new_cluster, nodes_of

SPACE = EmbeddingSpace("soak", "random", 8)
DEPTHS = (10, 30, 100)
WORDS = 20_000
DOCUMENTS = 100  # uris of a writer: what one question costs does not grow with the run
BURST = 6  # changes at most
PAUSE_SECONDS = 8.0  # at most, after a burst
QUESTIONS_A_CHANGE = 10  # at least: on a busy machine eight writers leave two readers nothing
BATCH = 100  # questions a statement, all of one snapshot
REPORT_EVERY = 1_000  # questions
HANG_SECONDS = 60.0  # without an answer
DISTURBANCES = {"vacuum": 4, "build": 6, "end": 3, "kill": 1, "rebuild": 1}
SEGMENTS = """
create or replace function lexichord.sealing(
    out least_chunks bigint, out tail_chunks bigint, out segments_a_tier integer,
    out is_allowed boolean)
language sql immutable parallel safe set search_path = pg_catalog, pg_temp
as 'select {0} * 4, {0}, 3, true'
"""
ASK = """
select q.number, array_agg(f.chunk_id), array_agg(f.score)
from unnest(%s::text[], %s::integer[]) with ordinality as q (words, depth, number),
     lateral lexichord.keyword_candidates(q.words, q.depth) as f
group by q.number
"""
MOVE = """
select citus_move_shard_placement(
    p.shardid, s.nodename, s.nodeport, t.nodename, t.nodeport, 'block_writes')
from pg_dist_placement p join pg_dist_node s using (groupid)
join pg_dist_node t on t.groupid > 0 and t.groupid <> s.groupid
order by random() limit 1
"""
SESSIONS = """
select pid, backend_type, state, wait_event_type, wait_event, now() - query_start, left(query, 60)
from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
order by query_start
"""

type Connection = psycopg.Connection[Any]
type Questions = Sequence[tuple[str, int]]  # with their depths


@dataclass
class Soak:
    """One run: what it does to which database, and what came of it."""

    dsn: str
    questions: int
    kills: bool
    ends: float  # by the monotonic clock
    workers: Sequence[str] = ()  # of a Citus cluster
    counts: Counter[str] = field(default_factory=Counter)
    lock: Lock = field(default_factory=Lock)
    done: Event = field(default_factory=Event)

    def count(self, **amounts: int) -> None:
        with self.lock:
            self.counts.update(amounts)
            if "questions" in amounts and self.counts["questions"] % REPORT_EVERY == 0:
                print(time.strftime("%H:%M:%S"), dict(self.counts), flush=True)

    def write(self, writer: int) -> None:
        """Store, replace and delete in bursts until the last question is answered."""
        random = Random(writer)
        while not self.done.is_set():
            try:
                with psycopg.connect(self.dsn, autocommit=True) as connection:
                    while not self.done.wait(random.uniform(0, PAUSE_SECONDS)):
                        ahead = (
                            self.counts["changes"] * QUESTIONS_A_CHANGE > self.counts["questions"]
                        )
                        for _ in range(0 if ahead else random.randint(1, BURST)):
                            change(connection, random, f"{writer}/{random.randrange(DOCUMENTS)}")
                            self.count(changes=1)
            except psycopg.OperationalError:
                self.count(cut=1)
                time.sleep(0.2)
            except psycopg.Error as error:  # of an engine, where it is to be tried again
                print("refused", " ".join(str(error).split()), flush=True)
                self.count(refused=1)

    def fill(self, writers: int) -> None:
        random = Random("fill")
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            for number in range(writers * DOCUMENTS):
                change(connection, random, f"{number % writers}/{number // writers}")
            connection.execute("select lexichord.build_indexes()")

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
        (choice,) = random.choices([*DISTURBANCES], [*DISTURBANCES.values()])
        if self.workers and random.random() < 0.4:
            choice = "move"
            connection.execute("call citus_cleanup_orphaned_resources()")
            connection.execute(MOVE)
        elif choice == "vacuum":
            connection.execute("vacuum")
        elif choice == "build":
            connection.execute("select lexichord.build_indexes()")
        elif choice == "rebuild":
            self.count(**compare_rebuilt(connection, draw(random, BATCH)))
        else:
            with psycopg.connect(random.choice([self.dsn, *self.workers]), autocommit=True) as some:
                row = some.execute(
                    "select pid from pg_stat_activity where datname = current_database() "
                    "and pid <> pg_backend_pid() order by random() limit 1"
                ).fetchone()
                if row and choice == "kill" and self.kills:
                    os.kill(row[0], signal.SIGKILL)
                elif row:
                    some.execute("select pg_terminate_backend(%s::integer)", row)
        self.count(**{choice: 1})

    def watch(self) -> None:
        """End what hangs whenever no question was answered for long."""
        seen, since = -1, time.monotonic()
        while not self.done.wait(5):
            if self.counts["questions"] != seen:
                seen, since = self.counts["questions"], time.monotonic()
            elif time.monotonic() - since > HANG_SECONDS:
                with suppress(psycopg.OperationalError):
                    self._end_hang()
                since = time.monotonic()

    def _end_hang(self) -> None:
        """Kill a session that waits for a lock inside an index: it listens to nothing else.

        Postgres ends a stuck spinlock by itself, after minutes.
        """
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            sessions = connection.execute(SESSIONS).fetchall()
        print("no answer for long", *sessions, sep="\n    ", flush=True)
        hung = [
            session[0]
            for session in sessions
            if (session[3] == "LWLock" or session[4] == "SpinDelay")
            and session[5].total_seconds() > HANG_SECONDS / 2
        ]
        if hung and not self.kills:
            os._exit(1)  # the threads here wait for good
        if hung:
            os.kill(hung[0], signal.SIGKILL)
            self.count(hung=1)

    def ask(self, reader: int) -> None:
        random, oracle = Random(f"reader {reader}"), Oracle(WORDS + 1)
        while self._goes_on():
            try:
                with psycopg.connect(self.dsn, autocommit=True) as connection:
                    if self.workers:  # else a minute passes before what was cut off is committed
                        connection.execute("select recover_prepared_transactions()")
                    while self._goes_on():
                        with connection.transaction():
                            connection.execute("set transaction isolation level repeatable read")
                            lost = ask(connection, oracle, draw(random, BATCH))[0]
                        self.count(questions=BATCH, **lost)
            except psycopg.OperationalError:
                self.count(cut=1)
                time.sleep(0.2)
            except psycopg.Error as error:  # of an engine, where it is to be tried again
                print("refused", " ".join(str(error).split()), flush=True)
                self.count(refused=1)

    def _goes_on(self) -> bool:
        return self.counts["questions"] < self.questions and time.monotonic() < self.ends


def draw(random: Random, amount: int) -> Questions:
    return [(question(random), random.choice(DEPTHS)) for _ in range(amount)]


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


def ask(
    connection: Connection, oracle: Oracle, questions: Questions
) -> tuple[Counter[str], set[tuple[int, int]]]:
    """Return how many hits there are and are lost, and the lost ones, by question."""
    counts, missing = Counter[str](), set[tuple[int, int]]()
    postings = oracle.postings(connection)
    words, depths = zip(*questions, strict=True)
    found = {
        number: [*zip(chunks, scores, strict=True)]
        for number, chunks, scores in connection.execute(ASK, [[*words], [*depths]])
    }
    for number, (question, depth) in enumerate(questions, start=1):
        verdict = postings.judge(question, depth, found.get(number, []))
        counts["clear hits"] += verdict.clear
        counts["lost"] += len(verdict.lost)
        counts["lost of the first ten"] += len(verdict.lost_of_ten)
        counts["too few"] += verdict.too_few
        counts["wrong scores"] += verdict.wrong_scores
        missing.update((number, chunk) for chunk in verdict.lost)
        if verdict.lost_of_ten or verdict.wrong_scores:
            print("wrong", depth, question, verdict, flush=True)
    return counts, missing


def compare_rebuilt(connection: Connection, questions: Questions) -> dict[str, int]:
    """Return how many clear hits are found only once both indexes are built anew.

    And how many vectors of a cluster are wrong.
    """
    oracle = Oracle(WORDS + 1)
    with connection.transaction(force_rollback=True):
        connection.execute("select lexichord.hold_writers()")
        wrong = wrong_vectors(connection)
        _, before = ask(connection, oracle, questions)
        connection.execute("select lexichord.rebuild_indexes()")
        _, after = ask(connection, oracle, questions)
    return {
        "questions rebuilt": len(questions),
        "lost by writes": len(before - after),
        "wrong vectors": wrong,
    }


def wrong_vectors(connection: Connection) -> int:
    """Return how many vectors of a cluster's workers are not the coordinator's; 0 on one server."""
    is_cluster = "select where to_regclass('lexichord_data.chunk_vector') is not null"
    if connection.execute(is_cluster).fetchone() is None:
        return 0
    spread, known = (
        set(connection.execute(f"select {columns}, embedding::text from lexichord_data.{table}"))
        for table, columns in (
            ("chunk_vector", "chunk_id, document_id"),
            ("chunk", "id, document_id"),
        )
    )
    return len(spread ^ known)


def reconnect(dsn: str) -> Connection:
    """Connect once the server is back from the last kill."""
    until = time.monotonic() + HANG_SECONDS
    while True:
        try:
            return psycopg.connect(dsn, autocommit=True)
        except psycopg.OperationalError:
            if time.monotonic() > until:
                raise
            time.sleep(0.2)


def prepare(dsn: str, engine: str, segment_chunks: int) -> None:
    schema.prepare(dsn, schema.Choice(engine, "simple", SPACE))
    if engine != "textsearch":
        with psycopg.connect(dsn) as connection:
            connection.execute(SEGMENTS.format(segment_chunks).encode())


@contextmanager
def databases(server: str, engine: str, segment_chunks: int) -> Iterator[list[str]]:
    """Yield the DSN of a prepared database, and those of its workers."""
    if engine == "citus":
        with new_cluster(nodes_of(server)) as dsns:
            prepare(dsns[0], engine, segment_chunks)
            yield dsns
        return
    name = f"soak_{os.getpid()}"
    with psycopg.connect(server, autocommit=True) as admin:
        admin.execute(f"create database {name}".encode())
        try:
            dsn = urlunsplit(urlsplit(server)._replace(path=f"/{name}"))
            prepare(dsn, engine, segment_chunks)
            yield [dsn]
        finally:
            with reconnect(server) as own:
                own.execute(f"drop database {name} with (force)".encode())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--server", required=True, help="DSN of a database that may create others")
    parser.add_argument("--engine", choices=ENGINES, default="plain")
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--readers", type=int, default=2)
    parser.add_argument("--questions", type=int, default=100_000)
    parser.add_argument(
        "--segment-chunks", type=int, default=200, help="chunks of the smallest segments"
    )
    parser.add_argument("--minutes", type=float, default=1e6, help="at most")
    parser.add_argument("--kill", action="store_true")
    arguments = parser.parse_args()
    with databases(arguments.server, arguments.engine, arguments.segment_chunks) as dsns:
        dsn, *workers = dsns
        ends = time.monotonic() + 60 * arguments.minutes
        soak = Soak(dsn, arguments.questions, arguments.kill, ends, workers)
        soak.fill(arguments.writers)
        with ThreadPoolExecutor(arguments.writers + arguments.readers + 2) as pool:
            tasks = [pool.submit(soak.write, number) for number in range(arguments.writers)]
            tasks += [pool.submit(soak.disturb), pool.submit(soak.watch)]
            try:
                for reader in [pool.submit(soak.ask, n) for n in range(arguments.readers)]:
                    reader.result()
            finally:
                soak.done.set()
            for task in tasks:
                task.result()
        print(dict(soak.counts))
        with reconnect(dsn) as connection:
            print("in the end", compare_rebuilt(connection, draw(Random("end"), 10 * BATCH)))
            print(connection.execute("select * from lexichord.count_faults()").fetchall())


if __name__ == "__main__":
    main()
