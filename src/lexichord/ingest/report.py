"""What becomes of each document of an ingest: recorded in its run, counted, passed to callbacks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import batched
from time import monotonic
from typing import TYPE_CHECKING, TypedDict

from lexichord.db import store
from lexichord.db.pool import Database, Row
from lexichord.ingest.flow import INGEST_LIMITS, IngestLimits
from lexichord.ingest.sources import FileGoneError
from lexichord.types import Shaped
from lexichord.types.questions import Usage
from lexichord.types.state import FileProgress

if TYPE_CHECKING:
    from lexichord.ingest.find import FileSearch


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
