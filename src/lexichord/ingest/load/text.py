"""Plain text, Markdown and source code: what is stored is the decoded file, as it is."""

import codecs
import re
from pathlib import Path
from typing import TYPE_CHECKING

from lexichord.errors import IngestError
from lexichord.types import Json

if TYPE_CHECKING:
    from charset_normalizer import CharsetMatch

MAX_TEXT_BYTES = 50_000_000  # bytes of a text file; characters of another's text
BYTE_ORDER_MARKS = {  # byte order marks; UTF-32's begins with UTF-16's
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# What texts that are not Unicode are written in. Rarer encodings are left out: a short text
# fits many of them.
LEGACY_ENCODINGS = [
    *("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258"),
    *("iso8859_2", "iso8859_5", "iso8859_7", "koi8_r", "cp874"),
    *("cp932", "euc_jp", "iso2022_jp", "gb18030", "big5", "cp949"),
]
# Of charset-normalizer's measure of mess: cp1252, the commonest, wins in this range.
MESS_TOLERANCE = 0.05
BINARY_BYTES = re.compile(rb"[\0-\x08\x0e-\x1a\x1c-\x1f\x7f]")  # in none of ENCODINGS


def read_text(file: Path) -> tuple[str, Json]:
    """Decode a file; return its encoding, too, where it is not UTF-8. Raises IngestError."""
    text, encoding = decode(read_bytes(file))
    if "\0" in text:
        raise IngestError("holds NUL characters: it is binary, or in an encoding without a mark")
    return text, {} if encoding == "utf-8" else {"encoding": encoding}


def read_bytes(file: Path) -> bytes:
    """Read a file of text. Raises IngestError."""
    try:
        if file.stat().st_size > MAX_TEXT_BYTES:
            raise too_long()
        return file.read_bytes()
    except OSError as error:
        raise IngestError(f"cannot be read: {error.strerror}") from error


def too_long() -> IngestError:
    """Make the error for a text that is longer than a document may be."""
    return IngestError(f"holds more than {MAX_TEXT_BYTES // 10**6} MB of text: split it")


def decode(data: bytes, declared: str | None = None) -> tuple[str, str]:
    """Return the text and its encoding: UTF-8, what a mark or the file declares, or the likeliest."""
    try:
        return data.decode(), "utf-8"
    except UnicodeDecodeError:
        marked = next(
            (name for mark, name in BYTE_ORDER_MARKS.items() if data.startswith(mark)), declared
        )
    try:
        if marked:
            return data.decode(marked), codecs.lookup(marked).name
    except (UnicodeDecodeError, LookupError):
        pass
    encoding = _detect(data)
    return data.decode(encoding), encoding


def _detect(data: bytes) -> str:
    from charset_normalizer import from_bytes

    matches = (
        [] if BINARY_BYTES.search(data) else list(from_bytes(data, cp_isolation=LEGACY_ENCODINGS))
    )
    if not matches:
        raise IngestError("is binary, or text in an unknown encoding: save it as UTF-8")
    lowest = min(match.chaos for match in matches)
    near = {
        name
        for match in matches
        if match.chaos <= lowest + MESS_TOLERANCE
        for name in _names(match)
    }
    return "cp1252" if "cp1252" in near else matches[0].encoding


def _names(match: "CharsetMatch") -> list[str]:
    """List the encodings in which a text is the same."""
    return [match.encoding, *match.could_be_from_charset]
