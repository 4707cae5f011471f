"""The outline of a text: its headings, declarations in source code, clauses; its tables."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from operator import itemgetter

from lexichord.ingest.chunk.clauses import clauses
from lexichord.ingest.load.kinds import MARKDOWN_TYPE
from lexichord.ingest.markdown import fenced_blocks, markdown_headings, markdown_tables
from lexichord.types import Heading, LoadedText, Table

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
