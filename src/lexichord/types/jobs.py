"""What ingests are doing, as it can be read back."""

from dataclasses import dataclass
from datetime import datetime

from lexichord.types.json import Shaped
from lexichord.types.state import RunState


@dataclass(frozen=True, slots=True)
class Job(Shaped):
    """One ingest: of its `total` documents `done` are done with, `failures` says why some failed.

    `stalled`: it gave no sign of life for 60 seconds; what it stored by then is stored.
    """

    job_id: int
    dataset: str
    state: RunState
    total: int
    done: int
    inserted: int
    replaced: int
    skipped: int
    failed: int
    deleted: int
    failures: dict[str, str]
    started_at: datetime
    seen_at: datetime
    finished_at: datetime | None
