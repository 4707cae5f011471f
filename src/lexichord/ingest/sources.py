"""What is ingested: files found in folders, sources read in their turn, what became of them."""

import asyncio
import os
import pickle
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from tempfile import TemporaryFile
from threading import Lock
from typing import TYPE_CHECKING, Any

from lexichord.db import store
from lexichord.db.pool import Database
from lexichord.errors import ConfigError, IngestError
from lexichord.ingest.load import kind_of_file, unread_kind
from lexichord.ingest.load.text import open_in_place
from lexichord.types import Chunk, Document
from lexichord.types.base import counted

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

# How the recipe begins of a document that was passed in, not read from a file.
GIVEN_RECIPE_PREFIX = "chunked "
LARGE_CHUNKS = 2000  # of a document; some 2 MB of text, as long as three novels


class FileGoneError(IngestError):
    """A file that was there once is no more."""


class Spool:
    """Objects set down in a file without a name, which no other process can open."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = TemporaryFile(dir=folder)  # noqa: SIM115 - closed by close
        self._lock = Lock()

    def close(self) -> None:
        """Give the room back."""
        self._file.close()

    def keep[T](self, kept: T) -> Callable[[], T]:
        """Return what reads an object again, in any thread, as often as is wanted.

        Raises IngestError where it cannot be written.
        """
        data = pickle.dumps(kept, pickle.HIGHEST_PROTOCOL)
        try:
            with self._lock:
                place = self._file.seek(0, os.SEEK_END)
                self._file.write(data)
                self._file.flush()
        except OSError as error:
            raise IngestError(
                f"{self._folder.parent} cannot hold what is to be stored: {error.strerror}; "
                "TMPDIR names another folder"
            ) from None
        return partial(self._read, place, len(data))

    def _read(self, place: int, size: int) -> Any:  # noqa: ANN401 - what was kept
        with self._lock:
            self._file.seek(place)
            data = self._file.read(size)
        return pickle.loads(data)  # noqa: S301 - written by this process


@dataclass(frozen=True, slots=True)
class PreparedDocument:
    """A document and its chunks; `vectors` are of `space`, and empty unless they came along."""

    document: Document
    chunks: Sequence[Chunk]
    vectors: Sequence[Sequence[float]] = ()
    space: str | None = None

    @property
    def flags(self) -> list[str]:
        """What is doubtful in it; metadata that came along may be anything."""
        given = self.document.metadata.get("flags")
        flags = [str(flag) for flag in given] if isinstance(given, list) else []
        if (chunks := len(self.chunks)) > LARGE_CHUNKS:
            flags.append(f"{chunks:,} chunks: data are better left out, by exclude or max_chunks")
        return flags

    def check_size(self, max_chunks: int | None) -> None:
        """Raise IngestError for more chunks than a document may have."""
        if max_chunks and (chunks := len(self.chunks)) > max_chunks:
            raise IngestError(
                f"gives {counted(chunks, 'chunk', ',')}, more than max_chunks ({max_chunks:,}): "
                "leave the file out, or raise the limit"
            )


@dataclass(frozen=True, slots=True)
class IngestSource:
    """Something to ingest. `read` may raise IngestError.

    Stored with the same `sha256` and `recipe` before, it need not be read at all. `size` is in
    bytes, `kind` a media type, as far as they are known. `original` returns its bytes, where it has
    been a file. Of what is fetched when it is read `sha256` is empty until then, and `stand_in` a
    digest that takes its place where sources are ordered.
    """

    uri: str
    sha256: str
    recipe: str
    read: Callable[[], PreparedDocument]
    size: int = 0
    kind: str = ""
    original: Callable[[], bytes] | None = None
    stand_in: str = ""


@dataclass(frozen=True, slots=True)
class Pruned:
    """A place to prune. Of the documents that are missing among the listed `lost` returns the gone.

    Its first argument are their uris, its second all that were listed.
    """

    uri: str
    lost: Callable[[Sequence[str], AbstractSet[str]], list[str]]


def storable_name(name: str) -> str:
    """Return a file's name or path; bytes that are not UTF-8 are written as \\x and digits."""
    return os.fsencode(name).decode(errors="backslashreplace")


