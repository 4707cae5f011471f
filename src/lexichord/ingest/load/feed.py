"""XML: of an RSS or Atom feed each entry as a section; all else as it is."""

from pathlib import Path

from lxml.etree import LxmlError, QName, _Element

from lexichord.errors import IngestError
from lexichord.ingest.load.archive import parse_xml
from lexichord.ingest.load.kinds import XML_TYPE
from lexichord.ingest.load.text import TextBuilder, read_bytes, read_text, storable_text
from lexichord.types import LoadedText

FEED_TAGS = ("rss", "RDF", "feed")
ENTRY_TAGS = ("{*}item", "{*}entry")
BODY_TAGS = ("{*}encoded", "{*}content", "{*}description", "{*}summary")
DAY_TAGS = ("{*}pubDate", "{*}published", "{*}updated", "{*}date")


def load(file: Path, named: str) -> LoadedText:
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
    return LoadedText(
        built.text, XML_TYPE, title, headings=tuple(built.headings), tables=tuple(built.tables)
    )


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
