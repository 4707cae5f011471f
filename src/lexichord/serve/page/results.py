"""A response as its page shows it; a comparison's table to take away."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from textwrap import dedent

from markupsafe import Markup, escape

from lexichord.display.plain_text import CODE, part_by_code
from lexichord.ingest.load import PDF_TYPE, kind_of
from lexichord.retrieve.evidence.answer import citation, write_table
from lexichord.serve.page.blocks import (
    MAX_PASSAGE_SECONDS,
    CharRange,
    MarkWriter,
    line_starts,
    show_fence,
)
from lexichord.serve.page.document import document_address
from lexichord.serve.page.explain import ExplainView, show_explanation
from lexichord.serve.page.form import SearchForm
from lexichord.serve.page.language import say
from lexichord.serve.page.reading import (
    answer_patterns,
    find_answer,
    find_words,
    place_in_words,
    show_line,
    show_passage,
    word_pattern,
)
from lexichord.types import ChunkHit, Comparison, FileHit, Response, StoredDocument
from lexichord.types.base import cite, document_name, escaped, file_name
from lexichord.types.evidence import (
    CHANNEL_NAMES,
    NEAREST_MARK,
    NEAREST_TO_IT,
    NOT_FOUND,
    Cell,
    ContextSource,
    Quote,
)

MAX_MARKED_QUOTES = 20  # of a document on its page, beside the one it is opened at
CITATION_NUMBER = re.compile(r"\[(\d{1,3})\]")
MARKDOWN_ITEM = re.compile(r"\s*(?:[-*•]|\d{1,2}\.)\s+(?=\S)")
MARKDOWN_HEADING = re.compile(r"#{1,6}\s+")

MARKED = "mark"  # in the place of an address
# Texts, each with the address that it leads to, or "", or MARKED.
type LinkedText = list[tuple[Markup, str]]


@dataclass(frozen=True, slots=True)
class Places:
    """Where a document's quotes are, and the sentences of the answer in them."""

    quotes: list[CharRange] = field(default_factory=list)
    answer: list[CharRange] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class AnswerBlock:
    """A paragraph, an item of a list, a heading or code of an answer: p, li, h or code."""

    kind: str
    parts: LinkedText


@dataclass(frozen=True, slots=True)
class QuoteView:
    """A quote with its number among the sources, None if the context had no room for it.

    `place` says in words where in its file it is; `text` has the answer's sentences marked;
    `original` is where it is seen on its page, "" without pages.
    """

    quote: Quote
    number: int | None
    address: str
    original: str
    place: str
    text: Markup


@dataclass(frozen=True, slots=True)
class RankView:
    """Where a channel or a variant ranked a hit, and with what score."""

    name: str
    rank: int | None
    score: float | None


@dataclass(frozen=True, slots=True)
class HitView:
    """A hit with what led to it, and the numbers of the sources that hold it.

    In `text` the answer's sentences are marked or, where there are none, the question's words;
    `percent` is its score beside the best hit's.
    """

    hit: ChunkHit
    address: str
    original: str
    place: str
    text: Markup
    percent: int
    ranks: list[RankView]
    scores: list[tuple[str, float]]
    sources: list[int]


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """A row of the comparison: a document, and its cells with their quotes, each by its address."""

    title: str
    address: str
    cells: list[tuple[Cell, LinkedText]]


@dataclass(frozen=True, slots=True)
class ResultsView:
    """A response, and what the page makes of it."""

    response: Response
    answer: list[AnswerBlock]
    passages: list[QuoteView]
    hits: list[HitView]
    more: list[HitView]
    file_percents: list[int]
    rows: list[ComparisonRow]
    explained: ExplainView


