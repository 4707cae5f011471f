"""OpenAI's API: vector stores, files, models, embeddings, responses; a store is a dataset."""

import re
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from secrets import token_hex
from typing import Annotated, Any, Literal, Self

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BaseModel, Field, model_validator

from lexichord.db.pool import Row
from lexichord.errors import ConfigError, ForbiddenError, NotFoundError
from lexichord.serve.access import ScopedClient
from lexichord.serve.compat.openai import files, models, search
from lexichord.serve.compat.openai.files import (
    POLL_HEADER,
    Attributes,
    ChunkingStrategy,
    FileIds,
    FileState,
    NewStoreFile,
    StoreFileListParams,
    VectorStoreFile,
    check_chunking,
    list_store_files,
    start_ingest,
)
from lexichord.serve.compat.openai.search import (
    Deleted,
    ListParams,
    ListShape,
    StoreId,
    first_row,
    list_page,
    openai_router,
)
from lexichord.serve.http import Caller
from lexichord.serve.http.bodies import JsonBody
from lexichord.serve.limits import (
    MAX_BATCH_FILES,
    MAX_NAME_CHARS,
    MAX_STORE_METADATA,
    POLL_AFTER_MS,
)
from lexichord.types import Json

store_router = openai_router()

STORE_ID_BYTES = 12  # of randomness
type StoreMetadata = Annotated[
    dict[str, Annotated[str, Field(max_length=512)]], Field(max_length=MAX_STORE_METADATA)
]


class ExpiresAfter(JsonBody):
    """When a store would be deleted by itself: here none is."""

    anchor: str
    days: int


class StoreChanges(JsonBody):
    """What can be said of a store."""

    name: Annotated[str, Field(max_length=MAX_NAME_CHARS, examples=["leases"])] | None = None
    description: Annotated[str, Field(max_length=MAX_NAME_CHARS)] | None = None
    metadata: StoreMetadata | None = None
    expires_after: ExpiresAfter | None = None


class NewStore(StoreChanges):
    """A store to be made, and what to store in it."""

    file_ids: FileIds | None = None
    chunking_strategy: ChunkingStrategy | None = None


STATES = ("in_progress", "completed", "cancelled", "failed")


class FileCounts(BaseModel):
    """How many files are in which state."""

    in_progress: int
    completed: int
    failed: int
    cancelled: int
    total: int


class VectorStore(BaseModel):
    """A dataset; `usage_bytes` are those of files as they were sent, of other documents' texts."""

    id: str
    object: Literal["vector_store"] = "vector_store"
    created_at: int
    name: str
    description: str | None
    usage_bytes: int
    file_counts: FileCounts
    status: Literal["in_progress", "completed"]
    expires_after: None = None
    expires_at: None = None
    last_active_at: int | None = None
    metadata: dict[str, str]


@store_router.post("/vector_stores", operation_id="create_vector_store")
async def create_vector_store(request: Request, caller: Caller, body: NewStore) -> VectorStore:
    """Make an empty dataset of that name, and begin to store files in it.

    Without a name, or where it is taken, its id is a new one, and the name is shown only.
    """
    _check(body)
    check_chunking(body.chunking_strategy)
    file_ids = body.file_ids or []
    await caller.check_files(file_ids)
    details = _details({}, body)
    dataset = await _make(caller, body.name, details)
    if file_ids:
        attributes: dict[str, Json] = {file_id: {} for file_id in file_ids}
        await start_ingest(request, caller, dataset, attributes)
    counts = dict.fromkeys(STATES, 0) | {"in_progress": len(set(file_ids))}
    made: Row = {"dataset": dataset, "details": details, "created_at": datetime.now(UTC)}
    return _store_shape({**made, "byte_count": 0, **counts})


@store_router.get("/vector_stores", operation_id="list_vector_stores")
async def list_vector_stores(
    caller: Caller, params: Annotated[ListParams, Query()]
) -> ListShape[VectorStore]:
    """List the datasets in reach."""

    return await list_page(
        params,
        lambda page: caller.describe_datasets(page=page),
        lambda store: _row(caller, store),
        "dataset",
        _store_shape,
    )


