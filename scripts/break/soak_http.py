"""Ingest, change, delete and ask through HTTP for long; see whether anything is lost, or grows.

Starts `lexichord serve` on a database of its own on a server, with the local model, and drops it at
the end. Each client stores documents first, so that the library is as large at the beginning as it
is at the end, then changes and deletes them, and asks in between; what it was told is stored must
be the first hit of its own word, what it deleted must be gone. Per tenth of the time: milliseconds,
memory of the server's process, connections, and the recall@10 of both channels against exact ones.
/healthz is asked, too, which does nothing: its milliseconds grow with the machine's load alone.
Exits with 1 if something was lost, or an answer was an error.

python scripts/break/soak_http.py --server DSN [--minutes 30] [--clients 8] [--stored 50] [--seed 1]
"""

import argparse
import os
import socket
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from math import ceil
from random import Random
from statistics import median
from tempfile import TemporaryDirectory
from threading import Lock
from urllib.parse import urlsplit, urlunsplit

import httpx
import psutil
import psycopg

from lexichord.db import schema
from lexichord.types import Json

DATABASE = "lexichord_soak_http"
TENTHS = 10
MAX_DOCUMENTS = 60  # of a client: then it deletes
WORDS = [
    *("delivery", "payment", "notice", "lease", "tenant", "deposit", "warranty", "defect"),
    *("invoice", "supplier", "parcel", "driver", "weather", "harbour", "contract", "clause"),
    *("party", "term", "renewal", "penalty", "interest", "insurance", "liability", "audit"),
]
ACTIONS = {"search": 8, "query": 4, "store": 2, "change": 2, "delete": 1}
RECALL_QUESTIONS = 20
RECALL = """
select avg((select count(*) from lexichord.{exact}({argument}, 10) e
            join lexichord.{found}({argument}, 10) f using (chunk_id))::float8
    / nullif((select count(*) from lexichord.{exact}({argument}, 10)), 0))
from unnest(%s::text[]) as q (words)
left join lateral (select c.embedding from lexichord_data.chunk c
    where c.content like '%%' || q.words || '%%' limit 1) as v on true
where {given}
"""


@dataclass
class Tally:
    """What the clients saw; `milliseconds` by tenth of the time and kind of request."""

    started: float
    seconds: float
    milliseconds: dict[tuple[int, str], list[float]] = field(
        default_factory=lambda: defaultdict(list)
    )
    outcomes: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    lock: Lock = field(default_factory=Lock)

    def tenth(self) -> int:
        """Return which tenth of the time it is, from 0; TENTHS when it is over."""
        return min(int((time.monotonic() - self.started) / self.seconds * TENTHS), TENTHS)

    def note(self, kind: str, seconds: float, outcome: str = "ok") -> None:
        """Count an answer."""
        with self.lock:
            self.milliseconds[self.tenth(), kind].append(1000 * seconds)
            self.outcomes[f"{kind} {outcome}"] += 1

    def blame(self, problem: str) -> None:
        """Keep what should not have been, and print it."""
        print(f"{time.monotonic() - self.started:.0f} s: {problem}", flush=True)
        with self.lock:
            self.problems.append(problem)


