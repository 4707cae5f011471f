"""A response as its page shows it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from lexichord.retrieve.evidence.context import citation
from lexichord.retrieve.understand.cues import OPENING_WORD
from lexichord.serve.errors import public_line
from lexichord.types import ChunkHit, Response
from lexichord.types.evidence import NEAREST_MARK, Cell, ContextSource, Quote
from lexichord.types.response import Step
from lexichord.types.results import CHANNEL_NAMES

MIN_MARKED_LETTERS = 4  # letters of a word that is marked, unless it is a name or a number
# Words that say nothing, beside those that open a question.
UNMARKED_WORD = re.compile(
    r"(?:about|after|also|been|before|being|between|both|document|documents|even|file|files|into"
    r"|just|know|like|long|many|more|most|much|only|other|over|same|says|some|such|than|that|them"
    r"|then|there|these|they|this|those|under|upon|very|were|what|will|with|without|your)",
    re.I,
)
# The longest first: a pattern takes what fits first.
WORD_ENDING = "(?:ations?|ating|ate[ds]?|ators?|ions?|ings?|ments?|ies|ied|ers?|eds?|es?|ys?|s)"

type TextPart = tuple[str, bool]


def word_pattern(question: str) -> re.Pattern[str] | None:
    """Return the pattern of a question's words and their other endings; None if it has none.

    Only what is shown depends on it: it knows no language but English.
    """
    stems = dict.fromkeys(_stem(word) for word in re.findall(r"\w+", question) if _is_marked(word))
    if not stems:
        return None
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, stems))}){WORD_ENDING}?\b", re.I)


def mark_words(text: str, words: re.Pattern[str] | None) -> list[TextPart]:
    """Return the parts of a text in their order, each with whether it is one of the words."""
    if words is None:
        return [(text, False)]
    parts, end = list[TextPart](), 0
    for match in words.finditer(text):
        parts += [(text[end : match.start()], False), (match[0], True)]
        end = match.end()
    return [part for part in [*parts, (text[end:], False)] if part[0]]


def _is_marked(word: str) -> bool:
    if OPENING_WORD.fullmatch(word) or UNMARKED_WORD.fullmatch(word):
        return False
    is_name = len(word) > 1 and (word.isupper() or any(map(str.isdigit, word)))
    return is_name or len(word) >= MIN_MARKED_LETTERS


def _stem(word: str) -> str:
    stem = re.sub(f"{WORD_ENDING}$", "", word, flags=re.I)
    return stem if len(stem) >= MIN_MARKED_LETTERS else word


MAX_MARKED_QUOTES = 20  # of a document on its page, beside the one it is opened at
MAX_NOTE_CHARS = 160  # that are shown of what a stage made
CITATION_NUMBER = re.compile(r"\[(\d{1,3})\]")
MARKDOWN_ITEM = re.compile(r"\s*(?:[-*•]|\d{1,2}\.)\s+(?=\S)")
MARKDOWN_HEADING = re.compile(r"#{1,6}\s+")

MARKED = "mark"  # in the place of an address
# Texts, each with the address that it leads to, or "", or MARKED.
type LinkedText = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class AnswerBlock:
    """A paragraph, an item of a list or a heading of an answer: p, li or h."""

    kind: str
    parts: LinkedText


@dataclass(frozen=True, slots=True)
class QuoteView:
    """A quote with its number among the sources, None if the context had no room for it."""

    quote: Quote
    number: int | None
    address: str
    parts: list[TextPart]


@dataclass(frozen=True, slots=True)
class RankView:
    """Where a channel or a variant ranked a hit, and with what score."""

    name: str
    rank: int | None
    score: float | None


@dataclass(frozen=True, slots=True)
class HitView:
    """A hit with what led to it, and the numbers of the sources that hold it."""

    hit: ChunkHit
    address: str
    parts: list[TextPart]
    ranks: list[RankView]
    scores: list[tuple[str, float]]
    sources: list[int]


@dataclass(frozen=True, slots=True)
class StageView:
    """A stage with its milliseconds, its share of the longest, in percent, and what it made."""

    name: str
    ms: float
    percent: float
    note: str


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """A row of the comparison: a document, and its cells with the addresses of their quotes."""

    title: str
    address: str
    cells: list[tuple[Cell, list[tuple[Quote, str]]]]


@dataclass(frozen=True, slots=True)
class ResultsView:
    """A response, and what the page makes of it."""

    response: Response
    answer: list[AnswerBlock]
    passages: list[QuoteView]
    hits: list[HitView]
    more: list[HitView]
    rows: list[ComparisonRow]
    stages: list[StageView]


def show_results(response: Response, k: int) -> ResultsView:
    """Return what the page shows of a response; of its hits the first k at once."""
    # What is asked in the documents; the words that name these would be marked everywhere.
    words, places = word_pattern(response.intent.question or response.query), _places(response)
    passages = [_quote(quote, response, words, places) for quote in response.quotes]
    hits = [_hit(hit, response, words, places) for hit in response.hits]
    return ResultsView(
        response=response,
        answer=_answer(response, passages),
        passages=passages,
        hits=hits[:k],
        more=hits[k:],
        rows=_rows(response, places),
        stages=_stages(response.trace),
    )


def file_name(uri: str) -> str:
    """Return the last part of a uri."""
    return uri.rstrip("/").rpartition("/")[2] or uri


def _places(response: Response) -> dict[str, list[str]]:
    """Return the places of each document's quotes, those of the table among them."""
    cells = response.comparison.cells if response.comparison else ()
    quotes = [*response.quotes, *(quote for cell in cells for quote in cell.quotes)]
    places: dict[str, list[str]] = {}
    for quote in quotes:
        places.setdefault(quote.document_id, []).append(f"{quote.start}-{quote.end}")
    return {document: list(dict.fromkeys(ranges)) for document, ranges in places.items()}


