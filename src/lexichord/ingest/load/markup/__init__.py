"""reStructuredText, Org and AsciiDoc: their words with headings, code and tables, without marks.

Each is read line by line, so that what a directive of an unknown name holds is kept as text.
Org and AsciiDoc are read here, reStructuredText in `rst`.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import takewhile
from pathlib import Path

from lexichord.ingest.load import ASCIIDOC_TYPE, ORG_TYPE, RST_TYPE, kind_of
from lexichord.ingest.load.includes import nearby_files, with_rst_includes
from lexichord.ingest.load.marks import described, picture, within
from lexichord.ingest.load.markup.rst import read_rst
from lexichord.ingest.load.parts import MarkupPage
from lexichord.ingest.load.text import read_text
from lexichord.types import LoadedText

ADOC_HEADING = re.compile(r"(?P<marks>={1,6}|#{1,6}) +(?P<name>\S.*)$")
BLOCK_ATTRIBUTES = re.compile(r"\[(?:\[[^\]]*\]|[^\]]*)\]\s*$")
BLOCK_TITLE = re.compile(r"\.(?P<text>[^\s.].*)$")
MACRO = re.compile(r"(?:image|include|video|audio|toc|ifdef|ifndef|ifeval|endif)::")
IMAGE = re.compile(r"image::[^\[\]]*\[(?P<given>[^\]]*)\]")
# What stands in brackets may have some of its own. As many as it likes would be a search to the end
# of the text from each.
_BRACKETED = r"[^\[\]]*(?:\[[^\[\]]*){0,3}"
INLINE_IMAGE = re.compile(rf"\bimage:(?!:)[^\s\[\]]{{1,300}}\[(?P<given>{_BRACKETED})\]")
IMAGE_TEXT = re.compile(
    r"(?:^|,)\s*(?:alt=)?(?:\"(?P<quoted>[^\"]*)\"|(?P<bare>[^\s,=\"][^,=\"]*))(?=,|$)"
)
INCLUDE = re.compile(r"include::(?P<file>[^\[\]]+)\[")
SAID_BY = re.compile(r"\[(?:quote|verse),\s*(?P<names>[^\s\]=][^\]=]*)\]\s*$")
ADOC_FENCE = re.compile(r"(?:-{4,}|\.{4,}|```.*)$")
PLAIN_FENCE = re.compile(r"(?:={4,}|\*{4,}|_{4,}|\+{4,}|-{2}|\+)\s*$")
TABLE_FENCE = re.compile(r"[|,:!]={3,}\s*$")
COMMENT_FENCE = "////"
ADOC_FACTS = {"author": "author", "revdate": "created", "lang": "language", "keywords": "keywords"}
CELL = re.compile(r"(?:^|(?<=\s))(?:\d+[*+])?[.<^>]*[aedlhms]?\|")
ADOC_LINK = re.compile(
    r"(?:link:|xref:|mailto:)?(?P<target>[\w.:/#?=&%@~-]{1,300})"
    rf"\[(?P<text>{_BRACKETED})\](?=\W|$)"
)
CROSS_REFERENCE = re.compile(r"<<(?P<target>[^<,>\n]+)(?:,(?P<text>(?:[^<>\n]|<(?!<))+))?>>")
ANCHOR = re.compile(r"\[\[[^\[\]\n]*(?:\[[^\[\]\n]*)?\]\]|\[#[\w-]+\]")


class Ends:
    """The lines that close something, found once: many things may be open that nothing closes."""

    def __init__(self, lines: Sequence[str], closing: Callable[[str], str | None]) -> None:
        """Take lines, and what says of each what it closes, None of most."""
        self._places = dict[str, list[int]]()
        for place, line in enumerate(lines):
            if (closed := closing(line)) is not None:
                self._places.setdefault(closed, []).append(place)

    def after(self, at: int, closed: str) -> int:
        """Return the place after the next line that closes it; where none does, the next."""
        places = self._places.get(closed, [])
        following = bisect_right(places, at)
        return places[following] + 1 if following < len(places) else at + 1


def read_asciidoc(lines: Sequence[str]) -> MarkupPage:
    """Read the lines of a file."""
    attributes, ends = Attributes(lines), Ends(lines, _adoc_closing)
    page = MarkupPage(lambda text: inline_asciidoc(attributes.filled(text)))
    at = 0
    while at < len(lines):
        at = attributes.read(lines, at) or _read_asciidoc_block(page, lines, at, ends)
    for name, key in ADOC_FACTS.items():
        if said := attributes.value(name):
            page.facts[key] = said
    page.end()
    return page


def inline_asciidoc(text: str) -> str:
    """Return text without anchors, and links without where they lead."""
    text = INLINE_IMAGE.sub(lambda match: _described(match["given"], in_line=True), text)
    text = ANCHOR.sub("", text)
    text = CROSS_REFERENCE.sub(lambda match: (match["text"] or "").strip() or match["target"], text)
    return ADOC_LINK.sub(lambda match: match["text"].split(",")[0] or match["target"], text)


def _read_asciidoc_block(page: MarkupPage, lines: Sequence[str], at: int, ends: Ends) -> int:
    line = lines[at].rstrip()
    if match := ADOC_HEADING.match(line):
        page.heading(match["name"], len(match["marks"]))
    elif line.startswith(COMMENT_FENCE):
        return ends.after(at, line)
    elif ADOC_FENCE.match(line):
        end = ends.after(at, "```" if line.startswith("```") else line)  # a language may follow
        page.code(lines[at + 1 : max(end - 1, at + 1)])
        return end
    elif TABLE_FENCE.match(line):
        return _read_asciidoc_table(page, lines, at)
    elif not _read_macro(page, line) and not _is_mark(line):
        title = BLOCK_TITLE.match(line)
        page.line(title["text"] if title else line)
    return at + 1


def _read_macro(page: MarkupPage, line: str) -> bool:
    """Read a picture, the name of another file, or who is quoted, if a line holds one."""
    if match := IMAGE.match(line):
        page.line(_described(match["given"]))
    elif match := INCLUDE.match(line):
        page.not_taken.append(match["file"])
    elif match := SAID_BY.match(line):
        page.line(match["names"])
        page.end()
    return match is not None


def _described(given: str, in_line: bool = False) -> str:
    """Return what is said of a picture by the first thing that its macro is given."""
    found = IMAGE_TEXT.match(given)
    said = described((found["quoted"] or found["bare"] or "") if found else "")
    return (within(picture(said)) if in_line else picture(said)) if said else ""


def _is_mark(line: str) -> bool:
    """Return whether a line is for the program that lays the page out."""
    is_comment = line.startswith("//")
    return is_comment or any(
        pattern.match(line) for pattern in (BLOCK_ATTRIBUTES, MACRO, PLAIN_FENCE)
    )


def _adoc_closing(line: str) -> str | None:
    """Return the fence that a line may close: the same one."""
    fence = line.rstrip()
    return fence if fence.startswith(COMMENT_FENCE) or ADOC_FENCE.match(fence) else None


def _read_asciidoc_table(page: MarkupPage, lines: Sequence[str], at: int) -> int:
    """Read a table; its first row is as wide as the first line that holds cells."""
    fence = lines[at].rstrip()
    end = next(
        (place for place in range(at + 1, len(lines)) if lines[place].rstrip() == fence),
        len(lines),
    )
    cells = list[list[str]]()  # of each, its lines
    width = 0
    for line in lines[at + 1 : end]:
        pieces = CELL.split(line.strip())
        if pieces[0].strip() and cells:
            cells[-1].append(pieces[0].strip())
        cells += [[piece.strip()] for piece in pieces[1:]]
        width = width or len(pieces) - 1
    texts = list(map(" ".join, cells))
    rows = [texts[place : place + width] for place in range(0, len(texts), width)] if width else []
    page.table(rows, int(len(rows) > 1))
    return min(end + 1, len(lines))


ATTRIBUTE = re.compile(r":(?P<gone>!?)(?P<name>[\w-]+)(?P<off>!?):(?: +(?P<value>.*))?$")
REFERENCE = re.compile(r"(?P<escaped>\\?)\{(?P<name>[\w-]{1,100})\}")
MAX_VALUE_CHARS = 5000  # more is no word; values that hold values would double without end
MAX_FILLED_CHARS = 1_000_000  # that values come to in a document; further names stay


class Attributes:
    """The attributes that are set, as far as a document is read."""

    def __init__(self, lines: Sequence[str]) -> None:
        """Take those of the document's header, which its title may use as well."""
        self._values, self._chars = dict[str, str](), 0
        header = list(takewhile(str.strip, lines))
        at = 0
        while at < len(header):
            at = self.read(header, at) or at + 1

    def read(self, lines: Sequence[str], at: int) -> int:
        """Set or unset the attribute that a line begins; return where it ends, 0 if none does."""
        match = ATTRIBUTE.match(lines[at].rstrip())
        if match is None:
            return 0
        value, end = (match["value"] or "").strip(), at + 1
        while value.endswith(" \\") and end < len(lines) and len(value) <= MAX_VALUE_CHARS:
            begun = value.removesuffix(" \\").removesuffix(" +")
            value, end = f"{begun} {lines[end].strip()}", end + 1
        name, value = match["name"].lower(), self.filled(value)
        self._values.pop(name, None)
        if not (match["gone"] or match["off"]) and len(value) <= MAX_VALUE_CHARS:
            self._values[name] = value
        return end

    def value(self, name: str) -> str:
        """Return what an attribute says; "" of one that is not set."""
        return self._values.get(name, "")

    def filled(self, text: str) -> str:
        """Return a text with what its attributes say; unknown ones stay."""
        return REFERENCE.sub(self._said, text)

    def _said(self, match: re.Match[str]) -> str:
        value = self._values.get(match["name"].lower())
        if value is None:
            return match[0]
        if match["escaped"]:
            return match[0].removeprefix("\\")
        self._chars += len(value)
        return value if self._chars <= MAX_FILLED_CHARS else match[0]


