"""What is stored: listed, shown, added, deleted."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request

from lexichord.serve.http.bodies import Alike, Around, DocumentsBody, Id, Listed
from lexichord.serve.http.caller import Caller, KeyFirst
from lexichord.serve.http.jobs import accepted
from lexichord.serve.http.replies import ERRORS, Reply, reply
from lexichord.serve.http.shapes import (
    DatasetsShape,
    DeletedShape,
    DocumentShape,
    DocumentsShape,
    Job,
)
from lexichord.types import Excerpt, FilesResult

router = APIRouter(prefix="/v1", tags=["documents"], route_class=KeyFirst, responses=ERRORS)

type OneId = Annotated[Id, Path()]


@router.get("/datasets", response_model=DatasetsShape)
async def list_datasets(caller: Caller) -> Reply:
    """List the datasets, with how much each holds."""
    return reply({"datasets": await caller.datasets()})


@router.get("/documents", response_model=DocumentsShape)
async def list_documents(caller: Caller, asked: Annotated[Listed, Query()]) -> Reply:
    """List documents by dataset and uri, without their texts."""
    options = asked.options()
    found = await caller.list(limit=asked.limit, offset=asked.offset, **options)
    shown = [document.to_dict() for document in found]
    place = {"limit": asked.limit, "offset": asked.offset}
    return reply({"documents": shown, "total": await caller.count(**options), **place})


@router.post("/documents", response_model=Job, status_code=202)
async def add_documents(request: Request, caller: Caller, body: DocumentsBody) -> Reply:
    """Begin to store documents; those of the same dataset and uri are replaced.

    The job says what becomes of them.
    """
    documents = [document.model_dump(exclude_unset=True) for document in body.documents]
    dataset = body.dataset
    return await accepted(
        request,
        caller,
        lambda on_run: caller.ingest(documents=documents, dataset=dataset, on_run=on_run),
    )


@router.get("/documents/{document_id}", response_model=DocumentShape)
async def show_document(caller: Caller, document_id: OneId) -> Reply:
    """Give a document with its text and chunks. Offsets count the text's characters from 0."""
    return reply(await caller.show(document_id))


@router.delete("/documents/{document_id}", response_model=DeletedShape)
async def delete_document(caller: Caller, document_id: OneId) -> Reply:
    """Delete a document with all that hangs on it."""
    return reply({"deleted": await caller.delete([document_id])})


@router.get("/documents/{document_id}/similar", response_model=FilesResult)
async def similar_documents(
    caller: Caller, document_id: OneId, asked: Annotated[Alike, Query()]
) -> Reply:
    """Find the k documents most like a stored one, by its vectors."""
    return reply(await caller.similar(document_id, k=asked.k, **asked.options()))


@router.get("/chunks/{chunk_id}", response_model=Excerpt)
async def show_chunk(caller: Caller, chunk_id: OneId, asked: Annotated[Around, Query()]) -> Reply:
    """Give a chunk with the text around it."""
    return reply(await caller.expand(chunk_id, **asked.model_dump()))
