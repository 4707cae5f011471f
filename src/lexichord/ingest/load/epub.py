"""EPUB: the pages of the book in the order in which they are read."""

import posixpath
import zipfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from lxml.etree import _Element

from lexichord.errors import IngestError
from lexichord.ingest.load import html
from lexichord.ingest.load.archive import open_archive, parse_xml
from lexichord.ingest.load.kinds import EPUB_TYPE
from lexichord.ingest.load.properties import read_properties
from lexichord.ingest.load.text import TextBuilder
from lexichord.types import LoadedText

BROKEN_EPUB = "is no EPUB, or a broken one: get it again"
ENCRYPTED_EPUB = "is encrypted: its pages cannot be read"
PAGE_TYPES = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml")


def load(file: Path, named: str) -> LoadedText:
    """Read a book. Raises IngestError."""
    built = TextBuilder()
    with open_archive(file, BROKEN_EPUB) as archive:
        container = parse_xml(archive.read("META-INF/container.xml"))
        place = container.find(".//{*}rootfile")
        if place is None:
            raise IngestError(BROKEN_EPUB)
        package = place.get("full-path", "")
        root = parse_xml(archive.read(package))
        pages = list(_pages(root, posixpath.dirname(package)))
        if _encrypted(archive).intersection(pages):
            raise IngestError(ENCRYPTED_EPUB)
        for page in pages:
            _add_page(built, archive.read(page))
        about = root.find("{*}metadata")
    properties = {} if about is None else read_properties(about)
    return LoadedText(
        built.text,
        EPUB_TYPE,
        properties.pop("title", "") or named,
        headings=tuple(built.headings),
        tables=tuple(built.tables),
        metadata=properties,
    )


def _pages(root: _Element, folder: str) -> Iterator[str]:
    """Yield the names of the pages in the order of the book's spine, its contents left out."""
    items = {item.get("id"): item for item in root.iterfind("{*}manifest/{*}item")}
    for reference in root.iterfind("{*}spine/{*}itemref"):
        item = items.get(reference.get("idref"))
        if item is None or item.get("media-type") not in PAGE_TYPES:
            continue
        if "nav" not in item.get("properties", "").split():
            yield posixpath.normpath(posixpath.join(folder, unquote(item.get("href", ""))))


def _encrypted(archive: zipfile.ZipFile) -> set[str]:
    if "META-INF/encryption.xml" not in archive.namelist():
        return set()
    listed = parse_xml(archive.read("META-INF/encryption.xml"))
    return {unquote(item.get("URI", "")) for item in listed.iter("{*}CipherReference")}


def _add_page(built: TextBuilder, data: bytes) -> None:
    try:
        page = html.read_page(data, "")
    except IngestError:  # a page of pictures
        return
    if page.text.strip():
        built.loaded(page, deeper=1)
