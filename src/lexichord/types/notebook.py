"""Results as notebooks show them."""

from collections.abc import Sequence

from lexichord.types.documents import Documents, Excerpt, ShownDocument
from lexichord.types.evaluation import Evaluation
from lexichord.types.evidence import NOT_FOUND, Cell, Comparison, Quote
from lexichord.types.html import folded, heading, line, page, quote, table
from lexichord.types.json import Json
from lexichord.types.response import Explanation, Response, Step, written
from lexichord.types.results import ChunkHit, FileHit, FilesResult, SearchResult, number
from lexichord.types.state import Health, Status
from lexichord.types.text import cite, place

NOTHING = line("nothing found")


def hit(found: ChunkHit) -> str:
    """Show one chunk."""
    return page((), _hit(found))


def search(found: SearchResult) -> str:
    """Show chunks with their places, and their scores behind a click."""
    head = ("", "chunk", "score", "fused", "dense", "rank", "keyword", "rank")
    rows = [[str(rank), *_scores(each)] for rank, each in enumerate(found.hits, 1)]
    scores = folded("scores and ranks", table(head, rows)) if rows else NOTHING
    return page(found.degraded, *map(_hit, found.hits), scores)


def files(found: FilesResult) -> str:
    """Show documents as a table."""
    return page(found.degraded, _files(found.files) or NOTHING)


def response(found: Response) -> str:
    """Show what it is sure of, the answer or table, quotes with their places, files, stages."""
    shown = [line(found.intent.reason, found.sureness)]
    if found.comparison is not None:
        shown.append(_comparison(found.comparison))
    elif found.answer:
        shown += [heading("Answer"), quote(found.answer, cut=False)]
    if found.unverified:
        shown += [heading("Unverified, in no source"), *map(line, found.unverified)]
    quotes = [*map(_quote, found.quotes)] or [NOTHING]
    files = [heading("Files"), _files(found.files)] if found.files else []
    stages = folded("how it came about", *_explained(Explanation(found)))
    return page(found.degraded, *shown, heading("Evidence"), *quotes, *files, stages)


def explanation(found: Explanation) -> str:
    """Show each stage, then each hit's rank and score in every list."""
    return page(found.response.degraded, *_explained(found))


def comparison(found: Comparison) -> str:
    """Show a table of documents and aspects."""
    return page((), _comparison(found))


def documents(found: Documents) -> str:
    """Show documents as a table."""
    head = ("id", "dataset", "title", "chunks", "characters", "uri")
    rows = [
        [str(d.document_id), d.dataset, d.title, str(d.chunks), str(d.characters), d.uri]
        for d in found
    ]
    return page((), table(head, rows) or line("no documents"))


def document(found: ShownDocument) -> str:
    """Show a document's text behind a click, and its chunks."""
    known = found.document
    head = ("chunk", "characters", "page", "heading", "begins")
    rows = [
        [str(c.chunk_id), f"{c.start}-{c.end}", str(c.page or ""), c.heading, c.content[:100]]
        for c in found.chunks
    ]
    title = line(known.title or known.uri, f"{known.dataset}  {known.uri}")
    text = folded(f"text, {known.characters} characters", quote(found.text, cut=False))
    return page((), title, _metadata(known.metadata), text, table(head, rows))


def excerpt(found: Excerpt) -> str:
    """Show a chunk in its surroundings."""
    where = place(found.uri, found.start, found.end)
    named = line(cite(found.title or found.uri, found.heading), where)
    return page((), named, quote(found.content, cut=False))


def status(found: Status) -> str:
    """Show what a database is and holds."""
    return page(found.degraded, *_status(found))


def health(found: Health) -> str:
    """Show problems first, then the status, versions and indexes."""
    wrong = [f"{each.problem}: {each.remedy}" for each in found.problems]
    versions = [[each.name, each.version] for each in found.server]
    plans = [[each.index_name, each.plan or "not built yet"] for each in found.indexes]
    tables = (table(("server", "version"), versions), table(("index", "plan"), plans))
    return page([*wrong, *found.degraded], *_status(found), *tables)


def evaluation(found: Evaluation) -> str:
    """Show a column a strategy, then what differs from an earlier run."""
    tables = [
        table(rows[0], rows[1:]) for rows in (found.table(), found.comparison_table()) if rows
    ]
    return page([*found.warnings, *found.failures], *tables)


def _hit(found: ChunkHit) -> str:
    where = place(found.uri, found.start, found.end, found.page)
    named = line(cite(found.title or found.uri, found.heading), f"{number(found.score)}  {where}")
    return named + quote(found.content)


def _scores(found: ChunkHit) -> list[str]:
    scores, ranks = found.scores, found.ranks
    channels = [(scores.get(name), ranks.get(name)) for name in ("dense", "keyword")]
    both = [number(each) for pair in channels for each in pair]
    return [str(found.chunk_id), number(found.score), number(scores.get("fused")), *both]


def _quote(found: Quote) -> str:
    where = place(found.uri, found.start, found.end, found.page)
    return line(cite(found.title or found.uri, found.heading), where) + quote(found.text)


def _files(found: Sequence[FileHit]) -> str:
    rows = [[each.title, number(each.score), _parts(each), each.uri] for each in found]
    return table(("file", "score", "of", "uri"), rows)


def _parts(found: FileHit) -> str:
    return ", ".join(f"{name} {number(each)}" for name, each in found.scores.items())


def _comparison(found: Comparison) -> str:
    rows = [
        [
            each.title or each.uri,
            *(_cell(found.cell(each.document_id, aspect)) for aspect in found.aspects),
        ]
        for each in found.documents
    ]
    return table(("file", *found.aspects), rows)


def _cell(found: Cell) -> str:
    return "\n".join(each.text for each in found.quotes) or NOT_FOUND


def _explained(found: Explanation) -> list[str]:
    head = ("", "chunk", "score", *found.lists)
    hits = [
        [str(rank), str(each.chunk_id), number(each.score), *_lists(found, each)]
        for rank, each in enumerate(found.response.hits, 1)
    ]
    steps = [[step.stage, f"{step.ms:.1f}", _details(step)] for step in found.steps]
    stages = table(("stage", "ms", "what it was given, made and dropped"), steps)
    return [stages, heading("Rank, and score, in each list"), table(head, hits) or NOTHING]


def _lists(found: Explanation, hit: ChunkHit) -> list[str]:
    return [written(part) for part in found.parts(hit)]


def _details(step: Step) -> str:
    return "\n".join(f"{name}: {text}" for name, text in step.details.items())


def _metadata(found: Json) -> str:
    return table((), [[name, str(value)] for name, value in found.items()])


def _status(found: Status) -> list[str]:
    held = [[each.dataset, str(each.documents), str(each.chunks)] for each in found.by_dataset]
    return [table((), found.rows()), table(("dataset", "documents", "chunks"), held)]