def _address(passage: Quote | ChunkHit, places: Mapping[str, Sequence[str]]) -> str:
    """Return the address of a document opened at a place, its other quotes marked as well."""
    own = f"{passage.start}-{passage.end}"
    others = [place for place in places.get(passage.document_id, ()) if place != own]
    also = [("also", place) for place in others[:MAX_MARKED_QUOTES]]
    params = [("start", passage.start), ("end", passage.end), *also]
    return f"/document/{passage.document_id}?{urlencode(params)}#quote"


def _answer(response: Response, passages: Sequence[QuoteView]) -> list[AnswerBlock]:
    """Read an answer as far as Markdown goes in one; a comparison is drawn from its table."""
    lines = [line for line in response.answer.splitlines() if line.strip(" `")]
    if response.comparison is not None:
        lines = [line for line in lines if not line.lstrip().startswith("|")]
    # What is in none of the sources is cited by title and heading.
    named = {f"({citation(one.quote)})": one.address for one in passages if one.number is None}
    marks = not response.claimed
    return [_block(line, len(response.sources), named, marks) for line in lines]


def _block(line: str, sources: int, named: Mapping[str, str], marks: bool) -> AnswerBlock:
    kind = "h" if line.endswith(":") else "p"
    if marker := MARKDOWN_ITEM.match(line) or MARKDOWN_HEADING.match(line):
        kind = "li" if MARKDOWN_ITEM.match(line) else "h"
        line = line[marker.end() :]
    name = next((citation for citation in named if line.endswith(citation)), "")
    shown = line.removesuffix(name)
    before, sign, rest = shown.partition(NEAREST_MARK) if marks else (shown, "", "")
    parts = _linked(before, sources)
    if sign:
        nearest, _, after = rest.partition(sign)
        parts += [(nearest, MARKED), *_linked(after, sources)]
    return AnswerBlock(kind, [*parts, (name, named[name])] if name else parts)


def _linked(line: str, sources: int) -> LinkedText:
    parts: LinkedText = []
    for number, text in enumerate(CITATION_NUMBER.split(line)):
        if number % 2 == 0:
            parts.append((text, ""))
        elif 1 <= int(text) <= sources:
            parts.append((text, f"#source-{int(text)}"))
        else:
            parts.append((f"[{text}]", ""))
    return [part for part in parts if part[0]]


def _quote(
    quote: Quote,
    response: Response,
    words: re.Pattern[str] | None,
    places: Mapping[str, Sequence[str]],
) -> QuoteView:
    same = (quote.document_id, quote.start, quote.end)
    numbers = (one.number for one in response.sources if _place(one) == same)
    return QuoteView(
        quote, next(numbers, None), _address(quote, places), mark_words(quote.text, words)
    )


def _place(source: ContextSource) -> tuple[str, int, int]:
    return source.document_id, source.start, source.end


def _hit(
    hit: ChunkHit,
    response: Response,
    words: re.Pattern[str] | None,
    places: Mapping[str, Sequence[str]],
) -> HitView:
    scores, names = hit.scores.by_list, dict.fromkeys([*CHANNEL_NAMES, *hit.ranks])
    others = {name: getattr(hit.scores, name) for name in ("fused", "variants", "rerank")}
    return HitView(
        hit,
        _address(hit, places),
        mark_words(hit.content, words),
        [RankView(name, hit.ranks.get(name), scores.get(name)) for name in names],
        [(name, value) for name, value in others.items() if value is not None],
        [source.number for source in response.sources if _overlaps(source, hit)],
    )


def _overlaps(source: ContextSource, hit: ChunkHit) -> bool:
    document, start, end = _place(source)
    return document == hit.document_id and start < hit.end and hit.start < end


def _rows(response: Response, places: Mapping[str, Sequence[str]]) -> list[ComparisonRow]:
    table = response.comparison
    if table is None:
        return []
    rows = []
    for file in table.documents:
        cells = [table.cell(file.document_id, aspect) for aspect in table.aspects]
        linked = [
            (cell, [(quote, _address(quote, places)) for quote in cell.quotes]) for cell in cells
        ]
        title = file.title or file_name(file.uri)
        rows.append(ComparisonRow(title, f"/document/{file.document_id}", linked))
    return rows


def _stages(trace: Sequence[Step]) -> list[StageView]:
    longest = max((step.ms for step in trace), default=0) or 1
    return [
        StageView(step.stage, step.ms, round(100 * step.ms / longest, 2), _note(step))
        for step in trace
    ]


def _note(step: Step) -> str:
    """Describe in a line what a stage made; an error's words are for the server's log."""
    output: Any = step.made
    if isinstance(output, Mapping):
        members = {name: value for name, value in output.items() if name != "error"}
        text = ", ".join(f"{name} {_short(value)}" for name, value in members.items() if value)
    elif isinstance(output, list):
        text = f"{len(output)} found"
    else:
        text = "" if output is None else _short(output)
    note = public_line(text)
    return note if len(note) <= MAX_NOTE_CHARS else note[:MAX_NOTE_CHARS] + "…"


def _short(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.2f}"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
