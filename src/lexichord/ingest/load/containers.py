"""Files that contain files: ZIP and gzip archives, and mails with what is attached to them.

What is contained is named by its place, as a file in a folder is: letters.zip/2024/offer.eml.
"""

import gzip
import hashlib
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import NamedTuple

from lexichord.errors import IngestError
from lexichord.ingest.load import (
    ARCHIVE_TYPES,
    CONTAINER_TYPES,
    EML_TYPE,
    GZIP_TYPE,
    MSG_TYPE,
    ZIP_TYPE,
    kind_of,
    kind_of_content,
    named_by_type,
    unread_kind,
)
from lexichord.ingest.load.archive import MAX_UNPACK_RATIO, MIN_RATIO_BYTES
from lexichord.ingest.load.text import CHANGED, HEAD_BYTES, held_in_place, storable_text

MAX_PARTS = 10_000  # files that a file contains
MAX_PART_BYTES = 200_000_000  # bytes of one of them
MAX_PARTS_BYTES = 1_000_000_000  # bytes of all
# Of all mails in a file: ten of each where it contains as many as it may. Parsing them is most of
# what listing takes, which nobody is answered before.
MAX_MAILS_PARTS = 100_000
MAX_NESTED = 3  # files in files in files
MAX_PART_NAME_BYTES = 500
ENCRYPTED_BIT = 0x1  # of a part's flags
TOOL_FOLDERS = ("__MACOSX",)  # which a system adds to archives


@dataclass(frozen=True, slots=True)
class ContainedFile:
    """A file in a file: its name there, its bytes' digest and number, or why it is not read.

    `unread` is the kind of one whose kind cannot be read, `left_out` why it was not looked at.
    """

    name: str
    sha256: str = ""
    size: int = 0
    unread: str = ""
    left_out: str = ""
    error: str = ""


class _Part(NamedTuple):
    """The name of a file in a file, with what reads it, or only how it begins."""

    name: str
    read: Callable[[], bytes]
    head: Callable[[], bytes]


def list_parts(file: Path, scratch: Path) -> list[ContainedFile]:
    """Return the files that a file contains, those in contained ones too. Raises IngestError."""
    if file.exists() and not file.is_file():
        raise IngestError("is no file")  # opening a pipe would wait for ever
    budget = _Budget()
    listed: dict[str, ContainedFile] = {}
    for part in _listed(file, scratch, budget, 1):
        if part.name in listed:
            part = ContainedFile(f"{part.name} (again)", error="has the name of another in there")
        listed[part.name] = part
    if not listed and kind_of(file.name) in ARCHIVE_TYPES:
        raise IngestError("is an archive without files")
    return list(listed.values())


class _TooMuchError(IngestError):
    """A file contains more than may be looked at, whichever of its parts it is in."""


@dataclass(slots=True)
class _Budget:
    """How much has been unpacked of one file."""

    parts: int = 0
    size: int = 0
    mail_parts: int = 0

    def spend(self, size: int) -> None:
        self.parts += 1
        self.size += size
        if self.parts > MAX_PARTS:
            raise _TooMuchError(f"contains more than {MAX_PARTS} files: unpack it")
        if self.size > MAX_PARTS_BYTES:
            raise _TooMuchError(f"unpacks to more than {MAX_PARTS_BYTES // 10**6} MB: unpack it")

    def count_mail_part(self) -> None:
        self.mail_parts += 1
        if self.mail_parts > MAX_MAILS_PARTS:
            raise _TooMuchError(f"holds mails of more than {MAX_MAILS_PARTS:,} parts: unpack it")


def _listed(file: Path, scratch: Path, budget: _Budget, depth: int) -> Iterator[ContainedFile]:
    with ExitStack() as held:
        yield from _looked_at(_parts(file, held, budget.count_mail_part), scratch, budget, depth)


def _looked_at(
    parts: Iterator[_Part], scratch: Path, budget: _Budget, depth: int
) -> Iterator[ContainedFile]:
    for name, read, head in parts:
        budget.spend(0)
        if _is_hidden(name):
            yield ContainedFile(name, left_out="hidden")
            continue
        try:
            kind = kind_of_content(name, head)
            if kind is None:
                yield ContainedFile(name, unread=unread_kind(name))
                continue
            data = read()
        except IngestError as error:
            yield ContainedFile(name, error=str(error))
            continue
        budget.spend(len(data))
        if kind not in ARCHIVE_TYPES:
            yield ContainedFile(name, hashlib.sha256(data).hexdigest(), len(data))
        if kind in CONTAINER_TYPES:
            yield from _nested(name, data, scratch, budget, depth)


