"""Records as HTML for notebooks, in their own colours.

Stored text is data: escaped, not obeyed. Importing this makes `str(record)` and notebooks show
records so; the client does.
"""

from collections.abc import Iterable, Sequence
from functools import singledispatch
from html import escape

from lexichord.display.record_text import (
    comparison_table,
    evaluation_table,
    part_text,
    short_number,
    status_rows,
    step_details,
    to_text,
)
from lexichord.types.base import Json, cite, place, renderers, visible
from lexichord.types.documents import Documents, Excerpt, ShownDocument
from lexichord.types.evaluation import Evaluation
from lexichord.types.evidence import (
    CHANNEL_NAMES,
    NOT_FOUND,
    Cell,
    ChunkHit,
    Comparison,
    FileHit,
    FilesResult,
    Quote,
    SearchResult,
)
from lexichord.types.response import Explanation, Response, Step
from lexichord.types.state import Health, Status

DIM_STYLE = "opacity:.65"
CELL_STYLE = "text-align:left;vertical-align:top;white-space:pre-line"
QUOTE_STYLE = (
    "margin:.2em 0 .8em;padding-left:.8em;border-left:3px solid;white-space:pre-wrap;opacity:.9"
)
PASSAGE_CHARS = 1000  # characters of a passage
# Dollars between which notebooks would set formulas are those of contracts.
NO_FORMULAS_CLASS = "tex2jax_ignore mathjax_ignore"


def escaped(text: str) -> str:
    """Return text as HTML that shows it, quotes escaped as well."""
    return escape(visible(text))


def page(degraded: Iterable[str], *parts: str) -> str:
    """Put parts below each other, after what could not be done."""
    lines = [f"<p><b>{escaped(reason)}</b></p>" for reason in degraded]
    return f'<div class="{NO_FORMULAS_CLASS}">{"".join([*lines, *parts])}</div>'


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Draw a table of texts; nothing where there are no rows."""
    lines = [
        "".join(f'<td style="{CELL_STYLE}">{escaped(cell)}</td>' for cell in row) for row in rows
    ]
    if not lines:
        return ""
    names = "".join(f'<th style="{CELL_STYLE}">{escaped(name)}</th>' for name in head)
    top = f"<thead><tr>{names}</tr></thead>" if head else ""
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table>{top}<tbody>{body}</tbody></table>"


def line(text: str, dim: str = "") -> str:
    """Write a line, and after it what matters less."""
    less = f' <span style="{DIM_STYLE}">{escaped(dim)}</span>' if dim else ""
    return f"<div>{escaped(text)}{less}</div>"


def heading(text: str) -> str:
    """Write a heading."""
    return f"<p><b>{escaped(text)}</b></p>"


def quote(text: str, *, cut: bool = True) -> str:
    """Write a passage as it is, cut where it is long."""
    shown = text[:PASSAGE_CHARS] + " …" if cut and len(text) > PASSAGE_CHARS else text
    return f'<blockquote style="{QUOTE_STYLE}">{escaped(shown)}</blockquote>'


def folded(title: str, *parts: str) -> str:
    """Put parts where a click shows them."""
    return f"<details><summary>{escaped(title)}</summary>{''.join(parts)}</details>"


NOTHING_FOUND = line("nothing found")


@singledispatch
def to_html(record: object) -> str:
    """Return a record as HTML; one without a form of its own, as Python shows it."""
    return f"<pre>{escaped(repr(record))}</pre>"


@to_html.register
def _(record: ChunkHit) -> str:
    """Show one chunk."""
    return page((), _hit(record))


@to_html.register
def _(record: SearchResult) -> str:
    """Show chunks with their places, and their scores behind a click."""
    head = ("", "chunk", "score", "fused", "dense", "rank", "keyword", "rank")
    rows = [[str(rank), *_scores(each)] for rank, each in enumerate(record.hits, 1)]
    scores = folded("scores and ranks", table(head, rows)) if rows else NOTHING_FOUND
    return page(record.degraded, *map(_hit, record.hits), scores)


@to_html.register
def _(record: FilesResult) -> str:
    """Show documents as a table."""
    return page(record.degraded, _files(record.files) or NOTHING_FOUND)


@to_html.register
def _(record: Response) -> str:
    """Show what it is sure of, the answer or table, quotes with their places, files, stages."""
    shown = [line(record.intent.reason, record.sureness)]
    if record.comparison is not None:
        shown.append(_comparison(record.comparison))
    elif record.answer:
        shown += [heading(record.heading), quote(record.answer, cut=False)]
    if record.unverified:
        shown += [heading("Unverified, in no source"), *map(line, record.unverified)]
    quotes = [*map(_quote, record.quotes)] or [NOTHING_FOUND]
    files = [heading("Files"), _files(record.files)] if record.files else []
    stages = folded("how it came about", *_explained(Explanation(record)))
    return page(record.degraded, *shown, heading("Evidence"), *quotes, *files, stages)


@to_html.register
def _(record: Explanation) -> str:
    """Show each stage, then each hit's rank and score in every list."""
    return page(record.response.degraded, *_explained(record))


@to_html.register
def _(record: Comparison) -> str:
    """Show a table of documents and aspects."""
    return page((), _comparison(record))


