"""Evidence as text: passages for a reader or a model, and an extractive answer out of them.

An answer is sentences of the evidence, each with its source; empty without evidence.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import count

from lexichord.db.pool import Database
from lexichord.db.search import expand_context
from lexichord.display.plain_text import ITEM_OR_CODE, lay_out, shown_text, without_roles
from lexichord.errors import ConfigError
from lexichord.retrieve.evidence.relevance import (
    RULE_BELOW,
    EmbedSentences,
    document_order,
    sentences_of,
)
from lexichord.retrieve.evidence.sentences import cells_of, in_words, rank_sentences
from lexichord.retrieve.evidence.splitting import is_code, without_comment_signs
from lexichord.retrieve.evidence.units import (
    ANNOUNCES,
    MAX_UNIT_CHARS,
    Needs,
    apart,
    holds_quote,
    is_list,
    whole_clause,
    whole_unit,
)
from lexichord.retrieve.understand import asks_for_steps
from lexichord.types import ChunkHit, ContextFormat, ContextSource, Excerpt, QueryOptions
from lexichord.types.base import cite, is_code_file
from lexichord.types.evidence import (
    NEAREST_MARK,
    NEAREST_TO_IT,
    NOT_FOUND,
    Answer,
    AnswerRequest,
    Cell,
    Comparison,
    Evidence,
    Quote,
)

QA_HEAD = "Question: {question}\n\n"
QA_TAIL = (
    "\n\nAnswer the question from the passages above alone, and cite them by number. "
    "If they do not hold the answer, say so.\n\nAnswer:"
)


def format_context(
    passages: Iterable[ChunkHit | Quote],
    max_length: int = QueryOptions.max_length,
    style: ContextFormat = QueryOptions.format,
    question: str = "",
) -> tuple[str, list[ContextSource]]:
    """Return the passages that fit whole into `max_length`, and their sources, numbered as shown.

    `simple` lists them; `structured` groups them by document, with ids and scores; `qa` puts them
    between `question` and what a model is to do. A passage that does not fit makes way for a
    shorter one. Raises ConfigError.
    """
    if style not in ("simple", "structured", "qa"):
        raise ConfigError(f"there is no format '{style}': simple, structured, qa")
    head, tail = (QA_HEAD.format(question=question), QA_TAIL) if style == "qa" else ("", "")
    room = max_length - len(head) - len(tail)
    chosen = _fitting(map(_quote, passages), room, style == "structured")
    if not chosen:
        return "", []
    shown = _by_document(chosen) if style == "structured" else chosen
    sources = [ContextSource.of(number, quote) for number, quote in enumerate(shown, 1)]
    pieces = _pieces(shown, style == "structured")
    return head + "\n".join(pieces) + tail, sources


def _quote(passage: ChunkHit | Quote) -> Quote:
    return Quote.of(passage) if isinstance(passage, ChunkHit) else passage


def _fitting(quotes: Iterable[Quote], room: int, grouped: bool) -> list[Quote]:
    """Return the quotes that fit. A piece after the first has an empty line before it."""
    chosen: list[Quote] = []
    documents: set[str] = set()
    for quote in quotes:
        header = _document(quote) + "\n" if grouped and quote.document_id not in documents else ""
        piece = "\n" * bool(chosen) + header + _passage(len(chosen) + 1, quote, grouped)
        if (size := len(piece)) <= room:
            room -= size
            chosen.append(quote)
            documents.add(quote.document_id)
    return chosen


def _by_document(quotes: Sequence[Quote]) -> list[Quote]:
    """Group quotes by document; documents stay in the order of their first quote."""
    order = document_order(quotes)
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


# Of an answer to a question for one thing. The answer holds the quote, four kinds, 186 questions:
# 3 and .25 66.7 % in 304 characters, 4 and .1 70.4 in 437, 5 and .1 72.0 in 495.
MAX_ANSWER_SENTENCES = 5
NEIGHBOURS = 3  # chunks that are read behind a passage for what it leads to
ITEM_SIGN = re.compile(r"(?:[-*+•]|\d{1,3}[.)])\s+")
FENCE = re.compile(r"\s*(?:`{3,}|~{3,})\s*")
MIN_ANSWER_SHARE = 0.1  # of the best sentence's likelihood, for those after it


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
    if brief.kind == "summary":
        return Answer("\n".join(cite_line(quote, sources) for quote in evidence.quotes))
    ranked = await rank_sentences(database, brief, evidence.quotes, embed)
    likely = [one for one in ranked.quotes if one.score >= MIN_ANSWER_SHARE]
    likely = once_said(likely)[:MAX_ANSWER_SENTENCES]
    wants_steps = asks_for_steps(brief.question)
    needs = Needs(lists=wants_steps, code=wants_steps)
    passages = await _read_on(database, likely, evidence.quotes, needs)
    units = [whole_unit(one, passages, needs) for one in likely]
    text = _write_units(units, evidence.quotes, sources)
    best = ranked.quotes[0] if ranked.quotes else None
    return Answer(text, confidence=ranked.confidence, best=best, phrase=ranked.phrase)


def once_said(quotes: Iterable[Quote]) -> list[Quote]:
    """Return quotes without those whose words one before them has: the first place is enough."""
    said: dict[str, Quote] = {}
    for one in quotes:
        said.setdefault(" ".join(one.text.casefold().split()), one)
    return [*said.values()]


async def _read_on(
    database: Database, likely: Sequence[Quote], passages: Sequence[Quote], needs: Needs
) -> list[Quote]:
    """Return passages of likely sentences with what follows, where it may be what these lead to."""
    cut = [
        passage
        for passage in passages
        if any(holds_quote(passage, one) for one in likely)
        and (needs.code or ANNOUNCES.search(passage.text))
    ]
    ids = [one.chunk_id for one in cut]
    excerpts = await expand_context(database, ids, NEIGHBOURS, whole_section=False) if ids else []
    around = {excerpt.chunk_id: excerpt for excerpt in excerpts}
    read = [_with_what_follows(one, around[one.chunk_id]) for one in cut if one.chunk_id in around]
    return [*read, *passages]


def _with_what_follows(passage: Quote, around: Excerpt) -> Quote:
    """Return a passage as far as a stretch around it goes."""
    following = around.content[max(0, passage.end - around.start) :]
    text = passage.text + following[:MAX_UNIT_CHARS]
    return replace(passage, text=text, end=passage.start + len(text))


def _write_units(
    units: Sequence[Quote], passages: Iterable[Quote], sources: Sequence[ContextSource]
) -> str:
    """Write each unit with its source: a row of a table with the names of its columns."""
    heads = {
        (one.quote.document_id, one.quote.start): one.before
        for passage in passages
        for one in sentences_of(passage)
        if one.is_row and one.before
    }
    return "\n".join(
        write_row(heads[place], unit, sources) if place in heads else write_unit(unit, sources)
        for unit in apart(units)
        for place in [(unit.document_id, unit.start)]
    )


def write_row(head: str, row: Quote, sources: Sequence[ContextSource]) -> str:
    """Write a table's row as "column: value", with its source."""
    names, values = (cells_of(shown_text(line, row.uri)) for line in (head, row.text))
    if len(names) != len(values):
        return cite_line(row, sources)
    pairs = (
        f"{name}: {value}" if name else value for name, value in zip(names, values, strict=True)
    )
    return f"{'; '.join(pairs)} {cite_source(row, sources)}"


