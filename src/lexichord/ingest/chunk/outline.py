"""Which headings and tables a text has: those of its format, and the numbered clauses between."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from operator import itemgetter

from lexichord.ingest.chunk.clauses import clauses
from lexichord.ingest.chunk.code import declarations
from lexichord.ingest.chunk.markdown import fenced_blocks, markdown_headings, markdown_tables
from lexichord.types import Heading, LoadedText, Table

CODE = "text/x-"


def outline(loaded: LoadedText) -> tuple[list[Heading], list[Table]]:
    """Give a text's headings in order, and its tables."""
    text, headings, tables = loaded.text, list(loaded.headings), list(loaded.tables)
    if loaded.media_type.startswith(CODE):
        return list(declarations(text)), []
    fenced: list[tuple[int, int]] = []
    if loaded.media_type == "text/markdown":
        headings += markdown_headings(text)
        tables += markdown_tables(text)
        fenced = fenced_blocks(text)
    closed = sorted([*fenced, *((table.start, table.end) for table in tables)])
    return list(_with_clauses(text, _without_title(text, headings), closed)), tables


def _without_title(text: str, headings: Sequence[Heading]) -> list[Heading]:
    """Take the document's own title, the only first-level heading at the top, out of all paths."""
    opening = len(text) - len(text.lstrip("\ufeff \t\r\n"))
    if not headings or headings[0].start > opening or headings[0].level > 1:
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