def _nested(
    name: str, data: bytes, scratch: Path, budget: _Budget, depth: int
) -> Iterator[ContainedFile]:
    if depth == MAX_NESTED:
        yield ContainedFile(f"{name}/", error=f"lies in more than {MAX_NESTED} files: unpack it")
        return
    with _written(name, data, scratch) as inner:
        try:
            for part in _listed(inner, scratch, budget, depth + 1):
                yield replace(part, name=f"{name}/{part.name}")
        except _TooMuchError:
            raise
        except IngestError as error:
            if kind_of(name) in ARCHIVE_TYPES:  # reading a mail says the same
                yield ContainedFile(name, error=str(error))


@dataclass(frozen=True, slots=True)
class _Opened:
    """A container that stays open, with its files by name, the first of each."""

    key: tuple[object, ...]
    parts: dict[str, _Part]
    held: ExitStack


class Unpacker:
    """Unpacks contained files; their containers stay open for the next of theirs.

    To open an archive takes as long as it has files, and so does each of them where it is opened
    for each.
    """

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self._opened: list[_Opened] = []  # the outermost first

    @contextmanager
    def unpacked(self, file: Path, part: ContainedFile) -> Iterator[Path]:
        """Yield a contained file, under its own name, for as long as the block lasts.

        Raises IngestError, also where its bytes are others than when it was listed.
        """
        with _written(part.name, self._read(file, part), self.scratch) as inner:
            yield inner

    def close(self, kept: int = 0) -> None:
        """Close the containers that are open, but for so many of the outermost."""
        while len(self._opened) > kept:
            self._opened.pop().held.close()

    def _read(self, file: Path, part: ContainedFile) -> bytes:
        held_file = partial(_held, file, self.scratch)
        parts = self._open(0, _identity(file), held_file)
        depth, name = 0, part.name
        while True:
            if name in parts:
                data = parts[name].read()
                if hashlib.sha256(data).hexdigest() == part.sha256:
                    return data
            container = _container(parts, name)
            if container is None:
                raise IngestError(CHANGED)
            depth, name = depth + 1, name.removeprefix(f"{container}/")
            parts = self._open(depth, (container,), partial(self._nested, parts[container]))

    def _nested(self, part: _Part, held: ExitStack) -> Path:
        return held.enter_context(_written(part.name, part.read(), self.scratch))

    def _open(
        self, depth: int, key: tuple[object, ...], find: Callable[[ExitStack], Path]
    ) -> dict[str, _Part]:
        """Return what a container holds that is in so many others; it may be open already."""
        if depth < len(self._opened) and self._opened[depth].key == key:
            return self._opened[depth].parts
        self.close(depth)
        with ExitStack() as held:
            parts = dict[str, _Part]()
            for part in _parts(find(held), held):
                parts.setdefault(part.name, part)
            self._opened.append(_Opened(key, parts, held.pop_all()))
        return parts


def _identity(file: Path) -> tuple[object, ...]:
    """Return what another file in this place would not have. Raises IngestError."""
    try:
        found = file.stat()
    except OSError as error:
        raise IngestError(f"cannot be read: {error.strerror}") from error
    return file.name, found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _held(file: Path, scratch: Path, held: ExitStack) -> Path:
    try:
        return held.enter_context(held_in_place(file, scratch))
    except OSError as error:
        raise IngestError(f"cannot be read: {error.strerror}") from error


def _container(parts: Mapping[str, _Part], name: str) -> str | None:
    """Return which of some files contains the one of a longer name."""
    pieces = name.split("/")
    outer = ("/".join(pieces[:count]) for count in range(1, len(pieces)))
    return next((one for one in outer if one in parts and kind_of(one) in CONTAINER_TYPES), None)


@contextmanager
def _written(name: str, data: bytes, scratch: Path) -> Iterator[Path]:
    with TemporaryDirectory(dir=scratch) as folder:
        file = Path(folder, PurePosixPath(name).name)
        file.write_bytes(data)
        yield file


def _parts(
    file: Path, held: ExitStack, count_mail_part: Callable[[], object] = lambda: None
) -> Iterator[_Part]:
    """Yield the files that a file contains, to be read until what is `held` is let go."""
    kind = kind_of(file.name)
    if kind == ZIP_TYPE:
        yield from _zip_parts(file, held)
    elif kind == GZIP_TYPE:
        yield _gzip_part(file)
    else:
        yield from _attachments(file, kind, count_mail_part)


def _gzip_part(file: Path) -> _Part:
    """Return what a gzip file holds: it has the file's own name without the ending."""
    name = _safe_name(file.stem)
    return _Part(name, lambda: _gunzipped(file), lambda: _gunzipped(file, HEAD_BYTES))


