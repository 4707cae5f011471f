"""A response as its page shows it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from lexichord.retrieve.evidence.context import citation
from lexichord.retrieve.understand.cues import OPENING
from lexichord.serve.errors import public_line
from lexichord.types import ChunkHit, Response
from lexichord.types.evidence import Cell, ContextSource, Quote
from lexichord.types.json import Json

SHORTEST = 4  # letters of a word that is marked, unless it is a name or a number
# Words that say nothing, beside those that open a question.
SILENT = re.compile(
    r"(?:about|after|also|been|before|being|between|both|document|documents|even|file|files|into"
    r"|just|know|like|long|many|more|most|much|only|other|over|same|says|some|such|than|that|them"
    r"|then|there|these|they|this|those|under|upon|very|were|what|will|with|without|your)",
    re.I,
)
# The longest first: a pattern takes what fits first.
ENDING = "(?:ations?|ating|ate[ds]?|ators?|ions?|ings?|ments?|ies|ied|ers?|eds?|es?|ys?|s)"

type Part = tuple[str, bool]


def to_mark(question: str) -> re.Pattern[str] | None:
    """Give the pattern of a question's words and their other endings; None if it has none.

    Only what is shown depends on it: it knows no language but English.
    """
    stems = dict.fromkeys(_stem(word) for word in re.findall(r"\w+", question) if _tells(word))
    if not stems:
        return None
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, stems))}){ENDING}?\b", re.I)


def marked(text: str, words: re.Pattern[str] | None) -> list[Part]:
    """Give the parts of a text in their order, each with whether it is one of the words."""
    if words is None:
        return [(text, False)]
    parts, end = list[Part](), 0
    for match in words.finditer(text):
        parts += [(text[end : match.start()], False), (match[0], True)]
        end = match.end()
    return [part for part in [*parts, (text[end:], False)] if part[0]]


def _tells(word: str) -> bool:
    if OPENING.fullmatch(word) or SILENT.fullmatch(word):
        return False
    is_name = len(word) > 1 and (word.isupper() or any(map(str.isdigit, word)))
    return is_name or len(word) >= SHORTEST


def _stem(word: str) -> str:
    stem = re.sub(f"{ENDING}$", "", word, flags=re.I)
    return stem if len(stem) >= SHORTEST else word


CHANNELS = ("dense", "keyword")
TOGETHER = 20  # quotes of a document that its page marks, beside the one it is opened at
NOTE = 160  # characters that are shown of what a stage made
CITED = re.compile(r"\[(\d{1,3})\]")
ITEM = re.compile(r"\s*(?:[-*•]|\d{1,2}\.)\s+(?=\S)")
HEADING = re.compile(r"#{1,6}\s+")

type Cited = list[tuple[str, str]]  # texts, each with the address that it leads to, or ""


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, an item of a list or a heading of an answer: p, li or h."""

    kind: str
    parts: Cited


@dataclass(frozen=True, slots=True)
class Passage:
    """A quote with its number among the sources, None if the context had no room for it."""

    quote: Quote
    number: int | None
    address: str
    parts: list[Part]


@dataclass(frozen=True, slots=True)
class Rank:
    """Where a channel or a variant ranked a hit, and with what score."""

    name: str
    rank: int | None
    score: float | None


@dataclass(frozen=True, slots=True)
class Hit:
    """A hit with what led to it, and the numbers of the sources that hold it."""

    hit: ChunkHit
    address: str
    parts: list[Part]
    ranks: list[Rank]
    scores: list[tuple[str, float]]
    sources: list[int]


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage with its milliseconds, its share of the longest, in percent, and what it made."""

    name: str
    ms: float
    percent: float
    note: str


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the comparison: a document, and its cells with the addresses of their quotes."""

    title: str
    address: str
    cells: list[tuple[Cell, list[tuple[Quote, str]]]]


@dataclass(frozen=True, slots=True)
class Results:
    """A response, and what the page makes of it."""

    found: Response
    answer: list[Block]
    passages: list[Passage]
    hits: list[Hit]
    more: list[Hit]
    rows: list[Row]
    stages: list[Stage]


def show_results(found: Response, k: int) -> Results:
    """Give what the page shows of a response; of its hits the first k at once."""
    # What is asked in the documents; the words that name these would be marked everywhere.
    words, places = to_mark(found.intent.question or found.query), _places(found)
    passages = [_passage(quote, found, words, places) for quote in found.quotes]
    hits = [_hit(hit, found, words, places) for hit in found.hits]
    return Results(
        found=found,
        answer=_answer(found, passages),
        passages=passages,
        hits=hits[:k],
        more=hits[k:],
        rows=_rows(found, places),
        stages=_stages(found.trace),
    )


def file_name(uri: str) -> str:
    """Give the last part of a uri."""
    return uri.rstrip("/").rpartition("/")[2] or uri


