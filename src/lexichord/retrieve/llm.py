"""A language model in a stage's place: one call, and an answer of which each quote is checked.

A call is timed, counted, and within what time the query has. The model sees documents' text
numbered, and between marks that no text can hold; the wording of the prompts is in
`providers.llm.prompts`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import unescape
from itertools import chain
from typing import Any, NamedTuple

from lexichord.db import search as db
from lexichord.db.pool import Database
from lexichord.errors import ProviderError, ProviderTimeoutError
from lexichord.providers import Generator
from lexichord.retrieve.evidence.answer import citation, cite_line, write_table
from lexichord.retrieve.evidence.passages import CHUNKS_PER_CELL
from lexichord.retrieve.evidence.relevance import EmbedSentences, sub_quote
from lexichord.retrieve.stages import WriteAnswer
from lexichord.retrieve.trace import Trace, emit_draft, is_heard
from lexichord.retrieve.understand.intent import cut_at_word
from lexichord.retrieve.values import values_of
from lexichord.types import ContextSource
from lexichord.types.evidence import Answer, AnswerRequest, Comparison, Evidence, Quote
from lexichord.types.questions import Task, enclose, mark_word

# Seconds of an allowance that are kept for the query's own work after the last call: search,
# confidence and the default's answer took 0.15 s on the sample set.
RESERVED_SECONDS = 0.15
MAX_LIST_ENTRIES = (
    100  # entries of a list that are read: a reply has room for thousands, each takes time
)
MAX_LINE_CHARS = 200  # characters of what is to be short: hints, reasons, keywords


@dataclass(frozen=True, slots=True)
class LlmCaller:
    """Asks one model for one query."""

    generator: Generator
    trace: Trace

    async def __call__(self, task: Task, inputs: Mapping[str, object]) -> Mapping[str, Any]:
        """Return a task's outputs by field; tokens, dollars and time go into the trace.

        Raises ProviderError.
        """
        model, seconds = self.generator.name, max(0.0, self.trace.allowance - RESERVED_SECONDS)
        with self.trace.stage(f"llm {task}", model=model) as step:
            try:
                if not seconds:
                    raise ProviderTimeoutError("no time is left for it: raise budget_ms")
                on_draft = emit_draft if is_heard() else None
                generated = await self.generator.generate(task, inputs, seconds, on_draft)
            except ProviderError as error:
                late = isinstance(error, ProviderTimeoutError)
                step["made"] = {"error": str(error), "late": late}
                raise
            step["made"] = generated.usage.to_dict()
        return generated.outputs

    def degrade(self, stage: str, error: object) -> None:
        """Note that a stage was done without the model, and why it was the first time."""
        line = f"{stage} without the model: "
        if not any(reason.startswith(line) for reason in self.trace.degraded):
            self.trace.degrade(f"{line}{error}")


def shorten_line(text: str, most: int = MAX_LINE_CHARS) -> str:
    """Return a text on one line, of `most` characters, cut between words if it has any."""
    line = " ".join(text.split())
    return cut_at_word(line, most) or line[:most]


# Signs that models write in each other's place: quotation marks, dashes.
SIMILAR_SIGNS = ("'`\u2018\u2019", '"\u201c\u201d', "-\u2010\u2011\u2013\u2014")
SIMILAR_SIGN_PATTERNS = {sign: f"[{re.escape(signs)}]" for signs in SIMILAR_SIGNS for sign in signs}
QUOTE_EDGES = " \t\n'\"“”„«»\u2039\u203a\u2018\u2019\u201a"
# A quote begins and ends where a word or a number does: "10 years" does not stand in "110 years",
# nor "5%" in "0.5%". Scripts that put no spaces between words have no such places.
LETTERS_AND_DIGITS = "0-9A-Za-z\u00c0-\u04ff"
QUOTE_START = rf"(?:(?<![{LETTERS_AND_DIGITS}])(?!(?<=[0-9][.,])[0-9])|(?![{LETTERS_AND_DIGITS}]))"
QUOTE_END = rf"(?:(?![{LETTERS_AND_DIGITS}])(?!(?<=[0-9])[.,][0-9])|(?<![{LETTERS_AND_DIGITS}]))"
# Of each kind the first mark opens and the second closes, for languages turn them about; a straight
# one often closes what a curly one opens.
QUOTATION_MARKS = ('“”„"', "«»", "\u2039\u203a", "\uff02", "`", "「」", "『』")
SINGLE_QUOTED = re.compile(  # they are also apostrophes
    r"(?<!\w)['\u2018\u201a]((?:[^'\u2018\u2019]|(?<=\w)['\u2019](?=\w))+)['\u2018\u2019](?!\w)"
)
MARKED_QUOTE = re.compile(r"<q\b[^<>]*>([^<>]*)", re.I)
STATED_EDGES = ".,;:!?。，"  # within quotation marks they may be the text's own
# What a page makes a link of: an address, with or without its scheme, and the target of a link, of
# a reference or of a tag.
ADDRESS_SIGNS = r"[^\s()<>\[\]\"'“”|。，、；！？】」』\uff1a\uff09]"
LINK_ADDRESS = re.compile(
    rf"(?:\bhttps?:|\bftps?:|\bmailto:|[/\\]{{2}}|\bwww\.){ADDRESS_SIGNS}+"
    rf"|\]\([\s<]*[a-z][a-z0-9+.-]*:{ADDRESS_SIGNS}+"
    rf"|^\s*\[[^\]]+\]:[\s<]*[a-z][a-z0-9+.-]*:{ADDRESS_SIGNS}+"
    rf"|<(?:tel|javascript|vbscript|data|file):{ADDRESS_SIGNS}+"
    rf"|<[a-z][^<>]*?\b(?:src|srcset|href|action|formaction)\s*=\s*[\"']?{ADDRESS_SIGNS}+",
    re.I,
)
# What stands before the address itself, which a source may have with another scheme or none.
ADDRESS_HEAD = re.compile(
    r"(?:\]\(|^\s*\[[^\]]+\]:|<[a-z][^<>=]*=)?[\s<\"']*(?:(?:https?|ftps?|mailto|tel):)?[/\\]*",
    re.I,
)
ADDRESS_END = "*_`~/" + STATED_EDGES
ESCAPED_SIGN = re.compile(r"\\([!-/:-@\[-`{-~])")


class NumberedQuote(NamedTuple):
    """A passage with the number under which the model sees it."""

    number: int
    quote: Quote


def number_sources(
    quotes: Iterable[Quote], sources: Sequence[ContextSource]
) -> list[NumberedQuote]:
    """Return the quotes that the context shows, under its numbers."""
    numbers = {(source.document_id, source.start, source.end): source.number for source in sources}
    places = {quote.place: quote for quote in quotes}
    shown = [NumberedQuote(numbers[place], places[place]) for place in numbers if place in places]
    return sorted(shown, key=lambda source: source.number)


def mark(sources: Sequence[NumberedQuote], among: Sequence[NumberedQuote] = ()) -> str:
    """Write sources one after another, each between marks.

    The marks' word is a digest of all texts and titles of the prompt (those `among` which the
    sources are, by default they alone), so that none can hold it and pretend to end there.
    """
    word = mark_word(f"{_name(quote)}\0{quote.text}" for _, quote in among or sources)
    return "\n".join(
        enclose(quote.text, word, f" number={number} title={_name(quote)!r}")
        for number, quote in sources
    )


def _name(quote: Quote) -> str:
    """A title is the document's own word, too: on one line."""
    return " ".join(f"{citation(quote) or quote.uri}".split())[:200]


