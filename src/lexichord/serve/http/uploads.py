"""Files that are sent: kept in a folder of their own while they are read.

Their names are data. On the disk only the last part is used, in a folder with a number; the whole
becomes the document's uri, so that a file sent again replaces the one before.
"""

import asyncio
import shutil
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Literal

from fastapi import APIRouter, Form, Request, UploadFile
from pydantic import BeforeValidator, Field
from starlette.formparsers import MultiPartParser

from lexichord.errors import ConfigError
from lexichord.ingest.load.kinds import named_by_type
from lexichord.ingest.report import Report, RunCallbacks
from lexichord.ingest.web.crawl import is_address
from lexichord.serve.access import ScopedClient
from lexichord.serve.http.bodies import JobShape, StrictModel, parse_object
from lexichord.serve.http.jobs import IngestCall, accept_job
from lexichord.serve.http.routing import ERROR_RESPONSES, AuthorizedRoute, Caller, JsonReply
from lexichord.serve.limits import (
    MAX_FETCHED_ADDRESSES,
    MAX_NAME_CHARS,
    MAX_UPLOAD_METADATA_CHARS,
    MAX_UPLOAD_NAME_CHARS,
    MAX_UPLOAD_PART_BYTES,
    UPLOAD_MEMORY_BYTES,
)
from lexichord.types import Json

# Of each file that is sent; what is over it waits on the disk. With Starlette's 1 MB eight requests
# of forty such files took 303 MB that the allocator kept.
MultiPartParser.spool_max_size = UPLOAD_MEMORY_BYTES

router = APIRouter(
    prefix="/v1", tags=["documents"], route_class=AuthorizedRoute, responses=ERROR_RESPONSES
)


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


@router.post("/documents:upload", response_model=JobShape, status_code=202)
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
        with TemporaryDirectory(prefix="lexichord-") as folder:
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
