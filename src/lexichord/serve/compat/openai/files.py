"""Files: what was sent by itself; a document that came otherwise is one, too, by its id."""

import asyncio
from typing import Annotated, Literal
from urllib.parse import quote

from fastapi import File, Form, Query, Response, UploadFile
from pydantic import BaseModel

from lexichord.db.pool import Row
from lexichord.errors import ConfigError
from lexichord.serve.access import ScopedClient
from lexichord.serve.compat.openai.paging import (
    Deleted,
    FileId,
    FileListParams,
    ListShape,
    first_row,
    list_page,
    openai_router,
)
from lexichord.serve.files import unknown_file
from lexichord.serve.http.routing import Caller
from lexichord.serve.http.uploads import check_file_name
from lexichord.types.base import file_name

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
    return _shape(row)


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
        _shape,
    )


@router.get("/files/{file_id}", operation_id="retrieve_file")
async def retrieve_file(caller: Caller, file_id: FileId) -> FileObject:
    """Return what a file is."""
    if not file_id.startswith("doc_"):
        return _shape(await _kept(caller, file_id))
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


def _shape(row: Row) -> FileObject:
    return FileObject(
        id=row["file_id"],
        bytes=row["byte_count"],
        created_at=int(row["created_at"].timestamp()),
        filename=file_name(row["name"]),
        purpose=row["purpose"],
    )
