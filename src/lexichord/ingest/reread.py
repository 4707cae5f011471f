"""A document read once more from the bytes that it was read from, as an ingest reads it today."""

import asyncio
import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from lexichord.db import store
from lexichord.db.pool import Database
from lexichord.errors import NotFoundError
from lexichord.ingest import originals
from lexichord.ingest.files import FileSources
from lexichord.ingest.language import LANGUAGE
from lexichord.ingest.load.containers import plain_name
from lexichord.ingest.load.kinds import named_by_type
from lexichord.ingest.load.options import load_options
from lexichord.ingest.options import IngestOptions
from lexichord.ingest.pipeline import IngestPipeline
from lexichord.ingest.reader import Reader
from lexichord.ingest.report import Report
from lexichord.ingest.sources import IngestSource, PreparedDocument
from lexichord.ingest.web.crawl import is_address
from lexichord.ingest.web.pages import file_name
from lexichord.types import StoredDocument

MADE_ANEW = ("flags", LANGUAGE)  # metadata that the reader's work tells
# In a recipe: what its ingest did with hidden text and comments, which stays so.
GIVEN_MARKING = re.compile(r"\b(hidden|comments)=(keep|drop)\b")
GIVEN_METADATA = re.compile(r"metadata=\S+")  # in a recipe: metadata were given with the file
VERSION = re.compile(r"version=\S+ ")  # in a recipe: of the object in a bucket or on a server


async def reread_options(database: Database, document: StoredDocument) -> tuple[IngestOptions, str]:
    """Return how a document was made, as options of an ingest, and its recipe."""
    rows = await store.document_digests(database, document.dataset, [document.uri])
    recipe = rows[document.uri]["recipe"]
    kind = re.search(r"context=(given|none)", recipe)
    context = kind[1] if kind else "llm" if " llm=" in recipe else "structural"
    without = re.findall(r" without=(\S+)", recipe)
    options = {"dataset": document.dataset, "context": context, "without": without}
    return IngestOptions(**options), recipe  # type: ignore[typeddict-item]


async def reread(run: IngestPipeline, document: StoredDocument, recipe: str) -> Report:
    """Store a document as it is read now. Raises NotFoundError where its bytes are nowhere."""
    content = await _content(run, document)
    marking = dict(GIVEN_MARKING.findall(recipe))
    options = replace(load_options(run.settings), **marking)
    with Reader(options, workers=1) as reader, _folder() as folder:
        file = Path(folder, _name(document))
        await asyncio.to_thread(file.write_bytes, content)
        source = FileSources(run.dataset, run.recipe, reader).source(file, document.uri)
        given = GIVEN_METADATA.search(recipe)
        if given:
            own = source.recipe.removesuffix(run.recipe)
            source = replace(source, recipe=f"{own}{given[0]} {run.recipe}")
        version = VERSION.search(recipe)
        if version:
            source = replace(source, recipe=source.recipe.replace(" ", f" {version[0]}", 1))
        read = partial(_read, source, document, keeps_title=given is not None)
        run.stores_anew = True
        return await run.run([replace(source, read=read)], document.uri)


def _folder() -> TemporaryDirectory[str]:
    return TemporaryDirectory(prefix="lexichord-")


async def _content(run: IngestPipeline, document: StoredDocument) -> bytes:
    try:
        async with originals.opened_original(run.database, document) as original:
            found = await originals.look(originals.read_original, original, document)
    except NotFoundError as error:
        raise NotFoundError(
            f"{error}; ingest its file again, with keep_originals if it is to be read again later"
        ) from None
    return found.content


def _name(document: StoredDocument) -> str:
    """Return the name of the file, by which it is read."""
    if is_address(document.uri):
        return file_name(document.uri, document.media_type)
    return named_by_type(plain_name(document.uri), document.media_type)


def _read(source: IngestSource, stored: StoredDocument, *, keeps_title: bool) -> PreparedDocument:
    """Read a source; metadata that were given or set later stay, and a title that may be."""
    prepared = source.read()
    kept = {key: value for key, value in stored.metadata.items() if key not in MADE_ANEW}
    document = replace(
        prepared.document,
        recipe=source.recipe,
        metadata={**prepared.document.metadata, **kept},
        title=stored.title if keeps_title else prepared.document.title,
    )
    return replace(prepared, document=document)
