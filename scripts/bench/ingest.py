"""What ingest costs: beyond the bare embedder, when nothing changed, when one clause did; what
writers wait for.

With --pdfs also how fast PDFs are read.
"""

import argparse
import random
import time
from collections import Counter
from contextlib import ExitStack, suppress
from multiprocessing import Barrier, Process
from multiprocessing.synchronize import Barrier as Waiting
from os import getloadavg
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import psycopg

from lexichord import SyncLexichord
from lexichord.errors import IngestError
from lexichord.ingest.load import load
from lexichord.ingest.vectors import embedding_text
from lexichord.types import EmbeddingSpace

PARTS = ["change", "second", "overhead", "writers"]
ROUNDS = 3
WRITERS = 4
WAITS = """select case state when 'active' then
               coalesce(wait_event_type || ' ' || wait_event, 'running') else state end
           from pg_stat_activity
           where application_name = 'lexichord' and datname = current_database()
               and state <> 'idle'"""
SAMPLE_SECONDS = 0.05
SPACE = EmbeddingSpace("bench", "none", 256)
CHUNK, GIVEN = 1_000, 30_000  # characters: of a chunk, and of a file that are given
LONG = 300_000  # characters of the contract in which one clause changes


def ingest(files: list[Path]) -> tuple[float, float, int]:
    """Seconds that an ingest into a new database takes, and the bare embedder; how many chunks."""
    with TemporaryDirectory(prefix="lxc") as home:
        Path(home).chmod(0o755)
        with SyncLexichord(home=home) as lexichord:
            lexichord.search("load the model")
            started = time.perf_counter()
            lexichord.ingest(files)
            spent = time.perf_counter() - started
            chunks = [
                chunk
                for document in lexichord.list()
                for chunk in lexichord.show(document.document_id).chunks
            ]
            texts = [embedding_text(chunk.context, chunk.content) for chunk in chunks]
            assert lexichord.core.embedder is not None
            started = time.perf_counter()
            lexichord.core.embedder.embed(texts, "document")
            return spent, time.perf_counter() - started, len(texts)


def measure_overhead(files: list[Path], rounds: int) -> None:
    """The bare embedder over the same chunks, in alternating rounds."""
    runs = [ingest(files) for _ in range(rounds)]
    whole, bare, chunks = (median(column) for column in zip(*runs, strict=True))
    ratio = median(whole / bare for whole, bare, _ in runs)
    print(f"{len(files)} files, {chunks} chunks, {rounds} rounds, medians")
    print(f"ingest {whole:.1f} s, bare embedder {bare:.1f} s, ratio {ratio:.3f}")


def given(file: Path) -> dict[str, Any]:
    """Return a file's text as a document of chunks with vectors, which needs no embedder."""
    text, draw = file.read_text(), random.Random(file.name)
    chunks = [
        {"content": part, "vector": [draw.gauss(0, 1) for _ in range(SPACE.dimension)]}
        for start in range(0, min(len(text), GIVEN), CHUNK)
        if (part := text[start : start + CHUNK].strip())
    ]
    return {"uri": file.name, "chunks": chunks, "space": str(SPACE)}


def write(dsn: str, documents: list[dict[str, Any]], ready: Waiting) -> None:
    """Ingest documents in a process of its own, from when all are ready."""
    with SyncLexichord(dsn=dsn) as lexichord:
        ready.wait()
        assert not lexichord.ingest(documents=documents, context="none").failed


def write_at_once(dsn: str, parts: list[list[dict[str, Any]]], waits: Counter[str]) -> float:
    """Seconds that writers of a part each take; count what their sessions wait for."""
    ready = Barrier(len(parts) + 1)
    writers = [Process(target=write, args=(dsn, part, ready)) for part in parts]
    for writer in writers:
        writer.start()
    with psycopg.connect(dsn, autocommit=True) as connection:
        ready.wait()
        started = time.perf_counter()
        while any(writer.is_alive() for writer in writers):
            waits.update(row[0] for row in connection.execute(WAITS))
            time.sleep(SAMPLE_SECONDS)
        spent = time.perf_counter() - started
    assert not any(writer.exitcode for writer in writers)
    return spent


