"""Files that are sent: kept in a folder of their own while they are read.

Their names are data. On the disk only the last part is used, in a folder with a number; the whole
becomes the document's uri, so that a file sent again replaces the one before.
"""

import asyncio
import shutil
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

from fastapi import APIRouter, File, Form, Request, UploadFile

from lexichord.errors import ConfigError
from lexichord.ingest.report import Report
from lexichord.serve.http.caller import Caller, KeyFirst
from lexichord.serve.http.jobs import OnRun, accepted
from lexichord.serve.http.replies import ERRORS, Reply
from lexichord.serve.http.shapes import Job

LONGEST_PART, LONGEST = 200, 1_000  # characters of a name's parts, and of it all

router = APIRouter(prefix="/v1", tags=["documents"], route_class=KeyFirst, responses=ERRORS)


@router.post("/documents:upload", response_model=Job, status_code=202)
async def upload_documents(
    request: Request,
    caller: Caller,
    files: Annotated[
        list[UploadFile], File(min_length=1, description="PDF, Word, HTML, Markdown, text, code.")
    ],
    dataset: Annotated[str, Form(max_length=1_000, examples=["handbook"])] = "default",
) -> Reply:
    """Begin to read and store files; the uri of each is upload://DATASET/NAME.

    A file of the same name in the same dataset is replaced. The job says what becomes of them.
    """
    caller.check_writes(dataset)
    names = [_name(file.filename or "") for file in files]
    if len(set(names)) < len(names):
        raise ConfigError("two files have the same name: send one, or give their folders, too")

    async def ingest(on_run: OnRun) -> Report:
        with TemporaryDirectory(prefix="lexichord-") as made:
            kept = await asyncio.to_thread(_keep, files, names, Path(made))
            uris = {str(p): f"upload://{dataset}/{n}" for p, n in zip(kept, names, strict=True)}
            return await caller.ingest(kept, dataset=dataset, uris=uris, on_run=on_run)

    return await accepted(request, caller, ingest)


def _name(given: str) -> str:
    """Give a file's name, with its folders if it has any. Raises ConfigError."""
    parts = [part for part in given.replace("\\", "/").split("/") if part not in ("", ".")]
    name = "/".join(parts)
    if not parts or ".." in parts or not name.isprintable():
        raise ConfigError("a file needs a name, of signs that can be read, and without ..")
    if len(name) > LONGEST or len(parts[-1].encode()) > LONGEST_PART:
        raise ConfigError(f"a file's name is longer than {LONGEST_PART} bytes")
    return name


def _keep(files: Sequence[UploadFile], names: Sequence[str], folder: Path) -> list[Path]:
    """Write each file into a folder of its own, and give the paths."""
    kept = []
    for number, (file, name) in enumerate(zip(files, names, strict=True)):
        path = folder.resolve() / str(number) / name.rpartition("/")[2]
        path.parent.mkdir()
        with path.open("xb") as stream:
            shutil.copyfileobj(file.file, stream)
        kept.append(path)
    return kept
