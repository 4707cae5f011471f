"""What HTTP adds to the Python call, and how the server does under more clients than it takes.

python scripts/bench_serving.py [--rounds N] [--clients N] [--seconds N] [FOLDER ...]

It ingests the folders, by default the sample corpus, into a server of its own.
"""

import argparse
import asyncio
import http.client
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import httpx
import psutil
import psycopg

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.listening import port_of

from lexichord import SyncLexichord

ROOT = Path(__file__).resolve().parents[1]
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
    arguments = parser.parse_args()
    folders = arguments.folders or [SAMPLES / "agreements", SAMPLES / "policies"]
    lines = (SAMPLES / "questions.jsonl").read_text().splitlines()
    questions = [json.loads(line)["query"] for line in lines]
    with tempfile.TemporaryDirectory(prefix="lxb") as home:
        Path(home).chmod(0o755)
        with SyncLexichord(home=Path(home)) as lexichord:
            lexichord.ingest(folders)
            dsn = lexichord.core.database.dsn
            with served(dsn, home) as (port, process):
                compare(lexichord, port, questions, arguments.rounds)
                asyncio.run(
                    load(dsn, port, process, questions, arguments.clients, arguments.seconds)
                )


@contextmanager
def served(dsn: str, home: str) -> Iterator[tuple[int, psutil.Process]]:
    """Run a server; give its port and process."""
    own = {"LEXICHORD_DSN": dsn, "LEXICHORD_HOME": home}
    command = [sys.executable, "-m", "lexichord", "serve", "--port", "0"]
    log = Path(home) / "serve.log"
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