def write_unit(unit: Quote, sources: Sequence[ContextSource]) -> str:
    """Write a sentence in one line with its source, what it leads to in lines of their own.

    Code that nothing leads to stands before its source.
    """
    if is_code_file(unit.uri):
        return cite_line(unit, sources)
    first, *more = lay_out(shown_text(unit.text, unit.uri).strip()) or [unit.text.strip()]
    if is_code(unit.text):
        return "\n".join([first, *more, cite_source(unit, sources)])
    if not any(map(ITEM_OR_CODE.match, more)):
        return cite_line(unit, sources)
    return "\n".join([f"{first} {cite_source(unit, sources)}", *more])


def write_table(table: Comparison, sources: Sequence[ContextSource]) -> str:
    """Write a row a file, a column an aspect; "" if nothing was found at all."""
    if not any(cell.found for cell in table.cells):
        return ""
    rows = [["File", *table.aspects], ["---"] * (1 + len(table.aspects))]
    for file in table.documents:
        cells = [table.cell(file.document_id, aspect) for aspect in table.aspects]
        rows.append([file.title or file.uri, *(_cell(cell, sources) for cell in cells)])
    return "\n".join("| " + " | ".join(map(_escaped, row)) + " |" for row in rows)


def write_list(quotes: Sequence[Quote], sources: Sequence[ContextSource]) -> str:
    """Write a file's name, then its quotes as items, lists first, then the next file's."""
    lines: list[str] = []
    document: str | None = None
    order = document_order(quotes)
    lists_first = {quote: (0.0, -quote.score) if is_list(quote) else (1.0, 0.0) for quote in quotes}
    for quote in sorted(quotes, key=lambda one: (order[one.document_id], lists_first[one])):
        if quote.document_id != document:
            lines += [*([""] if lines else []), f"{quote.title or quote.uri}:"]
            document = quote.document_id
        lines += _item_lines(quote, sources)
    return "\n".join(lines)


