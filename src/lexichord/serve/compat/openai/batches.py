"""Several files of a vector store, stored by one run: a batch is an ingest."""

import re
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Literal, Self

from fastapi import Path, Query, Request, Response
from pydantic import BaseModel, Field, model_validator

from lexichord.db.pool import Row
from lexichord.errors import ConfigError, NotFoundError
from lexichord.serve.access import ScopedClient
from lexichord.serve.compat.openai.paging import ListShape, StoreId, first_row, openai_router
from lexichord.serve.compat.openai.store_files import (
    POLL_HEADER,
    Attributes,
    ChunkingStrategy,
    FileIds,
    NewStoreFile,
    StoreFileListParams,
    VectorStoreFile,
    check_chunking,
    list_store_files,
    start_ingest,
)
from lexichord.serve.compat.openai.stores import FileCounts
from lexichord.serve.http.bodies import JsonBody
from lexichord.serve.http.routing import Caller
from lexichord.serve.limits import MAX_BATCH_FILES, POLL_AFTER_MS
from lexichord.types import Json

router = openai_router()

BATCH_ID = re.compile(r"vsfb_([1-9][0-9]{0,17})", re.A)
BatchId = Annotated[str, Path(max_length=100)]
STATES = ("in_progress", "completed", "failed")


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
    status: Literal["in_progress", "completed", "failed"]
    file_counts: FileCounts


@router.post("/vector_stores/{vector_store_id}/file_batches", operation_id="create_file_batch")
async def create_file_batch(
    request: Request, caller: Caller, vector_store_id: StoreId, body: NewBatch
) -> FileBatch:
    """Begin to store several files."""
    attributes = body.by_file()
    run = await start_ingest(request, caller, vector_store_id, attributes)
    begun: Row = {"state": "in_progress", "created_at": datetime.now(UTC)}
    return _shape(vector_store_id, run, [begun] * len(attributes))


@router.get(
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


@router.post(
    "/vector_stores/{vector_store_id}/file_batches/{batch_id}/cancel",
    operation_id="cancel_file_batch",
)
async def cancel_file_batch(
    caller: Caller, vector_store_id: StoreId, batch_id: BatchId
) -> FileBatch:
    """Refuse: what was begun is stored."""
    caller.check_writes(vector_store_id)
    await _batch(caller, vector_store_id, _run(batch_id))
    raise ConfigError(
        "a batch that was begun is not cancelled here: wait for it, then delete its files"
    )


@router.get(
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
    return await list_store_files(caller, vector_store_id, params, _run(batch_id))


def _run(batch_id: str) -> int:
    match = BATCH_ID.fullmatch(batch_id)
    if match is None:
        raise NotFoundError(f"there is no batch {batch_id}")
    return int(match[1])


async def _batch(caller: ScopedClient, store: str, run: int) -> FileBatch:
    rows = await caller.dataset_files(store, run=run)
    first_row(rows, f"there is no batch vsfb_{run} in {store}")
    return _shape(store, run, rows)


def _shape(store: str, run: int, rows: Sequence[Row]) -> FileBatch:
    counts = Counter(row["state"] for row in rows)
    all_failed = counts["failed"] == len(rows)
    return FileBatch(
        id=f"vsfb_{run}",
        created_at=int(min(row["created_at"] for row in rows).timestamp()),
        vector_store_id=store,
        status="in_progress" if counts["in_progress"] else "failed" if all_failed else "completed",
        file_counts=FileCounts(**{state: counts[state] for state in STATES}, total=len(rows)),
    )
