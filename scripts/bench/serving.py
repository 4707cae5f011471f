"""What HTTP adds to the Python call, and how the server does under more clients than it takes.

python scripts/bench/serving.py [--rounds N] [--clients N] [--seconds N] [FOLDER ...]
python scripts/bench/serving.py --workers 1 2 [--rounds N] [--seconds N] [FOLDER ...]

With --workers: queries a second of servers with so many processes, in turns, beside empty requests.

It ingests the folders, by default the sample corpus, into a server of its own.
"""

import argparse
import asyncio
import http.client
import json
import os
import re
import selectors
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import count, product
from pathlib import Path
from statistics import median, quantiles
from typing import Any, cast

import httpx
import psutil
import psycopg

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.listening import port_of

from lexichord import SyncLexichord

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "samples"
MODES = ("keyword", "hybrid")
EVERY = 10  # seconds between looks at the memory
MB = 2**20

type Ask = Callable[[str, str], object]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--workers", type=int, nargs="*", default=[])
    arguments = parser.parse_args()
    folders = arguments.folders or [SAMPLES / "agreements", SAMPLES / "policies"]
    lines = (SAMPLES / "questions.jsonl").read_text().splitlines()
    questions = [json.loads(line)["query"] for line in lines]
    with tempfile.TemporaryDirectory(prefix="lxb") as home:
        Path(home).chmod(0o755)
        with SyncLexichord(home=Path(home)) as lexichord:
            lexichord.ingest(folders)
            dsn = lexichord.core.database.dsn
            if arguments.workers:
                rates(dsn, home, questions, arguments)
                return
            with served(dsn, home) as (port, process):
                compare(lexichord, port, questions, arguments.rounds)
                asyncio.run(
                    load(dsn, port, process, questions, arguments.clients, arguments.seconds)
                )


@contextmanager
def served(
    dsn: str, home: str, workers: int = 1, **settings: object
) -> Iterator[tuple[int, psutil.Process]]:
    """Run a server; give its port and process."""
    own = {f"LEXICHORD_{name.upper()}": str(value) for name, value in settings.items()}
    own |= {"LEXICHORD_DSN": dsn, "LEXICHORD_HOME": home}
    count = str(workers)
    command = [sys.executable, "-m", "lexichord", "serve", "--port", "0", "--workers", count]
    log = Path(home) / f"serve-{workers}.log"
    with (
        log.open("w") as stream,
        subprocess.Popen(command, env=os.environ | own, stderr=stream) as process,
    ):
        try:
            yield port_of(process, log.read_text), psutil.Process(process.pid)
        finally:
            process.terminate()


def compare(lexichord: SyncLexichord, port: int, questions: Sequence[str], rounds: int) -> None:
    """Ask each question by Python and by HTTP in turns; print the milliseconds."""
    connection = http.client.HTTPConnection("127.0.0.1", port)

    def by_python(question: str, mode: str) -> object:
        return lexichord.search(question, mode=mode).to_dict()  # type: ignore[arg-type]

    def by_http(question: str, mode: str) -> object:
        body = json.dumps({"query": question, "mode": mode})
        connection.request("POST", "/v1/search", body, {"content-type": "application/json"})
        return json.loads(connection.getresponse().read())

    def by_nothing(question: str, mode: str) -> object:
        connection.request("GET", "/healthz")
        return connection.getresponse().read()

    asks: dict[str, Ask] = {"Python": by_python, "HTTP": by_http, "HTTP /healthz": by_nothing}
    for mode in MODES:
        assert by_python(questions[0], mode) == by_http(questions[0], mode)
        spent: dict[str, list[float]] = {name: [] for name in asks}
        for number in range(rounds * len(questions)):
            question = questions[number % len(questions)]
            for name in [*asks] if number % 2 else [*reversed(asks)]:
                spent[name].append(timed(asks[name], question, mode))
        show(mode, spent)


def show(mode: str, spent: dict[str, list[float]]) -> None:
    for name, times in spent.items():
        late = quantiles(times, n=20)[18]
        print(f"{mode:8} {name:14} p50 {median(times):6.2f}  p95 {late:6.2f} ms")
    over = median(spent["HTTP"]) - median(spent["Python"])
    pairs = zip(spent["HTTP"], spent["Python"], strict=True)
    print(f"{mode:8} HTTP over Python at p50 {over:.2f} ms; of pairs {paired(pairs):.2f} ms")


def timed(ask: Ask, question: str, mode: str) -> float:
    started = time.perf_counter()
    ask(question, mode)
    return (time.perf_counter() - started) * 1000


def paired(pairs: Iterator[tuple[float, float]]) -> float:
    return median(one - other for one, other in pairs)