def _item_lines(quote: Quote, sources: Sequence[ContextSource]) -> list[str]:
    """Return a quote's lines as an item; the items of a list stand below what leads to it."""
    first, *more = write_unit(quote, sources).splitlines()
    return [f"- {first}", *(f"  {line}" for line in more)]


def write_nearest(
    titles: Sequence[str],
    sentence: Quote,
    passages: Iterable[Quote],
    sources: Sequence[ContextSource],
    *,
    holds: bool,
) -> str:
    """Write the nearest sentence, marked in its passage, not claiming that it answers.

    Of a short numbered clause or item all is marked, as it would be shown if it were claimed.
    `titles` are those of the documents that are named, if any; `holds` says whether these, or else
    what was found, seem to hold an answer all the same.
    """
    named = ", ".join(f"“{title}”" for title in titles)
    if holds:
        where = named or "what was found"
        opening = f"An answer seems to be in {where}, but no sentence surely is it."
    else:
        opening = f"Nothing {f'in {named}' if named else 'that was found'} surely answers this."
    around = next((one for one in passages if holds_quote(one, sentence)), sentence)
    sentence = whole_clause(sentence, around)
    start, end = sentence.start - around.start, sentence.end - around.start
    before, after = (
        shown_text(part, around.uri) for part in (around.text[:start], around.text[end:])
    )
    shown = lay_out(f"{before}{_marked(sentence, around)}{after}".strip())
    shown[-1:] = [f"{shown[-1]} {cite_source(sentence, sources)}"]
    return "\n".join([f"{opening} {NEAREST_TO_IT}", "", *shown])


def _marked(sentence: Quote, passage: Quote) -> str:
    """Return a sentence between marks, behind the sign of an item; a table's row in words.

    Its own marks of the kind are left out, for they would end it.
    """
    said = _said(sentence).replace(NEAREST_MARK, "")
    if sentence.text.startswith("|"):
        rows = (one for one in sentences_of(passage) if one.quote.start == sentence.start)
        head = next((one.before for one in rows), "")
        said = shown_text(in_words(head, sentence.text), sentence.uri)
    opening = ITEM_SIGN.match(said)
    start = opening.end() if opening else 0
    return f"{said[:start]}{NEAREST_MARK}{said[start:]}{NEAREST_MARK}"


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
    return f"{_said(quote)} {cite_source(quote, sources)}"


def cite_source(quote: Quote, sources: Iterable[ContextSource]) -> str:
    """Return the number of the source that a quote begins in, as [n], or its title and heading."""
    for source in sources:
        inside = source.start <= quote.start < source.end
        if source.document_id == quote.document_id and inside:
            return f"[{source.number}]"
    return f"({citation(quote) or quote.uri})"


def _cell(cell: Cell, sources: Sequence[ContextSource]) -> str:
    quoted = (
        f"“{_line(quote.text, quote.uri)}” {cite_source(quote, sources)}" for quote in cell.quotes
    )
    return " ".join(quoted) or NOT_FOUND


def _said(quote: Quote) -> str:
    """Return a quote on one line, a comment of code without its signs."""
    if is_code_file(quote.uri):
        return without_roles(without_comment_signs(quote.text))
    return _line(quote.text, quote.uri)


def _line(text: str, uri: str) -> str:
    """Return a text of a document on one line, code without its fences, rows without bars."""
    if is_code(text):
        lines = text.strip().splitlines()[1:]
        shown = f"`{' '.join(line for line in lines if not FENCE.fullmatch(line)).strip()}`"
    elif text.startswith("|"):
        rows = (shown_text(line, uri) for line in text.splitlines() if not RULE_BELOW.match(line))
        shown = " ".join(in_words("", row) for row in rows if row.strip())
    else:
        shown = shown_text(text, uri)
    return " ".join(shown.split())


def _escaped(text: str) -> str:
    return text.replace("|", r"\|")
