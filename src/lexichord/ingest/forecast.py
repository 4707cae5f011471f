"""How much of a run is still to come, how far its files are, and which take long."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Lock
from time import monotonic

from lexichord.ingest.report import Reading
from lexichord.ingest.sources import IngestSource, PreparedDocument
from lexichord.types.state import FileProgress

REPORT_SECONDS = 1.0  # between two reports
SLOW_SECONDS = 10.0  # a file that takes longer is named, and again each time this has doubled
SLOW_CHUNKS = 512  # a file of fewer is embedded together with others, and not named as slow
MAX_FILES_NAMED = 8  # of those that are in progress
TYPICAL_CHUNK_BYTES = 1000.0  # until the run's own files say more


class FilesInProgress:
    """How far the files are that a run has at hand; several threads tell."""

    def __init__(self) -> None:
        self._files = dict[str, FileProgress]()
        self._begun = dict[str, float]()
        self._lock = Lock()

    def begin(self, uri: str, progress: FileProgress) -> None:
        """Take up a file, unless it is in progress already."""
        with self._lock:
            self._files.setdefault(uri, progress)
            self._begun.setdefault(uri, monotonic())

    def cut(self, uri: str, progress: FileProgress) -> None:
        """Tell how many chunks a file has, and how many of them need not be embedded."""
        with self._lock:
            self._files[uri] = progress
            self._begun.setdefault(uri, monotonic())

    def embed(self, uris: Iterable[str]) -> None:
        """Count one more chunk as embedded for each time that a file is named."""
        with self._lock:
            for uri, count in Counter(uris).items():
                before = self._files[uri]
                self._files[uri] = replace(before, embedded=before.embedded + count)

    def end(self, uri: str) -> None:
        """Have done with a file, for now or for good."""
        with self._lock:
            self._files.pop(uri, None)
            self._begun.pop(uri, None)

    def clear(self) -> None:
        """Have done with all."""
        with self._lock:
            self._files.clear()
            self._begun.clear()

    def largest(self) -> dict[str, FileProgress]:
        """Return those that are being read, and the ones with the most chunks."""
        with self._lock:
            files = list(self._files.items())
        files.sort(key=lambda each: (each[1].chunks is not None, -(each[1].chunks or 0)))
        return dict(files[:MAX_FILES_NAMED])

    def slow(self) -> Iterator[tuple[str, float]]:
        """Yield those that take long by themselves, and since when they are at hand."""
        with self._lock:
            files = list(self._files.items())
            begun = dict(self._begun)
        for uri, progress in files:
            if progress.chunks is None or progress.chunks > SLOW_CHUNKS:
                yield uri, begun[uri]


@dataclass
class Forecast:
    """The chunks of a run: those of the files that were read, and what the others will give.

    A file of a kind gives as many chunks a byte as those of its kind have given so far, or else as
    all have.
    """

    on_estimate: Callable[[int], None]
    on_slow: Callable[[str, float], None]
    on_reading: Callable[[Reading], None] = lambda reading: None
    _total: int = 0
    _chunks: Counter[str] = field(default_factory=Counter)
    _bytes: Counter[str] = field(default_factory=Counter)
    _left: Counter[str] = field(default_factory=Counter)  # bytes by kind
    files: FilesInProgress = field(default_factory=FilesInProgress)
    _named: dict[str, float] = field(default_factory=dict)  # when a slow file is named again
    _read_once: set[str] = field(default_factory=set)
    _lock: Lock = field(default_factory=Lock)

    def expect(self, sources: Iterable[IngestSource]) -> list[IngestSource]:
        """Return sources whose reading is followed here."""
        followed = [replace(source, read=partial(self._read, source)) for source in sources]
        self._total += len(followed)
        for source in followed:
            self._left[source.kind] += source.size
        return followed

    @property
    def total(self) -> int:
        """How many chunks there will probably be in all."""
        with self._lock:
            expected = sum(size * self._chunks_a_byte(kind) for kind, size in self._left.items())
            return self._chunks.total() + round(expected)

    def report(self) -> None:
        """Pass on how many chunks there will be, what is read, and the files that take long."""
        self.on_estimate(self.total)
        with self._lock:
            read = len(self._read_once)
        self.on_reading(Reading(read, self._total, self.files.largest()))
        for uri, since in self.files.slow():
            seconds = monotonic() - since
            if seconds >= self._named.get(uri, SLOW_SECONDS):
                self._named[uri] = 2 * seconds
                self.on_slow(uri, seconds)

    def _chunks_a_byte(self, kind: str) -> float:
        if self._bytes[kind]:
            return self._chunks[kind] / self._bytes[kind]
        if read := self._bytes.total():
            return self._chunks.total() / read
        return 1 / TYPICAL_CHUNK_BYTES

    def _read(self, source: IngestSource) -> PreparedDocument:
        """Read a source; of several threads."""
        self.files.begin(source.uri, FileProgress())
        chunks = 0
        try:
            prepared = source.read()
            chunks = len(prepared.chunks)
            self.files.cut(source.uri, FileProgress(chunks))
            return prepared
        except BaseException:
            self.files.end(source.uri)
            raise
        finally:
            with self._lock:
                if source.uri not in self._read_once:  # one that fails may be tried again
                    self._read_once.add(source.uri)
                    self._left[source.kind] -= source.size
                    self._bytes[source.kind] += source.size
                    self._chunks[source.kind] += chunks


@asynccontextmanager
async def reported(forecast: Forecast) -> AsyncIterator[None]:
    """Report each second while the block lasts, and once at its end."""
    task = asyncio.create_task(_report(forecast))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
    forecast.report()


async def _report(forecast: Forecast) -> None:
    while True:
        await asyncio.sleep(REPORT_SECONDS)
        forecast.report()
