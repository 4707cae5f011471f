"""Clients that store, delete and search while servers are lost, and what their answers may be.

Each answer is held against what was reported as stored before it was asked for, and what was begun
until it came: it has each document whole, once, in one of these versions, or says what it lacks.
"""

import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from random import Random
from threading import Event, Lock, Thread

from lexichord import SyncLexichord
from lexichord.errors import DatabaseError
from lexichord.types import ChunkHit, EmbeddingSpace, Json, Mode

AMOUNT = 40
CHANGED = range(AMOUNT // 2, AMOUNT)  # the others stay as they are
ALL = 4 * AMOUNT  # more than there are chunks
STUCK_SECONDS = 90.0
DATASET = "a"
SPACE = EmbeddingSpace("test", "tiny", 8)
MODES: tuple[Mode, ...] = ("keyword", "hybrid")
CONTENT = re.compile(r"own(\d+) version(\d+) part(\d+) common")

type Version = int | None  # None: it is away
type Found = dict[int, dict[int, list[int]]]  # by document and version, the parts
type Marked = Callable[[Sequence[str]], bool]  # whether notes say that documents may be amiss


def uri(number: int) -> str:
    return f"doc/{number:03d}"


def document(number: int, version: int = 0) -> Json:
    """Give a document of two chunks; both hold a word that no other has, and its version's."""
    random = Random(number)
    chunks = [
        {
            "content": f"own{number} version{version} part{part} common",
            "vector": [random.gauss(0, 1) for _ in range(SPACE.dimension)],
        }
        for part in range(2)
    ]
    return {"uri": uri(number), "chunks": chunks, "space": str(SPACE)}


def parts(contents: Sequence[str]) -> Found:
    found: Found = defaultdict(lambda: defaultdict(list))
    for content in contents:
        match = CONTENT.fullmatch(content)
        assert match, f"nobody stored {content!r}"
        number, version, part = map(int, match.groups())
        found[number][version].append(part)
    return found


@dataclass
class Ledger:
    """What was stored, and what may have been; `position` is that of the last that was reported."""

    may_be: dict[int, set[Version]]
    begun: list[tuple[int, Version]] = field(default_factory=list)
    position: str | None = None
    lock: Lock = field(default_factory=Lock)

    def begin(self, numbers: Sequence[int], version: Version) -> None:
        with self.lock:
            for number in numbers:
                self.may_be[number].add(version)
                self.begun.append((number, version))

    def end(self, numbers: Sequence[int], version: Version, position: str | None) -> None:
        with self.lock:
            self.may_be |= {number: {version} for number in numbers}
            self.position = position

    def asked(self) -> tuple[dict[int, set[Version]], int, str | None]:
        with self.lock:
            may_be = {number: set(versions) for number, versions in self.may_be.items()}
            return may_be, len(self.begun), self.position

    def check_stored(self, contents: Sequence[str]) -> None:
        """Raise AssertionError unless all that is stored is what may be; from now on it is that."""
        found = parts(contents)
        check(found, self.may_be)
        self.may_be = {n: set(found[n]) if n in found else {None} for n in range(AMOUNT)}
        self.begun.clear()


def check(found: Found, may_be: dict[int, set[Version]], *, is_marked: bool = False) -> None:
    for number in range(AMOUNT):
        versions = found.get(number, {})
        is_whole = all(sorted(held) == [0, 1] for held in versions.values())
        is_one = len(versions) == 1 and is_whole and versions.keys() <= may_be[number]
        is_right = is_one or (not versions and None in may_be[number]) or is_marked
        said = {version: sorted(held) for version, held in versions.items()}
        assert is_right, f"{uri(number)} is found as {said}, and may be of {may_be[number]}"


@dataclass
class Reader:
    """A client that searches; `waits` if it names the position of what was reported."""

    lexichord: SyncLexichord
    marked: Marked
    waits: bool = False

    def after(self, position: str | None) -> AbstractContextManager[None]:
        if self.waits and position is not None:
            return self.lexichord.reading_after(position)
        return nullcontext()


@dataclass
class Traffic:
    """One client that writes, and readers."""

    writer: SyncLexichord
    readers: list[Reader]
    ledger: Ledger = field(
        default_factory=lambda: Ledger({number: {0} for number in range(AMOUNT)})
    )
    version: int = 0
    counts: Counter[str] = field(default_factory=Counter)

    def fill(self) -> None:
        documents = [document(number) for number in range(AMOUNT)]
        assert self.writer.ingest(documents=documents, dataset=DATASET).inserted == AMOUNT

    @contextmanager
    def going(self, random: Random) -> Iterator[None]:
        """Go on in the block, and after it until each has done something once more."""
        workers = [Worker(self.write, Random(random.random()))]
        workers += [Worker(self._read(reader), Random(random.random())) for reader in self.readers]
        try:
            yield
            for worker in workers:
                worker.await_work()
        finally:
            for worker in workers:
                worker.stop.set()
            for worker in workers:
                worker.thread.join(STUCK_SECONDS)
        assert not any(worker.thread.is_alive() for worker in workers), "a client does not end"
        for worker in workers:
            if worker.error is not None:
                raise worker.error

    def write(self, random: Random) -> bool:
        """Store a version of some documents, or delete them; return whether it was reported."""
        numbers = random.sample(CHANGED, random.randint(1, 4))
        self.version += 1
        version = None if random.random() < 0.2 else self.version
        self.ledger.begin(numbers, version)
        try:
            done, position = self._store(numbers, version)
        except DatabaseError:
            self.counts["writes refused"] += 1
            return False
        self.counts["writes"] += 1
        self.ledger.end(done, version, position)
        return True

    def _store(self, numbers: list[int], version: Version) -> tuple[list[int], str | None]:
        if version is not None:
            documents = [document(number, version) for number in numbers]
            report = self.writer.ingest(documents=documents, dataset=DATASET)
            return [n for n in numbers if uri(n) not in report.failed], report.position
        there = {row.uri: row.document_id for row in self.writer.list()}
        gone = [n for n in numbers if uri(n) in there]
        self.writer.delete([there[uri(n)] for n in gone])
        return gone, self.writer.position()

    def _read(self, reader: Reader) -> Callable[[Random], bool]:
        def read(random: Random) -> bool:
            may_be, length, position = self.ledger.asked()
            mode = random.choice(MODES)
            try:
                with reader.after(position):
                    result = reader.lexichord.search("common", mode=mode, k=ALL, depth=ALL)
            except DatabaseError:
                self.counts["searches refused"] += 1
                return False
            for number, version in self.ledger.begun[length:]:
                may_be[number].add(version)
            self._judge(result.hits, result.degraded, may_be, reader.marked)
            return True

        return read

    def _judge(
        self,
        hits: Sequence[ChunkHit],
        notes: Sequence[str],
        may_be: dict[int, set[Version]],
        marked: Marked,
    ) -> None:
        self.counts["searches"] += 1
        found = parts([hit.content for hit in hits])
        try:
            check(found, may_be, is_marked=marked(notes))
        except AssertionError as error:
            raise AssertionError(f"{error}; degraded: {notes}") from None
        self.counts["searches that said what they lack"] += bool(notes)


class Worker:
    """A thread that does one thing again and again, until it is stopped or that raises."""

    def __init__(self, work: Callable[[Random], bool], random: Random) -> None:
        self.work, self.random = work, random
        self.stop, self.done = Event(), 0
        self.error: BaseException | None = None
        self.thread = Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        try:
            while not self.stop.is_set():
                if self.work(self.random):
                    self.done += 1
                else:
                    self.stop.wait(0.05)
        except BaseException as error:
            self.error = error

    def await_work(self) -> None:
        """Wait until it has begun something anew, and that was done."""
        deadline, before = time.monotonic() + STUCK_SECONDS, self.done
        while self.error is None and self.done < before + 2:
            assert time.monotonic() < deadline, "a client does not recover"
            time.sleep(0.02)
