"""What becomes of each document of an ingest: recorded, counted, forecast, told."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import batched, islice
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, TypedDict

from lexichord.db import store
from lexichord.db.pool import Database, Row
from lexichord.display.record_text import (
    INGEST_OUTCOMES,
    degraded_lines,
    dollars_text,
    to_text,
    usage_text,
)
from lexichord.ingest.flow import INGEST_LIMITS, IngestLimits
from lexichord.ingest.sources import FileGoneError, IngestSource, PreparedDocument
from lexichord.types import Shaped
from lexichord.types.base import counted, escaped, short_uri
from lexichord.types.questions import Usage
from lexichord.types.state import FileProgress

if TYPE_CHECKING:
    from lexichord.ingest.sources import FileSearch


@dataclass(slots=True)
class ContextReport:
    """Contexts by a language model, and what they cost; in a dry run, an estimate of both.

    Of the `chunks` with its contexts, `cached` are those it was not asked for; `failed` holds, by
    document and place, why a chunk has none; `left` counts those not asked for, for the reason in
    `stopped`. `dollars` is None where a price is not known.
    """

    model: str
    chunks: int = 0
    cached: int = 0
    left: int = 0
    stopped: str = ""
    failed: dict[str, str] = field(default_factory=dict)
    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    dollars: float | None = 0.0

    def add(self, usage: Usage) -> None:
        """Add the requests and tokens of a call."""
        self.requests += usage.requests
        self.input_tokens += usage.input_tokens
        self.output_tokens += usage.output_tokens


@dataclass(frozen=True, slots=True)
class Reading:
    """How many files of a run were read, of how many that are to be, and those in progress."""

    read: int
    total: int
    files: Mapping[str, FileProgress] = field(default_factory=dict)

    @property
    def is_done(self) -> bool:
        """Whether all were read, so that the number of chunks is known."""
        return self.read == self.total


FAILED_TOGETHER = 100  # files that are recorded by one call, for it takes a millisecond
FAILED_SECONDS = 1.0  # that one waits for others

type DocumentListener = Callable[[str, str, str], None]


class CountCallbacks(TypedDict, total=False):
    """The progress of a run, in numbers.

    `on_start` is called with the total (of documents; of chunks where a run has no documents),
    `on_chunks` with how many more chunks are finished: stored, copied, or with their vectors.
    """

    on_start: Callable[[int], None]
    on_chunks: Callable[[int], None]


class ProgressCallbacks(CountCallbacks, total=False):
    """The progress of a run over documents: `listener(uri, status, reason)` for each."""

    listener: DocumentListener


class RunCallbacks(TypedDict):
    """What whoever starts a run may hear of it: see `IngestOptions`."""

    on_run: Callable[[int], None]
    on_chunks: Callable[[int], None]
    on_estimate: Callable[[int], None]
    on_reading: Callable[[Reading], None]


@dataclass(slots=True)
class Report(Shaped):
    """What became of the documents of one ingest; `failed` holds the reasons, by uri.

    Of the `chunks` stored, `embedded` are those that had no vector before; `refused` names those
    that the embedder returned no vector for, `usage` is what its service was asked. `model` says
    which model an empty database took, and why. `llm` is about
    the chunks' contexts by a language model, if one was asked. `flagged` holds, by uri, what is
    doubtful in documents that were stored, such as pages without text. Of the folders, `unread`
    holds the kinds of files that cannot be read, `left_out` why files and folders were not looked
    at, both by name; `dead_links` holds why pages that a site links to are not there, which is no
    failure. What is read after `position` finds all that was stored, on replicas, too.
    """

    run_id: int = 0
    inserted: int = 0
    replaced: int = 0
    skipped: int = 0
    deleted: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    unread: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    dead_links: dict[str, str] = field(default_factory=dict)
    chunks: int = 0
    embedded: int = 0
    vectors_filled: int = 0
    llm: ContextReport | None = None
    refused: list[str] = field(default_factory=list)
    flagged: dict[str, list[str]] = field(default_factory=dict)
    model: str | None = None
    usage: Usage | None = None
    degraded: list[str] = field(default_factory=list)
    position: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether what was named held nothing that can be read."""
        read = self.inserted + self.replaced + self.skipped + self.deleted
        return not read and not self.failed