ORG_HEADING = re.compile(
    r"(?P<stars>\*+) +(?:(?:TODO|DONE|NEXT|WAITING|CANCELLED) +)?(?:\[#\w\] +)?"
    r"(?P<name>.*)$"
)
ORG_TAGS = re.compile(r"(?<! ) +:[\w@:]+:$")
SETTING = re.compile(r"\s*#\+(?P<name>[\w-]+):\s*(?P<value>.*)$")
BEGIN = re.compile(r"\s*#\+begin_(?P<name>\w+)", re.IGNORECASE)
END = re.compile(r"\s*#\+end_(?P<name>\w+)", re.IGNORECASE)
ORG_COMMENT = re.compile(r"\s*#(?: |$)")
DRAWER = re.compile(r"\s*:(?:PROPERTIES|LOGBOOK):\s*$", re.IGNORECASE)
DRAWER_KIND = ":"  # no block's name
DRAWER_END = re.compile(r"\s*:END:\s*$", re.IGNORECASE)
RULE = re.compile(r"\s*\|[-+|]+\s*$")
CODE_BLOCKS = ("src", "example", "export")
ORG_FACTS = {"title": "title", "author": "author", "date": "created", "language": "language"}
ORG_LINK = re.compile(r"\[\[(?P<target>[^\]\[]+)\](?:\[(?P<text>[^\]\[]+)\])?\]")
VERBATIM = re.compile(r"(?<![\w~=])(?P<mark>[~=])(?P<text>\S(?:[^\n~=]*\S)?)(?P=mark)(?![\w~=])")


