"""The numbered clauses of contracts, statutes and policies, recognized by their order.

A number opens a clause where it goes on with a list that is open (5.2 after 5.1, (c) after (b)), or
begins one (1, (a), (i)); other numbers are references, dates and amounts.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile
from operator import itemgetter

from lexichord.ingest.load import MARKDOWN_TYPE
from lexichord.ingest.load.parts import letters_value, roman_value
from lexichord.ingest.load.text import fenced_blocks, markdown_headings, markdown_tables
from lexichord.types import Heading, LoadedText, Table


@dataclass(frozen=True, slots=True)
class ListNumber:
    """One way to read a mark: the kind of list, and the place, as in (5, 2) of 5.2."""

    kind: str
    place: tuple[int, ...]
    runs_on: bool = False  # in a list within a paragraph
    line: re.Match[str] | None = None  # as it stands at a line's start

    @property
    def is_first(self) -> bool:
        """Return whether it begins a list."""
        return not self.place or self.place[-1] == 1

    def follows(self, earlier: "ListNumber", gap: int = 1) -> bool:
        """Return whether it is the next of the same list, or one of the next few."""
        if self.kind != earlier.kind or self.place[:-1] != earlier.place[:-1]:
            return False
        return not self.place or 0 < self.place[-1] - earlier.place[-1] <= gap

    @property
    def is_version(self) -> bool:
        """Return whether it is a version's or a network address's, as 7.88.0 and 192.0.2.1."""
        return len(self.place) > 2 and (0 in self.place or max(self.place) > MAX_PART)

    def stands_as(self, other: "ListNumber") -> bool:
        """Return whether both are of clauses with names, at the same margin."""
        one, two = self.line, other.line
        if one is None or two is None or len(one["line"]) != len(two["line"]):
            return False
        return _title(one) is not None and _title(two) is not None

    def is_like(self, other: "ListNumber") -> bool:
        """Return whether both could stand in lists at the same depth."""
        return self.kind == other.kind and len(self.place) == len(other.place)


def parse_number(style: str, mark: str) -> Iterator[ListNumber]:
    """Yield the ways to read a mark, of a style such as "bracketed"; i may be a letter or one."""
    if mark[0].isdigit():
        yield ListNumber(style, tuple(map(int, mark.split("."))))
        return
    small = mark.lower()
    script = style + ("a" if mark == small else "A")
    if (value := letters_value(small)) is not None:
        yield ListNumber(f"{script} letter", (value,))
    if (value := roman_value(small)) is not None:
        yield ListNumber(f"{script} roman", (value,))


MAX_PART = 99  # of a number of more than two
MAX_OPEN_LISTS = 8  # open lists; a deeper one is not followed
MAX_NUMBER_GAP = 3  # a list may miss two numbers and go on
MAX_CLAUSE_NAME_WORDS = 9  # of a heading
BLANK = r"[ \t\u00a0]"
CLAUSE_NUMBER = re.compile(
    rf"""
    (?<![^\n](?!{BLANK}))  # implied by what follows, and halves the time
    (?: (?P<line>^(?:{BLANK}|\ufeff)*)  # a line's start, or a sentence's, or within one
      | (?P<sentence>(?<=[.;:)\]”"’]){BLANK}+)
      | (?<=[a-z,]){BLANK}+ )
    (?P<mark>
        (?P<part>ARTICLE|Article|SCHEDULE|Schedule|EXHIBIT|Exhibit|ANNEX|Annex|APPENDIX|Appendix)
            {BLANK}+ (?P<of>\d{{1,3}}|[IVXLC]{{1,6}}|[A-Z]) (?=[.:]?{BLANK}*(?:$|[–—-]|[A-Z"“]))
      | (?P<word>(?:SECTION|Section|CLAUSE|Clause|§){BLANK}*)?
            (?P<decimal>\d{{1,3}}(?:\.\d{{1,3}}){{0,4}}) (?=[.):]?(?:$|{BLANK}+(?:["“(\[A-Z]|$)))
      | \((?P<bracketed>[a-z]{{1,4}}|[A-Z]{{1,4}}|\d{{1,2}})\)
      | (?P<bracket>[a-z]{{1,4}}|[A-Z]{{1,4}}|\d{{1,2}})\) (?={BLANK})
      | (?P<dotted>[a-z]{{1,4}}|[A-Z]{{1,4}}) (?=\.{BLANK})
      | (?P<term>["“][^"”\n]{{2,80}}["”]) (?=(?:[ ]\([^)\n]{{1,80}}\))?,?[ ]
            (?:means?|shall[ ]mean|has[ ]the[ ]meaning|refers[ ]to)\b)
    )""",
    re.MULTILINE | re.VERBOSE,
)
PART_KINDS = ("article", "schedule", "exhibit", "annex", "appendix")
NUMBER_STYLES = ("part", "decimal", "bracketed", "bracket", "dotted", "term")
LINE_START_STYLES = ("part", "bracket", "dotted")
# What a list item's line may follow: a blank line, the end of a sentence or item, an item.
BEFORE_ITEM = re.compile(
    r"(?:\A|\n[ \t]*\n|(?:[.:;!?—–-](?:[ \t]*(?:and|or))?|^\(\d+\)[^\n]*)[ \t]*\n)\Z",
    re.MULTILINE,
)
MAX_ITEM_LINE_CHARS = 300  # characters of the line above that are looked at
# A line of running text, which the next one goes on with: no title has two such words.
RUNNING_LINE = re.compile(
    r"^(?=.{40})(?>(?:[^\n]*?(?<![^\s(])[a-z]{4}){2})"
    r"[^\n]*[^\s.:;!?”\"—–-](?<!; or)(?<!; and)[ \t]*\n\Z",
    re.MULTILINE,
)
LINE_END = re.compile(rf".?{BLANK}*$", re.MULTILINE)
REFERENCE_WORD = re.compile(
    r"\b(?:sections?|articles?|clauses?|paragraphs?|levels?|tables?|of|to|in|than|with|under|is|are|was|be)$",
    re.IGNORECASE,
)
CLAUSE_NAME = re.compile(
    rf"[.):]?{BLANK}*(?:[–—-]{BLANK}+)?(?P<name>[A-Z“\"][^\n.:;]{{2,80}})(?=(?<=\w\w\w)[.:]\s|[.:]?\r?$)",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class NumberMatch:
    """A match: how its number may be read, and whether it stands where lists begin."""

    numbers: tuple[ListNumber, ...]
    at_line: bool
    begins: bool
    is_section: bool
    is_running: bool


def clauses(text: str, start: int, end: int) -> Iterator[Heading]:
    """Yield the clauses that begin in text[start:end]; `level` counts the open lists from 1."""
    opened: list[ListNumber] = []
    for match in CLAUSE_NUMBER.finditer(text, start, end):
        mark = _read(match)
        placed = mark and (_goes_on(opened, mark) or _begins(opened, mark))
        if placed:
            depth, number = placed
            opened[depth:] = [number]
            name, name_end = _name(match)
            yield Heading(match.start("mark"), min(name_end, end), depth + 1, name)


def _read(match: re.Match[str]) -> NumberMatch | None:
    style = next(style for style in NUMBER_STYLES if match[style])
    at_line, at_sentence = match["line"] is not None, match["sentence"] is not None
    if not at_line and style in LINE_START_STYLES:
        return None
    if (match["bracketed"] or "")[:1].isdigit() and not (at_line and _is_item(match)):
        return None
    if (
        not at_line
        and not at_sentence
        and REFERENCE_WORD.search(match.string[max(0, match.start() - 12) : match.start()])
    ):
        return None
    is_section = match["word"] is not None
    is_running = at_line and not is_section and _is_running(match)
    begins = at_sentence or (_may_begin(match) if at_line else _begins_in_line(match))
    numbers = tuple(_numbers(match, style))
    if at_line:
        numbers = tuple(replace(number, line=match) for number in numbers)
    return NumberMatch(numbers, at_line, begins and not is_running, is_section, is_running)


def _is_item(match: re.Match[str]) -> bool:
    """Return whether (1) at a line's start is an item's, not an equation's or one of a sentence."""
    if match.string[match.end() : match.end() + 1] in ("\n", ""):
        return False
    start = match.start()
    above = match.string[max(0, start - MAX_ITEM_LINE_CHARS) : start]
    return BEFORE_ITEM.search(above) is not None


def _begins_in_line(match: re.Match[str]) -> bool:
    """Return whether a number within a line may open a list; in "the default is 1." it does not."""
    return _has_end(match) and not (match["decimal"] and LINE_END.match(match.string, match.end()))


def _is_running(match: re.Match[str]) -> bool:
    """Return whether a decimal's line goes on with the sentence above: "added in", "7.88"."""
    if not match["decimal"]:
        return False
    start = match.start()
    above = match.string[max(0, start - MAX_ITEM_LINE_CHARS) : start]
    return RUNNING_LINE.search(above) is not None


def _may_begin(match: re.Match[str]) -> bool:
    """Return whether a line's first number may open a list; in "1 July 2024" it does not."""
    if _has_end(match) or match["word"] or "." in (match["decimal"] or "."):
        return True
    titled = _title(match)
    return titled is not None and not any(map(str.isdigit, titled["name"]))


def _has_end(match: re.Match[str]) -> bool:
    return match.string[match.end() : match.end() + 1] in (".", ")", ":")


def _numbers(match: re.Match[str], style: str) -> Iterator[ListNumber]:
    if style == "term":
        yield ListNumber("term", ())
    elif style == "part":
        kind = match["part"].lower()
        yield from (ListNumber(kind, number.place) for number in parse_number("", match["of"]))
    else:
        yield from parse_number(style, match[style])


def _goes_on(opened: Sequence[ListNumber], mark: NumberMatch) -> tuple[int, ListNumber] | None:
    """Return the depth of the list that a mark goes on with, and how it is read there."""
    for number in mark.numbers:
        for depth in range(len(opened) - 1, -1, -1):
            if number.follows(opened[depth]):
                return depth, replace(number, runs_on=opened[depth].runs_on)
    return None


def _begins(opened: Sequence[ListNumber], mark: NumberMatch) -> tuple[int, ListNumber] | None:
    """Return the depth of the list that a mark begins, or goes on with after a gap."""
    if mark.at_line:  # a list within the paragraph above is over
        runs = sum(1 for _ in takewhile(lambda number: number.runs_on, reversed(opened)))
        opened = opened[: len(opened) - runs]
    for number in mark.numbers:
        if number.is_version and not mark.is_section:
            continue
        if number.kind == "decimal" and (len(number.place) > 1 or mark.is_section):
            depth = _decimal_depth(opened, number, mark.at_line and not mark.is_running)
        else:
            depth = _list_depth(opened, number, mark.at_line) if mark.begins else None
        if depth is not None and depth < MAX_OPEN_LISTS:
            return depth, replace(number, runs_on=not mark.at_line)
    return None


def _list_depth(opened: Sequence[ListNumber], number: ListNumber, at_line: bool) -> int | None:
    if number.kind in PART_KINDS:
        return 0
    alike = _alike(opened, number)
    if number.is_first:
        # A clause with a name that counts from 1 again at the same margin is in no other.
        anew = [n for n in alike if n == len(opened) - 1 or number.stands_as(opened[n])]
        return anew[-1] if anew else len(opened)
    if at_line and alike and number.follows(opened[alike[-1]], MAX_NUMBER_GAP):
        return alike[-1]
    return None


def _decimal_depth(opened: Sequence[ListNumber], number: ListNumber, at_line: bool) -> int | None:
    """Place 5.2 under 5, else beside 4.7, else under the article."""
    for depth, other in enumerate(opened):
        if other.kind == "decimal" and other.place == number.place[:-1]:
            return depth + 1 if at_line or number.is_first else None
    if not at_line:
        return None
    alike = _alike(opened, number)
    return alike[0] if alike else sum(other.kind in PART_KINDS for other in opened)


def _alike(opened: Sequence[ListNumber], number: ListNumber) -> list[int]:
    return [depth for depth, other in enumerate(opened) if number.is_like(other)]


def _title(match: re.Match[str]) -> re.Match[str] | None:
    """Find the words after a number that name its clause, if it has a name."""
    named = CLAUSE_NAME.match(match.string, match.end())
    return named if named and len(named["name"].split()) <= MAX_CLAUSE_NAME_WORDS else None


def _name(match: re.Match[str]) -> tuple[str, int]:
    label = match["mark"] + ("." if match["dotted"] else "")
    titled = None if match["term"] else _title(match)
    if titled is None:
        return label, match.end()
    return f"{label} {titled['name'].strip()}", titled.end()


TAB_COLUMNS = 4  # columns
DECLARATION = re.compile(
    r"^(?P<indent>[ \t]*)"
    r"(?:(?:export|default|public|private|protected|internal|static|abstract|final|sealed|open"
    r"|override|async|unsafe|extern|const|inline|virtual|data|pub(?:\([a-z:]+\))?)[ \t]+)*"
    r"(?P<keyword>def|class|fn|func|fun|function|struct|enum|impl|trait|interface|type|mod|module"
    r"|namespace|object|protocol|extension"
    r"|(?:create|CREATE)(?: or replace| OR REPLACE)? (?:function|FUNCTION|table|TABLE|view|VIEW))"
    r"(?=[ \t(<])(?P<rest>[^\n]*)",
    re.MULTILINE,
)
DECLARED_NAME = re.compile(
    r"[ \t]*(?:<[^>\n]{0,80}>)?[ \t]*(?:\([^)\n]{0,80}\)[ \t]*)?(?P<name>[\w.:$]*\w)"
)
BLOCK_END = re.compile(r"^[ \t]*\}[);,]*[ \t]*\r?$", re.MULTILINE)
COMMENT_LINE = re.compile(
    r"[ \t]*(?:@|#|//|/\*|\*|--|\"\"\")"
)  # comments and decorators belong below


def declarations(text: str) -> Iterator[Heading]:
    """Yield the declarations in order, each from the comment above it; `level` counts from 1."""
    opened: list[int] = []
    previous = 0
    for match in DECLARATION.finditer(text):
        name = DECLARED_NAME.match(match["rest"])
        if name is None:
            continue
        indent = len(match["indent"].expandtabs(TAB_COLUMNS))
        while opened and opened[-1] >= indent:
            opened.pop()
        opened.append(indent)
        start = _with_comment(text, match.start(), previous)
        previous = match.end()
        yield Heading(start, match.end(), len(opened), f"{match['keyword']} {name['name'].strip()}")


def declared_names(text: str) -> list[str]:
    """Return the names that a piece of code declares, as often as it does."""
    named = (DECLARED_NAME.match(match["rest"]) for match in DECLARATION.finditer(text))
    return [name["name"] for name in named if name]


def is_code(text: str) -> bool:
    """Return whether a text is code: it declares something, or a brace closes a block."""
    return bool(BLOCK_END.search(text) or declared_names(text))


def _with_comment(text: str, start: int, floor: int) -> int:
    """Move up over the lines right above that are comments or decorators."""
    while start > floor:
        above = text.rfind("\n", floor, start - 1) + 1
        if above <= floor or not COMMENT_LINE.match(text, above, start):
            return start
        start = above
    return start


CODE_MEDIA_PREFIX = "text/x-"


def outline(loaded: LoadedText) -> tuple[list[Heading], list[Table]]:
    """Return a text's headings in order, and its tables."""
    text, headings, tables = loaded.text, list(loaded.headings), list(loaded.tables)
    if loaded.media_type.startswith(CODE_MEDIA_PREFIX):
        return list(declarations(text)), []
    fenced: list[tuple[int, int]] = []
    if loaded.media_type == MARKDOWN_TYPE:
        headings += markdown_headings(text)
        tables += markdown_tables(text)
        fenced = fenced_blocks(text)
    closed = sorted([*fenced, *((table.start, table.end) for table in tables)])
    return list(_with_clauses(text, _without_title(text, headings), closed)), tables


# What may stand above a title: what loaders say of a picture there, and of a page's header.
OPENING = re.compile(r"[\ufeff \t\r\n]*(?:(?:Picture|Header): [^\n]*\n[ \t\r\n]*)*")


def _without_title(text: str, headings: Sequence[Heading]) -> list[Heading]:
    """Take the document's own title, the only first-level heading at the top, out of all paths."""
    opening = OPENING.match(text)
    if (
        not headings
        or opening is None
        or headings[0].start > opening.end()
        or headings[0].level > 1
    ):
        return list(headings)
    return [Heading(headings[0].start, headings[0].end, 1, ""), *headings[1:]]


def _with_clauses(
    text: str, headings: Sequence[Heading], closed: Sequence[tuple[int, int]]
) -> Iterator[Heading]:
    """Add the clauses under each heading, one level deeper; none begins in a closed stretch."""
    first = Heading(0, 0, 0, "")
    last = Heading(len(text), len(text), 0, "")
    for heading, following in pairwise([first, *headings, last]):
        if heading is not first:
            yield heading
        for clause in clauses(text, heading.end, following.start):
            before = bisect_right(closed, clause.start, key=itemgetter(0))
            if before == 0 or closed[before - 1][1] <= clause.start:
                yield Heading(clause.start, clause.end, heading.level + clause.level, clause.name)