def find_quote(stated: str, number: int, sources: Sequence[NumberedQuote]) -> Quote | None:
    """Return the stored text that a model's quote is, in the source it names, or else in any.

    White space, and the way in which quotation marks and dashes are written, may differ.
    """
    for source in sorted(sources, key=lambda each: each.number != number):
        if span := _find(stated, source.quote.text):
            return sub_quote(source.quote, *span, source.quote.score)
    return None


def _find(stated: str, text: str) -> tuple[int, int] | None:
    for candidate in dict.fromkeys((stated, stated.strip(QUOTE_EDGES))):
        words = candidate.split()
        if words and sum(map(len, words)) <= len(text):
            pattern = r"\s+".join(map(_pattern, words))
            if match := re.search(QUOTE_START + pattern + QUOTE_END, text):
                return match.span()
    return None


def _pattern(word: str) -> str:
    return "".join(SIMILAR_SIGN_PATTERNS.get(sign) or re.escape(sign) for sign in word)


def is_invented(text: str, sources: Sequence[NumberedQuote]) -> bool:
    """Return whether a text quotes, or links to, anything that no source holds.

    As what draws Markdown or HTML would read it. One with too many quotes to look for is taken for
    invented.
    """
    drawn, texts = _drawn(text), [_drawn(source.quote.text) for source in sources]
    addresses = [_without_controls(stored) for stored in texts]
    for linked in dict.fromkeys(LINK_ADDRESS.findall(_without_controls(drawn))):
        address = re.escape(ADDRESS_HEAD.sub("", linked, count=1).rstrip(ADDRESS_END))
        whole = re.compile(rf"(?<![\w.@-]){address}(?!\w)")  # no part of another one
        if not any(whole.search(stored) for stored in addresses):
            return True
    quoted = dict.fromkeys(stated.rstrip(STATED_EDGES) for stated in _quoted(drawn))
    if len(quoted) > MAX_LIST_ENTRIES:
        return True
    return not all(any(_find(stated, stored) for stored in texts) for stated in quoted)


