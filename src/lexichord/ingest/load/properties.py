"""What a document says of itself: its title, author, days and subject."""

import zipfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from lxml.etree import QName, _Element

from lexichord.ingest.load.archive import ARCHIVE_ERRORS, parse_xml
from lexichord.ingest.load.text import storable_text

OFFICE_PART = "docProps/core.xml"
OPEN_DOCUMENT_PART = "meta.xml"
# The keys of metadata, by the names of elements.
KEYS: Mapping[str, str] = MappingProxyType(
    {
        "title": "title",
        "creator": "author",
        "initial-creator": "author",
        "created": "created",
        "creation-date": "created",
        "modified": "modified",
        "date": "modified",
        "subject": "subject",
        "keywords": "keywords",
        "keyword": "keywords",
        "language": "language",
    }
)
# Titles that programs give to documents that have none.
PROGRAM_TITLES = ("powerpoint presentation", "presentation", "untitled", "document1", "slide 1")
MAX_PROPERTY_CHARS = 1000


def office_properties(file: Path) -> dict[str, Any]:
    """Return what a DOCX, PPTX or XLSX says of itself; nothing where it is broken."""
    return _archived(file, OFFICE_PART)


def open_document_properties(file: Path) -> dict[str, Any]:
    """Return what an OpenDocument file says of itself; nothing where it is broken."""
    return _archived(file, OPEN_DOCUMENT_PART)


def read_properties(root: _Element) -> dict[str, Any]:
    """Return the properties among an element's descendants, the first of each key."""
    properties: dict[str, Any] = {}
    for element in root.iter("{*}*"):
        key = KEYS.get(QName(element).localname)
        text = storable_text(" ".join("".join(map(str, element.itertext())).split()))
        if key and text and key not in properties:
            properties[key] = text[:MAX_PROPERTY_CHARS]
    if properties.get("title", "").lower() in PROGRAM_TITLES:
        del properties["title"]
    return properties


def _archived(file: Path, part: str) -> dict[str, Any]:
    try:
        with zipfile.ZipFile(file) as archive:
            return read_properties(parse_xml(archive.read(part)))
    except ARCHIVE_ERRORS:
        return {}
