"""What a file takes in from other files: those of its kind in its own folder, and below it.

A file may come from anybody, so what it names is looked at first: where it really stands, and that
it is no key and no letter of the reader's.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from lexichord.errors import IngestError
from lexichord.ingest.load.opened import open_in_place
from lexichord.ingest.load.text import MAX_TEXT_BYTES, read_text

MAX_FILES = 500
MAX_DEPTH = 10
MAX_LISTED = 10_000
MAX_NAMED = 20  # of what a flag lists

type NamedFiles = Callable[[str], Iterable[tuple[str, Sequence[str]]]]


@dataclass(slots=True)
class NearbyFiles:
    """Finds files by their names; `refused` says why one was not taken in.

    `endings` are those of the files that may be. Names hold from `root` on, or, where they are
    `relative`, from the folder of the file that gives them.
    """

    root: Path
    endings: Sequence[str]
    relative: bool = False
    refused: dict[str, str] = field(default_factory=dict)
    taken: list[Path] = field(default_factory=list)
    _characters: int = 0

    def read(
        self, name: str, opened: Sequence[Path], tried: Sequence[str] = ("",)
    ) -> tuple[str, Path] | None:
        """Return a file's text, and where it stands; None where it is not taken in.

        `opened` are the files that it is taken in by, `tried` are put behind its name in turn.
        """
        try:
            path = self._find(name, tried, opened[-1].parent if opened else self.root)
            if reason := self._refusal(path, opened):
                self.refused[name] = reason
                return None
            assert path is not None
            text, _ = read_text(path, open_in_place)
        except (OSError, ValueError, RuntimeError, IngestError) as error:
            self.refused[name] = str(error)
            return None
        self.taken.append(path)
        self._characters += len(text)
        return text, path

    def has(self, name: str) -> bool:
        """Return whether a file of this name stands in the folder."""
        try:
            return (self.root / name).is_file()
        except (OSError, ValueError):
            return False

    def names(self) -> Iterator[str]:
        """Yield the names of the files that may be taken in, of the first that the folder lists."""
        for path in islice(self.root.rglob("*"), MAX_LISTED):
            if path.suffix.lower() in self.endings:
                yield str(path.relative_to(self.root))

    def _find(self, name: str, tried: Sequence[str], folder: Path) -> Path | None:
        """Return the file of a name, wherever it really stands. Raises OSError, ValueError."""
        for ending in tried:
            start = folder if self.relative else self.root
            path = (start / f"{name}{ending}").resolve()
            if path.is_file() or not path.is_relative_to(self.root):
                return path
        return None

    def _refusal(self, path: Path | None, opened: Sequence[Path]) -> str:
        """Return why a file is not taken in; "" where it is."""
        if path is None:
            return "is not there"
        if not path.is_relative_to(self.root):
            return "leads out of the folder"
        if path in opened:
            return "takes itself in"
        if len(opened) >= MAX_DEPTH:
            return f"lies more than {MAX_DEPTH} files deep"
        names = path.relative_to(self.root).parts
        if path.suffix.lower() not in self.endings or any(name.startswith(".") for name in names):
            return "is of another kind, or hidden"
        is_over = len(self.taken) >= MAX_FILES
        if is_over or self._characters + path.stat().st_size > MAX_TEXT_BYTES:
            return f"is beyond {MAX_FILES} files or {MAX_TEXT_BYTES // 10**6} MB"
        return ""

    def flags(self) -> list[str]:
        """Say what was not taken in, and why."""
        named = [*self.refused.items()][:MAX_NAMED]
        return [f"{name} was not read: it {reason}" for name, reason in named]

    def digest(self, file: Path, named: NamedFiles) -> str:
        """Return a digest of what a file may take in, and what that does; "" for nothing.

        `named` lists the names in a text, with the endings to try.
        """
        root = file.resolve()
        waiting, digests, room = [root], dict[Path, str](), MAX_TEXT_BYTES
        while waiting and len(digests) <= MAX_FILES:
            path = waiting.pop()
            content = None if path in digests else _content(path, room)
            if content is None:
                continue
            room -= len(content)
            digests[path] = hashlib.sha256(content).hexdigest()
            waiting += self._found(named(content.decode(errors="replace")), path.parent)
        digests.pop(root, None)
        told = "".join(
            f"{path.relative_to(root.parent)}{sha256}" for path, sha256 in sorted(digests.items())
        )
        return hashlib.sha256(told.encode(errors="replace")).hexdigest() if told else ""

    def _found(self, names: Iterable[tuple[str, Sequence[str]]], folder: Path) -> list[Path]:
        found = list[Path]()
        for name, tried in names:
            with suppress(OSError, ValueError, RuntimeError):
                path = self._find(name, tried, folder)
                if path and not self._refusal(path, ()):
                    found.append(path)
        return found


def _content(path: Path, most: int) -> bytes | None:
    """Return the bytes of a file that is there, unless there are more than `most`."""
    try:
        with open_in_place(path) as stream:
            content = stream.read(most + 1)
    except (OSError, IngestError):
        return None
    return content if len(content) <= most else None
