"""What pages take in from other files: those of their kind in their own folder, and below it."""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from lexichord.errors import IngestError
from lexichord.ingest.load import MARKDOWN_TYPE, MEDIA_TYPES, RST_TYPE
from lexichord.ingest.load.marks import described, picture
from lexichord.ingest.load.text import MAX_TEXT_BYTES, open_in_place, read_text
from lexichord.types.base import LANGUAGE_ENDINGS

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


OPTION = re.compile(r"(?P<margin>[ \t]*):(?P<name>[\w-]+):(?:[ \t]+(?P<value>.*))?")
YAML_RULE = "---"  # around options, as MyST may have them
YAML_OPTION = re.compile(r"[ \t]*(?P<name>[\w-]+):(?:[ \t]+(?P<value>.*))?")
QUOTED = re.compile(r"(?P<mark>[\"'])(?P<words>.*)(?P=mark)")
MAX_OPTION_LINES = 50

type Options = Mapping[str, str]


def read_options(lines: Sequence[str], at: int, last: int | None = None) -> tuple[Options, int]:
    """Return a directive's options, and where they end; a line set in deeper goes on with one.

    They stand before the line `last`.
    """
    options, name, margin = dict[str, str](), "", 0
    while at < (len(lines) if last is None else last):
        line = lines[at]
        if match := OPTION.fullmatch(line.rstrip()):
            name, margin = match["name"].lower(), len(match["margin"])
            options[name] = match["value"] or ""
        elif name and line.strip() and len(line) - len(line.lstrip()) > margin:
            options[name] = f"{options[name]} {line.strip()}".strip()
        else:
            break
        at += 1
    return options, at


def read_myst_options(lines: Sequence[str], at: int) -> tuple[Options, int]:
    """Return the options of a directive of MyST, whose values may be quoted, as YAML has them."""
    end = _yaml_end(lines, at)
    found = (YAML_OPTION.fullmatch(line.rstrip()) for line in lines[at:end])
    options: Options = {match["name"]: match["value"] or "" for match in found if match}
    if not end:
        options, end = read_options(lines, at)
    return {name: unquoted(value) for name, value in options.items()}, end


def _yaml_end(lines: Sequence[str], at: int) -> int:
    """Return where options between lines of --- end; 0 where none begin."""
    if at < len(lines) and lines[at].strip() == YAML_RULE:
        inside = range(at + 1, min(len(lines), at + MAX_OPTION_LINES))
        return next((n + 1 for n in inside if lines[n].strip() == YAML_RULE), 0)
    return 0


def unquoted(value: str) -> str:
    """Return a value without the quotes around it; several in quotes stay as they are."""
    match = QUOTED.fullmatch(value)
    return match["words"] if match and match["mark"] not in match["words"] else value


def seen_options(options: Options) -> list[str]:
    """Return what options say that readers see: a caption, and what is said of a picture."""
    said = described(options.get("alt", ""))
    caption = options.get("caption", "").strip()
    return [*([caption] if caption else []), *([picture(said)] if said else [])]


CSV_ENDINGS = (".csv", ".tsv")
ENDINGS = (
    *(ending for ending, kind in MEDIA_TYPES.items() if kind in (MARKDOWN_TYPE, RST_TYPE)),
    *(".txt", ".inc", *CSV_ENDINGS),
    *(ending for endings in LANGUAGE_ENDINGS.values() for ending in endings.split()),
)
RST_INCLUDE = re.compile(r"(?P<margin> *)\.\. (?P<name>(?:literal)?include):: +(?P<file>\S[^\n]*)")
RST_CSV = re.compile(r"(?P<margin> *)\.\. csv-table::.*")
NAMED = re.compile(
    r"(?:\.\. (?:literal)?include::|\{(?:literal)?include\}|^[ \t]*:?file:)[ \t]+(\S[^\n]{0,300})",
    re.MULTILINE,
)
CODE_OPTIONS = ("literal", "code")
MAX_LINE_NUMBERS = 100  # or ranges of them
LINE_NUMBERS = re.compile(r"(?P<first>\d{1,9})?(?P<more>-)?(?P<last>(?<=-)\d{1,9})?(?<=[\d-])")


