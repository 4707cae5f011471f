"""Routes that search, and those that list, show, add and delete what is stored.

Files that are sent are kept in a folder of their own while they are read. Their names are data: on
the disk only the last part is used, in a folder with a number; the whole becomes the document's
uri, so that a file sent again replaces the one before.
"""

import asyncio
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import quote

from fastapi import APIRouter, Form, Query, Request, Response, UploadFile
from fastapi import Path as PathPart
from pydantic import BeforeValidator, Field
from starlette.formparsers import MultiPartParser

from lexichord.errors import ConfigError
from lexichord.ingest.load import named_by_type
from lexichord.ingest.report import Report, RunCallbacks
from lexichord.ingest.sandbox import ScratchFolder
from lexichord.ingest.web.crawl import is_address
from lexichord.serve.access import ScopedClient
from lexichord.serve.http import (
    ERROR_RESPONSES,
    AuthorizedRoute,
    Caller,
    JsonReply,
    reply,
    reply_long,
    reply_written,
)
from lexichord.serve.http.bodies import (
    BoxesShape,
    ChunkId,
    CountParams,
    DatasetsShape,
    DeletedShape,
    DocumentName,
    DocumentsBody,
    DocumentShape,
    DocumentsShape,
    ExpandParams,
    FacetsShape,
    JobShape,
    ListParams,
    MetadataBody,
    MetadataShape,
    MoveBody,
    MovedShape,
    NameText,
    QueryBody,
    RankedBody,
    RenameBody,
    RenamedShape,
    ResponseShape,
    SearchBody,
    SimilarParams,
    StrictModel,
    parse_object,
)
from lexichord.serve.http.jobs import (
    STREAM_RESPONSES,
    EventStream,
    IngestCall,
    accept_job,
    reply_streamed,
)
from lexichord.serve.limits import (
    MAX_FETCHED_ADDRESSES,
    MAX_NAME_CHARS,
    MAX_UPLOAD_METADATA_CHARS,
    MAX_UPLOAD_NAME_CHARS,
    MAX_UPLOAD_PART_BYTES,
    UPLOAD_MEMORY_BYTES,
)
from lexichord.types import Excerpt, FilesResult, Json, SearchResult

# Of each file that is sent; what is over it waits on the disk. With Starlette's 1 MB eight requests
# of forty such files took 303 MB that the allocator kept.
MultiPartParser.spool_max_size = UPLOAD_MEMORY_BYTES

router = APIRouter(prefix="/v1", route_class=AuthorizedRoute, responses=ERROR_RESPONSES)
SEARCH_TAGS: list[Any] = ["search"]
DOCUMENT_TAGS: list[Any] = ["documents"]
MARK_FORM = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")

type DocumentPathId = Annotated[DocumentName, PathPart()]
type ChunkPathId = Annotated[ChunkId, PathPart()]


@router.post("/search", response_model=SearchResult, tags=SEARCH_TAGS)
async def search(caller: Caller, body: SearchBody) -> JsonReply:
    """Find the k chunks that answer a query best, with every score and rank."""
    return reply(await caller.search(body.query, **_options(body)))


@router.post("/files:discover", response_model=FilesResult, tags=SEARCH_TAGS)
async def discover_files(caller: Caller, body: SearchBody) -> JsonReply:
    """Find the k documents that the hint names, or else that the query is about."""
    return reply(await caller.files(body.query, **_options(body)))


@router.post("/query", response_model=ResponseShape, responses=STREAM_RESPONSES, tags=SEARCH_TAGS)
async def query(caller: Caller, body: QueryBody) -> JsonReply | EventStream:
    """Find the files, evidence in and around them and, if asked for, an answer.

    With `stream` each comes as a server-sent event: `files`, `evidence`, `draft` (a model's words
    before they are checked), `answer`, and last `response`, the same as without.
    """
    if body.stream:
        events = caller.stream(body.query, **_options(body))
        return await reply_streamed(events, caller.settings.request_timeout)
    return reply(await caller.query(body.query, **_options(body)))


