"""EPUB, RSS and Atom feeds and other XML, notebooks: parts of one document one after another."""

import json
import posixpath
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from lxml.etree import LxmlError, QName, _Element

from lexichord.errors import IngestError
from lexichord.ingest.load import EPUB_TYPE, NOTEBOOK_TYPE, XML_TYPE
from lexichord.ingest.load.archive import open_archive, parse_xml, read_properties
from lexichord.ingest.load.text import TextBuilder, read_bytes, read_text, storable_text
from lexichord.types import LoadedText

BROKEN_EPUB = "is no EPUB, or a broken one: get it again"
ENCRYPTED_EPUB = "is encrypted: its pages cannot be read"
PAGE_TYPES = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml")


def load_epub(file: Path, named: str) -> LoadedText:
    """Read a book. Raises IngestError."""
    built = TextBuilder()
    with open_archive(file, BROKEN_EPUB) as archive:
        container = parse_xml(archive.read("META-INF/container.xml"))
        place = container.find(".//{*}rootfile")
        if place is None:
            raise IngestError(BROKEN_EPUB)
        package = place.get("full-path", "")
        root = parse_xml(archive.read(package))
        # a spine may name a page without end: a book has each once
        pages = list(dict.fromkeys(_pages(root, posixpath.dirname(package))))
        if _encrypted(archive).intersection(pages):
            raise IngestError(ENCRYPTED_EPUB)
        for page in pages:
            _add_page(built, archive.read(page))
        about = root.find("{*}metadata")
    properties = {} if about is None else read_properties(about)
    return built.document(EPUB_TYPE, properties.pop("title", "") or named, properties)


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
    from lexichord.ingest.load import html

    try:
        page = html.read_page(data, "")
    except IngestError:  # a page of pictures
        return
    if page.text.strip():
        built.loaded(page, deeper=1)


FEED_TAGS = ("rss", "RDF", "feed")
ENTRY_TAGS = ("{*}item", "{*}entry")
BODY_TAGS = ("{*}encoded", "{*}content", "{*}description", "{*}summary")
DAY_TAGS = ("{*}pubDate", "{*}published", "{*}updated", "{*}date")


def load_xml(file: Path, named: str) -> LoadedText:
    """Read XML. Raises IngestError."""
    root = _feed(read_bytes(file))
    if root is not None:
        return _read_feed(root, named)
    content, metadata = read_text(file)
    return LoadedText(content, XML_TYPE, named, metadata=metadata)


def _feed(data: bytes) -> _Element | None:
    """Return the root of a feed; None for other XML, and for what is broken."""
    try:
        root = parse_xml(data)
    except (LxmlError, ValueError):
        return None
    is_feed = QName(root).localname in FEED_TAGS
    return root if is_feed and next(root.iter(*ENTRY_TAGS), None) is not None else None


def _read_feed(root: _Element, named: str) -> LoadedText:
    built = TextBuilder()
    channel = root.find("{*}channel")
    channel = root if channel is None else channel
    title = _line(channel, ("{*}title",)) or named
    if about := _line(channel, ("{*}description", "{*}subtitle")):
        built.paragraph(about)
    for number, entry in enumerate(root.iter(*ENTRY_TAGS), 1):
        built.paragraph(_line(entry, ("{*}title",)) or f"Entry {number}", 2)
        facts = (_line(entry, DAY_TAGS), _line(entry, ("{*}creator", "{*}author")), _link(entry))
        if any(facts):
            built.paragraph(" · ".join(filter(None, facts)))
        _add_body(built, entry)
    return built.document(XML_TYPE, title)


def _add_body(built: TextBuilder, entry: _Element) -> None:
    from lexichord.ingest.load import html

    body = next((found for tag in BODY_TAGS if (found := entry.find(tag)) is not None), None)
    content = "" if body is None else "".join(map(str, body.itertext()))
    if not content.strip():
        return
    try:
        page = html.read_page(f"<div>{content}</div>".encode(errors="replace"), "")
    except IngestError:
        return
    if page.text.strip():
        built.loaded(page, deeper=2)


def _link(entry: _Element) -> str:
    link = entry.find("{*}link")
    if link is None:
        return ""
    return storable_text(link.get("href", "") or (link.text or "").strip())


def _line(parent: _Element, tags: tuple[str, ...]) -> str:
    found = next((child for tag in tags if (child := parent.find(tag)) is not None), None)
    text = "" if found is None else " ".join(map(str, found.itertext()))
    return storable_text(" ".join(text.split()))


BROKEN_NOTEBOOK = "is no notebook, or a broken one: open it and save it again"
MAX_OUTPUT_CHARS = 4000  # of a cell
CELL_LEVEL = 8  # below every heading of Markdown


def load_notebook(file: Path, named: str) -> LoadedText:
    """Read a notebook. Raises IngestError."""
    content, metadata = read_text(file)
    try:
        notebook = json.loads(content)
        cells = list(_cells(notebook))
        built = TextBuilder()
        for number, cell in enumerate(cells, 1):
            _add_cell(built, cell, number)
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        raise IngestError(BROKEN_NOTEBOOK) from None
    opening = built.headings and built.headings[0]
    title = opening.name if opening and opening.level == 1 else named
    return LoadedText(
        built.text,
        NOTEBOOK_TYPE,
        title,
        headings=tuple(sorted(built.headings, key=lambda heading: heading.start)),
        tables=tuple(built.tables),
        metadata=metadata,
    )


def _cells(notebook: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    if "cells" not in notebook and "worksheets" not in notebook:
        raise ValueError
    yield from notebook.get("cells", ())
    for sheet in notebook.get("worksheets", ()):  # before 2015
        yield from sheet["cells"]


def _add_cell(built: TextBuilder, cell: Mapping[str, Any], number: int) -> None:
    source = _joined(cell.get("source") or cell.get("input") or "")
    if cell["cell_type"] in ("markdown", "heading"):
        if source.strip():
            built.markdown(_marks(cell) + source.strip("\n"))
        return
    if source.strip():
        built.place(CELL_LEVEL, f"Cell {number}")
        built.lines(source.strip("\n"))
    shown = "\n".join(filter(None, map(_output, cell.get("outputs") or ())))
    if shown:
        built.place(CELL_LEVEL, f"Cell {number}, output")
        cut = "\n[…]" if len(shown) > MAX_OUTPUT_CHARS else ""
        built.lines(shown[:MAX_OUTPUT_CHARS] + cut)


def _marks(cell: Mapping[str, Any]) -> str:
    """Return what marks a heading, which is of one of six levels; "" of another cell."""
    if cell["cell_type"] != "heading":
        return ""
    return f"{'#' * min(max(int(cell.get('level', 1)), 1), 6)} "


def _output(output: Mapping[str, Any]) -> str:
    """Return what is text of an output."""
    if output.get("output_type") in ("error", "pyerr"):
        return storable_text(f"{output.get('ename', '')}: {output.get('evalue', '')}")
    data = output.get("data") or output
    written = output.get("text") or data.get("text/markdown") or data.get("text/plain") or ""
    return _joined(written).strip()


def _joined(source: str | Sequence[str]) -> str:
    return storable_text(source if isinstance(source, str) else "".join(source))