def path_of_uri(uri: str) -> Path:
    """Return the file that a uri names; bytes that are not UTF-8 are written out in it."""
    if os.path.lexists(uri):
        return Path(uri)
    raw = re.sub(rb"\\x([0-9a-f]{2})", lambda match: bytes([int(match[1], 16)]), uri.encode())
    return Path(os.fsdecode(raw))


def is_gone(file: Path) -> bool:
    """Return whether there is no such file; one that cannot be looked at may be there."""
    try:
        file.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def refused_source(uri: str, error: IngestError) -> IngestSource:
    """Return a source that cannot be read; no stored document has its digest."""
    return IngestSource(uri, "", "", partial(_refuse, error))


def _refuse(error: IngestError) -> PreparedDocument:
    raise error


def pruned_folder(folder: Path) -> Pruned:
    """Return a folder of this machine as a place to prune."""
    return Pruned(storable_name(folder.as_posix()), _lost)


async def find_gone(
    database: Database, dataset: str, places: Sequence[Pruned], listed: AbstractSet[str]
) -> list[str]:
    """Return the uris under `places` that are not among the `listed` ones and name no file now.

    Documents that came with their chunks never were files. Raises ConfigError for a place that
    lost all it had: more likely its disk is not mounted.
    """
    gone = set[str]()
    for place in places:
        name = place.uri
        rows = await store.documents_under(database, dataset, name)
        uris = [row["uri"] for row in rows if not row["recipe"].startswith(GIVEN_RECIPE_PREFIX)]
        missing = [uri for uri in uris if uri not in listed]
        lost = await asyncio.to_thread(place.lost, missing, listed)
        if lost and not any(uri.startswith(f"{name.rstrip('/')}/") for uri in listed):
            raise ConfigError(
                f"{name} holds no files now, {counted(len(lost), 'document')} would be deleted: "
                "if that is right, delete them with lexichord rm"
            )
        gone.update(lost)
    return sorted(gone)


def containing(uri: str) -> set[str]:
    """Return what a uri lies in: folders, and files that contain others, archives and mails."""
    return {uri[:place] for place, sign in enumerate(uri) if sign == "/"}


def _lost(uris: Sequence[str], listed: AbstractSet[str]) -> list[str]:
    """Return what is gone; not what a listed file contains: one not looked into, or a mail."""
    outside = (uri for uri in uris if not listed & containing(uri))
    return [uri for uri in outside if is_gone(path_of_uri(uri))]


def copies_last(todo: Sequence[IngestSource]) -> tuple[list[IngestSource], list[IngestSource]]:
    """Part the first of each digest from its copies, which can keep its vectors once it is stored.

    So they do whether or not a run was interrupted in between.
    """
    seen = set[str]()
    parts: tuple[list[IngestSource], list[IngestSource]] = [], []
    for source in todo:
        parts[source.sha256 in seen].append(source)
        if source.sha256:
            seen.add(source.sha256)
    return parts


SKIPPED_FOLDERS = {"node_modules", "__pycache__"}  # folders that tools fill
ENVIRONMENT_FILE = "pyvenv.cfg"  # in a folder of installed Python packages
IGNORE_FILE = ".gitignore"
MAX_IGNORE_BYTES = 1_000_000  # bytes of such a file
SIDECAR_ENDING = ".meta.json"  # of a file with metadata for the one beside it
LOCK_PREFIX = "~$"  # of the file that Office keeps beside an open document
LEADS_OUT = "a link out of the folder"

type IgnoreRules = Sequence[tuple[Path, GitIgnoreSpec]]  # outer folders first


