"""Documents that are ZIP archives of XML, or compound files: opened if whole; their properties."""

import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO

from lxml.etree import LxmlError, QName, XMLParser, _Element, fromstring

from lexichord.errors import IngestError
from lexichord.ingest.load.text import storable_text

FALLBACK_TAG = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
# Styles that one is based on in turn: people make ten at most, and a chain without end would be
# walked for each style that begins within it.
MAX_BASED_STYLES = 50
MAX_UNPACKED_BYTES = 200_000_000  # bytes of a file when unpacked
MAX_UNPACK_RATIO = 300  # unpacked to packed; text of one letter repeated comes near it
MIN_RATIO_BYTES = 20_000_000  # bytes: up to here the ratio does not matter
OLE_SIGNATURE = b"\xd0\xcf\x11\xe0"  # Office before 2007, and what Office encrypts
FOLDER_ENTRY, STREAM_ENTRY = 1, 2  # of a compound file
# What damaged archives, and damaged XML within them, are answered with: of no common base.
ARCHIVE_ERRORS = (
    *(AttributeError, EOFError, IndexError, KeyError, OSError, RuntimeError, TypeError, ValueError),
    *(LxmlError, zipfile.BadZipFile, zlib.error),
)


def check_archive(file: Path, broken: str, old: str = "") -> None:
    """Refuse what is encrypted, broken, or grows too much when unpacked. Raises IngestError.

    `broken` and `old` say so of an archive that is no such, and of an older or encrypted form.
    """
    try:
        with file.open("rb") as stream:
            if stream.read(len(OLE_SIGNATURE)) == OLE_SIGNATURE:
                raise IngestError(old or broken)
            _check_size(stream)
    except OSError as error:
        raise IngestError(f"cannot be read: {error.strerror}") from error
    except (zipfile.BadZipFile, NotImplementedError, ValueError):
        raise IngestError(broken) from None


def _check_size(stream: BinaryIO) -> None:
    with zipfile.ZipFile(stream) as archive:
        parts = archive.infolist()
    size = sum(part.file_size for part in parts)
    packed = sum(part.compress_size for part in parts)
    if size > MAX_UNPACKED_BYTES or (size > MIN_RATIO_BYTES and size > MAX_UNPACK_RATIO * packed):
        raise IngestError(f"unpacks to {size // 10**6} MB, which is no document")


def open_compound(data: bytes, broken: str) -> Any:  # noqa: ANN401 - a library without types
    """Open a compound file (OLE), which is `broken` or else whole. Raises IngestError."""
    from olefile import OleFileIO

    if not data.startswith(OLE_SIGNATURE):
        raise IngestError(broken)
    try:
        return OleFileIO(BytesIO(data))
    except MemoryError:
        raise
    except Exception:  # of two libraries, without a common base
        raise IngestError(broken) from None


def held_bytes(compound: Any) -> int:  # noqa: ANN401
    """Return how many bytes all streams say to have: more than the file has where they share."""
    entries = filter(None, compound.direntries)
    return sum(entry.size for entry in entries if entry.entry_type == STREAM_ENTRY)


def read_stream(compound: Any, entry: Any) -> bytes:  # noqa: ANN401
    """Return what a stream holds."""
    data: bytes = compound._open(entry.isectStart, entry.size).read()
    return data


@contextmanager
def open_archive(file: Path, broken: str) -> Iterator[zipfile.ZipFile]:
    """Open a checked archive; whatever is wrong within it is said as `broken`."""
    check_archive(file, broken)
    try:
        with zipfile.ZipFile(file) as archive:
            yield archive
    except ARCHIVE_ERRORS:
        raise IngestError(broken) from None


def parse_xml(data: bytes) -> _Element:
    """Parse XML that may be hostile: entities stay as they are, nothing is fetched."""
    parser = XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        remove_comments=True,
        remove_pis=True,
    )
    return fromstring(data, parser)


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


LINK = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}dm"


def diagram_lines(part: Any, element: _Element, read: set[Any]) -> Iterator[str]:  # noqa: ANN401
    """Yield the words of each shape in the diagrams that an element of a part shows.

    `read` are the parts of those that were read: one may be shown without end.
    """
    for shown in element.iter("{*}relIds"):
        link = part.rels.get(shown.get(LINK, ""))
        if link is None or link.is_external or link.target_part in read:
            continue
        read.add(link.target_part)
        for shape in parse_xml(link.target_part.blob).iter("{*}pt"):
            text = "".join(piece.text or "" for piece in shape.iter("{*}t"))
            if line := " ".join(storable_text(text).split()):
                yield line


class BasedStyles[Resolved]:
    """The styles of a document by name, each of which may be based on another."""

    def __init__(
        self,
        styles: Mapping[str, _Element],
        parent: Callable[[_Element], str | None],
        resolve: Callable[[Sequence[_Element]], Resolved],
    ) -> None:
        self._styles, self._parent, self._resolve = styles, parent, resolve
        self._resolved = dict[str, Resolved]()

    def of(self, name: str) -> Resolved:
        """Return what a style says, worked out once: many paragraphs name the same one."""
        if name not in self._resolved:
            self._resolved[name] = self._resolve(list(self._based(name)))
        return self._resolved[name]

    def _based(self, name: str | None) -> Iterator[_Element]:
        """Yield a style and those that it is based on."""
        for _ in range(MAX_BASED_STYLES):
            if not name or name not in self._styles:
                return
            yield self._styles[name]
            name = self._parent(self._styles[name])
