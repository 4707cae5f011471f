"""Files opened so that neither a pipe nor a link in their place does harm."""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from tempfile import TemporaryDirectory
from unicodedata import normalize

from lexichord.errors import IngestError

CHANGED = "changed while it was read: ingest it again"

type OpenFile = Callable[[Path], BufferedReader]


def open_regular(file: Path) -> BufferedReader:
    """Open a file to read. Raises IngestError for what is no file; OSError.

    It is looked at before, since to open a device may do something, and after, since a pipe may
    have come into its place, which would be waited for.
    """
    if file.exists() and not file.is_file():
        raise IngestError("is no file")
    stream = os.fdopen(os.open(file, os.O_RDONLY | os.O_NONBLOCK), "rb")
    if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
        stream.close()
        raise IngestError("is no file")
    return stream


def open_in_place(file: Path) -> BufferedReader:
    """Open a file that no link leads to, as it was found. Raises IngestError; OSError.

    Opened first, then looked at: a link that comes in between has opened another file.
    """
    stream = open_regular(file)
    try:
        is_in_place = _is_in_place(file, stream.fileno())
        is_linked = file.resolve() != file
    except BaseException:
        stream.close()
        raise
    if is_linked or not is_in_place:
        stream.close()
        raise IngestError(
            "is behind a link by now, which is not followed" if is_linked else CHANGED
        )
    return stream


def _is_in_place(file: Path, descriptor: int) -> bool:
    """Return whether what is open is the file of this path, by what the system says of it."""
    try:
        opened = str(_held(descriptor).readlink())
    except OSError:  # a system that says nothing: another look, which may be deceived
        return os.path.samestat(os.fstat(descriptor), file.lstat())
    return _folded(opened) == _folded(str(file))


def _held(descriptor: int) -> Path:
    """Return a path to what is open, where the system has one."""
    return Path(f"/proc/self/fd/{descriptor}")


def _folded(path: str) -> str:
    """Return a path as file systems compare it for which small and large letters are the same."""
    return normalize("NFKC", path).casefold()


@contextmanager
def held_in_place(file: Path, scratch: Path) -> Iterator[Path]:
    """Yield a path to a file as it was opened in its place, whatever comes there meanwhile.

    It has the file's name, by which its kind is told. Raises IngestError; OSError.
    """
    with open_in_place(file) as stream, TemporaryDirectory(dir=scratch) as folder:
        held = _held(stream.fileno())
        if not held.exists():  # a system that has no such paths
            yield file
            return
        link = Path(folder, file.name)
        link.symlink_to(held)
        yield link
