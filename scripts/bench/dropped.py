"""What requests that nobody waits for any more cost those that are asked after them.

python scripts/bench/dropped.py [--rounds N] [--settle SECONDS] [FOLDER ...]

The dearest request of each route is sent eight times at once and dropped a second later; a second
after that searches are timed, beside those of the quiet server before, which has done a little of
each kind. Memory is the server's, at last once the uploads that it accepted (202) are stored.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import quantiles
from typing import Any, cast

import httpx
import psutil

sys.path.insert(0, str(Path(__file__).parents[2]))

from lexichord import SyncLexichord
from serving import MB, SAMPLES, served

AT_ONCE, DROPPED_AFTER, PAUSE, SEARCHES = 8, 1.0, 1.0, 40
WORDS = "Which notice ends the lease of the premises, and what is repaid of the deposit? "
QUESTION = (WORDS * 200)[:10_000]
FILTER = {"or": [{"key": "title", "op": "eq", "value": f"{number}"} for number in range(100)]}
TEXTS = [(WORDS * 10)[:480]] * 2_048
PAPER = {"text": WORDS * 1_000, "media_type": "text/plain"}
MODEL = "all-MiniLM-L6-v2"

type Requests = Mapping[str, tuple[str, Mapping[str, Any]]]


def dearest() -> Requests:
    """Return each route's dearest request: its address and what httpx is given."""
    whole = {"query": QUESTION, "answer": True, "reflect": {"rounds": 5}}
    papers = [PAPER | {"uri": f"dropped/{number}"} for number in range(40)]
    files = [("files", (f"{number}.md", (WORDS * 12_000).encode())) for number in range(40)]
    return {
        "embed": ("/v1/embeddings", {"json": {"input": TEXTS, "model": MODEL}}),
        "search": ("/v1/search", {"json": {"query": QUESTION, "depth": 1000, "k": 1000}}),
        "filter": ("/v1/search", {"json": {"query": WORDS, "filter": FILTER}}),
        "query": ("/v1/query", {"json": whole}),
        "compare": ("/v1/query", {"json": whole | {"intent": "comparison"}}),
        "discover": ("/v1/files:discover", {"json": {"query": QUESTION}}),
        "store": ("/v1/documents", {"json": {"dataset": "dropped", "documents": papers}}),
        "upload": ("/v1/documents:upload", {"files": files, "data": {"dataset": "dropped"}}),
        "stores": (
            "/v1/vector_stores/default/search",
            {"json": {"query": [f"{number} {QUESTION[:9_000]}" for number in range(10)]}},
        ),
        "ask": ("/ask", {"json": {"question": QUESTION}}),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--settle", type=float, default=60, help="seconds before memory is read")
    arguments = parser.parse_args()
    folders = arguments.folders or [SAMPLES / "agreements", SAMPLES / "policies"]
    lines = (SAMPLES / "questions.jsonl").read_text().splitlines()
    questions = [json.loads(line)["query"] for line in lines]
    with tempfile.TemporaryDirectory(prefix="lxb") as home:
        Path(home).chmod(0o755)
        with SyncLexichord(home=Path(home)) as lexichord:
            lexichord.ingest(folders)
            with served(lexichord.core.database.dsn, home) as (port, process):
                url = f"http://127.0.0.1:{port}"
                asyncio.run(compare(url, process, questions, arguments))


async def compare(
    url: str, process: psutil.Process, questions: Sequence[str], arguments: argparse.Namespace
) -> None:
    """Print for each route how searches do after its requests were dropped."""
    async with httpx.AsyncClient(base_url=url, timeout=60) as client:
        await loaded(client, questions)
        for name, (path, request) in dearest().items():
            for _ in range(arguments.rounds):
                await compare_once(client, process, questions, name, path, request)
        print(f"accepted: {await stored(client)} s, memory {memory(process):.0f} MB")
        await asyncio.sleep(arguments.settle)
        print(f"memory {arguments.settle:g} s after all: {memory(process):.0f} MB")


async def loaded(client: httpx.AsyncClient, questions: Sequence[str]) -> None:
    """Search, ask, embed and store a little, each of which loads something once and keeps it."""
    await searched(client, questions)
    paper, file = PAPER | {"uri": "one"}, ("one.md", WORDS.encode())
    for path, request in (
        ("/v1/query", {"json": {"query": questions[0], "answer": True}}),
        ("/v1/embeddings", {"json": {"input": questions[:1], "model": MODEL}}),
        ("/v1/documents", {"json": {"dataset": "dropped", "documents": [paper]}}),
        ("/v1/documents:upload", {"files": {"files": file}, "data": {"dataset": "dropped"}}),
    ):
        answer = await client.post(path, **cast(Any, request))
        assert answer.is_success, answer.text
    await stored(client)


async def compare_once(
    client: httpx.AsyncClient,
    process: psutil.Process,
    questions: Sequence[str],
    name: str,
    path: str,
    request: Mapping[str, Any],
) -> None:
    before, quiet = memory(process), await searched(client, questions)
    statuses = await asyncio.gather(*(drop(client, path, request) for _ in range(AT_ONCE)))
    await asyncio.sleep(PAUSE)
    late = await searched(client, questions)
    seen = {status: statuses.count(status) for status in sorted(set(statuses))}
    print(
        f"{name:9} p95 {quiet:6.1f} → {late:7.1f} ms ({late / quiet:5.2f}), "
        f"memory {before:5.0f} → {memory(process):5.0f} MB, answered {seen} (0: dropped)",
        flush=True,
    )


async def stored(client: httpx.AsyncClient) -> int:
    """Wait for the ingests that the server has accepted; return how many seconds."""
    for seconds in range(1_800):
        jobs = (await client.get("/v1/jobs", params={"limit": 100})).json()["jobs"]
        if all(job["state"] != "running" for job in jobs):
            return seconds
        await asyncio.sleep(1)
    raise TimeoutError("ingests did not end")


async def drop(client: httpx.AsyncClient, path: str, request: Mapping[str, Any]) -> int:
    """Ask and leave soon; return the status, 0 where none came before."""
    try:
        return (await client.post(path, timeout=DROPPED_AFTER, **request)).status_code
    except httpx.TimeoutException:
        return 0


async def searched(client: httpx.AsyncClient, questions: Sequence[str]) -> float:
    """Search one by one; return the 95th percentile in milliseconds."""
    spent = []
    for number in range(SEARCHES):
        started = time.perf_counter()
        body = {"query": questions[number % len(questions)]}
        answer = await client.post("/v1/search", json=body)
        assert answer.status_code == 200, answer.text
        spent.append((time.perf_counter() - started) * 1000)
    return quantiles(spent, n=20)[18]


def memory(process: psutil.Process) -> float:
    return float(process.memory_info().rss / MB)


if __name__ == "__main__":
    main()