@dataclass
class Client:
    """One client: its documents, by uri the word that only the present version has."""

    number: int
    http: httpx.Client
    tally: Tally
    random: Random
    stored: dict[str, str] = field(default_factory=dict)
    versions: Iterator[int] = field(default_factory=count)

    def fill(self, documents: int) -> None:
        """Store so many documents."""
        while len(self.stored) < documents:
            self.store()

    def run(self) -> None:
        """Act at random until the time is over."""
        while self.tally.tenth() < TENTHS:
            action = self.random.choices(list(ACTIONS), list(ACTIONS.values()))[0]
            try:
                getattr(self, action)()
            except httpx.HTTPError as error:
                self.tally.blame(f"{action}: {type(error).__name__}: {error}")

    def search(self) -> None:
        """Search for a document's own word: it must come first."""
        if not self.stored:
            return self.store()
        uri, word = self.random.choice(list(self.stored.items()))
        hits = self.ask("search", {"query": f"{word} {self.random.choice(WORDS)}", "k": 5})["hits"]
        if not hits or hits[0]["uri"] != uri:
            self.tally.blame(f"lost: {word} of {uri}")
        return None

    def query(self) -> None:
        """Ask a whole question."""
        words = " ".join(self.random.sample(WORDS, 3))
        self.ask("query", {"query": f"What does it say about {words}?", "answer": True})

    def store(self) -> None:
        """Store a new document."""
        if len(self.stored) >= MAX_DOCUMENTS:
            return self.delete()
        return self.put(f"{self.number}/{next(self.versions)}")

    def change(self) -> None:
        """Store another text in a document's place; the old word must be gone."""
        if self.stored:
            uri, old = self.random.choice(list(self.stored.items()))
            self.put(uri)
            self.gone(old)

    def delete(self) -> None:
        """Delete a document; its word must be gone."""
        if not self.stored:
            return
        uri, word = self.stored.popitem()
        listed = self.send("list", "GET", f"/v1/documents?uri_prefix={uri}&limit=5")["documents"]
        (document,) = [each for each in listed if each["uri"] == uri]
        self.send("delete", "DELETE", f"/v1/documents/{document['document_id']}")
        self.gone(word)

    def put(self, uri: str) -> None:
        """Store a document and wait for its job."""
        word = f"w{self.number}x{next(self.versions)}"
        lines = [" ".join(self.random.choices(WORDS, k=30)) for _ in range(4)]
        text = f"# {word}\n\n" + "\n\n".join(f"{line} {word}." for line in lines)
        body = {"documents": [{"uri": uri, "text": text}]}
        job = self.send("store", "POST", "/v1/documents", body)
        while job["state"] in ("queued", "running"):
            time.sleep(0.1)
            job = self.send("job", "GET", f"/v1/jobs/{job['job_id']}")
        if job["state"] != "finished":
            self.tally.blame(f"store: {job}")
        self.stored[uri] = word

    def gone(self, word: str) -> None:
        """Make sure that no document has a word."""
        if hits := self.ask("search", {"query": word, "mode": "keyword"})["hits"]:
            self.tally.blame(f"not gone: {word}: {hits[0]['uri']}")

    def ask(self, kind: str, body: object) -> Json:
        """Search or query."""
        return self.send(kind, "POST", f"/v1/{kind}", body)

    def send(self, kind: str, method: str, path: str, body: object = None) -> Json:
        """Send a request until it is not told to come back later."""
        while True:
            started = time.monotonic()
            answer = self.http.request(method, path, json=body)
            seconds = time.monotonic() - started
            if answer.status_code != 429:
                break
            self.tally.note(kind, seconds, "busy")
            time.sleep(float(answer.headers.get("retry-after", "1")))
        outcome = "ok" if answer.is_success else str(answer.status_code)
        self.tally.note(kind, seconds, outcome)
        if not answer.is_success:
            self.tally.blame(f"{kind}: {answer.status_code} {answer.text[:200]}")
            raise httpx.HTTPError(f"{answer.status_code}")
        reply: Json = answer.json()
        return reply