@dataclass
class FileSearch:
    """A search for files in folders; `include` and `exclude` are patterns as in .gitignore.

    Links that lead out of the folders that were named, and links to folders, are followed only
    where `follow_links` says so. `unread` holds the kinds of files that cannot be read, `left_out`
    why other files and folders were not looked at, `dead_links` why pages that others link to are
    not there; all by name.
    """

    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    follow_links: bool = False
    unread: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    dead_links: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._included = parse_patterns("include", self.include)
        self._excluded = parse_patterns("exclude", self.exclude)
        self._folders = set[Path]()  # that were named

    def find(self, paths: Iterable[Path]) -> Iterator[Path]:
        """Yield each file once, folders searched in order of name.

        In a folder, files of kinds that cannot be read are passed over, and so are hidden ones,
        what .gitignore names, node_modules, __pycache__, Python environments and links that are not
        followed; a link to a file yields that file. A file that is named itself, and a folder that
        cannot be listed, is yielded as it is, so that reading it raises what is wrong. Raises
        ConfigError for a path that is missing.
        """
        seen, named = set[Path](), list(paths)
        self._folders |= {path.resolve() for path in named if path.is_dir()}
        for path in named:
            if not path.exists():
                raise ConfigError(f"there is no file or folder {path}")
            for file in self._walk(path.resolve()) if path.is_dir() else [path.resolve()]:
                if file not in seen:
                    seen.add(file)
                    yield file

    def _walk(self, root: Path) -> Iterator[Path]:
        closed: list[OSError] = []
        self._entered = {root}
        self._rules: dict[Path, IgnoreRules] = {root.parent: ()}
        walked = os.walk(root, onerror=closed.append, followlinks=self.follow_links)
        for here, folders, names in walked:
            folder = Path(here)
            if ENVIRONMENT_FILE in names:
                self._leave_out(folder, "a Python environment")
                folders.clear()
                continue
            folders[:] = [name for name in sorted(folders) if self._enters(root, folder / name)]
            for name in sorted(names):
                target = self.target(folder / name)
                if self._takes(root, folder / name, target) and target:
                    yield target
        yield from (Path(error.filename) for error in closed)

    def why_not(self, name: str) -> str:
        """Return why an object of a bucket or server is not looked at; "" where it is.

        `name` is its path there, by which it is left out as a file in a folder is; what
        .gitignore says holds for folders of this machine only.
        """
        path = PurePosixPath(name)
        if SKIPPED_FOLDERS.intersection(path.parts[:-1]):
            return "filled by a tool"
        if any(part.startswith(".") and part not in (".", "..") for part in path.parts[:-1]):
            return "hidden"
        return self._why_by_name(path.name, name) or self._why_not_included(name)

    def _enters(self, root: Path, folder: Path) -> bool:
        why = self._why_not_entered(root, folder)
        if not why and folder.is_symlink() and not self.follow_links:
            why = "a link to a folder"
        if why:
            self._leave_out(folder, why)
        return not why and self._is_new(folder)

    def _is_new(self, folder: Path) -> bool:
        """Return whether no link has led to a folder before."""
        if not self.follow_links:
            return True
        place = _resolved(folder)
        is_new = place not in self._entered
        self._entered.add(place)
        return is_new

    def _takes(self, root: Path, file: Path, target: Path | None) -> bool:
        why = self._why_left_out(root, file)
        why = why or self._why_not_included(file.relative_to(root).as_posix())
        is_wanted = not why or file.name == IGNORE_FILE or file.name.endswith(SIDECAR_ENDING)
        if is_wanted and target is None:
            why = LEADS_OUT
        elif not why and target != file and self._is_hidden(root, target):
            why = "a link to what is hidden"
        if why:
            self._leave_out(file, why)
        elif kind_of_file(file) is None:
            why = unread_kind(file.name)
            self.unread[storable_name(file.as_posix())] = why
        return not why

    def _is_hidden(self, root: Path, target: Path | None) -> bool:
        """Return whether a link's target would not be looked at in its own place."""
        if target is None or self.follow_links or not target.is_relative_to(root):
            return False
        between = [folder for folder in target.parents if folder.is_relative_to(root)]
        return (
            any((folder / ENVIRONMENT_FILE).exists() for folder in between)
            or any(self._why_not_entered(root, folder) for folder in between if folder != root)
            or bool(self._why_left_out(root, target))
        )

    def _why_not_entered(self, root: Path, folder: Path) -> str:
        if folder.name in SKIPPED_FOLDERS:
            return "filled by a tool"
        return self._why_left_out(root, folder, "/")

    def _why_left_out(self, root: Path, path: Path, end: str = "") -> str:
        why = self._why_by_name(path.name, path.relative_to(root).as_posix() + end)
        return why or (
            "in .gitignore" if _is_ignored(path, self._rules_in(path.parent), end) else ""
        )

    def _why_by_name(self, name: str, relative: str) -> str:
        if name.startswith("."):
            return "hidden"
        if name.endswith(SIDECAR_ENDING):
            return "metadata"
        if name.startswith(LOCK_PREFIX):
            return "the lock of an open document"
        return "in --exclude" if self._excluded.match_file(relative) else ""

    def _why_not_included(self, relative: str) -> str:
        if self._included and not self._included.match_file(relative):
            return "not in --include"
        return ""

    def target(self, file: Path) -> Path | None:
        """Return where a file stands; None where a link leads to where nobody named a folder.

        Looked at once, so that what is judged is what is opened.
        """
        target = _resolved(file) if self.follow_links or file.is_symlink() else file
        folders = (file.parent, *self._folders)
        is_inside = self.follow_links or any(map(target.is_relative_to, folders))
        return target if is_inside else None

    def _rules_in(self, folder: Path) -> IgnoreRules:
        """Return the rules for what a folder holds, of all folders from the root on."""
        if folder not in self._rules:
            outer = self._rules_in(folder.parent)
            self._rules[folder] = (*outer, *self._ignore_rules(folder))
        return self._rules[folder]

    def _ignore_rules(self, folder: Path) -> Iterator[tuple[Path, "GitIgnoreSpec"]]:
        """Yield the folder's own rules, if it has any that can be read."""
        target = self.target(folder / IGNORE_FILE)
        if target is None:
            return
        try:
            with open_in_place(target) as stream:
                lines = stream.read(MAX_IGNORE_BYTES).decode(errors="replace").splitlines()
            yield folder, read_patterns(lines)
        except (OSError, ValueError, IngestError):
            return

    def _leave_out(self, path: Path, why: str) -> None:
        self.left_out[storable_name(path.as_posix())] = why


