"""What a standby adds to reads.

The servers are the embedded one's programs, the primary and its standby on a processor each. The
client runs on the same processors: its share is left out by counting the processor time of the
servers' own processes. That of the busier server bounds what can be answered.
"""

import argparse
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from threading import Thread

import psutil

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.postmasters import give, running

from common import Text, questions, texts
from lexichord import SyncLexichord
from lexichord.db.embedded import PROGRAMS, EmbeddedServer
from lexichord.db.postmaster import postmaster_url
from lexichord.db.schema import Choice, prepare
from lexichord.types import EmbeddingSpace

SPACE = EmbeddingSpace("bench", "random", 384)
ROUNDS, CLIENTS = 3, 4


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
    spent = float(sum(postmaster.cpu_times()))
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the public sets")
    parser.add_argument("--documents", type=int, default=60)
    parser.add_argument("--searches", type=int, default=100, help="by each client")
    arguments = parser.parse_args()
    corpus = list(texts(arguments.data / "legalbenchrag/corpus/contractnli"))[: arguments.documents]
    asked = (questions(arguments.data) * arguments.searches)[: arguments.searches]
    print("load", os.getloadavg())
    with TemporaryDirectory(prefix="lxc") as folder:
        Path(folder).chmod(0o755)
        measure_reads(Path(folder), corpus, asked)


if __name__ == "__main__":
    main()
