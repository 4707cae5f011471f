"""Files, and files of vector stores: what was sent by itself, and every other document."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Literal
from urllib.parse import quote

from fastapi import File, Form, Query, Request, Response, UploadFile
from pydantic import BaseModel, ConfigDict, Field

from lexichord.db.pool import Row
from lexichord.errors import ConfigError
from lexichord.serve.access import ScopedClient
from lexichord.serve.compat.openai.search import (
    Deleted,
    FileId,
    FileListParams,
    ListParams,
    ListShape,
    StoreId,
    first_row,
    list_page,
    openai_router,
)
from lexichord.serve.files import unknown_file
from lexichord.serve.http import Caller
from lexichord.serve.http.bodies import FilterValue, JsonBody
from lexichord.serve.http.jobs import JobRunner
from lexichord.serve.http.routes import check_file_name
from lexichord.serve.limits import MAX_BATCH_FILES, MAX_NAME_CHARS, POLL_AFTER_MS
from lexichord.types import Json, StoredDocument
from lexichord.types.base import counted, file_name

router = openai_router()

PURPOSES = ("assistants", "user_data")  # those of files that are read; batches, training are not


class FileObject(BaseModel):
    """A file; of a document that did not come as one, `bytes` are those of its text."""

    id: str
    object: Literal["file"] = "file"
    bytes: int
    created_at: int
    filename: str
    purpose: str
    status: Literal["processed"] = "processed"
    expires_at: None = None
    status_details: None = None


@router.post("/files", operation_id="create_file")
async def create_file(
    caller: Caller,
    file: Annotated[UploadFile, File()],
    purpose: Annotated[str, Form(min_length=1, max_length=100, examples=["assistants"])],
    anchor: Annotated[str | None, Form(alias="expires_after[anchor]")] = None,
    seconds: Annotated[str | None, Form(alias="expires_after[seconds]")] = None,
) -> FileObject:
    """Keep a file, until it is stored in vector stores and as long as it is not deleted."""
    if anchor is not None or seconds is not None:
        raise ConfigError("expires_after: no file is deleted by itself here: leave it out")
    if purpose not in PURPOSES:
        raise ConfigError(f"purpose: files are kept for {' or '.join(PURPOSES)} here")
    name = check_file_name(file.filename or "")
    content = await asyncio.to_thread(file.file.read)
    row = await caller.keep_file(name, file.content_type or "", purpose, content)
    return _file_shape(row)


@router.get("/files", operation_id="list_files")
async def list_files(
    caller: Caller, params: Annotated[FileListParams, Query()]
) -> ListShape[FileObject]:
    """List the files that were sent by themselves."""

    return await list_page(
        params,
        lambda page: caller.kept_files(purpose=params.purpose, page=page),
        lambda file_id: _kept(caller, file_id),
        "file_id",
        _file_shape,
    )


@router.get("/files/{file_id}", operation_id="retrieve_file")
async def retrieve_file(caller: Caller, file_id: FileId) -> FileObject:
    """Return what a file is."""
    if not file_id.startswith("doc_"):
        return _file_shape(await _kept(caller, file_id))
    (document,) = await caller.list(documents=[file_id])
    return FileObject(
        id=file_id,
        bytes=len((await caller.show(file_id)).text.encode(errors="replace")),
        created_at=int(document.updated_at.timestamp()),
        filename=file_name(document.uri),
        purpose=PURPOSES[0],
    )


@router.get(
    "/files/{file_id}/content",
    operation_id="download_file",
    response_class=Response,
    responses={200: {"content": {"application/octet-stream": {}}}},
)
async def download_file(caller: Caller, file_id: FileId) -> Response:
    """Return a file's bytes."""
    if file_id.startswith("doc_"):
        original = await caller.original(file_id)
        return _download(original.name, original.content)
    row = await _kept(caller, file_id)
    return _download(file_name(row["name"]), await caller.kept_content(file_id))


@router.delete("/files/{file_id}", operation_id="delete_file")
async def delete_file(caller: Caller, file_id: FileId) -> Deleted:
    """Delete a file, with the documents that it became in all stores."""
    if file_id.startswith("doc_"):
        await caller.delete([file_id])
    else:
        await caller.delete_file(file_id)
    return Deleted(id=file_id, object="file")


def _download(name: str, content: bytes) -> Response:
    headers = {
        "content-disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}",
        "content-security-policy": "sandbox",  # a page that was sent is nobody's page here
        "x-content-type-options": "nosniff",
    }
    return Response(content, media_type="application/octet-stream", headers=headers)