def _options(body: RankedBody) -> dict[str, Any]:
    """Return what was sent, so that all else is as the library has it."""
    return body.model_dump(exclude_unset=True, exclude={"query", "stream"})


@router.get("/datasets", response_model=DatasetsShape, tags=DOCUMENT_TAGS)
async def list_datasets(caller: Caller) -> JsonReply:
    """List the datasets, with how much each holds."""
    return reply({"datasets": await caller.datasets()})


@router.post("/datasets:rename", response_model=RenamedShape, tags=DOCUMENT_TAGS)
async def rename_dataset(caller: Caller, body: RenameBody) -> JsonReply:
    """Give a dataset another name, which none has. API keys that name it follow."""
    await caller.rename_dataset(body.dataset, body.new_name)
    return await reply_written(caller, {"dataset": body.new_name})


@router.delete("/datasets/{dataset:path}", response_model=DeletedShape, tags=DOCUMENT_TAGS)
async def delete_dataset(
    caller: Caller, dataset: Annotated[NameText, PathPart(examples=["contracts"])]
) -> JsonReply:
    """Delete a dataset with all its documents; return how many there were."""
    return await reply_written(caller, {"deleted": await caller.delete_dataset(dataset)})


@router.get("/documents", response_model=DocumentsShape, tags=DOCUMENT_TAGS)
async def list_documents(caller: Caller, params: Annotated[ListParams, Query()]) -> JsonReply:
    """List documents by dataset and uri, without their texts."""
    options = params.options()
    rows = await caller.list(limit=params.limit, offset=params.offset, **options)
    documents = [document.to_dict() for document in rows]
    part = {"limit": params.limit, "offset": params.offset}
    return reply({"documents": documents, "total": await caller.count(**options), **part})


@router.get("/documents:count", response_model=FacetsShape, tags=DOCUMENT_TAGS)
async def count_documents(caller: Caller, params: Annotated[CountParams, Query()]) -> JsonReply:
    """Count documents by the values of a metadata key, the commonest first."""
    facets = await caller.count_by(params.by, **params.options())
    return reply({"facets": [facet.to_dict() for facet in facets]})


@router.post("/documents", response_model=JobShape, status_code=202, tags=DOCUMENT_TAGS)
async def add_documents(request: Request, caller: Caller, body: DocumentsBody) -> JsonReply:
    """Begin to store documents; those of the same dataset and uri are replaced.

    The job says what becomes of them.
    """
    documents = [document.model_dump(exclude_unset=True) for document in body.documents]
    dataset = body.dataset
    return await accept_job(
        request,
        caller,
        lambda callbacks: caller.ingest(documents=documents, dataset=dataset, **callbacks),
    )


@router.post("/documents:move", response_model=MovedShape, tags=DOCUMENT_TAGS)
async def move_documents(caller: Caller, body: MoveBody) -> JsonReply:
    """Move documents into a dataset with all that hangs on them; nothing is embedded again."""
    return await reply_written(caller, {"moved": await caller.move(body.documents, body.dataset)})


@router.post(
    "/documents/{document_id}/reread", response_model=JobShape, status_code=202, tags=DOCUMENT_TAGS
)
async def reread_document(
    request: Request, caller: Caller, document_id: DocumentPathId
) -> JsonReply:
    """Begin to read a document again from the bytes that it was read from.

    Chunks that come out the same are not embedded again. The job says what becomes of it.
    """
    return await accept_job(
        request, caller, lambda callbacks: caller.reread(document_id, **callbacks)
    )


@router.get("/documents/{document_id}/similar", response_model=FilesResult, tags=DOCUMENT_TAGS)
async def similar_documents(
    caller: Caller, document_id: DocumentPathId, params: Annotated[SimilarParams, Query()]
) -> JsonReply:
    """Find the k documents most like a stored one, by its vectors."""
    return reply(await caller.similar(document_id, k=params.k, **params.options()))


