"""What a standby adds to reads, and what writers side by side wait for.

The servers are the embedded one's programs, the primary and its standby on a processor each. The
client runs on the same processors: its share is left out by counting what the servers' processes
themselves spent. A server that is busy all the time answers one search in that time.
"""

import argparse
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from multiprocessing import Process
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from threading import Thread

import psutil

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.postmasters import give, running

from bench_data import Text, questions, texts
from bench_ingest import write_at_once
from lexichord import SyncLexichord
from lexichord.db.embedded import PROGRAMS, EmbeddedServer
from lexichord.db.postmaster import postmaster_url
from lexichord.db.schema import Choice, prepare
from lexichord.types import EmbeddingSpace

SPACE = EmbeddingSpace("bench", "random", 384)
ROUNDS, CLIENTS, WRITERS = 3, 4, 4


def document(text: Text) -> dict[str, object]:
    """Give windows of a text with vectors that cost nothing."""
    own = random.Random(text.path.name)
    chunks = [
        {"content": content, "start": start, "vector": [own.gauss(0, 1) for _ in range(384)]}
        for start, content in text.windows()
    ]
    return {"uri": text.path.name, "text": text.text, "space": str(SPACE), "chunks": chunks}


def spent_by(postmaster: psutil.Process) -> float:
    """Seconds of processor time of a server's processes, those that ended among them."""
    spent = sum(postmaster.cpu_times())
    for child in postmaster.children():
        with suppress(psutil.NoSuchProcess):
            times = child.cpu_times()
            spent += times.user + times.system
    return spent


def pin(pid: int, processor: int) -> psutil.Process:
    """Keep a server, with what it starts, on one processor."""
    postmaster = psutil.Process(pid)
    for process in (postmaster, *postmaster.children()):
        process.cpu_affinity([processor])
    return postmaster


@contextmanager
def servers(folder: Path, corpus: Sequence[Text]) -> Iterator[dict[str, psutil.Process]]:
    """Yield a primary and its standby, by their addresses."""
    data, copy = folder / "primary", folder / "standby"
    data.mkdir()
    server = EmbeddedServer(data)
    server.ensure_pgdata_inited()
    with ExitStack() as stack:
        settings = {"wal_level": "replica", "shared_buffers": "256MB", "jit": "off"}
        info = stack.enter_context(running(data, server.system_user, **settings))
        found = {(primary := postmaster_url(info, "postgres")): pin(info.pid, 0)}
        prepare(primary, Choice("plain", "english", SPACE))
        with SyncLexichord(dsn=primary) as lexichord:
            lexichord.ingest(documents=map(document, corpus))
        base = [str(PROGRAMS / "pg_basebackup"), "-D", str(copy), "-R", "-d", primary]
        subprocess.run([*base, "-c", "fast"], check=True)
        for lock in copy.glob(".s.PGSQL.*"):
            lock.unlink()
        give(copy, server.system_user)
        info = stack.enter_context(running(copy, server.system_user))
        yield found | {postmaster_url(info, "postgres"): pin(info.pid, 1)}


def search_all(lexichord: SyncLexichord, asked: Sequence[str]) -> None:
    for question in asked:
        lexichord.search(question, mode="keyword")


def at_once(runs: Sequence[Callable[[], None]]) -> float:
    """Seconds that all take, each in a thread."""
    threads = [Thread(target=run) for run in runs]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - started


def measure_reads(folder: Path, corpus: Sequence[Text], asked: Sequence[str]) -> None:
    """Ask the primary by all clients, then by half of them and the standby by the others."""
    with ExitStack() as stack:
        found = stack.enter_context(servers(folder, corpus))
        primary, standby = found
        alone, other = (
            [stack.enter_context(SyncLexichord(dsn=primary, read_dsn=dsn)) for _ in range(CLIENTS)]
            for dsn in ("", standby)
        )
        clients = {"primary": alone, "both": [*alone[::2], *other[::2]]}
        for lexichord in (*alone, *other):
            search_all(lexichord, asked[:10])
        busiest: dict[str, list[float]] = {name: [] for name in clients}
        for _ in range(ROUNDS):
            for name, asking in clients.items():
                before = [spent_by(process) for process in found.values()]
                runs = [partial(search_all, lexichord, asked) for lexichord in asking]
                wall = at_once(runs)
                after = [spent_by(process) for process in found.values()]
                each = [b - a for a, b in zip(before, after, strict=True)]
                busiest[name].append(max(each))
                told = " and ".join(f"{seconds:.2f}" for seconds in each)
                print(f"{name}: {CLIENTS * len(asked)} searches, servers {told} s of {wall:.1f}")
        times = median(busiest["primary"]) / median(busiest["both"])
        print(f"reads {times:.2f} times, by the time of the busier server")


def write(dsn: str, corpus: Sequence[Text], dataset: str) -> None:
    with SyncLexichord(dsn=dsn) as lexichord:
        assert not lexichord.ingest(documents=map(document, corpus), dataset=dataset).failed


def measure_writers(home: Path, corpus: Sequence[Text]) -> None:
    """One writer of a part, then as many as WRITERS of a part each."""
    parts = [corpus[number::WRITERS] for number in range(WRITERS)]
    with SyncLexichord(home=home, embedding=str(SPACE)) as lexichord:
        dsn = lexichord.core.database.dsn
        speeds: dict[int, list[float]] = {1: [], WRITERS: []}
        for _ in range(ROUNDS):
            for count, speed in speeds.items():
                waits: Counter[str] = Counter()
                writers = [
                    Process(target=write, args=(dsn, part, f"d{n}"))
                    for n, part in enumerate(parts[:count])
                ]
                before = psutil.cpu_times()
                seconds = write_at_once(dsn, writers, waits)
                busy = 1 - (psutil.cpu_times().idle - before.idle) / seconds / os.cpu_count()
                speed.append(lexichord.status().chunks / seconds)
                told = ", ".join(f"{event} {n}" for event, n in waits.most_common(8))
                print(f"{count} writers: {speed[-1]:.0f} chunks/s, machine busy {busy:.2f}; {told}")
                lexichord.delete([row.document_id for row in lexichord.list()])
        print(f"{WRITERS} writers {median(speeds[WRITERS]) / median(speeds[1]):.2f} times one")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the public sets")
    parser.add_argument("--documents", type=int, default=60)
    parser.add_argument("--searches", type=int, default=100, help="by each client")
    parser.add_argument("parts", nargs="*", default=["reads", "writers"])
    arguments = parser.parse_args()
    everything = list(texts(arguments.data / "legalbenchrag/corpus/contractnli"))
    corpus = everything[: arguments.documents]
    asked = (questions(arguments.data) * arguments.searches)[: arguments.searches]
    print("load", os.getloadavg())
    with TemporaryDirectory(prefix="lxc") as folder:
        Path(folder).chmod(0o755)
        if "reads" in arguments.parts:
            measure_reads(Path(folder), corpus, asked)
        if "writers" in arguments.parts:
            measure_writers(Path(folder), corpus)
    print("load", os.getloadavg())


if __name__ == "__main__":
    main()
