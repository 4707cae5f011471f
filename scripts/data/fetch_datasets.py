"""Download public sets to evaluate on, from their official addresses, each into a folder.

python scripts/data/fetch_datasets.py FOLDER [scifact …] [--from DIR]

`lexichord eval FOLDER/scifact` reads what it leaves. A download that broke off goes on where it
stopped, if its digest is known; a set whose folder is there is left alone.
"""

import argparse
import hashlib
import shutil
import sys
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPException, HTTPResponse
from pathlib import Path, PurePosixPath
from urllib.error import HTTPError
from urllib.request import Request, urlopen
from zipfile import BadZipFile, ZipFile, ZipInfo

MB = 10**6
PIECE = 1 << 20  # bytes read at once
SECONDS = 60.0  # without a byte
BEIR = "https://public.ukp.informatik.tu-darmstadt.de/thakur/BEIR/datasets"
COOKBOOK = (
    "https://raw.githubusercontent.com/anthropics/anthropic-cookbook/"
    "0284cf068aff4262fdbe493606812d9eb0f44a08/skills/contextual-embeddings/data"
)
DROPBOX = "https://www.dropbox.com/scl/fo/r7xfa5i3hdsbxex1w6amw/AID389Olvtm-ZLTKAPrw6k4"


class FetchError(Exception):
    """A set could not be had; the message says why."""


@dataclass(frozen=True)
class Part:
    """A file to download: at most `limit` bytes. A .zip is unpacked, to at most `unpacked`."""

    name: str
    address: str
    limit: int
    sha256: str | None = None
    unpacked: int = 0


SETS: dict[str, tuple[Part, ...]] = {
    "scifact": (
        Part(
            "scifact.zip",
            f"{BEIR}/scifact.zip",
            5 * MB,
            "536e14446a0ba56ed1398ab1055f39fe852686ecad24a6306c80c490fa8e0165",
            50 * MB,
        ),
    ),
    "nfcorpus": (
        Part(
            "nfcorpus.zip",
            f"{BEIR}/nfcorpus.zip",
            5 * MB,
            "efe5be03f8c5b86a5870102d0599d227c8c6e2484328e68c6522560385671b0b",
            50 * MB,
        ),
    ),
    "contractnli": (
        Part(
            "contract-nli.zip",
            "https://stanfordnlp.github.io/contract-nli/resources/contract-nli.zip",
            20 * MB,
            "e03fc77bbf8b53e2976a250e81d8a294bc3d5e5fb014521e477dee9340d6287b",
            100 * MB,
        ),
    ),
    "legalbenchrag": (
        Part(
            "legalbenchrag.zip",  # made anew for each download: its digest is never the same
            f"{DROPBOX}?rlkey=5n8zrbk4c08lbit3iiexofmwg&dl=1",
            200 * MB,
            unpacked=500 * MB,
        ),
    ),
    "codebase": (
        Part(
            "codebase_chunks.json",
            f"{COOKBOOK}/codebase_chunks.json",
            5 * MB,
            "70dbed1cb8a90a107b23742b1537051346860f841ec8b03734c1298fa4a34d46",
        ),
        Part(
            "evaluation_set.jsonl",
            f"{COOKBOOK}/evaluation_set.jsonl",
            10 * MB,
            "7186e2bed15547a2ed178134876b29e4abb206bf0394facbe61d58bf835ee073",
        ),
    ),
}


def fetch(name: str, parts: Sequence[Part], folder: Path, source: Path | None) -> Path:
    """Put a set into its folder, whole or not at all. Raises FetchError.

    `source` is a folder with the same files, downloaded before; they are checked the same way.
    """
    target, making = folder / name, folder / f".{name}.making"
    if target.exists():
        return target
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir(parents=True)
    for part in parts:
        file = _downloaded(part, folder) if source is None else _local_file(part, source)
        if part.unpacked:
            unpack(file, making, part.unpacked)
        else:
            shutil.copyfile(file, making / part.name)
    making.rename(target)
    if source is None:
        for part in parts:
            _half(part, folder).unlink()
    return target


def _local_file(part: Part, source: Path) -> Path:
    check(part, source / part.name)
    return source / part.name


def _downloaded(part: Part, folder: Path) -> Path:
    """Download a file; one that turns out to be wrong is not kept to go on with."""
    file = _half(part, folder)
    download(part, file)
    try:
        check(part, file)
    except FetchError:
        file.unlink()
        raise
    return file