@router.get(
    "/documents/{document_id}/pages/{page}.png",
    response_class=Response,
    responses={200: {"content": {"image/png": {}}}},
    tags=DOCUMENT_TAGS,
)
async def show_page(
    caller: Caller,
    document_id: DocumentPathId,
    page: Annotated[int, PathPart(ge=1, le=100_000)],
    mark: str | None = None,
) -> Response:
    """Return a page of a PDF, drawn from its file; `mark` is START-END in the document's text."""
    image = await caller.page_image(document_id, page, mark=_read_mark(mark or "0-0"))
    return Response(image, media_type="image/png")


@router.get("/documents/{document_id}/boxes", response_model=BoxesShape, tags=DOCUMENT_TAGS)
async def find_boxes(
    caller: Caller,
    document_id: DocumentPathId,
    mark: Annotated[str, Query(examples=["120-310"])],
) -> JsonReply:
    """Return where a passage, such as a hit's START-END, stands on the pages of its PDF."""
    boxes = await caller.boxes(document_id, *_read_mark(mark))
    return reply({"boxes": [box.to_dict() for box in boxes]})


@router.get(
    "/documents/{document_id}/original",
    response_class=Response,
    responses={200: {"content": {"application/octet-stream": {}}}},
    tags=DOCUMENT_TAGS,
)
async def download_original(caller: Caller, document_id: DocumentPathId) -> Response:
    """Return the bytes that a document was read from, from its file or as they were kept."""
    original = await caller.original(document_id)
    headers = {
        "content-disposition": f"attachment; filename*=UTF-8''{quote(original.name, safe='')}",
        "content-security-policy": "sandbox",  # a page that was stored is nobody's page here
        "x-content-type-options": "nosniff",
    }
    return Response(original.content, media_type=original.media_type, headers=headers)


def _read_mark(mark: str) -> tuple[int, int]:
    """Return where a passage begins and ends. Raises ConfigError."""
    found = MARK_FORM.fullmatch(mark)
    if found is None:
        raise ConfigError("mark is START-END in the document's text, such as 120-310")
    return int(found[1]), int(found[2])


@router.get("/chunks/{chunk_id}", response_model=Excerpt, tags=DOCUMENT_TAGS)
async def show_chunk(
    caller: Caller, chunk_id: ChunkPathId, params: Annotated[ExpandParams, Query()]
) -> JsonReply:
    """Return a chunk with the text around it."""
    return reply(await caller.expand(chunk_id, **params.model_dump()))


# Last, for a uri has slashes.
@router.get("/documents/{document_id:path}", response_model=DocumentShape, tags=DOCUMENT_TAGS)
async def show_document(caller: Caller, document_id: DocumentPathId) -> Response:
    """Return a document with its text and chunks. Offsets count the text's characters from 0."""
    return await reply_long(await caller.show(document_id))


@router.patch("/documents/{document_id}", response_model=MetadataShape, tags=DOCUMENT_TAGS)
async def set_metadata(
    caller: Caller, document_id: DocumentPathId, body: MetadataBody
) -> JsonReply:
    """Set keys of a document's metadata, take away those that are null; return all of it."""
    metadata = await caller.set_metadata(document_id, body.metadata)
    return await reply_written(caller, {"metadata": metadata})


@router.delete("/documents/{document_id}", response_model=DeletedShape, tags=DOCUMENT_TAGS)
async def delete_document(caller: Caller, document_id: DocumentPathId) -> JsonReply:
    """Delete a document with all that hangs on it."""
    return await reply_written(caller, {"deleted": await caller.delete([document_id])})


class UploadForm(StrictModel):
    """Files and addresses whose contents are to be stored, and how."""

    files: list[UploadFile] = Field(
        [],
        description="PDF, Office, OpenDocument, mail, HTML, Markdown, text, code; ZIP.",
    )
    urls: list[str] = Field(
        [],
        max_length=MAX_FETCHED_ADDRESSES,
        description="Pages or files to fetch, of hosts that the server's fetch_hosts names.",
        examples=[["https://www.example.com/handbook.pdf"]],
    )
    dataset: str = Field("default", max_length=MAX_NAME_CHARS, examples=["handbook"])
    metadata: str = Field(
        "{}",
        max_length=MAX_UPLOAD_METADATA_CHARS,
        description="JSON, added to the metadata of each file.",
        examples=['{"year": 2026}'],
    )
    keep_originals: Annotated[
        Literal["true", "false"], BeforeValidator(str.lower)  # True is what Python's clients send
    ] = Field("false", description="Keep the files in the database, to look at and download.")