def show_results(response: Response, k: int) -> ResultsView:
    """Return what the page shows of a response; of its hits the first k at once."""
    # What is asked in the documents; the words that name these would be marked everywhere.
    words = word_pattern(response.intent.question or response.query)
    answer = answer_patterns(response.answer if response.claimed else _nearest(response.answer))
    places = _places(response, answer)
    best = max((hit.score for hit in response.hits), default=0)
    passages = [_quote(quote, response, answer, places) for quote in response.quotes]
    hits = [_hit(hit, response, (answer, words, best), places) for hit in response.hits]
    return ResultsView(
        response=response,
        answer=_answer(response, passages),
        passages=passages,
        hits=hits[:k],
        more=hits[k:],
        file_percents=_file_percents(response),
        rows=_rows(response, places),
        explained=show_explanation(response, k),
    )


def _places(response: Response, answer: Sequence[re.Pattern[str]]) -> dict[str, Places]:
    """Return the places of each document's quotes, those of the table among them."""
    cells = response.comparison.cells if response.comparison else ()
    quotes = [*response.quotes, *(quote for cell in cells for quote in cell.quotes)]
    places: dict[str, Places] = {}
    for quote in quotes:
        own = places.setdefault(quote.document_id, Places())
        own.quotes.append((quote.start, quote.end))
    for quote in response.quotes:
        sentences = find_answer(quote.text, answer)
        places[quote.document_id].answer.extend(
            (quote.start + start, quote.start + end) for start, end in sentences
        )
    return places


def _address(passage: Quote | ChunkHit, places: Mapping[str, Places], part: str = "") -> str:
    """Return the address of a document opened at a place, its other quotes marked as well."""
    own, marked = (passage.start, passage.end), places.get(passage.document_id, Places())
    others = [place for place in dict.fromkeys(marked.quotes) if place != own]
    answer = [*dict.fromkeys(marked.answer)][:MAX_MARKED_QUOTES]
    return document_address(passage.document_id, own, others[:MAX_MARKED_QUOTES], part, answer)


def _original(passage: Quote | ChunkHit, places: Mapping[str, Places]) -> str:
    """Return where a passage is seen on its page, "" unless its document has pages to show."""
    has_pages = kind_of(PurePosixPath(passage.uri).name) == PDF_TYPE
    return _address(passage, places, "/original") if has_pages else ""


def _answer(response: Response, passages: Sequence[QuoteView]) -> list[AnswerBlock]:
    """Read an answer as far as Markdown goes in one; a comparison is drawn from its table."""
    parts = [*_parts(response.answer)]
    if response.comparison is not None:
        parts = [part for part in parts if not part.lstrip().startswith("|")]
    # What is in none of the sources is cited by title and heading.
    named = {f"({citation(one.quote)})": one.address for one in passages if one.number is None}
    marks = not response.claimed
    blocks = [_block(part, len(response.sources), named, marks) for part in parts]
    return _with_phrase(blocks, response.phrase)


def _parts(answer: str) -> Iterator[str]:
    """Yield an answer's lines and its blocks of code; what is marked in its passage in one."""
    opening, _, passage = answer.partition("\n\n")
    if opening.endswith(NEAREST_TO_IT):
        yield from (opening, " ".join(passage.split()))
        return
    for words, code in part_by_code(answer):
        yield from filter(str.strip, [*words.splitlines(), code])


def _with_phrase(blocks: list[AnswerBlock], phrase: Quote | None) -> list[AnswerBlock]:
    """Mark the phrase that answers, where it first stands in the first block as it is shown.

    What holds rendered code or emphasis is left as it is: the phrase may be the name of a tag.
    """
    shown = "" if phrase is None else show_line(phrase.text)
    if not blocks or not shown:
        return blocks
    parts: LinkedText = []
    for text, address in blocks[0].parts:
        before, found, after = text.partition(shown)
        if address or not found or "<" in text or any(kind == MARKED for _, kind in parts):
            parts.append((text, address))
        else:
            parts += [(before, ""), (found, MARKED), (after, "")]
    kept = [part for part in parts if part[0]]
    return [replace(blocks[0], parts=kept), *blocks[1:]]


