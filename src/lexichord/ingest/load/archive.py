"""Documents that are ZIP archives of XML: what is encrypted, broken or too large is refused."""

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from lxml.etree import LxmlError, XMLParser, _Element, fromstring

from lexichord.errors import IngestError

MAX_UNPACKED_BYTES = 200_000_000  # bytes of a file when unpacked
MAX_UNPACK_RATIO = 300  # unpacked to packed; text of one letter repeated comes near it
MIN_RATIO_BYTES = 20_000_000  # bytes: up to here the ratio does not matter
OLE_SIGNATURE = b"\xd0\xcf\x11\xe0"  # Office before 2007, and what Office encrypts
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
