"""A comparison's table, its quotes chosen by a model and looked up in the documents."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from lexichord.db import evidence
from lexichord.db.pool import Database
from lexichord.llm.ask import MOST, Ask
from lexichord.llm.sources import Source, find_quote, mark
from lexichord.retrieve.aggregate.answer import write_table
from lexichord.retrieve.aggregate.comparison import CHUNKS
from lexichord.retrieve.aggregate.values import values_of
from lexichord.types import Json
from lexichord.types.evidence import Answer, Cell, Comparison, Quote

type Place = tuple[int, str]  # a document's id and an aspect


async def compare(
    ask: Ask, database: Database, table: Comparison, sources: Sequence[Json]
) -> Answer:
    """Write the table with the model's quotes; a cell without one keeps what it had.

    The model sees the passages of each file that match an aspect by their words, and the quotes
    that the table has. A quote from another file than its cell's is unverified.
    Raises ProviderError.
    """
    shown = await _sources(database, table)
    rows = {number: file.document_id for number, file in enumerate(table.documents, 1)}
    given = {"aspects": list(table.aspects), "sources": _by_document(rows, shown)}
    said = await ask("comparison", given)
    chosen: dict[Place, Quote] = {}
    unverified = list[str]()
    aspects = {aspect.casefold(): aspect for aspect in table.aspects}
    for each in said["cells"][:MOST]:
        document, aspect = rows.get(each["document"]), aspects.get(each["aspect"].casefold())
        own = [source for source in shown if source.quote.document_id == document]
        quote = find_quote(each["text"], each["source"], own)
        if quote is not None and aspect is not None:
            chosen.setdefault((quote.document_id, aspect), quote)
        elif each["text"].strip():
            unverified.append(each["text"])
    made = _with(table, chosen)
    text = write_table(made, sources) if chosen else ""
    return Answer(text, tuple(unverified), made if chosen else None)


async def _sources(database: Database, table: Comparison) -> list[Source]:
    """Number what each file's best passages and the table's quotes are, file by file."""
    ids = [file.document_id for file in table.documents]
    hits = await evidence.search_each(database, table.aspects, ids, None, CHUNKS, None)
    quotes = [
        *(Quote.of(hit) for _, hit in hits),
        *(q for cell in table.cells for q in cell.quotes),
    ]
    places = {(quote.document_id, quote.start, quote.end): quote for quote in quotes}
    ordered = sorted(places, key=lambda place: (ids.index(place[0]), place))
    return [Source(number, places[place]) for number, place in enumerate(ordered, 1)]


def _by_document(rows: Mapping[int, int], shown: Sequence[Source]) -> str:
    parts = [
        f"Document {number}\n{mark(own, shown)}"
        for number, document in rows.items()
        if (own := [source for source in shown if source.quote.document_id == document])
    ]
    return "\n\n".join(parts)


def _with(table: Comparison, chosen: Mapping[Place, Quote]) -> Comparison:
    """Put the quotes into their cells, in place of what stood there."""
    cells = (_filled(cell, chosen.get((cell.document_id, cell.aspect))) for cell in table.cells)
    return replace(table, cells=tuple(cells))


def _filled(cell: Cell, quote: Quote | None) -> Cell:
    if quote is None:
        return cell
    return replace(cell, quotes=(quote,), values=values_of([quote]))
