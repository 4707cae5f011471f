"""An extractive answer: sentences of the evidence, each with its source; empty without evidence."""

import re
from collections.abc import Iterable, Sequence
from itertools import takewhile

from lexichord.db.pool import Database
from lexichord.retrieve.evidence.context import citation
from lexichord.retrieve.evidence.relevance import EmbedSentences, sentences_of, sub_quote
from lexichord.retrieve.evidence.sentences import rank_sentences
from lexichord.types import ContextSource
from lexichord.types.evidence import (
    NOT_FOUND,
    Answer,
    AnswerRequest,
    Cell,
    Comparison,
    Evidence,
    Quote,
)

MAX_ANSWER_SENTENCES = 3  # of an answer to a question for one thing, at most
MIN_ANSWER_SHARE = 0.25  # of the best sentence's likelihood, for those after it
ITEM_OPENING = re.compile(r"\(\w{1,4}\)|[a-z]{1,4}[.)]\s|[-*•–]\s")


async def write_answer(
    database: Database,
    brief: AnswerRequest,
    evidence: Evidence,
    sources: Sequence[ContextSource],
    embed: EmbedSentences | None = None,
) -> Answer:
    """Write an answer by intent out of the evidence's own words, as Markdown.

    A comparison is a table, a list is grouped by file, a summary is its sentences, all else the
    best sentences. `sources` are those of the context: [n] names one, a title a quote that is in
    none of them. Without evidence the answer is "". Advice cannot be heeded: quotes stay quotes.
    """
    if brief.kind == "comparison" and evidence.comparison is not None:
        return Answer(write_table(evidence.comparison, sources))
    if brief.kind == "list_all":
        return Answer(write_list(evidence.quotes, sources))
    quotes: Sequence[Quote] = evidence.quotes
    confidence = None
    if brief.kind != "summary":
        best, confidence = await rank_sentences(database, brief.question, quotes, embed)
        likely = [one for one in best[:MAX_ANSWER_SENTENCES] if one.score >= MIN_ANSWER_SHARE]
        quotes = _apart([whole_unit(one, evidence.quotes) for one in likely])
    text = "\n".join(cite_line(quote, sources) for quote in quotes)
    return Answer(text, confidence=confidence)


def whole_unit(sentence: Quote, passages: Iterable[Quote]) -> Quote:
    """Return a sentence together with what it cannot do without in its passage.

    That are the sentence that it leans on, and the items that follow where it ends in a colon.
    """
    around = next((passage for passage in passages if _holds(passage, sentence)), None)
    if around is None:
        return sentence
    sentences = sentences_of(around)
    own = next((one for one in sentences if one.quote.start == sentence.start), None)
    start = sentence.start
    if own is not None and own.before:
        start = around.start + around.text.rindex(own.before, 0, start - around.start)
    end = _end_of_items(sentence, [one.quote for one in sentences])
    return sub_quote(around, start - around.start, end - around.start, sentence.score)


def _end_of_items(sentence: Quote, sentences: Iterable[Quote]) -> int:
    if not sentence.text.rstrip().endswith(":"):
        return sentence.end
    later = [one for one in sentences if one.start >= sentence.end]
    items = [*takewhile(lambda one: ITEM_OPENING.match(one.text), later)]
    return items[-1].end if items else sentence.end


def _holds(one: Quote, other: Quote) -> bool:
    inside = one.start <= other.start and other.end <= one.end
    return one.document_id == other.document_id and inside


def _apart(quotes: Sequence[Quote]) -> list[Quote]:
    """Return the quotes that no other quote holds."""
    return [one for one in quotes if not any(o is not one and _holds(o, one) for o in quotes)]


def write_table(table: Comparison, sources: Sequence[ContextSource]) -> str:
    """Write a row a file, a column an aspect; "" if nothing was found at all."""
    if not any(cell.found for cell in table.cells):
        return ""
    rows = [["File", *table.aspects], ["---"] * (1 + len(table.aspects))]
    for file in table.documents:
        cells = [table.cell(file.document_id, aspect) for aspect in table.aspects]
        rows.append([file.title or file.uri, *(_cell(cell, sources) for cell in cells)])
    return "\n".join("| " + " | ".join(map(_escaped, row)) + " |" for row in rows)


def write_list(quotes: Iterable[Quote], sources: Sequence[ContextSource]) -> str:
    """Write a file's name, then its quotes as items, then the next file's."""
    lines: list[str] = []
    document: str | None = None
    for quote in quotes:
        if quote.document_id != document:
            lines += [*([""] if lines else []), f"{quote.title or quote.uri}:"]
            document = quote.document_id
        lines.append(f"- {cite_line(quote, sources)}")
    return "\n".join(lines)


def cite_line(quote: Quote, sources: Iterable[ContextSource]) -> str:
    """Write a quote on one line, with its source."""
    return f"{_line(quote.text)} {cite_source(quote, sources)}"


def cite_source(quote: Quote, sources: Iterable[ContextSource]) -> str:
    """Return the number of the source that holds a quote, as [n], or else its title and heading."""
    for source in sources:
        inside = source.start <= quote.start and quote.end <= source.end
        if source.document_id == quote.document_id and inside:
            return f"[{source.number}]"
    return f"({citation(quote) or quote.uri})"


def _cell(cell: Cell, sources: Sequence[ContextSource]) -> str:
    quoted = (f"“{_line(quote.text)}” {cite_source(quote, sources)}" for quote in cell.quotes)
    return " ".join(quoted) or NOT_FOUND


def _line(text: str) -> str:
    return " ".join(text.split())


def _escaped(text: str) -> str:
    return text.replace("|", r"\|")
