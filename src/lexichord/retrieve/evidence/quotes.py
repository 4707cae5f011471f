"""Quotes: every one is checked against the stored text before it is shown."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from lexichord.db import evidence
from lexichord.db.pool import Database
from lexichord.types.evidence import Quote


async def check_quotes(
    database: Database, quotes: Sequence[Quote]
) -> tuple[tuple[Quote, ...], tuple[str, ...]]:
    """Part the quotes that are the stored text at their span from those that are not.

    Gives the good ones in their order, and a line a bad one. One call for all.
    """
    spans = [(quote.document_id, quote.start, quote.end) for quote in quotes]
    stored = await evidence.read_spans(database, spans)
    pairs = list(zip(quotes, stored, strict=True))
    good = tuple(quote for quote, text in pairs if quote.text and quote.text == text)
    bad = tuple(_complaint(quote) for quote, text in pairs if not quote.text or quote.text != text)
    return good, bad


def sub_quote(quote: Quote, start: int, end: int, score: float) -> Quote:
    """Quote a stretch of a quote; the offsets count within it."""
    text = quote.text[start:end]
    first = quote.start + start
    return replace(quote, text=text, start=first, end=first + len(text), score=score)


def in_document_order(quotes: Iterable[Quote]) -> list[Quote]:
    """Sort quotes by place; documents stay in the order in which they first come."""
    listed = list(quotes)
    order = {name: n for n, name in enumerate(dict.fromkeys(q.document_id for q in listed))}
    return sorted(listed, key=lambda quote: (order[quote.document_id], quote.start))


def _complaint(quote: Quote) -> str:
    place = f"{quote.uri}, characters {quote.start} to {quote.end}"
    return f"not quoted: {place} of the stored text are not what chunk {quote.chunk_id} says"
