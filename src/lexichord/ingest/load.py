"""Find files and read them; what is stored is the decoded file, character for character."""

import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import unquote

from lexichord.errors import ConfigError, IngestError

MEDIA_TYPES = {".txt": "text/plain", ".md": "text/markdown", ".markdown": "text/markdown"}
TITLE = re.compile(r"\A\ufeff?\s*# +(\S[^\n]{0,200})$", re.MULTILINE)
CLOSING = re.compile(r"[ \t]+#+$")  # of a Markdown heading


def find_files(paths: Iterable[Path]) -> Iterator[Path]:
    """Give each file once, folders searched in order of name, hidden ones left out.

    In a folder, files of other kinds than text are passed over; one that is named itself, and a
    folder that cannot be listed, is given as it is, so that reading it says what is wrong.
    Raises ConfigError for a path that is missing.
    """
    seen = set[Path]()
    for path in paths:
        if not path.exists():
            raise ConfigError(f"there is no file or folder {path}")
        for file in _walk(path.resolve()) if path.is_dir() else [path.resolve()]:
            if file not in seen:
                seen.add(file)
                yield file


def _walk(folder: Path) -> Iterator[Path]:
    closed: list[OSError] = []
    for here, folders, names in os.walk(folder, onerror=closed.append):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith(".") and Path(name).suffix.lower() in MEDIA_TYPES:
                yield Path(here, name)
    yield from (Path(error.filename) for error in closed)


def storable(name: str) -> str:
    """Give a file's name or path; bytes in it that are not UTF-8 are written as \\x and digits."""
    return os.fsencode(name).decode(errors="backslashreplace")


def digest(file: Path) -> str:
    """Give the sha256 of the file's bytes. Raises IngestError."""
    if file.exists() and not file.is_file():
        raise IngestError("is no file")  # opening a pipe would wait for ever
    try:
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise IngestError(f"cannot be read: {error.strerror}") from error


def media_type(file: Path) -> str:
    """Tell the kind from the name's ending. Raises IngestError."""
    try:
        return MEDIA_TYPES[file.suffix.lower()]
    except KeyError:
        known = ", ".join(MEDIA_TYPES)
        raise IngestError(f"'{file.suffix}' is no kind that can be read: {known}") from None


def read_text(file: Path) -> str:
    """Decode a file. Raises IngestError if it is not UTF-8, or holds what Postgres cannot store."""
    try:
        text = file.read_bytes().decode()
    except OSError as error:
        raise IngestError(f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise IngestError(f"is not UTF-8 text (byte {error.start}): convert it") from None
    if "\0" in text:
        raise IngestError("holds NUL characters: it is binary, or in another encoding than UTF-8")
    if not text.strip():
        raise IngestError("holds no text")
    return text


def title(uri: str, text: str, kind: str) -> str:
    """Give the heading that a Markdown file opens with, else the file's name in words."""
    if kind == "text/markdown" and (match := TITLE.search(text)):
        return CLOSING.sub("", match[1].strip())
    stem = Path(unquote(uri)).stem
    return re.sub(r"[\s_-]+", " ", stem).strip() or uri