def _gunzipped(file: Path, head: int | None = None) -> bytes:
    """Unpack a gzip file, or only how it begins; of one that grows too much nothing."""
    try:
        limit = min(MAX_PART_BYTES, max(MIN_RATIO_BYTES, MAX_UNPACK_RATIO * file.stat().st_size))
        with gzip.open(file) as stream:
            if head is not None:
                return stream.read(head)
            data = stream.read(limit + 1)
    except gzip.BadGzipFile:
        raise IngestError("is no gzip file, or a broken one: pack it again") from None
    except OSError as error:
        raise IngestError(f"cannot be read: {error.strerror}") from error
    except (EOFError, zlib.error):
        raise IngestError("is a broken gzip file: pack it again") from None
    if len(data) > limit:
        raise IngestError(f"unpacks to more than {limit // 10**6} MB, which is no document")
    return data


def _attachments(
    file: Path, kind: str | None, count_mail_part: Callable[[], object]
) -> Iterator[_Part]:
    from lexichord.ingest.load import mail, outlook

    assert kind in (EML_TYPE, MSG_TYPE)
    is_eml = kind == EML_TYPE
    attached = mail.eml_attachments(file, count_mail_part) if is_eml else outlook.attachments(file)
    taken = set[str]()
    for number, (name, media_type, read) in enumerate(attached, 1):
        own = _safe_name(name.replace("/", "_").replace("\\", "_").strip(". ")) or "unnamed"
        own = named_by_type(own, media_type)
        named = f"{number}-{own}" if own in taken else own
        yield _Part(named, read, lambda read=read: read()[:HEAD_BYTES])  # type: ignore[misc]
        taken.add(own)


def _zip_parts(file: Path, held: ExitStack) -> Iterator[_Part]:
    try:
        archive = held.enter_context(zipfile.ZipFile(file))
        for part in archive.infolist():
            name = _zip_name(part.filename)
            if name and not part.is_dir():
                yield _Part(
                    name, partial(_zip_bytes, archive, part), partial(_zip_head, archive, part)
                )
    except OSError as error:
        raise IngestError(f"cannot be read: {error.strerror}") from error
    except (zipfile.BadZipFile, NotImplementedError, ValueError):
        raise IngestError("is no ZIP archive, or a broken one: pack it again") from None


def _zip_name(sent_name: str) -> str:
    """Return a part's name without what would lead out of the archive."""
    parts = _safe_name(sent_name.replace("\\", "/")).split("/")
    return "/".join(part for part in parts if part not in ("", ".", ".."))


def _safe_name(name: str) -> str:
    """Return what can be stored and be a file's name."""
    printable = "".join(sign if sign.isprintable() else "_" for sign in storable_text(name))
    shortened = printable.encode()[-MAX_PART_NAME_BYTES:].decode(errors="ignore")
    folders, slash, last = shortened.rpartition("/")
    return folders + slash + last.encode()[-200:].decode(errors="ignore")


def plain_name(path: str) -> str:
    """Return the last part of what may be any path as a name that a file can have."""
    last = _safe_name(path.rpartition("/")[2])
    return last if last.strip(".") else "original"


def _is_hidden(name: str) -> bool:
    parts = name.split("/")
    return any(part.startswith(".") or part in TOOL_FOLDERS for part in parts)


def _zip_bytes(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> bytes:
    """Unpack a part: its size, which is checked first, is the most that comes out."""
    size, packed = part.file_size, part.compress_size
    if size > MAX_PART_BYTES or (size > MIN_RATIO_BYTES and size > MAX_UNPACK_RATIO * packed):
        raise IngestError(f"unpacks to {size // 10**6} MB, which is no document")
    return _unzipped(archive, part)


def _zip_head(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> bytes:
    return _unzipped(archive, part, HEAD_BYTES)


def _unzipped(archive: zipfile.ZipFile, part: zipfile.ZipInfo, most: int = -1) -> bytes:
    if part.flag_bits & ENCRYPTED_BIT:
        raise IngestError("is encrypted: unpack it with its password")
    if stat.S_ISLNK(part.external_attr >> 16):
        raise IngestError("is a link in an archive: unpack it")
    try:
        with archive.open(part) as stream:
            return stream.read(most)
    except MemoryError:
        raise
    except Exception as error:  # zlib.error, LZMAError and others, of no common base
        reason = str(error).partition(" for file ")[0]  # the same for all, to be counted together
        raise IngestError(f"cannot be unpacked: {reason}") from None
