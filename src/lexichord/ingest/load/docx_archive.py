"""What a DOCX file is checked for before it is parsed."""

import zipfile
from pathlib import Path
from typing import BinaryIO

from lexichord.errors import IngestError

LIMIT = 200_000_000  # bytes of a file when unpacked
RATIO = 300  # unpacked to packed; text of one letter repeated comes near it
SMALL = 20_000_000  # bytes: up to here the ratio does not matter
OLD_FORMAT = b"\xd0\xcf\x11\xe0"  # Word before 2007, and what Word encrypts


def check(file: Path) -> None:
    """Refuse what is encrypted, broken, or grows too much when unpacked. Raises IngestError."""
    try:
        with file.open("rb") as stream:
            if stream.read(len(OLD_FORMAT)) == OLD_FORMAT:
                raise IngestError(
                    "is encrypted or an old .doc: save it as .docx without a password"
                )
            _check_size(stream)
    except OSError as error:
        raise IngestError(f"cannot be read: {error.strerror}") from error
    except (zipfile.BadZipFile, NotImplementedError, ValueError):
        raise broken() from None


def broken() -> IngestError:
    """Make the error for a file that cannot be parsed."""
    return IngestError("is no DOCX, or a broken one: open it and save it again")


def _check_size(stream: BinaryIO) -> None:
    with zipfile.ZipFile(stream) as archive:
        parts = archive.infolist()
    size = sum(part.file_size for part in parts)
    packed = sum(part.compress_size for part in parts)
    if size > LIMIT or (size > SMALL and size > RATIO * packed):
        raise IngestError(f"unpacks to {size // 10**6} MB, which is no document")
