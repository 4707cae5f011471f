"""The state of a database, and how work on it went. Times are in the server's time zone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from lexichord.types.base import Shaped, Shown
from lexichord.types.documents import StoredDataset


@dataclass(frozen=True, slots=True)
class Rights(Shaped):
    """What a caller may do, in which datasets, None means all; `deletes` is not part of `writes`.

    `key_id` is that of the API key, None where no key is needed; `requests_per_minute` None is any
    number. A caller of a `tenant` sees of its documents those without principals or with one of
    `principals`.
    """

    datasets: tuple[str, ...] | None = None
    writes: bool = True
    key_id: int | None = None
    deletes: bool = True
    reads: bool = True
    requests_per_minute: int | None = None
    tenant: str | None = None
    principals: tuple[str, ...] = ()

    @property
    def reaches_all(self) -> bool:
        """Whether all datasets of all tenants are in reach."""
        return self.datasets is None and self.tenant is None


@dataclass(frozen=True, slots=True)
class ApiKey(Shaped):
    """An API key without its secret, of which the database has a digest only.

    `datasets` None means all, `requests_per_minute` None any number, `expires_at` None never.
    `last_used_at` may be a minute behind; `renews` is the key in whose place this one was made.
    `tenant` None: its owner is bound to none; of a tenant's documents with principals it reaches
    those with one of `principals`.
    """

    key_id: int
    name: str
    datasets: tuple[str, ...] | None
    reads: bool
    writes: bool
    deletes: bool
    requests_per_minute: int | None
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None
    renews: int | None
    valid: bool
    tenant: str | None = None
    principals: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tenant(Shaped):
    """Who shares the database and sees nothing of others': with the number of valid `keys`."""

    tenant: str
    datasets: tuple[str, ...]
    roles: tuple[str, ...]
    keys: int
    created_at: datetime


@dataclass(frozen=True, slots=True)
class ApiCall(Shaped):
    """A call by an API key, on record: its `kind` is the name of the method of `Lexichord`.

    `datasets` None means all; `status` is HTTP's; `query` None: there was none, or its words were
    not to be kept.
    """

    called_at: datetime
    key_id: int
    name: str
    kind: str
    datasets: tuple[str, ...] | None
    status: int
    query: str | None