@dataclass(slots=True)
class RunRecorder:
    """Records each outcome in the run, counts it, then passes it to the listener."""

    database: Database
    listener: DocumentListener
    limits: IngestLimits = INGEST_LIMITS
    report: Report = field(default_factory=Report)
    _failed: list[tuple[str, str, str]] = field(init=False, default_factory=list)
    _recorded_at: float = field(init=False, default=0.0)

    def take(self, search: "FileSearch") -> None:
        """Take over what a search for files has passed over."""
        self.report.unread, self.report.left_out = search.unread, search.left_out
        self.report.dead_links = search.dead_links

    async def start(self, dataset: str, source: str, total: int) -> None:
        """Open the run's record, with the files that cannot be read."""
        run = await store.start_run(self.database, dataset, source, total)
        self.report.run_id = run
        by_kind: dict[str, list[str]] = {}
        for uri, kind in self.report.unread.items():
            by_kind.setdefault(kind, []).append(uri)
        for kind, uris in by_kind.items():
            await store.record_files(self.database, run, uris, "unread", reason=kind)

    async def skip(self, uris: Sequence[str]) -> None:
        """Record files that are stored already."""
        await store.record_files(self.database, self.report.run_id, uris, "skipped")
        self.report.skipped += len(uris)
        self._notify(uris, "skipped")

    async def fail(self, uri: str, error: Exception) -> None:
        """Record a file that cannot be read or stored, or is no more; soon, with others."""
        status = "deleted" if isinstance(error, FileGoneError) else "failed"
        self._failed.append((uri, status, str(error)))
        is_due = monotonic() - self._recorded_at > FAILED_SECONDS
        if is_due or len(self._failed) >= FAILED_TOGETHER:
            await self.record_failed()

    async def record_failed(self) -> None:
        """Record the files that have failed since it was done last, those of a reason at once."""
        failed, self._failed = self._failed, []
        by_reason: dict[tuple[str, str], list[str]] = {}
        for uri, status, reason in failed:
            by_reason.setdefault((status, reason), []).append(uri)
        for (status, reason), uris in by_reason.items():
            run = self.report.run_id
            await store.record_files(self.database, run, uris, status, reason=reason)
        self._recorded_at = monotonic()
        for uri, status, reason in failed:
            if status == "failed":
                self.report.failed[uri] = reason
            else:
                self.report.deleted += 1
            self._notify([uri], status, reason)

    def store(self, uri: str, row: Row, flags: Sequence[str]) -> None:
        """Count a document that was stored, its record with it."""
        if flags:
            self.report.flagged[uri] = list(flags)
        self.report.chunks += 0 if row["status"] == "skipped" else row["chunks"]
        self.report.skipped += row["status"] == "skipped"  # another run stored it meanwhile
        self.report.inserted += row["status"] == "inserted"
        self.report.replaced += row["status"] == "replaced"
        self._notify([uri], row["status"])

    def flag(self, uri: str, flag: str) -> None:
        """Note what is doubtful about a document that is stored."""
        self.report.flagged.setdefault(uri, []).append(flag)

    async def prune(self, uris: Sequence[str]) -> None:
        """Delete the documents whose files are gone."""
        for batch in batched(uris, self.limits.prune_batch_documents):
            await store.prune_documents(self.database, self.report.run_id, batch)
            self.report.deleted += len(batch)
            self._notify(batch, "deleted")

    def _notify(self, uris: Sequence[str], status: str, reason: str = "") -> None:
        for uri in uris:
            self.listener(uri, status, reason)


MAX_REFUSED_SHOWN = 10  # chunks without a vector
MAX_FLAGGED_SHOWN = 100  # documents
MAX_REASONS_SHOWN = 20  # for which files failed
MAX_UNREAD_SHOWN = 100  # files of a kind, or that failed for a reason


@to_text.register
def _(report: Report) -> str:
    """Write the outcome, then what was not read, left out, flagged or not done."""
    lines = [*outcome(report), *remarks(report), *degraded_lines(report.degraded)]
    return "\n".join(lines)


