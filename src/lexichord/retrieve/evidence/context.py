"""Evidence as text for a reader or a model: whole passages, numbered as their sources."""

from collections.abc import Callable, Iterable, Sequence
from itertools import count

from lexichord.errors import ConfigError
from lexichord.types import ChunkHit, ContextFormat, QueryOptions
from lexichord.types.base import cite
from lexichord.types.evidence import ContextSource, Quote

type MeasureLength = Callable[[str], int]

BYTES_PER_TOKEN = 4
QA_HEAD = "Question: {question}\n\n"
QA_TAIL = (
    "\n\nAnswer the question from the passages above alone, and cite them by number. "
    "If they do not hold the answer, say so.\n\nAnswer:"
)


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text without a tokenizer: a token is four bytes of UTF-8.

    English prose has 4 to 5 characters a token in the usual vocabularies, code fewer; a letter
    outside ASCII counts as two or more. A budget in tokens is therefore roughly kept, not exactly.
    """
    return -(-len(text.encode()) // BYTES_PER_TOKEN)


def format_context(
    passages: Iterable[ChunkHit | Quote],
    max_length: int = QueryOptions.max_length,
    style: ContextFormat = QueryOptions.format,
    question: str = "",
    length: MeasureLength = len,
) -> tuple[str, list[ContextSource]]:
    """Return the passages that fit whole into `max_length`, and their sources, numbered as shown.

    `simple` lists them; `structured` groups them by document, with ids and scores; `qa` puts them
    between `question` and what a model is to do. `length` measures a text: `len`,
    `estimate_tokens` or a tokenizer's count. A passage that does not fit makes way for a shorter
    one. Raises ConfigError.
    """
    if style not in ("simple", "structured", "qa"):
        raise ConfigError(f"there is no format '{style}': simple, structured, qa")
    head, tail = (QA_HEAD.format(question=question), QA_TAIL) if style == "qa" else ("", "")
    room = max_length - length(head) - length(tail)
    chosen = _fitting(map(_quote, passages), room, style == "structured", length)
    if not chosen:
        return "", []
    shown = _by_document(chosen) if style == "structured" else chosen
    sources = [ContextSource.of(number, quote) for number, quote in enumerate(shown, 1)]
    pieces = _pieces(shown, style == "structured")
    return head + "\n".join(pieces) + tail, sources


def _quote(passage: ChunkHit | Quote) -> Quote:
    return Quote.of(passage) if isinstance(passage, ChunkHit) else passage


def _fitting(
    quotes: Iterable[Quote], room: int, grouped: bool, length: MeasureLength
) -> list[Quote]:
    """Return the quotes that fit. A piece after the first has an empty line before it."""
    chosen: list[Quote] = []
    documents: set[str] = set()
    for quote in quotes:
        header = _document(quote) + "\n" if grouped and quote.document_id not in documents else ""
        piece = "\n" * bool(chosen) + header + _passage(len(chosen) + 1, quote, grouped)
        if (size := length(piece)) <= room:
            room -= size
            chosen.append(quote)
            documents.add(quote.document_id)
    return chosen


def _by_document(quotes: Sequence[Quote]) -> list[Quote]:
    """Group quotes by document; documents stay in the order of their first quote."""
    order = {name: n for n, name in enumerate(dict.fromkeys(q.document_id for q in quotes))}
    return sorted(quotes, key=lambda quote: order[quote.document_id])


def _pieces(quotes: Sequence[Quote], grouped: bool) -> list[str]:
    pieces = []
    numbers = count(1)
    previous: str | None = None
    for quote in quotes:
        header = _document(quote) + "\n" if grouped and quote.document_id != previous else ""
        pieces.append(header + _passage(next(numbers), quote, grouped))
        previous = quote.document_id
    return pieces


def _document(quote: Quote) -> str:
    return f"# {quote.title or quote.uri}\n{quote.uri}, {quote.document_id}\n"


def _passage(number: int, quote: Quote, grouped: bool) -> str:
    name = f"{quote.heading} ({_place(quote)})".lstrip() if grouped else citation(quote)
    return f"[{number}] {name}\n{quote.text}\n"


def _place(quote: Quote) -> str:
    page = f"page {quote.page}, " if quote.page is not None else ""
    span = f"characters {quote.start} to {quote.end}"
    return f"{page}{span}, {quote.chunk_id}, score {quote.score:.2f}"


def citation(quote: Quote) -> str:
    """Return the name of a quote's source for a reader: title and heading."""
    return cite(quote.title, quote.heading)