def _block(line: str, sources: int, named: Mapping[str, str], marks: bool) -> AnswerBlock:
    if CODE.match(line):
        return AnswerBlock("code", [(_code(line), "")])
    kind = "h" if line.endswith(":") else "p"
    if marker := MARKDOWN_ITEM.match(line) or MARKDOWN_HEADING.match(line):
        kind = "li" if MARKDOWN_ITEM.match(line) else "h"
        line = line[marker.end() :]
    name = next((citation for citation in named if line.endswith(citation)), "")
    shown = line.removesuffix(name)
    if marks and NEAREST_MARK in shown:
        # The passage that the sentence is from stands below, with its mark.
        kind, cited = "p", "".join(CITATION_NUMBER.findall(shown)[-1:])
        parts = [
            (show_line(_nearest(shown)), MARKED),
            *_linked(f" [{cited}]" * bool(cited), sources),
        ]
    else:
        parts = _linked(shown, sources)
    return AnswerBlock(kind, [*parts, (escape(name), named[name])] if name else parts)


def _code(block: str) -> Markup:
    opening, _, lines = dedent(block).partition("\n")
    code = lines.rpartition("\n")[0] + "\n"
    writer = MarkWriter(seconds=MAX_PASSAGE_SECONDS)
    return show_fence(code, opening.strip("`~"), line_starts(code), writer)


def _linked(line: str, sources: int) -> LinkedText:
    parts: LinkedText = []
    for number, text in enumerate(CITATION_NUMBER.split(line)):
        if number % 2 == 0:
            parts.append((show_line(text), ""))
        elif 1 <= int(text) <= sources:
            parts.append((escape(text), f"#source-{int(text)}"))
        else:
            parts.append((escape(f"[{text}]"), ""))
    return [part for part in parts if part[0]]


def _nearest(answer: str) -> str:
    """Return the sentence that is marked in what is shown without being claimed, else ""."""
    _, _, rest = answer.partition(NEAREST_MARK)
    return rest.partition(NEAREST_MARK)[0]


def _quote(
    quote: Quote,
    response: Response,
    answer: Sequence[re.Pattern[str]],
    places: Mapping[str, Places],
) -> QuoteView:
    numbers = (one.number for one in response.sources if _place(one) == quote.place)
    return QuoteView(
        quote,
        next(numbers, None),
        _address(quote, places),
        _original(quote, places),
        place_in_words(quote.page, quote.heading),
        show_passage(quote.text, quote.uri, find_answer(quote.text, answer)),
    )


def _place(source: ContextSource) -> tuple[str, int, int]:
    return source.document_id, source.start, source.end


def _hit(
    hit: ChunkHit,
    response: Response,
    looked_for: tuple[Sequence[re.Pattern[str]], re.Pattern[str] | None, float],
    places: Mapping[str, Places],
) -> HitView:
    answer, words, best = looked_for
    marked = find_answer(hit.content, answer) or find_words(hit.content, words)
    scores, names = hit.scores.by_list, dict.fromkeys([*CHANNEL_NAMES, *hit.ranks])
    others = {name: getattr(hit.scores, name) for name in ("fused", "variants", "rerank", "read")}
    return HitView(
        hit,
        _address(hit, places),
        _original(hit, places),
        place_in_words(hit.page, hit.heading),
        show_passage(hit.content, hit.uri, marked),
        _percent(hit.score, best),
        [RankView(name, hit.ranks.get(name), scores.get(name)) for name in names],
        [(name, value) for name, value in others.items() if value is not None],
        [source.number for source in response.sources if _overlaps(source, hit)],
    )


def _percent(score: float, best: float) -> int:
    """Return a score beside the best one, 0 to 100."""
    return round(100 * max(score, 0) / best) if best > 0 else 0


def _file_percents(response: Response) -> list[int]:
    best = max((file.score for file in response.files), default=0)
    return [_percent(file.score, best) for file in response.files]