def _half(part: Part, folder: Path) -> Path:
    return folder / f".{part.name}.part"


def check(part: Part, file: Path) -> None:
    """Refuse a file that is too long or another than is known. Raises FetchError."""
    try:
        if file.stat().st_size > part.limit:
            raise FetchError(f"{file} is longer than the {part.limit} bytes that it may have")
        with file.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise FetchError(f"{file} cannot be read: {error.strerror}") from None
    if part.sha256 not in (None, digest):
        raise FetchError(
            f"{file} is not the file that is known: its sha256 is {digest}, not {part.sha256}: "
            "download it again"
        )


def download(part: Part, file: Path) -> None:
    """Download to a file, after what is there of it. Raises FetchError."""
    if part.sha256 is None:
        file.unlink(missing_ok=True)  # nothing would tell whether both halves are of one file
    have = file.stat().st_size if file.exists() else 0
    headers = {"Range": f"bytes={have}-"} if have else {}
    try:
        with urlopen(Request(part.address, headers=headers), timeout=SECONDS) as answer:
            _receive(answer, part, file)
    except HTTPError as error:
        if error.code != HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:  # then all of it is there
            raise FetchError(f"{part.address} answers {error.code} {error.reason}") from None
    except (HTTPException, OSError) as error:
        raise FetchError(f"{part.address} cannot be had: {error}; try again") from None


def _receive(answer: HTTPResponse, part: Part, file: Path) -> None:
    goes_on = answer.status == HTTPStatus.PARTIAL_CONTENT
    with file.open("ab" if goes_on else "wb") as stream:
        size = stream.tell() + int(answer.headers["Content-Length"] or 0)
        while stream.tell() <= part.limit and (piece := answer.read(PIECE)):
            stream.write(piece)
        have = stream.tell()
    if have > part.limit:
        file.unlink()
        raise FetchError(f"{part.address} sends more than {part.limit} bytes")
    if have < size:
        raise FetchError(f"{part.address} broke off at {have} of {size} bytes: try again")


def unpack(archive: Path, folder: Path, limit: int) -> None:
    """Unpack a .zip, without the one folder that all of it may lie in. Raises FetchError."""
    try:
        with ZipFile(archive) as files:
            entries = _entries(files)
            if sum(entry.file_size for entry in entries.values()) > limit:
                raise FetchError(f"{archive} unpacks to more than {limit} bytes")
            for path, entry in entries.items():
                target = folder / path
                target.parent.mkdir(parents=True, exist_ok=True)
                with files.open(entry) as stream, target.open("xb") as out:
                    shutil.copyfileobj(stream, out)
    except (BadZipFile, RuntimeError, EOFError, OSError, zlib.error) as error:
        raise FetchError(f"{archive} cannot be unpacked: {error}") from None


def _entries(files: ZipFile) -> Mapping[PurePosixPath, ZipInfo]:
    """Give the files of an archive by the paths that they get. Raises FetchError."""
    entries = {PurePosixPath(entry.filename): entry for entry in files.infolist()}
    entries = {
        path: entry
        for path, entry in entries.items()
        if path.name and not entry.is_dir() and path.parts[0] != "__MACOSX"
    }
    for path in entries:
        if path.is_absolute() or ".." in path.parts or "\\" in str(path):
            raise FetchError(f"{files.filename} holds {path}, which would lie elsewhere")
    tops = {path.parts[0] for path in entries}
    if len(tops) == 1 and all(len(path.parts) > 1 for path in entries):
        entries = {PurePosixPath(*path.parts[1:]): entry for path, entry in entries.items()}
    return entries


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="where the sets are put")
    parser.add_argument("sets", nargs="*", help=f"by default all: {', '.join(SETS)}")
    parser.add_argument(
        "--from", dest="source", type=Path, help="a folder with the files, downloaded before"
    )
    arguments = parser.parse_args()
    if unknown := set(arguments.sets) - SETS.keys():
        parser.error(f"there is no set {min(unknown)}: there are {', '.join(SETS)}")
    failed = False
    for name in arguments.sets or SETS:
        try:
            print(fetch(name, SETS[name], arguments.folder, arguments.source))
        except FetchError as error:
            failed = True
            print(f"{name}: {error}", file=sys.stderr)
    sys.exit(failed)


if __name__ == "__main__":
    main()
