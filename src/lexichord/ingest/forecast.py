"""How much of a run is still to come, and which files take long."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Lock
from time import monotonic

from lexichord.ingest.report import Reading
from lexichord.ingest.sources import IngestSource, PreparedDocument

REPORT_SECONDS = 1.0  # between two reports
SLOW_SECONDS = 10.0  # a file that takes longer is named, and again each time this has doubled
TYPICAL_CHUNK_BYTES = 1000.0  # until the run's own files say more


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
    _begun: dict[str, float] = field(default_factory=dict)
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
            begun = list(self._begun.items())
            read = len(self._read_once)
        self.on_reading(Reading(read, self._total, tuple(uri for uri, _ in begun)))
        for uri, since in begun:
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
        with self._lock:
            self._begun[source.uri] = monotonic()
        chunks = 0
        try:
            prepared = source.read()
            chunks = len(prepared.chunks)
            return prepared
        finally:
            with self._lock:
                del self._begun[source.uri]
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