@store_router.get("/vector_stores/{vector_store_id}", operation_id="retrieve_vector_store")
async def retrieve_vector_store(caller: Caller, vector_store_id: StoreId) -> VectorStore:
    """Return a dataset as a vector store."""
    return _store_shape(await _row(caller, vector_store_id))


@store_router.post("/vector_stores/{vector_store_id}", operation_id="update_vector_store")
async def update_vector_store(
    caller: Caller, vector_store_id: StoreId, body: StoreChanges
) -> VectorStore:
    """Change the name that is shown, the description or the metadata; the id stays."""
    _check(body)
    row = await _row(caller, vector_store_id)
    await caller.define_dataset(vector_store_id, _details(row["details"], body))
    return await retrieve_vector_store(caller, vector_store_id)


@store_router.delete("/vector_stores/{vector_store_id}", operation_id="delete_vector_store")
async def delete_vector_store(caller: Caller, vector_store_id: StoreId) -> Deleted:
    """Delete a dataset with its documents; files that were sent stay."""
    await caller.delete_dataset(vector_store_id)
    return Deleted(id=vector_store_id, object="vector_store.deleted")


def _check(body: StoreChanges) -> None:
    if body.expires_after is not None:
        raise ConfigError("expires_after: no store is deleted by itself here: leave it out")


def _details(known: dict[str, Any], body: StoreChanges) -> dict[str, Any]:
    given = body.model_dump(include=body.model_fields_set & {"name", "description", "metadata"})
    return {key: value for key, value in {**known, **given}.items() if value is not None}


async def _make(caller: ScopedClient, name: str | None, details: dict[str, Any]) -> str:
    """Make a dataset, of the name if it can stand in an address and is free; return its name."""
    reach = caller.rights.datasets
    is_usable = name and _is_id(name) and (reach is None or name in reach)
    if name and is_usable and await caller.define_dataset(name, details, anew=True):
        return name
    if reach is not None:
        raise ForbiddenError(
            f"the API key reaches {', '.join(reach)} only: give the store the name of one that is "
            "not there yet"
        )
    dataset = f"vs_{token_hex(STORE_ID_BYTES)}"
    await caller.define_dataset(dataset, details)
    return dataset


def _is_id(name: str) -> bool:
    return name == name.strip(" .") and "/" not in name and "\\" not in name and name.isprintable()


async def _row(caller: ScopedClient, store: str) -> Row:
    rows = await caller.describe_datasets([store])
    return first_row(rows, f"there is no vector store {store}")


def _store_shape(row: Row) -> VectorStore:
    details = row["details"]
    return VectorStore(
        id=row["dataset"],
        created_at=int(row["created_at"].timestamp()),
        name=details.get("name") or row["dataset"],
        description=details.get("description"),
        usage_bytes=row["byte_count"],
        file_counts=FileCounts(
            **{state: row[state] for state in STATES}, total=sum(row[state] for state in STATES)
        ),
        status="in_progress" if row["in_progress"] else "completed",
        metadata=details.get("metadata") or {},
    )


BATCH_ID = re.compile(r"vsfb_([1-9][0-9]{0,17})", re.A)
BatchId = Annotated[str, Path(max_length=100)]


class NewBatch(JsonBody):
    """Files to be stored: with attributes for all, or each with its own."""

    file_ids: FileIds | None = None
    files: Annotated[list[NewStoreFile], Field(min_length=1, max_length=MAX_BATCH_FILES)] | None = (
        None
    )
    attributes: Attributes | None = None
    chunking_strategy: ChunkingStrategy | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.file_ids is None) == (self.files is None):
            raise ValueError("file_ids or files: one of them")
        return self

    def by_file(self) -> dict[str, Json]:
        """Return the attributes of each file. Raises ConfigError."""
        for strategy in (self.chunking_strategy, *(f.chunking_strategy for f in self.files or ())):
            check_chunking(strategy)
        if self.files is None:
            return dict.fromkeys(self.file_ids or (), self.attributes or {})
        if self.attributes:
            raise ConfigError("attributes: of files each has its own")
        return {file.file_id: file.attributes or {} for file in self.files}