@dataclass(frozen=True, slots=True)
class NewApiKey(Shaped):
    """An API key just made, the only time that its `secret` is known."""

    key: ApiKey
    secret: str

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON shape, with the secret."""
        return {**self.key.to_dict(), "secret": self.secret}


RunState = Literal["finished", "running", "interrupted", "stalled"]
ChangeState = Literal["filling", "swapped", "dropped"]


@dataclass(frozen=True, slots=True)
class FileProgress(Shaped):
    """How far a file of an ingest is: `embedded` of its `chunks`; None: it is still being read."""

    chunks: int | None = None
    embedded: int = 0


@dataclass(frozen=True, slots=True)
class IngestRun(Shaped):
    """An ingest on record: of `total` files, `done` have come to one of the outcomes.

    `interrupted`: ended by its user or an error; `stalled`: not heard of for 60 seconds, so cut
    off; `finished_at` is None of both. `failures` says why, by uri; `unread` counts, by kind, the
    files beside these that cannot be read. `in_progress` holds, by uri, how far the largest files
    are that are at hand, as of `seen_at` at the latest.
    """

    run_id: int
    dataset: str
    source: str
    state: RunState
    started_at: datetime
    seen_at: datetime
    finished_at: datetime | None
    total: int
    done: int
    inserted: int
    replaced: int
    skipped: int
    failed: int
    deleted: int
    failures: dict[str, str]
    unread: dict[str, int]
    in_progress: dict[str, FileProgress]

    def to_job(self) -> dict[str, Any]:
        """Return the JSON shape of a job, as callers over a network see it."""
        run = self.to_dict()
        return {"job_id": self.run_id, **{name: run[name] for name in JOB_FIELDS}}


@dataclass(frozen=True, slots=True)
class JobFile(Shaped):
    """What became of a file of an ingest: stored in `chunks`, or not, for a `reason`.

    Of an `unread` one the reason is its kind.
    """

    uri: str
    status: Literal["inserted", "replaced", "skipped", "failed", "deleted", "unread"]
    reason: str
    chunks: int


# Of a run's fields those of a job, in the order of its JSON; its place on the disk is not for all.
JOB_FIELDS = (
    *("dataset", "state", "total", "done", "inserted", "replaced", "skipped", "failed", "deleted"),
    *("failures", "unread", "in_progress", "started_at", "seen_at", "finished_at"),
)


@dataclass(frozen=True, slots=True)
class SpaceChange(Shaped):
    """The latest change of the embedding space, from `old_space` to `new_space`.

    Filling: of `chunks`, `missing` lack a vector of `other_space`. Swapped: the vectors of
    `other_space` are kept beside those in use. Dropped: there are none beside; `missing` is None.
    `comparison` is that of `Reembedded`, by name; None before it is made. Who changes the space in
    SQL may record other numbers, so that the names are not fixed. `running`: somebody changes the
    space at this moment; one that is filling and does not run was cut off.
    """

    reembed_id: int
    state: ChangeState
    old_space: str
    new_space: str
    other_space: str
    chunks: int
    missing: int | None
    embedded: int
    comparison: Mapping[str, float] | None
    started_at: datetime
    seen_at: datetime
    swapped_at: datetime | None
    running: bool


@dataclass(frozen=True, slots=True)
class IndexedTable(Shaped):
    """A table whose rows are indexed, each a document of `dataset`.

    `rows_waiting` are changed rows that a worker has still to look at, the oldest since
    `waiting_since`; `is_filling`: rows of before are still being added. `rows_failed` could not be
    stored. `fault` says why all its changes wait, None if they do not.
    """

    source: str
    dataset: str
    rows_stored: int
    rows_waiting: int
    is_filling: bool
    waiting_since: datetime | None
    rows_failed: int
    fault: str | None


@dataclass(frozen=True, slots=True)
class Version(Shaped):
    """The version of the server, or of one of its extensions."""

    name: str
    version: str


@dataclass(frozen=True, slots=True)
class ExtensionFault(Shaped):
    """A known fault of an extension's version, with what to do about it.

    `mended_in` is the first version without it, None if there is none yet. With severity `refuse`
    the version is not taken.
    """

    extension: str
    version: str
    problem: str
    mended_in: str | None
    severity: Literal["refuse", "warn"]
    remedy: str


@dataclass(frozen=True, slots=True)
class IndexUse(Shaped):
    """Whether a search uses an index; `plan` is what it does, None if the index is not built."""

    index_name: str
    used: bool
    plan: str | None


@dataclass(frozen=True, slots=True)
class Fault(Shaped):
    """A kind of thing that should never be, and how many there are."""

    kind: str
    amount: int


@dataclass(frozen=True, slots=True)
class Problem(Shaped):
    """Something that is wrong, and what to do about it."""

    problem: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Status(Shown):
    """What a database is and holds, and how the latest ingests went, newest first.

    `space` is that of its vectors, provider/model/dimension; `embedder` that of the embedder in
    use, None if there is none. `outdated_documents` are those whose words an earlier version
    indexed; `reindex` does it anew. `bytes` are those of the whole database, None: not a
    tenant's to know. `migration` is the number
    of the latest. `confidence` says what confidence is judged by. `degraded` says what cannot be
    done.
    """

    engine: str
    text_config: str
    space: str
    migration: int
    datasets: int
    documents: int
    chunks: int
    chunks_without_vector: int
    outdated_documents: int
    bytes: int | None
    embedder: str | None
    confidence: str
    by_dataset: list[StoredDataset]
    runs: list[IngestRun]
    reembed: SpaceChange | None
    degraded: list[str]


@dataclass(frozen=True, slots=True)
class Calibration(Shaped):
    """What confidence by vectors of a space is judged by: coefficients of a logistic function.

    `cosine` and `passage` weigh the signals of that name, `lexichord.retrieve.confidence`
    says which. `holds` and `lacks` are confidences of questions that it was not fitted on, with and
    without an answer in their evidence; none are known where a sample gave the coefficients, of so
    many `sentences`. `unlike` is the cosine of what is not alike at all. `fitted_at` is None of
    what was not fitted on the user's questions.
    """

    space: str
    constant: float
    cosine: float
    passage: float
    holds: Sequence[float] = ()
    lacks: Sequence[float] = ()
    fitted_at: datetime | None = None
    sentences: int = 0
    offset: float = 0.0
    slope: float = 1.0
    unlike: float = 0.0

    def align(self, cosine: float) -> float:
        """Return a cosine of this space as one of the space that the constants were fitted in."""
        return self.offset + self.slope * cosine


@dataclass(frozen=True, slots=True)
class CosineScale(Shaped):
    """Where the cosines of an embedding space lie, as a sample of stored sentences says.

    `unlike` is the mean cosine of questions with sentences that do not answer them, `alike` that of
    a sentence, asked as a question, with itself. `chunks` were stored when it was measured, on so
    many `sentences`; `stored` are now.
    """

    space: str
    unlike: float
    alike: float
    sentences: int
    chunks: int = 0
    stored: int = 0
    measured_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Health(Status):
    """The status, with versions, whether indexes are used, faults counted, and what is wrong.

    No `problems`: it is healthy. A small table needs no index. `extension_faults` are those that
    the versions are known for, whether or not this database has met them; `advice` is settings of
    the server that would make it faster.
    """

    server: list[Version]
    extension_faults: list[ExtensionFault]
    indexes: list[IndexUse]
    faults: list[Fault]
    advice: list[Problem]
    problems: list[Problem]


@dataclass(frozen=True, slots=True)
class Exported(Shaped):
    """How much was written to a vechord namespace; `degraded` says what its programs still need."""

    namespace: str
    documents: int
    chunks: int
    degraded: list[str]


@dataclass(frozen=True, slots=True)
class TrainingTriplet(Shaped):
    """A recorded query, a passage that answers it, and one found for it that does not.

    Named as sentence-transformers names the columns of triplets.
    """

    anchor: str
    positive: str
    negative: str


@dataclass(frozen=True, slots=True)
class JudgedSet(Shaped):
    """How many questions and documents were written to a folder that `eval` reads."""

    folder: str
    questions: int
    documents: int


@dataclass(frozen=True, slots=True)
class Backup(Shaped):
    """A backup that was made or restored; `left_out` says what could not be taken over."""

    file: str
    documents: int
    chunks: int
    engine: str
    left_out: tuple[str, ...] = ()