def read_org(lines: Sequence[str]) -> MarkupPage:
    """Read the lines of a file."""
    page, ends = MarkupPage(inline_org), Ends(lines, _org_closing)
    at = 0
    while at < len(lines):
        at = _read_org_block(page, lines, at, ends)
    page.end()
    return page


def inline_org(text: str) -> str:
    """Return text without the marks of links and code."""
    text = ORG_LINK.sub(lambda match: match["text"] or match["target"], text)
    return VERBATIM.sub(lambda match: match["text"], text)


def _org_closing(line: str) -> str | None:
    """Return what a line closes: a block's name, or a drawer."""
    if DRAWER_END.match(line):
        return DRAWER_KIND
    closing = END.match(line)
    return closing["name"].lower() if closing else None


def _read_org_block(page: MarkupPage, lines: Sequence[str], at: int, ends: Ends) -> int:
    line = lines[at]
    if match := ORG_HEADING.match(line):
        page.heading(ORG_TAGS.sub("", match["name"].rstrip()), len(match["stars"]))
    elif match := BEGIN.match(line):
        name = match["name"].lower()
        end = ends.after(at, name)
        _read_marked(page, lines[at + 1 : max(end - 1, at + 1)], name)
        return end
    elif match := SETTING.match(line):
        _note(page, match["name"].lower(), match["value"].strip())
    elif DRAWER.match(line):
        return ends.after(at, DRAWER_KIND)
    elif line.lstrip().startswith("|"):
        return _read_org_table(page, lines, at)
    elif not ORG_COMMENT.match(line):
        page.line(line.rstrip())
    return at + 1


def _note(page: MarkupPage, name: str, value: str) -> None:
    page.end()
    if name in ORG_FACTS and value:
        page.facts.setdefault(ORG_FACTS[name], value)
    elif name == "include":
        page.not_taken.append(value)
    elif name == "caption":
        page.line(value)


def _read_marked(page: MarkupPage, inner: Sequence[str], name: str) -> None:
    """Read what stands between the begin and the end of a block."""
    page.end()
    if name in CODE_BLOCKS:
        page.code(inner)
    elif name != "comment":
        for line in inner:
            page.line(line.rstrip())
        page.end()


def _read_org_table(page: MarkupPage, lines: Sequence[str], at: int) -> int:
    rows: list[list[str]] = []
    header_rows, end = 0, at
    while end < len(lines) and lines[end].lstrip().startswith("|"):
        if RULE.match(lines[end]):
            header_rows = header_rows or len(rows)
        else:
            rows.append([cell.strip() for cell in lines[end].strip().strip("|").split("|")])
        end += 1
    page.table(rows, header_rows)
    return end


MARKUP_READERS = {RST_TYPE: read_rst, ORG_TYPE: read_org, ASCIIDOC_TYPE: read_asciidoc}


def load(file: Path, named: str, place: Path) -> LoadedText:
    """Read a file of one of these languages that stands in a place. Raises IngestError."""
    kind = kind_of(file.name) or RST_TYPE
    content, metadata = read_text(file)
    lines, flags = content.expandtabs(8).splitlines(), list[str]()
    if kind == RST_TYPE:
        files = nearby_files(place)
        lines = [*with_rst_includes(lines, files, (place,))]
        flags = files.flags()
    page = MARKUP_READERS[kind](lines)
    flags += [f"{name} was not read: includes are not taken in" for name in page.not_taken]
    built, opening = page.built, page.built.headings[:1]
    title = page.facts.pop("title", "") or next(
        (heading.name for heading in opening if heading.level == 1), named
    )
    return built.document(
        kind, title, {**page.facts, **metadata, **({"flags": flags} if flags else {})}
    )
