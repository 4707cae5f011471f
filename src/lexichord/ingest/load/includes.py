"""What pages in reStructuredText and in Markdown of MyST take in from other files.

A part may be chosen by its lines, or by the words that it stands behind or before.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from lexichord.ingest.load.directive_options import Options, read_options, seen_options, unquoted
from lexichord.ingest.load.kinds import MARKDOWN_TYPE, MEDIA_TYPES, RST_TYPE
from lexichord.ingest.load.nearby import NearbyFiles
from lexichord.types.base import LANGUAGE_ENDINGS

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
