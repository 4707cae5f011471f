"""An extractive answer: sentences of the evidence, each with its source; empty without evidence."""

import re
from collections.abc import Iterable, Sequence
from itertools import takewhile

from lexichord.db.pool import Database
from lexichord.retrieve.evidence.context import citation
from lexichord.retrieve.evidence.relevance import EmbedSentences, sentences_of, sub_quote
from lexichord.retrieve.evidence.sentences import rank_sentences
from lexichord.retrieve.evidence.wanted import wanted_type
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
MAX_LIST_CHARS = 1500  # of a list or code that is shown whole
ITEM_OPENING = re.compile(
    r"(?P<bracket>\(\w{1,4}\))|(?P<letter>[a-z]{1,4}[.)]\s)|(?P<number>\d{1,2}[.)]\s)|(?P<sign>[-*•–]\s)"
)
CODE_BLOCK = re.compile(r"\s*```[^\n]*\n.*?\n[ \t]*```[ \t]*(?=\n|\Z)", re.S)


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
        wants_all = wanted_type(brief.question) == "how-to"
        units = [whole_unit(one, evidence.quotes, wants_all) for one in likely]
        return Answer(_write_units(units, evidence.quotes, sources), confidence=confidence)
    text = "\n".join(cite_line(quote, sources) for quote in quotes)
    return Answer(text, confidence=confidence)


def whole_unit(sentence: Quote, passages: Iterable[Quote], with_steps: bool = False) -> Quote:
    """Return a sentence together with what it cannot do without in its passage.

    These are the sentence that it leans on and, where it ends in a colon, the items or the code
    that follow; of a step, `with_steps`, all of its list and what leads to that.
    """
    around = next((passage for passage in passages if _holds(passage, sentence)), None)
    if around is None:
        return sentence
    sentences = sentences_of(around)
    number = next((n for n, one in enumerate(sentences) if one.quote.start == sentence.start), None)
    if number is None:
        return sentence
    first = number
    if with_steps and ITEM_OPENING.match(sentence.text):
        first = _lead_of_list([one.quote for one in sentences], number)
    elif sentences[number].before and not sentence.text.startswith("|"):
        first = number - 1
    end = _end_of_list(around, [one.quote for one in sentences], first, number)
    start = sentences[first].quote.start
    if end - start > MAX_LIST_CHARS:
        start, end = sentence.start, sentence.end
    return sub_quote(around, start - around.start, end - around.start, sentence.score)


def _lead_of_list(sentences: Sequence[Quote], number: int) -> int:
    """Return the sentence that leads to an item's list, or else its first item."""
    kind = _kind_of_item(sentences[number])
    while number and _kind_of_item(sentences[number - 1]) == kind:
        number -= 1
    return number - 1 if number and sentences[number - 1].text.rstrip().endswith(":") else number


def _kind_of_item(sentence: Quote) -> str | None:
    """Return how an item is marked, by a letter, a number or a sign; None for other sentences."""
    opening = ITEM_OPENING.match(sentence.text)
    return opening.lastgroup if opening else None


def _end_of_list(passage: Quote, sentences: Sequence[Quote], first: int, number: int) -> int:
    """Return where a sentence ends: with the list or the code that its colon announces."""
    lead = sentences[first]
    is_item = bool(ITEM_OPENING.match(sentences[number].text)) and first < number
    if not is_item and not sentences[number].text.rstrip().endswith(":"):
        return sentences[number].end
    later = sentences[number + 1 :]
    kind = _kind_of_item(sentences[number] if is_item else later[0]) if later else None
    items = [*takewhile(lambda one: kind is not None and _kind_of_item(one) == kind, later)]
    if items or is_item:
        return (items or [sentences[number]])[-1].end
    code = CODE_BLOCK.match(passage.text, lead.end - passage.start)
    return passage.start + code.end() if code else sentences[number].end


def _write_units(
    units: Sequence[Quote], passages: Iterable[Quote], sources: Sequence[ContextSource]
) -> str:
    """Write each unit with its source: a row of a table with the names of its columns."""
    heads = {
        (one.quote.document_id, one.quote.start): one.before
        for passage in passages
        for one in sentences_of(passage)
        if one.quote.text.startswith("|") and one.before
    }
    return "\n".join(
        write_row(heads[place], unit, sources)
        if (place := (unit.document_id, unit.start)) in heads
        else write_unit(unit, sources)
        for unit in _apart(units)
    )


def write_row(head: str, row: Quote, sources: Sequence[ContextSource]) -> str:
    """Write a table's row as "column: value", with its source."""
    names, values = (
        [cell.strip() for cell in line.strip().strip("|").split("|")] for line in (head, row.text)
    )
    if len(names) != len(values):
        return cite_line(row, sources)
    pairs = (
        f"{name}: {value}" if name else value for name, value in zip(names, values, strict=True)
    )
    return f"{'; '.join(pairs)} {cite_source(row, sources)}"


def write_unit(unit: Quote, sources: Sequence[ContextSource]) -> str:
    """Write a sentence on one line with its source, what it leads to on lines of their own."""
    lines = [line.rstrip() for line in unit.text.strip().splitlines() if line.strip()]
    is_code = any(line.lstrip().startswith("```") for line in lines)
    if not is_code and not any(ITEM_OPENING.match(line.strip()) for line in lines[1:]):
        return cite_line(unit, sources)
    return "\n".join([f"{lines[0]} {cite_source(unit, sources)}", *lines[1:]])


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


def write_denial(titles: Sequence[str], elsewhere: Sequence[Quote]) -> str:
    """Write that the documents that are named do not say, and apart what others say."""
    names = ", ".join(f"“{title}”" for title in titles)
    verb = "does" if len(titles) == 1 else "do"
    lines = [f"{names} {verb} not say."]
    if elsewhere:
        lines += ["", "Other documents:", *(f"- {cite_line(quote, ())}" for quote in elsewhere)]
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