def _drawn(text: str) -> str:
    """Return a text without the escapes that a reader of Markdown or HTML takes out of it."""
    return unescape(ESCAPED_SIGN.sub(r"\1", text))


def _without_controls(text: str) -> str:
    """Return a text as addresses in it are read, which hold no tab and no line break."""
    return re.sub(r"[\x00-\x1f]", "", text)


def _quoted(text: str) -> Iterator[str]:
    """Yield what stands between quotation marks."""
    between = [re.split(f"[{marks}]", text)[1:-1:2] for marks in QUOTATION_MARKS]
    found = chain(*between, SINGLE_QUOTED.findall(text), MARKED_QUOTE.findall(text))
    yield from filter(str.strip, found)


type CellKey = tuple[str, str]  # a document's id and an aspect


async def compare(
    ask: LlmCaller, database: Database, table: Comparison, sources: Sequence[ContextSource]
) -> Answer:
    """Write the table with the model's quotes; a cell without one keeps what it had.

    The model sees the passages of each file that match an aspect by their words, and the quotes
    that the table has. A quote from another file than its cell's is unverified.
    Raises ProviderError.
    """
    shown = await _sources(database, table)
    rows = {number: file.document_id for number, file in enumerate(table.documents, 1)}
    inputs = {"aspects": list(table.aspects), "sources": _by_document(rows, shown)}
    outputs = await ask("comparison", inputs)
    chosen: dict[CellKey, Quote] = {}
    unverified = list[str]()
    aspects = {aspect.casefold(): aspect for aspect in table.aspects}
    for cell in outputs["cells"][:MAX_LIST_ENTRIES]:
        document, aspect = rows.get(cell["document"]), aspects.get(cell["aspect"].casefold())
        own = [source for source in shown if source.quote.document_id == document]
        quote = find_quote(cell["text"], cell["source"], own)
        if quote is not None and aspect is not None:
            chosen.setdefault((quote.document_id, aspect), quote)
        elif cell["text"].strip():
            unverified.append(cell["text"])
    filled = _with(table, chosen)
    text = write_table(filled, sources) if chosen else ""
    return Answer(text, tuple(unverified), filled if chosen else None)


async def _sources(database: Database, table: Comparison) -> list[NumberedQuote]:
    """Number what each file's best passages and the table's quotes are, file by file."""
    ids = [file.document_id for file in table.documents]
    hits = await db.search_each(database, table.aspects, ids, None, CHUNKS_PER_CELL, None)
    quotes = [
        *(Quote.of(hit) for _, hit in hits),
        *(q for cell in table.cells for q in cell.quotes),
    ]
    places = {quote.place: quote for quote in quotes}
    ordered = sorted(places, key=lambda place: (ids.index(place[0]), place))
    return [NumberedQuote(number, places[place]) for number, place in enumerate(ordered, 1)]


