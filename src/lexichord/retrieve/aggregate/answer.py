"""An extractive answer: sentences of the evidence, each with its source; empty without evidence."""

from collections.abc import Iterable, Sequence

from lexichord.db.pool import Database
from lexichord.retrieve.aggregate.context import citation
from lexichord.retrieve.aggregate.relevance import Embed
from lexichord.retrieve.aggregate.summary import best_sentences
from lexichord.types import Json
from lexichord.types.evidence import Cell, Comparison, Evidence, Quote

SENTENCES = 3  # of an answer to a question for one thing
NOT_FOUND = "not found in this file"


async def write_answer(
    database: Database,
    kind: str,
    question: str,
    found: Evidence,
    sources: Sequence[Json],
    embed: Embed | None = None,
) -> str:
    """Write an answer by intent out of the evidence's own words, as Markdown.

    A comparison is a table, a list is grouped by file, a summary is its sentences, all else the
    best sentences. `sources` are those of the context: [n] names one, a title a quote that is in
    none of them. Without evidence the answer is "".
    """
    if kind == "comparison" and found.comparison is not None:
        return write_table(found.comparison, sources)
    if kind == "list_all":
        return write_list(found.quotes, sources)
    quotes = found.quotes
    if kind != "summary":
        quotes = tuple(await best_sentences(database, question, quotes, embed, SENTENCES))
    return "\n".join(f"{_line(quote.text)} {cite(quote, sources)}" for quote in quotes)


def write_table(table: Comparison, sources: Sequence[Json]) -> str:
    """Write a row a file, a column an aspect; "" if nothing was found at all."""
    if not any(cell.found for cell in table.cells):
        return ""
    rows = [["File", *table.aspects], ["---"] * (1 + len(table.aspects))]
    for file in table.documents:
        cells = [table.cell(file.document_id, aspect) for aspect in table.aspects]
        rows.append([file.title or file.uri, *(_cell(cell, sources) for cell in cells)])
    return "\n".join("| " + " | ".join(map(_escaped, row)) + " |" for row in rows)


def write_list(quotes: Iterable[Quote], sources: Sequence[Json]) -> str:
    """Write a file's name, then its quotes as items, then the next file's."""
    lines: list[str] = []
    document: int | None = None
    for quote in quotes:
        if quote.document_id != document:
            lines += [*([""] if lines else []), f"{quote.title or quote.uri}:"]
            document = quote.document_id
        lines.append(f"- {_line(quote.text)} {cite(quote, sources)}")
    return "\n".join(lines)


def cite(quote: Quote, sources: Iterable[Json]) -> str:
    """Give the number of the source that holds a quote, as [n], or else its title and heading."""
    for source in sources:
        inside = source["start"] <= quote.start and quote.end <= source["end"]
        if source["document_id"] == quote.document_id and inside:
            return f"[{source['number']}]"
    return f"({citation(quote) or quote.uri})"


def _cell(cell: Cell, sources: Sequence[Json]) -> str:
    quoted = (f"“{_line(quote.text)}” {cite(quote, sources)}" for quote in cell.quotes)
    return " ".join(quoted) or NOT_FOUND


def _line(text: str) -> str:
    return " ".join(text.split())


def _escaped(text: str) -> str:
    return text.replace("|", r"\|")