def parse_patterns(option: str, patterns: Sequence[str]) -> "GitIgnoreSpec":
    """Read patterns as .gitignore has them. Raises ConfigError."""
    try:
        return read_patterns(patterns)
    except ValueError as error:
        raise ConfigError(f"--{option}: {error}") from None


ANY_FOLDERS, NAME_STAR = "(?:/.+)?", "[^/]*"  # what pathspec makes of "/**" and of "*"
# A star, and what is no star up to the next one in the same name.
STARRED = re.compile(r"\[\^/\]\*((?:\[\^/\](?!\*)|\[\^?\]?[^\]/]+\]|\\.|[^\[\\(/])++)(?=\[\^/\]\*)")


def read_patterns(lines: Iterable[str]) -> "GitIgnoreSpec":
    """Read patterns as .gitignore has them. Raises ValueError.

    What follows a star is looked for from the left and not again: a later star takes what is left
    as well. So a pattern of many stars takes no longer than one, where its expression would try
    all ways to part a name among them.
    """
    from pathspec import GitIgnoreSpec

    spec = GitIgnoreSpec.from_lines(lines, backend="simple")
    for pattern in spec.patterns:
        expression = "" if pattern.regex is None else pattern.regex.pattern
        if (linear := without_backtracking(expression)) != expression:
            pattern.regex = re.compile(linear)
    return spec


def without_backtracking(expression: str) -> str:
    """Return pathspec's expression with each star and what follows it up to the next as one."""
    first, *others = expression.split(ANY_FOLDERS)
    if others:
        opening = r"^(?>(?:.+?/)??" if first.startswith("^(?:.+/)?") else "^(?>"
        first = f"{opening}{first.removeprefix('^').removeprefix('(?:.+/)?')}(?=/))"
    between = (f"(?>(?:/.+?)??{part}(?=/))" for part in others[:-1])
    whole = "".join([first, *between, *(ANY_FOLDERS + part for part in others[-1:])])
    return STARRED.sub(r"(?>[^/]*?\1)", whole)


def _is_ignored(path: Path, rules: IgnoreRules, end: str) -> bool:
    """Return what the innermost rules say that say anything."""
    for folder, spec in reversed(rules):
        found = spec.check_file(path.relative_to(folder).as_posix() + end).include
        if found is not None:
            return found
    return False


def _resolved(file: Path) -> Path:
    """Follow links, unless they lead back to themselves."""
    try:
        return file.resolve()
    except (RuntimeError, OSError):  # Python 3.12; later ones return the link itself
        return file