@router.post("/documents:upload", response_model=JobShape, status_code=202, tags=DOCUMENT_TAGS)
async def upload_documents(
    request: Request,
    caller: Caller,
    form: Annotated[UploadForm, Form(media_type="multipart/form-data")],
) -> JsonReply:
    """Begin to read and store files; the uri of each is upload://DATASET/NAME.

    A file of the same name in the same dataset is replaced. The uri of what is fetched is its
    address. The job says what becomes of them.
    """
    caller.check_writes(form.dataset)
    given = parse_object("metadata", form.metadata)
    is_kept = form.keep_originals == "true"
    ingest = ingest_call(caller, form.files, form.dataset, is_kept, given, form.urls)
    return await accept_job(request, caller, ingest)


def ingest_call(
    caller: ScopedClient,
    files: Sequence[UploadFile],
    dataset: str,
    keep_originals: bool,
    metadata: Json,
    urls: Sequence[str] = (),
) -> IngestCall:
    """Return what stores files that were sent, and what addresses name. Raises ConfigError."""
    check_fetch(caller, urls)
    if not (files or urls):
        raise ConfigError("send a file, in the field files")
    names = [check_file_name(file.filename or "") for file in files]
    if len(set(names)) < len(names):
        raise ConfigError("two files have the same name: send one, or give their folders, too")

    async def ingest(callbacks: RunCallbacks) -> Report:
        with ScratchFolder() as folder:
            paths = await asyncio.to_thread(_write_files, files, names, Path(folder))
            uris = {str(p): f"upload://{dataset}/{n}" for p, n in zip(paths, names, strict=True)}
            return await caller.ingest(
                [*paths, *urls],
                dataset=dataset,
                uris=uris,
                metadata=metadata,
                keep_originals=keep_originals,
                **callbacks,
            )

    return ingest


def check_fetch(caller: ScopedClient, urls: Sequence[str]) -> None:
    """Raise ConfigError for addresses that are none, or where none are taken."""
    if urls and not caller.settings.fetch_hosts:
        raise ConfigError(
            "this server fetches no addresses: who runs it can name hosts in LEXICHORD_FETCH_HOSTS"
        )
    if len(urls) > MAX_FETCHED_ADDRESSES:
        raise ConfigError(f"at most {MAX_FETCHED_ADDRESSES} addresses at once")
    if other := next((url for url in urls if not is_address(url)), None):
        raise ConfigError(f"'{other}' is no address of http or https")


def check_file_name(sent_name: str) -> str:
    """Return a file's name, with its folders if it has any. Raises ConfigError."""
    parts = [part for part in sent_name.replace("\\", "/").split("/") if part not in ("", ".")]
    name = "/".join(parts)
    if not parts or ".." in parts or not name.isprintable():
        raise ConfigError("a file needs a name, of signs that can be read, and without ..")
    if len(name) > MAX_UPLOAD_NAME_CHARS or len(parts[-1].encode()) > MAX_UPLOAD_PART_BYTES:
        raise ConfigError(f"a file's name is longer than {MAX_UPLOAD_PART_BYTES} bytes")
    return name


def _write_files(files: Sequence[UploadFile], names: Sequence[str], folder: Path) -> list[Path]:
    """Write each file into a folder of its own, and return the paths.

    One whose name does not tell its kind is given the ending of the type it was sent under.
    """
    paths = []
    for number, (file, name) in enumerate(zip(files, names, strict=True)):
        last = named_by_type(name.rpartition("/")[2], file.content_type or "")
        path = folder.resolve() / str(number) / last
        path.parent.mkdir()
        with path.open("xb") as stream:
            shutil.copyfileobj(file.file, stream)
        paths.append(path)
    return paths
