"""Find files, name and identify them."""

import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from lexichord.errors import ConfigError, IngestError
from lexichord.ingest.load.kinds import MEDIA_TYPES

FOREIGN = {"node_modules", "__pycache__"}  # folders that tools fill
ENVIRONMENT = "pyvenv.cfg"  # in a folder of installed Python packages


def find_files(paths: Iterable[Path]) -> Iterator[Path]:
    """Give each file once, folders searched in order of name, hidden ones left out.

    In a folder, files of kinds that cannot be read are passed over, and so are node_modules,
    __pycache__, Python environments and links to folders; a link to a file gives that file. A
    file that is named itself, and a folder that cannot be listed, is given as it is, so that
    reading it says what is wrong. Raises ConfigError for a path that is missing.
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
        if ENVIRONMENT in names:
            folders.clear()
            continue
        folders[:] = sorted(name for name in folders if name not in FOREIGN and name[0] != ".")
        for name in sorted(names):
            if name[0] != "." and Path(name).suffix.lower() in MEDIA_TYPES:
                yield _linked(Path(here, name))
    yield from (Path(error.filename) for error in closed)


def _linked(file: Path) -> Path:
    """Follow a link, unless it leads back to itself."""
    try:
        return file.resolve() if file.is_symlink() else file
    except RuntimeError:  # Python 3.12; later ones give the link itself
        return file


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