def outcome(report: Report) -> Iterator[str]:
    """Yield how many files were stored, and what that took."""
    counts = {name: getattr(report, name) for name in INGEST_OUTCOMES if name != "failed"}
    texts = [f"{count} {name}" for name, count in counts.items() if count or name != "deleted"]
    chunks = f"{counted(report.chunks, 'chunk')} stored, {report.embedded} embedded"
    yield f"{', '.join(texts)}, {len(report.failed)} failed; {chunks}"
    if report.model:
        yield f"model {report.model}"
    if report.vectors_filled:
        yield f"{counted(report.vectors_filled, 'vector')} filled in"
    if report.usage and report.usage.requests:
        yield usage_text(report.usage)
    if report.llm:
        yield from contexts(report.llm)


def remarks(report: Report, verbose: bool = False) -> Iterator[str]:
    """Yield what is doubtful, was not read or left out, by name; `verbose` names all."""
    for name in report.refused[:MAX_REFUSED_SHOWN]:
        yield escaped(f"no vector, the embedder refuses its text: {name}")
    if more := len(report.refused[MAX_REFUSED_SHOWN:]):
        yield f"and {more} more that the embedder refuses: see --json"
    most = len(report.flagged) if verbose else MAX_FLAGGED_SHOWN
    for uri, flags in islice(report.flagged.items(), most):
        yield escaped(f"flagged {short_uri(uri)}: {'; '.join(flags)}")
    if (more := len(report.flagged) - most) > 0:
        yield f"and {more:,} more flagged (--verbose names them)"
    if report.llm:
        yield from missing_contexts(report.llm)
    yield from _passed_over(report, verbose)


def contexts(llm: ContextReport) -> Iterator[str]:
    """Yield what a model was asked for chunks' contexts."""
    yield escaped(f"{counted(llm.chunks, 'context')} by {llm.model}, {llm.cached} from before")
    tokens = f"{counted(llm.input_tokens, 'token')} in, {llm.output_tokens} out"
    yield f"{counted(llm.requests, 'call')}, {tokens}, {dollars_text(llm.dollars)}"


def missing_contexts(llm: ContextReport) -> Iterator[str]:
    """Yield why some chunks have no context."""
    for place, reason in llm.failed.items():
        yield escaped(f"no context {short_uri(place)}: {reason}")
    if llm.stopped:
        yield escaped(f"stopped, {counted(llm.left, 'chunk')} left: {llm.stopped}")


def _passed_over(report: Report, verbose: bool) -> Iterator[str]:
    """Yield what was not read, and what folders hold beside."""
    failed = f"not read, failed: {counted(len(report.failed), 'file')}"
    unread = f"not read, of no kind that can be: {_tally(report.unread)}"
    dead = f"dead links: {counted(len(report.dead_links), 'page')}"
    yield from _grouped(failed, report.failed, verbose)
    yield from _grouped(unread, report.unread, verbose)
    yield from _grouped(dead, report.dead_links, verbose)
    if report.left_out:
        hint = "" if verbose else " (--verbose names them)"
        yield escaped(f"left out: {_tally(report.left_out)}{hint}")
    for name, why in report.left_out.items() if verbose else ():
        yield escaped(f"  {short_uri(name)}: {why}")
    if report.is_empty:
        seen = report.unread or report.left_out
        why = "see above; what can be read is in the ingest guide" if seen else "no file is there"
        yield f"nothing was read: {why}"


def _tally(reasons: Mapping[str, str]) -> str:
    """Return how many there are for each reason, the most first."""
    counts = Counter(reasons.values()).most_common()
    return ", ".join(f"{amount} {why}" for why, amount in counts)


def _grouped(head: str, reasons: Mapping[str, str], verbose: bool) -> Iterator[str]:
    """Yield a head and the names of files, a line for each reason that they share; or nothing."""
    if reasons:
        yield escaped(head)
    groups: dict[str, list[str]] = {}
    for uri, reason in reasons.items():
        groups.setdefault(reason, []).append(short_uri(uri))
    most = len(groups) if verbose else MAX_REASONS_SHOWN
    for reason, names in islice(groups.items(), most):
        shown = names if verbose else names[:MAX_UNREAD_SHOWN]
        rest = len(names) - len(shown)
        more = f" and {rest} more (--verbose names them)" if rest else ""
        yield escaped(f"  {reason}: {', '.join(shown)}{more}")
    if rest := sum(len(names) for names in islice(groups.values(), most, None)):
        yield f"  and {rest:,} more for other reasons (--verbose names them)"


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