@to_html.register
def _(record: Documents) -> str:
    """Show documents as a table."""
    head = ("id", "dataset", "title", "chunks", "characters", "uri")
    rows = [
        [d.document_id, d.dataset, d.title, str(d.chunks), str(d.characters), d.uri] for d in record
    ]
    return page((), table(head, rows) or line("no documents"))


@to_html.register
def _(record: ShownDocument) -> str:
    """Show a document's text behind a click, and its chunks."""
    known = record.document
    head = ("chunk", "characters", "page", "heading", "begins")
    rows = [
        [c.chunk_id, f"{c.start}-{c.end}", str(c.page or ""), c.heading, c.content[:100]]
        for c in record.chunks
    ]
    title = line(known.title or known.uri, f"{known.dataset}  {known.uri}")
    text = folded(f"text, {known.characters} characters", quote(record.text, cut=False))
    return page((), title, _metadata(known.metadata), text, table(head, rows))


@to_html.register
def _(record: Excerpt) -> str:
    """Show a chunk in its surroundings."""
    where = place(record.uri, record.start, record.end)
    named = line(cite(record.title or record.uri, record.heading), where)
    return page((), named, quote(record.content, cut=False))


@to_html.register
def _(record: Status) -> str:
    """Show what a database is and holds."""
    return page(record.degraded, *_status(record))


@to_html.register
def _(record: Health) -> str:
    """Show problems first, then the status, versions and indexes."""
    wrong = [f"{each.problem}: {each.remedy}" for each in record.problems]
    versions = [[each.name, each.version] for each in record.server]
    known = [[each.extension, each.problem, each.remedy] for each in record.extension_faults]
    advice = [[each.problem, each.remedy] for each in record.advice]
    plans = [[each.index_name, each.plan or "not built yet"] for each in record.indexes]
    return page(
        [*wrong, *record.degraded],
        *_status(record),
        table(("server", "version"), versions),
        *([table(("extension", "known fault", "remedy"), known)] if known else []),
        *([table(("advice", "remedy"), advice)] if advice else []),
        table(("index", "plan"), plans),
    )


@to_html.register
def _(record: Evaluation) -> str:
    """Show a column a strategy, then what differs from an earlier run."""
    both = filter(None, (evaluation_table(record), comparison_table(record)))
    tables = [table(rows[0], rows[1:]) for rows in both]
    return page([*record.warnings, *record.failures], *tables)


def _hit(hit: ChunkHit) -> str:
    where = place(hit.uri, hit.start, hit.end, hit.page)
    named = line(cite(hit.title or hit.uri, hit.heading), f"{short_number(hit.score)}  {where}")
    return named + quote(hit.content)


def _scores(hit: ChunkHit) -> list[str]:
    scores, ranks = hit.scores.by_list, hit.ranks
    channels = [(scores[name], ranks.get(name)) for name in CHANNEL_NAMES]
    both = [short_number(each) for pair in channels for each in pair]
    return [
        hit.chunk_id,
        short_number(hit.score),
        short_number(hit.scores.fused),
        *both,
    ]


def _quote(quoted: Quote) -> str:
    where = place(quoted.uri, quoted.start, quoted.end, quoted.page)
    return line(cite(quoted.title or quoted.uri, quoted.heading), where) + quote(quoted.text)


def _files(files: Sequence[FileHit]) -> str:
    rows = [[each.title, short_number(each.score), _parts(each), each.uri] for each in files]
    return table(("file", "score", "of", "uri"), rows)


def _parts(file: FileHit) -> str:
    return ", ".join(f"{name} {short_number(each)}" for name, each in file.scores.items())


def _comparison(comparison: Comparison) -> str:
    rows = [
        [
            each.title or each.uri,
            *(_cell(comparison.cell(each.document_id, aspect)) for aspect in comparison.aspects),
        ]
        for each in comparison.documents
    ]
    return table(("file", *comparison.aspects), rows)


def _cell(cell: Cell) -> str:
    return "\n".join(each.text for each in cell.quotes) or NOT_FOUND


def _explained(explanation: Explanation) -> list[str]:
    head = ("", "chunk", "score", *explanation.lists)
    hits = [
        [str(rank), each.chunk_id, short_number(each.score), *_lists(explanation, each)]
        for rank, each in enumerate(explanation.response.hits, 1)
    ]
    steps = [[step.stage, f"{step.ms:.1f}", _details(step)] for step in explanation.steps]
    stages = table(("stage", "ms", "what it was given, made and dropped"), steps)
    return [stages, heading("Rank, and score, in each list"), table(head, hits) or NOTHING_FOUND]


def _lists(explanation: Explanation, hit: ChunkHit) -> list[str]:
    return [part_text(part) for part in explanation.parts(hit)]


def _details(step: Step) -> str:
    return "\n".join(f"{name}: {text}" for name, text in step_details(step).items())


def _metadata(metadata: Json) -> str:
    return table((), [[name, str(value)] for name, value in metadata.items()])


def _status(status: Status) -> list[str]:
    held = [[each.dataset, str(each.documents), str(each.chunks)] for each in status.by_dataset]
    return [table((), status_rows(status)), table(("dataset", "documents", "chunks"), held)]


__all__ = ["to_html", "to_text"]

renderers.text, renderers.html = to_text, to_html
