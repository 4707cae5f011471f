"""What a TeX file takes in from other files of TeX: those in its own folder, and below it."""

import hashlib
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from lexichord.errors import IngestError
from lexichord.ingest.load.tex.mouth import PACKAGE_ENDING, Source
from lexichord.ingest.load.text import MAX_TEXT_BYTES, read_text

MAX_FILES = 500
MAX_DEPTH = 10
# Others a paper has no reason to take in: what it names may be a key or a letter of the reader's.
ENDINGS = (".tex", ".ltx", ".latex", ".sty", ".bbl", ".tikz", ".pgf")
TAKING_IN = re.compile(
    r"\\(?:input|include|subfile|import\s*\{(?P<import>[^{}]{0,200})\}|subimport\s*\{(?P<sub>[^{}]"
    r"{0,200})\}|usepackage|RequirePackage)\s*(?:\[[^\]]{0,1000}\])?\s*\{?(?P<names>[^{}\s\\%]{1,1000})"
)


@dataclass(slots=True)
class TexFiles:
    """Finds files by the names that commands give; `refused` says why one was not followed."""

    root: Path
    refused: dict[str, str] = field(default_factory=dict)
    taken: list[Path] = field(default_factory=list)
    _characters: int = 0

    def follow(
        self, name: str, opened: Sequence[Source], endings: Sequence[str], folder: str = ""
    ) -> Source | None:
        """Return a file's text; None where it is not followed, or where no such file is."""
        try:
            path = self.find(name, endings, folder)
            if reason := self.refusal(path, opened):
                self.refused[name] = reason
                return None
            assert path is not None
            text, _ = read_text(path)
            self.taken.append(path)
        except (OSError, ValueError, RuntimeError, IngestError) as error:
            self.refused[name] = str(error)
            return None
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

    def find(self, name: str, endings: Sequence[str], folder: str) -> Path | None:
        """Return the file of a name, wherever it really stands."""
        for ending in endings:
            path = (self.root / folder / f"{name}{ending}").resolve()
            if path.is_file() or not path.is_relative_to(self.root):
                return path
        return None

    def refusal(self, path: Path | None, opened: Sequence[Source]) -> str:
        """Return why a file is not followed; "" where it is."""
        if path is None:
            return "is not there"
        if not path.is_relative_to(self.root):
            return "leads out of the folder"
        if any(source.path == path for source in opened):
            return "takes itself in"
        if len(opened) >= MAX_DEPTH:
            return f"lies more than {MAX_DEPTH} files deep"
        names = path.relative_to(self.root).parts
        if path.suffix.lower() not in ENDINGS or any(name.startswith(".") for name in names):
            return "is no file of TeX, or hidden"
        is_over = len(self.taken) >= MAX_FILES
        if is_over or self._characters + path.stat().st_size > MAX_TEXT_BYTES:
            return f"is beyond {MAX_FILES} files or {MAX_TEXT_BYTES // 10**6} MB"
        return ""


def taken_in_digest(file: Path) -> str:
    """Return a digest of the files that a file of TeX may take in; "" where it takes in none."""
    files, root = TexFiles(file.resolve().parent), file.resolve()
    waiting, digests, room = [root, root.with_suffix(".bbl")], dict[Path, str](), MAX_TEXT_BYTES
    while waiting and len(digests) <= MAX_FILES:
        path = waiting.pop()
        if path in digests or not path.is_file() or path.stat().st_size > room:
            continue
        content = path.read_bytes()
        room -= len(content)
        digests[path] = hashlib.sha256(content).hexdigest()
        waiting += _named_in(content.decode(errors="replace"), files)
    digests.pop(root, None)
    told = "".join(f"{path}{digest}" for path, digest in sorted(digests.items()))
    return hashlib.sha256(told.encode(errors="replace")).hexdigest() if told else ""


def _named_in(text: str, files: TexFiles) -> Iterator[Path]:
    """Yield the files of the folder that a text names."""
    for match in TAKING_IN.finditer(text):
        folder = match["import"] or match["sub"] or ""
        for name in match["names"].split(",")[:MAX_FILES]:
            with suppress(OSError, ValueError, RuntimeError):
                path = files.find(name.strip(), ("", ".tex", ".sty"), folder)
                if path and not files.refusal(path, ()):
                    yield path


def plain_lines(text: str) -> str:
    """Return a text with its lines ended as TeX reads them."""
    return text.replace("\r\n", "\n").replace("\r", "\n")