def main() -> None:
    """Run; print a line a tenth and what was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--server", required=True, help="a DSN of a server with pgvector")
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--stored", type=int, default=50, help="documents of a client at first")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with _database(arguments.server) as dsn, _serving(dsn) as (process, url):
        before = Tally(time.monotonic(), 3600)
        clients = [
            Client(
                number,
                httpx.Client(base_url=url, timeout=120),
                before,
                Random(f"{arguments.seed} {number}"),
            )
            for number in range(arguments.clients)
        ]
        with ThreadPoolExecutor(arguments.clients) as pool:
            list(pool.map(lambda client: client.fill(arguments.stored), clients))
            tally = Tally(time.monotonic(), 60 * arguments.minutes, problems=before.problems)
            for client in clients:
                client.tally = tally
                pool.submit(client.run)
            with httpx.Client(base_url=url, timeout=120) as alive:
                _watch(tally, process, dsn, Random(arguments.seed), alive)
    print(dict(sorted(tally.outcomes.items())))
    for problem, times in Counter(tally.problems).most_common(50):
        print(f"{times} x {problem}")
    print(f"{len(tally.problems)} problems")
    sys.exit(bool(tally.problems))


def _watch(
    tally: Tally, process: psutil.Process, dsn: str, random: Random, alive: httpx.Client
) -> None:
    """Print a line at the end of each tenth."""
    for tenth in range(TENTHS):
        while tally.tenth() == tenth:
            _ask_health(tally, alive)
            time.sleep(0.25)
        shown = []
        for kind in ("search", "query", "store", "healthz"):
            found = sorted(tally.milliseconds[tenth, kind])
            if found:
                shown.append(
                    f"{kind} p50 {median(found):.0f} p95 {found[ceil(0.95 * len(found)) - 1]:.0f}"
                    f" ms of {len(found)}"
                )
        memory = process.memory_info().rss / 2**20
        recall, connections = _look(dsn, random)
        print(
            f"tenth {tenth + 1}: {'; '.join(shown)}; {memory:.0f} MiB; {connections} connections; "
            f"recall@10 {recall}; {len(tally.problems)} problems",
            flush=True,
        )


def _ask_health(tally: Tally, alive: httpx.Client) -> None:
    """Note how long the answer to a question takes that asks for nothing."""
    started = time.monotonic()
    try:
        alive.get("/healthz").raise_for_status()
        tally.note("healthz", time.monotonic() - started)
    except httpx.HTTPError as error:
        tally.blame(f"healthz: {type(error).__name__}: {error}")


def _look(dsn: str, random: Random) -> tuple[str, int]:
    """Return the recall of both channels against exact ones, and the number of connections."""
    words = random.sample(WORDS, RECALL_QUESTIONS)
    with psycopg.connect(dsn, autocommit=True) as connection:
        shown = []
        for name, argument, given in (
            ("keyword", "q.words", "true"),
            ("dense", "v.embedding", "v.embedding is not null"),
        ):
            statement = RECALL.format(
                exact=f"exact_{name}_candidates",
                found=f"{name}_candidates",
                argument=argument,
                given=given,
            )
            row = connection.execute(statement.encode(), [words]).fetchone()
            shown.append(f"{name} {row[0]:.3f}" if row and row[0] is not None else f"{name} none")
        row = connection.execute(
            "select count(*) from pg_stat_activity where datname = current_database()"
        ).fetchone()
    return ", ".join(shown), row[0] - 1 if row else 0


@contextmanager
def _database(server: str) -> Iterator[str]:
    dsn = urlunsplit(urlsplit(server)._replace(path=f"/{DATABASE}"))
    with psycopg.connect(server, autocommit=True) as connection:
        drop = f"drop database if exists {DATABASE} with (force)".encode()
        connection.execute(drop)
        connection.execute(f"create database {DATABASE}".encode())
        schema.prepare(dsn, schema.Choice())
        try:
            yield dsn
        finally:
            connection.execute(drop)


@contextmanager
def _serving(dsn: str) -> Iterator[tuple[psutil.Process, str]]:
    with socket.socket() as free, TemporaryDirectory() as home:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        command = [sys.executable, "-m", "lexichord", "serve", "--port", str(port)]
        own = {"LEXICHORD_DSN": dsn, "LEXICHORD_HOME": home, "LEXICHORD_MAX_REQUESTS": "16"}
        process = subprocess.Popen(command, env=os.environ | own, stderr=subprocess.DEVNULL)
        url = f"http://127.0.0.1:{port}"
        try:
            _await(url)
            yield psutil.Process(process.pid), url
        finally:
            process.terminate()
            process.wait(30)


def _await(url: str) -> None:
    for _ in range(600):
        try:
            if httpx.get(f"{url}/readyz").is_success:
                return
        except httpx.TransportError:
            time.sleep(0.2)
    raise SystemExit("the server does not start")


if __name__ == "__main__":
    main()