def taken_in_by_page(file: Path) -> str:
    """Return a digest of the files that a page may take in; "" where it takes in none."""

    def named(text: str) -> Iterator[tuple[str, Sequence[str]]]:
        return ((match[1].strip(), ("",)) for match in NAMED.finditer(text))

    return nearby_files(file.resolve()).digest(file, named)


def nearby_files(file: Path) -> NearbyFiles:
    """Return the files that a page may take in."""
    return NearbyFiles(file.parent, ENDINGS, relative=True)


def with_rst_includes(
    lines: Sequence[str], files: NearbyFiles, opened: Sequence[Path]
) -> Iterator[str]:
    """Yield the lines of a page, and of those that it takes in."""
    at = 0
    while at < len(lines):
        line, at = lines[at], at + 1
        taking = RST_INCLUDE.fullmatch(line.rstrip())
        table = RST_CSV.fullmatch(line)
        if taking is None and table is None:
            yield line
            continue
        options, end = read_options(lines, at)
        if taking:
            yield from _rst_part(taking, options, files, opened)
        else:
            yield from (line, *lines[at:end])
            rows = csv_lines(options, files, opened) if table else []
            yield from (f"{table['margin']}   {row}" for row in ("", *rows) if table)
        at = end


def _rst_part(
    match: re.Match[str], options: Options, files: NearbyFiles, opened: Sequence[Path]
) -> Iterator[str]:
    found = files.read(match["file"].strip(), opened)
    if found is None:
        return
    lines = chosen(found[0].expandtabs(8), options).splitlines()
    if is_code(match["name"], options):
        yield from (f"{match['margin']}{line}" for line in ("", *seen_options(options), ""))
        yield from ("", f"{match['margin']}.. code-block:: text", "")
        yield from (f"{match['margin']}   {line}" for line in lines)
    else:
        inner = with_rst_includes(lines, files, (*opened, found[1]))
        yield from (f"{match['margin']}{line}" for line in inner)
    yield ""


def is_code(name: str, options: Options) -> bool:
    """Return whether what is taken in is shown as code."""
    return name == "literalinclude" or any(option in options for option in CODE_OPTIONS)


def csv_lines(options: Options, files: NearbyFiles, opened: Sequence[Path]) -> Sequence[str]:
    """Return the lines of the file that a table's options name."""
    if address := options.get("url", ""):
        files.refused[address] = "is a page of the web"
    if (name := options.get("file", "")) and (found := files.read(name, opened)):
        return found[0].splitlines()
    return []


def chosen(text: str, options: Options) -> str:
    """Return the part of a text that the options choose."""
    first, last = _number(options.get("start-line", "")), _number(options.get("end-line", ""))
    part = "\n".join(text.splitlines()[first or 0 : last])
    if (place := _found(part, options.get("start-at"))) >= 0:
        part = part[part.rfind("\n", 0, place) + 1 :]
    if (after := _written(part, options.get("start-after"))) and after in part:
        part = part.partition(after)[2]
    if (place := _found(part, options.get("end-at"))) >= 0:
        part = part[: part.find("\n", place) if "\n" in part[place:] else None]
    if (before := _written(part, options.get("end-before"))) and before in part:
        part = part.partition(before)[0]
    return _some_lines(part, options.get("lines", ""))


def _found(part: str, words: str | None) -> int:
    """Return where words stand that an option gives; -1 where it gives none, or they do not."""
    written = _written(part, words)
    return part.find(written) if written else -1


def _written(part: str, words: str | None) -> str:
    """Return words as the text has them: in their quotes, or without."""
    return unquoted(words) if words and words not in part else words or ""


def _some_lines(part: str, numbers: str) -> str:
    """Return the lines of these numbers, as 1,4-6,9-; all where they say nothing."""
    lines = part.splitlines()
    kept = list[str]()
    for number in numbers.replace(" ", "").split(",", MAX_LINE_NUMBERS):
        match = LINE_NUMBERS.fullmatch(number)
        if match is None:
            return part
        first, last = int(match["first"] or 1), int(match["last"] or len(lines))
        kept += lines[max(first, 1) - 1 : last if match["more"] else first]
    return "\n".join(kept)


def _number(text: str) -> int | None:
    return int(text) if re.fullmatch(r"-?\d{1,9}", text) else None