def _by_document(rows: Mapping[int, str], shown: Sequence[NumberedQuote]) -> str:
    parts = [
        f"Document {number}\n{mark(own, shown)}"
        for number, document in rows.items()
        if (own := [source for source in shown if source.quote.document_id == document])
    ]
    return "\n\n".join(parts)


def _with(table: Comparison, chosen: Mapping[CellKey, Quote]) -> Comparison:
    """Replace what stands in cells by their quotes."""
    cells = (
        replace(cell, quotes=(quote,), values=values_of([quote]))
        if (quote := chosen.get((cell.document_id, cell.aspect)))
        else cell
        for cell in table.cells
    )
    return replace(table, cells=tuple(cells))


# A citation inside a sentence: checked are only those that the model gives beside it.
INLINE_CITATION = re.compile(r" ?\[\d+(?:[,;–-] ?\d+)*\]")


async def write_answer(
    ask: LlmCaller,
    default: WriteAnswer,
    *,
    database: Database,
    brief: AnswerRequest,
    evidence: Evidence,
    sources: Sequence[ContextSource],
    embed: EmbedSentences | None,
) -> Answer:
    """Write an answer by intent: clauses word for word, a table of quotes, else a summary.

    What no source holds is left out, and reported as unverified; if nothing remains, the default
    writes. So it does with a list: whatever was found stands in it.
    """
    shown = number_sources(evidence.quotes, sources)
    answer = Answer("")
    if brief.kind != "list_all" and shown:
        try:
            answer = await _write(ask, database, brief, evidence, shown, sources)
            if not answer.text:
                ask.degrade("answer", "nothing in its reply can be shown")
        except ProviderError as error:
            ask.degrade("answer", error)
    if answer.text:
        return answer
    written = await default(
        database=database, brief=brief, evidence=evidence, sources=sources, embed=embed
    )
    return replace(written, unverified=answer.unverified)


async def _write(
    ask: LlmCaller,
    database: Database,
    brief: AnswerRequest,
    evidence: Evidence,
    shown: Sequence[NumberedQuote],
    sources: Sequence[ContextSource],
) -> Answer:
    if brief.kind == "comparison" and evidence.comparison is not None:
        return await compare(ask, database, evidence.comparison, sources)
    write = extract_clauses if brief.kind == "clause_lookup" else summarise
    missed = f"\n\nAn earlier answer fell short. {brief.advice}" if brief.advice else ""
    return await write(ask, brief.question + missed, shown, sources)


async def extract_clauses(
    ask: LlmCaller, question: str, shown: Sequence[NumberedQuote], sources: Sequence[ContextSource]
) -> Answer:
    """Quote the passages that answer, word for word. Raises ProviderError."""
    outputs = await ask("clauses", {"question": question, "sources": mark(shown)})
    lines, unverified = dict[str, None](), dict[str, None]()
    for clause in outputs["clauses"][:MAX_LIST_ENTRIES]:
        if quote := find_quote(clause["quote"], clause["source"], shown):
            lines[cite_line(quote, sources)] = None
        elif clause["quote"].strip():
            unverified[clause["quote"]] = None
    return Answer("\n".join(lines), tuple(unverified))


async def summarise(
    ask: LlmCaller, question: str, shown: Sequence[NumberedQuote], sources: Sequence[ContextSource]
) -> Answer:
    """Sum the sources up, each sentence with those that it follows from. Raises ProviderError."""
    outputs = await ask("summary", {"question": question, "sources": mark(shown)})
    lines, unverified = list[str](), list[str]()
    for sentence in outputs["sentences"][:MAX_LIST_ENTRIES]:
        # At the beginning of a line, ">" would make it look like a quotation.
        text = INLINE_CITATION.sub("", " ".join(sentence["text"].split())).lstrip("> ")
        cited = [source for source in shown if source.number in sentence["sources"]]
        if text and cited and not is_invented(text, cited):
            lines.append(" ".join([text, *(f"[{source.number}]" for source in cited)]))
        elif text:
            unverified.append(text)
    return Answer("\n".join(lines), tuple(unverified))