class FileBatch(BaseModel):
    """An ingest of files into a store."""

    id: str
    object: Literal["vector_store.files_batch"] = "vector_store.files_batch"
    created_at: int
    vector_store_id: str
    status: FileState
    file_counts: FileCounts


@store_router.post(
    "/vector_stores/{vector_store_id}/file_batches", operation_id="create_file_batch"
)
async def create_file_batch(
    request: Request, caller: Caller, vector_store_id: StoreId, body: NewBatch
) -> FileBatch:
    """Begin to store several files."""
    attributes = body.by_file()
    run = await start_ingest(request, caller, vector_store_id, attributes)
    begun: Row = {"state": "in_progress", "created_at": datetime.now(UTC)}
    return _batch_shape(vector_store_id, run, [begun] * len(attributes))


@store_router.get(
    "/vector_stores/{vector_store_id}/file_batches/{batch_id}", operation_id="retrieve_file_batch"
)
async def retrieve_file_batch(
    response: Response, caller: Caller, vector_store_id: StoreId, batch_id: BatchId
) -> FileBatch:
    """Return how far a batch is."""
    batch = await _batch(caller, vector_store_id, _run(batch_id))
    if batch.status == "in_progress":
        response.headers[POLL_HEADER] = str(POLL_AFTER_MS)
    return batch


@store_router.post(
    "/vector_stores/{vector_store_id}/file_batches/{batch_id}/cancel",
    operation_id="cancel_file_batch",
)
async def cancel_file_batch(
    caller: Caller, vector_store_id: StoreId, batch_id: BatchId
) -> FileBatch:
    """End a batch; the files that it has stored stay."""
    caller.check_writes(vector_store_id)
    batch = await _batch(caller, vector_store_id, run := _run(batch_id))
    await caller.cancel_job(run)
    return batch  # as it is until the ingest learns of it


@store_router.get(
    "/vector_stores/{vector_store_id}/file_batches/{batch_id}/files",
    operation_id="list_file_batch_files",
)
async def list_file_batch_files(
    caller: Caller,
    vector_store_id: StoreId,
    batch_id: BatchId,
    params: Annotated[StoreFileListParams, Query()],
) -> ListShape[VectorStoreFile]:
    """List the files of a batch."""
    listed = await list_store_files(caller, vector_store_id, params, run := _run(batch_id))
    if not listed.data:  # nothing of that state, or no batch
        await _batch(caller, vector_store_id, run)
    return listed


def _run(batch_id: str) -> int:
    match = BATCH_ID.fullmatch(batch_id)
    if match is None:
        raise NotFoundError(f"there is no batch {batch_id}")
    return int(match[1])


async def _batch(caller: ScopedClient, store: str, run: int) -> FileBatch:
    rows = await caller.dataset_files(store, run=run)
    first_row(rows, f"there is no batch vsfb_{run} in {store}")
    return _batch_shape(store, run, rows)


def _batch_shape(store: str, run: int, rows: Sequence[Row]) -> FileBatch:
    counts = Counter(row["state"] for row in rows)
    is_failed = counts["failed"] == len(rows)
    ended: FileState = "failed" if is_failed else "completed"
    if counts["cancelled"]:
        ended = "cancelled"
    return FileBatch(
        id=f"vsfb_{run}",
        created_at=int(min(row["created_at"] for row in rows).timestamp()),
        vector_store_id=store,
        status="in_progress" if counts["in_progress"] else ended,
        file_counts=FileCounts(**{state: counts[state] for state in STATES}, total=len(rows)),
    )


router = APIRouter()
for part in (store_router, files.router, search.router, models.router):
    router.include_router(part)
