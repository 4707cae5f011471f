"""What becomes of each file of an ingest: recorded in the run, counted, told."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import batched
from typing import TypedDict

from lexichord.db import store
from lexichord.db.pool import Database, Row
from lexichord.ingest.sources import FileGoneError
from lexichord.types import Shaped
from lexichord.types.generation import Usage


@dataclass(slots=True)
class Written:
    """What a model was asked and gave; before, as an estimate, what it would be.

    Of the `chunks` with its contexts, `cached` are those it was not asked for; `failed` says by
    document and place why a chunk has none; `left` are those not asked for, because of what
    `stopped` says. `dollars` is None where a price is not known.
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
        """Count a call."""
        self.requests += usage.requests
        self.input_tokens += usage.input_tokens
        self.output_tokens += usage.output_tokens


PRUNED = 50  # documents deleted at once: others can write in between

type Listener = Callable[[str, str, str], None]


class Hearing(TypedDict, total=False):
    """Who hears of a run.

    `on_start` hears how many documents there are, `on_chunks` how many more chunks are done with:
    copied, or given what vectors they get; `listener` (uri, status, reason) once a document is.
    """

    on_start: Callable[[int], None]
    on_chunks: Callable[[int], None]
    listener: Listener


@dataclass(slots=True)
class Report(Shaped):
    """What became of the documents of one ingest; `failed` says why, by uri.

    Of the `chunks` stored, `embedded` are those that had no vector before; `refused` names those
    that the embedder gives none for, `usage` says what its service was asked. `llm` says what a
    model was asked for the chunks' contexts, if one was.
    """

    run_id: int = 0
    inserted: int = 0
    replaced: int = 0
    skipped: int = 0
    deleted: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    chunks: int = 0
    embedded: int = 0
    vectors_filled: int = 0
    llm: Written | None = None
    refused: list[str] = field(default_factory=list)
    usage: Usage | None = None
    degraded: list[str] = field(default_factory=list)


@dataclass(slots=True)
class RunRecorder:
    """The one place that an outcome goes through; the listener hears it once it is recorded."""

    database: Database
    listener: Listener
    report: Report = field(default_factory=Report)

    async def start(self, dataset: str, source: str, total: int) -> None:
        """Open the run's record."""
        self.report.run_id = await store.start_run(self.database, dataset, source, total)

    async def skip(self, uris: Sequence[str]) -> None:
        """Files that are stored as they are."""
        await store.record_files(self.database, self.report.run_id, uris, "skipped")
        self.report.skipped += len(uris)
        self._tell(uris, "skipped")

    async def fail(self, uri: str, error: Exception) -> None:
        """Record a file that cannot be read or stored, or is no more."""
        status = "deleted" if isinstance(error, FileGoneError) else "failed"
        run = self.report.run_id
        await store.record_files(self.database, run, [uri], status, reason=str(error))
        if status == "failed":
            self.report.failed[uri] = str(error)
        else:
            self.report.deleted += 1
        self._tell([uri], status, str(error))

    def store(self, uri: str, row: Row) -> None:
        """Count a document that was stored, its record with it."""
        self.report.chunks += row["chunks"]
        self.report.inserted += row["status"] == "inserted"
        self.report.replaced += row["status"] == "replaced"
        self._tell([uri], row["status"])

    async def prune(self, uris: Sequence[str]) -> None:
        """Delete the documents whose files are gone."""
        for batch in batched(uris, PRUNED):
            await store.prune_documents(self.database, self.report.run_id, batch)
            self.report.deleted += len(batch)
            self._tell(batch, "deleted")

    def _tell(self, uris: Sequence[str], status: str, reason: str = "") -> None:
        for uri in uris:
            self.listener(uri, status, reason)