def measure_writers(files: list[Path], home: Path) -> None:
    """One writer of all documents, then WRITERS of a part each, in alternating rounds."""
    spent: dict[int, list[float]] = {1: [], WRITERS: []}
    waits: dict[int, Counter[str]] = {1: Counter(), WRITERS: Counter()}
    documents = [given(file) for file in files]
    with SyncLexichord(home=home, embedding=str(SPACE)) as lexichord:
        dsn = lexichord.core.database.dsn
        for _ in range(ROUNDS):
            for count in spent:
                parts = [documents[number::count] for number in range(count)]
                spent[count].append(write_at_once(dsn, parts, waits[count]))
                lexichord.delete([document.document_id for document in lexichord.list()])
    chunks = sum(len(document["chunks"]) for document in documents)
    print(f"{len(files)} documents, {chunks} chunks with vectors; load {getloadavg()[0]:.1f}")
    for count, seconds in spent.items():
        total = waits[count].total()
        told = ", ".join(f"{event} {n / total:.0%}" for event, n in waits[count].most_common(8))
        print(f"{count} writers: {median(seconds):.1f} s; sampled sessions: {told}")
    print(f"{WRITERS} writers are {median(spent[1]) / median(spent[WRITERS]):.2f} times as fast")


def measure_second_run(folder: Path, home: Path) -> None:
    """All files, none of them changed since the first run, which needs no embedder."""
    with SyncLexichord(home=home, embedding=str(SPACE)) as lexichord:
        started = time.perf_counter()
        report = lexichord.ingest([folder])
        first = time.perf_counter() - started
        rounds = []
        for _ in range(ROUNDS):
            started = time.perf_counter()
            assert lexichord.ingest([folder]).skipped == report.inserted
            rounds.append(time.perf_counter() - started)
    size = sum(file.stat().st_size for file in folder.rglob("*.txt")) / 2**20
    print(f"{report.inserted} files of {size:.0f} MiB, {report.chunks} chunks, without embedder")
    speed = report.inserted / median(rounds)
    print(f"first run {first:.1f} s, second {median(rounds):.2f} s, {speed:.0f} files/s")


def measure_change(texts: Path, folder: Path, home: Path) -> None:
    """Words put into the midst of a sentence, at several places of a long contract."""
    longest = min(texts.rglob("*.txt"), key=lambda file: abs(file.stat().st_size - LONG))
    text = longest.read_text()
    file = folder / longest.name
    file.write_text(text)
    with SyncLexichord(home=home) as lexichord:
        whole = lexichord.ingest([file], dataset="change").embedded
        embedded = []
        for place in range(1, 8):
            cut = text.index(" the ", len(text) * place // 8)
            file.write_text(f"{text[:cut]} not less than seventeen percent of{text[cut:]}")
            started = time.perf_counter()
            embedded.append(lexichord.ingest([file], dataset="change").embedded)
            spent = time.perf_counter() - started
            text = file.read_text()
    print(f"{len(text)} characters, {whole} chunks; one clause changed: {embedded} embedded")
    print(f"the last change took {spent:.1f} s")


def measure_pdfs(folder: Path) -> None:
    """Pages a second of the PDFs that can be read, without a child process; the best of rounds."""
    read: list[tuple[int, float, str]] = []  # pages, seconds, name
    for file in sorted(folder.rglob("*.pdf")):
        spent = []
        with suppress(IngestError):
            for _ in range(ROUNDS):
                started = time.perf_counter()
                pages = len(load(file).pages)
                spent.append(time.perf_counter() - started)
            read.append((pages, min(spent), file.name))
    pages, seconds = sum(row[0] for row in read), sum(row[1] for row in read)
    print(f"{len(read)} PDFs, {pages} pages in {seconds:.2f} s: {pages / seconds:.1f} pages/s")
    speeds = sorted((pages / seconds, pages, name) for pages, seconds, name in read)
    print(f"a PDF's median {median(speed for speed, *_ in speeds):.1f} pages/s; the slowest:")
    for speed, pages, name in speeds[:5]:
        print(f"  {name}: {pages} pages, {speed:.1f} pages/s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=Path, help="folder of .txt files")
    parser.add_argument("--files", type=int, default=12, help="how many of them to embed")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how often to embed them")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--pdfs", type=Path, help="folder of PDFs: measure these alone")
    arguments = parser.parse_args()
    if arguments.pdfs:
        measure_pdfs(arguments.pdfs)
        return
    if not arguments.texts:
        parser.error("--texts or --pdfs is needed")
    files = random.Random(7).sample(sorted(arguments.texts.rglob("*.txt")), arguments.files)
    with ExitStack() as stack:
        folders = [stack.enter_context(TemporaryDirectory(prefix="lxc")) for _ in range(3)]
        home, plain_home, scratch = map(Path, folders)
        for each in (home, plain_home):
            each.chmod(0o755)
        if "change" in arguments.parts:
            measure_change(arguments.texts, scratch, home)
        if "writers" in arguments.parts:
            measure_writers(sorted(arguments.texts.rglob("*.txt")), plain_home)
        if "second" in arguments.parts:
            measure_second_run(arguments.texts, plain_home)
        if "overhead" in arguments.parts:
            measure_overhead(files, arguments.rounds)


if __name__ == "__main__":
    main()