async def load(
    dsn: str,
    port: int,
    process: psutil.Process,
    questions: Sequence[str],
    clients: int,
    seconds: float,
) -> None:
    """Have many clients ask without a pause; print what they got and what it took."""
    seen = Counter[int]()
    end = time.monotonic() + seconds
    before = connections(dsn)
    memory = [process.memory_info().rss / MB]
    limits = httpx.Limits(max_connections=clients)
    async with httpx.AsyncClient(
        base_url=f"http://127.0.0.1:{port}", limits=limits, timeout=60
    ) as client:

        async def ask(number: int) -> None:
            while time.monotonic() < end:
                number += 1
                body = {"query": questions[number % len(questions)], "mode": MODES[number % 2]}
                answer = await client.post("/v1/search", json=body)
                seen[answer.status_code] += 1
                if answer.status_code == 429:
                    await asyncio.sleep(0.05)  # far less than the answer says

        async def look() -> None:
            while time.monotonic() < end:
                await asyncio.sleep(min(EVERY, max(0, end - time.monotonic())) or 0.01)
                memory.append(process.memory_info().rss / MB)

        await asyncio.gather(look(), *(ask(number) for number in range(clients)))
    await asyncio.sleep(1)
    after = connections(dsn)
    answered = seen[200] / seconds
    print(f"{clients} clients, {seconds:g} s: {dict(seen)}; {answered:.0f} answered a second")
    print(f"connections to the database: {before} before, {after} after")
    print("resident memory, MB:", *(f"{each:.0f}" for each in memory))
    print(f"answers other than 200 and 429: {seen.total() - seen[200] - seen[429]}")


CLIENTS = (1, 8, 64)
PATHS = ("/healthz", "keyword", "hybrid")  # of searches the mode


def rates(dsn: str, home: str, questions: Sequence[str], arguments: argparse.Namespace) -> None:
    """Print what servers of so many processes answer a second, and their memory."""
    with ExitStack() as stack:
        started = {
            workers: stack.enter_context(served(dsn, home, workers, max_requests=100))
            for workers in arguments.workers
        }
        for port, _ in started.values():  # which takes connections before its processes are up
            answered(port, "hybrid", max(CLIENTS), questions, 10)
        seen: dict[tuple[str, int, int], list[float]] = {}
        for _ in range(arguments.rounds):
            for path, clients, workers in product(PATHS, CLIENTS, arguments.workers):
                port, _ = started[workers]
                rate = answered(port, path, clients, questions, arguments.seconds)
                seen.setdefault((path, clients, workers), []).append(rate)
        for (path, clients, workers), each in seen.items():
            rounds = " ".join(f"{one:.0f}" for one in each)
            rate = median(each)
            print(f"{path:9} {clients:2} clients, {workers} workers: {rate:5.0f}/s ({rounds})")
        for workers, (_, process) in started.items():
            parts = [process, *process.children()]
            memory = " ".join(f"{one.memory_info().rss / MB:.0f}" for one in parts)
            print(f"{workers} workers: resident memory, MB: {memory}")
        print("load", os.getloadavg())


def answered(port: int, path: str, clients: int, questions: Sequence[str], seconds: float) -> float:
    """Have clients ask without a pause, in one thread and without a parser; give answers a second.

    An answer other than 200 is not counted.
    """
    requests = [request(path, question) for question in questions]
    asked, right = count(), 0
    with selectors.DefaultSelector() as selector, ExitStack() as stack:
        for _ in range(clients):
            one = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            one.sendall(requests[next(asked) % len(requests)])
            selector.register(one, selectors.EVENT_READ, bytearray())
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for key, _ in selector.select(0.1):
                one = cast(socket.socket, key.fileobj)
                key.data.extend(one.recv(2**16))
                if is_whole(key.data):
                    right += key.data.startswith(b"HTTP/1.1 200")
                    key.data.clear()
                    one.sendall(requests[next(asked) % len(requests)])
    return right / seconds


def request(path: str, question: str) -> bytes:
    """Write the request of a path, or of a search in a mode."""
    if path.startswith("/"):
        return f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n".encode()
    body = json.dumps({"query": question, "mode": path})
    head = f"host: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: {len(body)}"
    return f"POST /v1/search HTTP/1.1\r\n{head}\r\n\r\n{body}".encode()


def is_whole(answer: bytearray) -> bool:
    """Return whether an answer has come whole, by its length."""
    head, end, body = answer.partition(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head)
    return bool(end) and length is not None and len(body) >= int(length[1])


def connections(dsn: str) -> dict[str, Any]:
    """Count the connections to the database by their state, this one left out."""
    with psycopg.connect(dsn) as connection:
        rows = connection.execute(
            "select state, count(*) from pg_stat_activity where datname = current_database() "
            "and pid <> pg_backend_pid() group by state order by state"
        ).fetchall()
    return dict(rows)


if __name__ == "__main__":
    main()
