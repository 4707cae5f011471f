"""What a TeX file takes in from other files: those in its own folder, and below it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lexichord.errors import IngestError
from lexichord.ingest.load.tex.mouth import PACKAGE_ENDING, Source
from lexichord.ingest.load.text import MAX_TEXT_BYTES, read_text

MAX_FILES = 500
MAX_DEPTH = 10


@dataclass(slots=True)
class TexFiles:
    """Finds files by the names that commands give; `refused` says why one was not followed."""

    root: Path
    refused: dict[str, str] = field(default_factory=dict)
    _read: int = 0
    _characters: int = 0

    def follow(
        self, name: str, opened: Sequence[Source], endings: Sequence[str], folder: str = ""
    ) -> Source | None:
        """Return a file's text; None where it is not followed, or where no such file is."""
        try:
            path = self._find(name, endings, folder)
            if reason := self._refusal(path, opened):
                self.refused[name] = reason
                return None
            assert path is not None
            text, _ = read_text(path)
        except (OSError, ValueError, RuntimeError, IngestError) as error:
            self.refused[name] = str(error)
            return None
        self._read += 1
        self._characters += len(text)
        source = Source(plain_lines(text), path)
        source.takes_at(path.suffix == PACKAGE_ENDING)
        return source

    def has(self, name: str) -> bool:
        """Return whether a file of this name stands in the folder."""
        try:
            return (self.root / name).is_file()
        except (OSError, ValueError):
            return False

    def _find(self, name: str, endings: Sequence[str], folder: str) -> Path | None:
        """Return the file of a name, wherever it really stands."""
        for ending in endings:
            path = (self.root / folder / f"{name}{ending}").resolve()
            if path.is_file() or not path.is_relative_to(self.root):
                return path
        return None

    def _refusal(self, path: Path | None, opened: Sequence[Source]) -> str:
        if path is None:
            return "is not there"
        if not path.is_relative_to(self.root):
            return "leads out of the folder"
        if any(source.path == path for source in opened):
            return "takes itself in"
        if len(opened) >= MAX_DEPTH:
            return f"lies more than {MAX_DEPTH} files deep"
        is_over = self._read >= MAX_FILES
        if is_over or self._characters + path.stat().st_size > MAX_TEXT_BYTES:
            return f"is beyond {MAX_FILES} files or {MAX_TEXT_BYTES // 10**6} MB"
        return ""


def plain_lines(text: str) -> str:
    """Return a text without its byte order mark, its lines ended as TeX reads them."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
