"""What pages in reStructuredText and in Markdown of MyST take in from other files.

A part may be chosen by its lines, or by the words that it stands behind or before.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from lexichord.ingest.load.kinds import MARKDOWN_TYPE, MEDIA_TYPES, RST_TYPE
from lexichord.ingest.load.nearby import NearbyFiles
from lexichord.ingest.markdown import part_by_fences
from lexichord.types.code import LANGUAGE_ENDINGS

ENDINGS = (
    *(ending for ending, kind in MEDIA_TYPES.items() if kind in (MARKDOWN_TYPE, RST_TYPE)),
    *(".txt", ".inc"),
    *(ending for endings in LANGUAGE_ENDINGS.values() for ending in endings.split()),
)
RST_INCLUDE = re.compile(r"(?P<margin> *)\.\. (?P<name>(?:literal)?include):: +(?P<file>\S[^\n]*)")
MYST_INCLUDE = re.compile(
    r"(?P<margin>[ \t]*)(?P<fence>`{3,20}|~{3,20})[ \t]*\{(?P<name>(?:literal)?include)\}"
    r"[ \t]*(?P<file>\S[^\n]*)"
)
NAMED = re.compile(r"(?:\.\. (?:literal)?include::|\{(?:literal)?include\})[ \t]+(\S[^\n]{0,300})")
OPTION = re.compile(r"\s*:(?P<name>[\w-]+):[ \t]*(?P<value>.*?)\s*")
FRONT_MATTER = re.compile(r"\A---[ \t]*\n.{0,10000}?^---[ \t]*\n", re.DOTALL | re.MULTILINE)
CODE_OPTIONS = ("literal", "code")


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
        match = RST_INCLUDE.fullmatch(lines[at].rstrip())
        at += 1
        if match is None:
            yield lines[at - 1]
            continue
        options = dict[str, str]()
        while at < len(lines) and (option := OPTION.fullmatch(lines[at])):
            options[option["name"]] = option["value"]
            at += 1
        yield from _rst_part(match, options, files, opened)


def _rst_part(
    match: re.Match[str], options: Mapping[str, str], files: NearbyFiles, opened: Sequence[Path]
) -> Iterator[str]:
    found = files.read(match["file"].strip(), opened)
    if found is None:
        return
    lines = chosen(found[0].expandtabs(8), options).splitlines()
    if match["name"] == "literalinclude" or any(name in options for name in CODE_OPTIONS):
        yield from ("", f"{match['margin']}.. code-block:: text", "")
        yield from (f"{match['margin']}   {line}" for line in lines)
    else:
        inner = with_rst_includes(lines, files, (*opened, found[1]))
        yield from (f"{match['margin']}{line}" for line in inner)
    yield ""


def with_myst_includes(text: str, files: NearbyFiles, opened: Sequence[Path]) -> str:
    """Return a page with the text of those that it takes in."""
    pieces = list[str]()
    for words, block in part_by_fences(text):
        opening, *lines = block.splitlines() or [""]
        match = MYST_INCLUDE.fullmatch(opening.rstrip())
        pieces += [words, _myst_part(match, lines[:-1], files, opened) if match else block]
    return "".join(pieces)


def _myst_part(
    match: re.Match[str], lines: Sequence[str], files: NearbyFiles, opened: Sequence[Path]
) -> str:
    found = files.read(match["file"].strip(), opened)
    if found is None:
        return ""
    options = {
        option["name"]: option["value"] for line in lines if (option := OPTION.fullmatch(line))
    }
    part = chosen(found[0], options).strip("\n")
    if match["name"] == "literalinclude" or any(name in options for name in CODE_OPTIONS):
        return f"{match['fence']}\n{part}\n{match['fence']}"
    return with_myst_includes(FRONT_MATTER.sub("", part), files, (*opened, found[1]))


def chosen(text: str, options: Mapping[str, str]) -> str:
    """Return the part of a text that the options choose."""
    lines = text.splitlines()
    first, last = _number(options.get("start-line", "")), _number(options.get("end-line", ""))
    part = "\n".join(lines[first or 0 : last])
    if (after := options.get("start-after")) and after in part:
        part = part.partition(after)[2]
    if (before := options.get("end-before")) and before in part:
        part = part.partition(before)[0]
    return part


def _number(text: str) -> int | None:
    return int(text) if re.fullmatch(r"-?\d{1,9}", text) else None