async def _kept(caller: ScopedClient, file_id: str) -> Row:
    return first_row(await caller.kept_files(file_ids=[file_id]), unknown_file(file_id))


def _file_shape(row: Row) -> FileObject:
    return FileObject(
        id=row["file_id"],
        bytes=row["byte_count"],
        created_at=int(row["created_at"].timestamp()),
        filename=file_name(row["name"]),
        purpose=row["purpose"],
    )


KEPT_KEYS = ("language",)  # told of the text, not given: no update takes it away
POLL_HEADER = "openai-poll-after-ms"  # OpenAI's clients heed it

type GivenId = Annotated[str, Field(min_length=1, max_length=100)]
type FileIds = Annotated[list[GivenId], Field(min_length=1, max_length=MAX_BATCH_FILES)]
type Attributes = dict[Annotated[str, Field(min_length=1, max_length=MAX_NAME_CHARS)], FilterValue]
FileState = Literal["in_progress", "completed", "failed", "cancelled"]


class ChunkingStrategy(JsonBody):
    """How to cut texts: `auto` is by their clauses and headings, and there is no other way."""

    model_config = ConfigDict(extra="allow")

    type: Literal["auto", "static"]


class NewStoreFile(JsonBody):
    """A file to be stored, and what filters are to know of it."""

    file_id: GivenId
    attributes: Attributes | None = None
    chunking_strategy: ChunkingStrategy | None = None


class StoreFileChanges(JsonBody):
    """What filters are to know of a file, in place of what they know."""

    attributes: Attributes | None


class StoreFileListParams(ListParams):
    """Which part of the list of files, and in which state."""

    filter: FileState | None = None


class LastError(BaseModel):
    """Why a file could not be stored."""

    code: Literal["server_error", "unsupported_file", "invalid_file"] = "invalid_file"
    message: str


class Chunking(BaseModel):
    """That texts are cut by their clauses and headings."""

    type: Literal["other"] = "other"


class VectorStoreFile(BaseModel):
    """A file of a store; `attributes` are its metadata that are texts, numbers and truth values."""

    id: str
    object: Literal["vector_store.file"] = "vector_store.file"
    created_at: int
    usage_bytes: int
    vector_store_id: str
    status: FileState
    last_error: LastError | None = None
    chunking_strategy: Chunking = Chunking()
    attributes: dict[str, FilterValue]


class FileText(BaseModel):
    """The text of a file, or of one of the files in it."""

    type: Literal["text"] = "text"
    text: str


class FileTextPage(BaseModel):
    """All that was read of a file."""

    object: Literal["vector_store.file_content.page"] = "vector_store.file_content.page"
    data: list[FileText]
    has_more: bool = False
    next_page: str | None = None


@router.post("/vector_stores/{vector_store_id}/files", operation_id="create_vector_store_file")
async def create_vector_store_file(
    request: Request, caller: Caller, vector_store_id: StoreId, body: NewStoreFile
) -> VectorStoreFile:
    """Begin to store a file that was sent, with these attributes as metadata."""
    check_chunking(body.chunking_strategy)
    attributes = body.attributes or {}
    await start_ingest(request, caller, vector_store_id, {body.file_id: attributes})
    return VectorStoreFile(
        id=body.file_id,
        created_at=int(datetime.now(UTC).timestamp()),
        usage_bytes=0,
        vector_store_id=vector_store_id,
        status="in_progress",
        attributes=attributes,
    )


@router.get("/vector_stores/{vector_store_id}/files", operation_id="list_vector_store_files")
async def list_vector_store_files(
    caller: Caller, vector_store_id: StoreId, params: Annotated[StoreFileListParams, Query()]
) -> ListShape[VectorStoreFile]:
    """List what a store holds."""
    return await list_store_files(caller, vector_store_id, params)


@router.get(
    "/vector_stores/{vector_store_id}/files/{file_id}", operation_id="retrieve_vector_store_file"
)
async def retrieve_vector_store_file(
    response: Response, caller: Caller, vector_store_id: StoreId, file_id: FileId
) -> VectorStoreFile:
    """Return a file of a store with its state."""
    file = _store_file_shape(vector_store_id, await _row(caller, vector_store_id, file_id))
    if file.status == "in_progress":
        response.headers[POLL_HEADER] = str(POLL_AFTER_MS)
    return file