def _places(found: Response) -> dict[int, list[str]]:
    """Give the places of each document's quotes, those of the table among them."""
    cells = found.comparison.cells if found.comparison else ()
    quotes = [*found.quotes, *(quote for cell in cells for quote in cell.quotes)]
    places: dict[int, list[str]] = {}
    for quote in quotes:
        places.setdefault(quote.document_id, []).append(f"{quote.start}-{quote.end}")
    return {document: list(dict.fromkeys(each)) for document, each in places.items()}


def _address(one: Quote | ChunkHit, places: Mapping[int, Sequence[str]]) -> str:
    """Give the address of a document opened at a place, its other quotes marked as well."""
    own = f"{one.start}-{one.end}"
    others = [each for each in places.get(one.document_id, ()) if each != own][:TOGETHER]
    given = [("start", one.start), ("end", one.end), *(("also", each) for each in others)]
    return f"/document/{one.document_id}?{urlencode(given)}#quote"


def _answer(found: Response, passages: Sequence[Passage]) -> list[Block]:
    """Read an answer as far as Markdown goes in one; a comparison is drawn from its table."""
    lines = [line for line in found.answer.splitlines() if line.strip()]
    if found.comparison is not None:
        lines = [line for line in lines if not line.lstrip().startswith("|")]
    # What is in none of the sources is cited by title and heading.
    named = {f"({citation(one.quote)})": one.address for one in passages if one.number is None}
    return [_block(line, len(found.sources), named) for line in lines]


def _block(line: str, sources: int, named: Mapping[str, str]) -> Block:
    kind = "h" if line.endswith(":") else "p"
    if marker := ITEM.match(line) or HEADING.match(line):
        kind = "li" if ITEM.match(line) else "h"
        line = line[marker.end() :]
    name = next((each for each in named if line.endswith(each)), "")
    parts = _cited(line.removesuffix(name), sources)
    return Block(kind, [*parts, (name, named[name])] if name else parts)


def _cited(line: str, sources: int) -> Cited:
    parts: Cited = []
    for number, text in enumerate(CITED.split(line)):
        if number % 2 == 0:
            parts.append((text, ""))
        elif 1 <= int(text) <= sources:
            parts.append((text, f"#source-{int(text)}"))
        else:
            parts.append((f"[{text}]", ""))
    return [part for part in parts if part[0]]


def _passage(
    quote: Quote,
    found: Response,
    words: re.Pattern[str] | None,
    places: Mapping[int, Sequence[str]],
) -> Passage:
    same = (quote.document_id, quote.start, quote.end)
    numbers = (s.number for s in found.sources if _place(s) == same)
    return Passage(quote, next(numbers, None), _address(quote, places), marked(quote.text, words))


def _place(source: ContextSource) -> tuple[int, int, int]:
    return source.document_id, source.start, source.end


def _hit(
    hit: ChunkHit,
    found: Response,
    words: re.Pattern[str] | None,
    places: Mapping[int, Sequence[str]],
) -> Hit:
    contributions = hit.scores.get("contributions") or {}
    names = list(dict.fromkeys([*CHANNELS, *hit.ranks]))
    ranks = [
        Rank(name, hit.ranks.get(name), _score(hit.scores.get(name, contributions.get(name))))
        for name in names
    ]
    shown = {name: _score(value) for name, value in hit.scores.items() if name not in names}
    return Hit(
        hit,
        _address(hit, places),
        marked(hit.content, words),
        ranks,
        [(name, value) for name, value in shown.items() if value is not None],
        [source.number for source in found.sources if _overlaps(source, hit)],
    )


def _score(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _overlaps(source: ContextSource, hit: ChunkHit) -> bool:
    document, start, end = _place(source)
    return document == hit.document_id and start < hit.end and hit.start < end


def _rows(found: Response, places: Mapping[int, Sequence[str]]) -> list[Row]:
    table = found.comparison
    if table is None:
        return []
    rows = []
    for file in table.documents:
        cells = [table.cell(file.document_id, aspect) for aspect in table.aspects]
        shown = [(cell, [(one, _address(one, places)) for one in cell.quotes]) for cell in cells]
        title = file.title or file_name(file.uri)
        rows.append(Row(title, f"/document/{file.document_id}", shown))
    return rows


def _stages(trace: Sequence[Json]) -> list[Stage]:
    longest = max((step["ms"] for step in trace), default=0) or 1
    return [
        Stage(step["stage"], step["ms"], round(100 * step["ms"] / longest, 2), _note(step))
        for step in trace
    ]


def _note(step: Json) -> str:
    """Say in a line what a stage made; an error's words are for the server's log."""
    made: Any = step.get("made")
    if isinstance(made, Mapping):
        told = {name: value for name, value in made.items() if name != "error"}
        text = ", ".join(f"{name} {_short(value)}" for name, value in told.items() if value)
    elif isinstance(made, list):
        text = f"{len(made)} found"
    else:
        text = "" if made is None else _short(made)
    shown = public_line(text)
    return shown if len(shown) <= NOTE else shown[:NOTE] + "…"


def _short(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.2f}"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