def _overlaps(source: ContextSource, hit: ChunkHit) -> bool:
    document, start, end = _place(source)
    return document == hit.document_id and start < hit.end and hit.start < end


def _rows(response: Response, places: Mapping[str, Places]) -> list[ComparisonRow]:
    table = response.comparison
    if table is None:
        return []
    rows = []
    for file in table.documents:
        cells = [table.cell(file.document_id, aspect) for aspect in table.aspects]
        linked = [
            (cell, [(show_line(quote.text), _address(quote, places)) for quote in cell.quotes])
            for cell in cells
        ]
        title = document_name(file)
        rows.append(ComparisonRow(title, f"/document/{file.document_id}", linked))
    return rows


# What a spreadsheet would compute: of each line and of what follows a semicolon, which parts cells
# in many languages, so that the quotation marks around a cell are none there.
FORMULA = re.compile("(^|;)( *)(?=[=+@-])", re.M)
# Of a document's text nothing is a link, a picture or an element in the Markdown that it stands in.
MARKDOWN_ENTITIES = str.maketrans({"<": "&lt;", "[": "&#91;"})


@dataclass(frozen=True, slots=True)
class RowChoice:
    """A document that may be a row of the table, and whether it is one."""

    document_id: str
    title: str
    file: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class RowPicker:
    """The documents to choose from, and the other fields of what is then asked."""

    choices: list[RowChoice]
    fields: list[tuple[str, str]]


def show_picker(
    response: Response, form: SearchForm, stored: Iterable[StoredDocument]
) -> RowPicker:
    """Return what offers the rows of a table, then the other files found, then those stored."""
    table = response.comparison
    rows = table.documents if table else ()
    offered: Sequence[FileHit | StoredDocument] = [*rows, *response.files, *stored]
    chosen = {file.document_id for file in rows}
    by_id = {each.document_id: each for each in reversed(offered)}
    choices = [
        RowChoice(
            each.document_id,
            document_name(each),
            file_name(each.uri),
            each.document_id in chosen,
        )
        for each in (by_id[one] for one in dict.fromkeys(each.document_id for each in offered))
    ]
    fields = form.pairs(q=_asked_of_each(response), intent="comparison", document=())
    return RowPicker(choices, fields)


def _asked_of_each(response: Response) -> str:
    """Return what is compared without the names of documents, which would choose the rows."""
    intent, table = response.intent, response.comparison
    if not intent.documents or intent.question != response.query or table is None:
        return intent.question
    return say("results.compare", aspects=", ".join(table.aspects))


def comparison_csv(table: Comparison) -> str:
    """Return a table as comma-separated values, each quote with its place."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(map(as_csv_text, [say("results.file"), *table.aspects]))
    for file in table.documents:
        cells = [table.cell(file.document_id, aspect) for aspect in table.aspects]
        writer.writerow(map(as_csv_text, [file.title or file.uri, *map(_quoted, cells)]))
    return text.getvalue()


def as_csv_text(value: str) -> str:
    """Return a value so that a spreadsheet shows it and computes nothing, nor does a terminal."""
    return FORMULA.sub(r"\1\2'", _escaped_lines(value))


def _escaped_lines(text: str) -> str:
    return "\n".join(map(escaped, text.split("\n")))


def _quoted(cell: Cell) -> str:
    return "\n".join(map(_with_place, cell.quotes)) or say("results.not_in_file")


def _with_place(quote: Quote) -> str:
    where = place_in_words(quote.page, quote.heading) or cite("", quote.heading)
    return f"{' '.join(quote.text.split())}{f' ({where})' * bool(where)}"


def comparison_markdown(question: str, table: Comparison) -> str:
    """Return a table as Markdown under its question."""
    shown = write_table(table, ()) or NOT_FOUND
    text = f"# {' '.join(question.split())}\n\n{shown}\n"
    return _escaped_lines(text.translate(MARKDOWN_ENTITIES))