@router.post(
    "/vector_stores/{vector_store_id}/files/{file_id}", operation_id="update_vector_store_file"
)
async def update_vector_store_file(
    caller: Caller, vector_store_id: StoreId, file_id: FileId, body: StoreFileChanges
) -> VectorStoreFile:
    """Replace a file's attributes; nothing is embedded again."""
    row, given = await _row(caller, vector_store_id, file_id), body.attributes or {}
    if row["state"] != "completed":
        raise ConfigError(f"{file_id} is {row['state']}: only what is stored has attributes")
    gone = dict.fromkeys(set(_plain(row["attributes"])).difference(given, KEPT_KEYS))
    for document in await _documents(caller, vector_store_id, row):
        await caller.set_metadata(document.document_id, {**given, **gone})
    if row["file_id"] is not None and row["run_id"] is not None:
        await caller.add_dataset_files(vector_store_id, row["run_id"], {file_id: given})
    return _store_file_shape(vector_store_id, await _row(caller, vector_store_id, file_id))


@router.delete(
    "/vector_stores/{vector_store_id}/files/{file_id}", operation_id="delete_vector_store_file"
)
async def delete_vector_store_file(
    caller: Caller, vector_store_id: StoreId, file_id: FileId
) -> Deleted:
    """Take a file out of a store; one that was sent by itself stays, other documents are gone."""
    if file_id.startswith("doc_"):
        await caller.delete([file_id], [vector_store_id])
    else:
        await caller.remove_dataset_file(vector_store_id, file_id)
    return Deleted(id=file_id, object="vector_store.file.deleted")


@router.get(
    "/vector_stores/{vector_store_id}/files/{file_id}/content",
    operation_id="read_vector_store_file",
)
async def read_vector_store_file(
    request: Request, caller: Caller, vector_store_id: StoreId, file_id: FileId
) -> FileTextPage:
    """Return what was read of a file; of an archive as much as a request may send."""
    row = await _row(caller, vector_store_id, file_id)
    documents = await _documents(caller, vector_store_id, row)
    length = sum(document.characters for document in documents)
    if length > (most := request.app.state.policy.settings.max_body):
        raise ConfigError(
            f"{file_id} is {length:,} characters in {counted(len(documents), 'document')}, and at "
            f"most {most:,} are read at once: read each by GET /v1/documents/ID"
        )
    texts = [(await caller.show(document.document_id)).text for document in documents]
    return FileTextPage(data=[FileText(text=text) for text in texts])


async def start_ingest(
    request: Request, caller: ScopedClient, dataset: str, attributes: Mapping[str, Json]
) -> int:
    """Begin to store files that were sent, each with its attributes; return the run."""
    runner: JobRunner = request.app.state.jobs
    run = await runner.start(
        lambda callbacks: caller.ingest_files(dataset, attributes, **callbacks),
        caller.rights.key_id,
    )
    await caller.add_dataset_files(dataset, run, attributes)
    return run


async def list_store_files(
    caller: ScopedClient, store: str, params: StoreFileListParams, run: int | None = None
) -> ListShape[VectorStoreFile]:
    """List what a store holds, or what a run stores in it."""

    return await list_page(
        params,
        lambda page: caller.dataset_files(store, run=run, state=params.filter, page=page),
        lambda file_id: _row(caller, store, file_id),
        "sort_key",
        lambda row: _store_file_shape(store, row),
    )


def check_chunking(strategy: ChunkingStrategy | None) -> None:
    """Raise ConfigError for a way of cutting texts that there is not."""
    if strategy is not None and strategy.type != "auto":
        raise ConfigError(
            "chunking_strategy: texts are cut by their clauses and headings here: leave it out"
        )


async def _row(caller: ScopedClient, store: str, file_id: str) -> Row:
    rows = await caller.dataset_files(store, file_id=file_id)
    return first_row(rows, f"{unknown_file(file_id)} in {store}")


async def _documents(caller: ScopedClient, store: str, row: Row) -> Sequence[StoredDocument]:
    if row["document_id"] is not None:
        return await caller.list(documents=[row["document_id"]])
    prefix = f"upload://{store}/{row['file_id']}/"
    return await caller.list(datasets=[store], uri_prefix=prefix)


def _store_file_shape(store: str, row: Row) -> VectorStoreFile:
    error = None if row["reason"] is None else LastError(message=row["reason"])
    return VectorStoreFile(
        id=row["file_id"] or row["document_id"],
        created_at=int(row["created_at"].timestamp()),
        usage_bytes=row["byte_count"] if row["state"] == "completed" else 0,
        vector_store_id=store,
        status=row["state"],
        last_error=error if row["state"] == "failed" else None,
        attributes=_plain(row["attributes"]),
    )


def _plain(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata that attributes can be."""
    return {key: value for key, value in metadata.items() if isinstance(value, str | int | float)}
