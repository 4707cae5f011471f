"""Records as text. What is stored is data: nothing in it reaches a terminal unseen."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import singledispatch
from itertools import islice
from typing import Any

from lexichord.types.base import (
    MISSING,
    TITLE_CHARS,
    Shaped,
    cite,
    counted,
    escaped,
    one_line,
    place,
    short_uri,
    visible,
    write_number,
)
from lexichord.types.documents import Excerpt, ShownDocument, StoredDataset, StoredDocument
from lexichord.types.evaluation import Change, Evaluation
from lexichord.types.evidence import ChunkHit, FileHit, FilesResult, Quote, SearchResult
from lexichord.types.questions import Usage
from lexichord.types.response import Explanation, Part, Response, Step
from lexichord.types.state import FileProgress, Health, IngestRun, Status

INGEST_OUTCOMES = ("inserted", "replaced", "skipped", "failed", "deleted")
QUOTE_CHARS = 120  # of a quote, and of its citation, on one line
MAX_FAILURES_SHOWN = 20  # files of an ingest
DETAIL_CHARS = 600  # of what a stage was given, made or dropped, on one line


@singledispatch
def to_text(record: object) -> str:
    """Return a record as text: as the command line shows it, or else a line a field."""
    if not isinstance(record, Shaped):
        return repr(record)
    fields = record.to_dict().items()
    return "\n".join(visible(f"{name}: {_plain(value)}") for name, value in fields)


@to_text.register
def _(hit: ChunkHit) -> str:
    """Write its score, what it is part of and where it stands, on one line."""
    named = one_line(cite(hit.title or hit.uri, hit.heading), 2 * TITLE_CHARS)
    where = place(short_uri(hit.uri), hit.start, hit.end, hit.page)
    return f"{short_number(hit.score)}  {named}  {where}"


@to_text.register
def _(file: FileHit) -> str:
    """Write its score, title and uri, on one line."""
    named = one_line(file.title or file.uri, TITLE_CHARS)
    return f"{short_number(file.score)}  {named}  {short_uri(file.uri)}"


@to_text.register
def _(result: SearchResult) -> str:
    """Write a line a hit, after what could not be done."""
    return _numbered(result.degraded, result.hits)


@to_text.register
def _(result: FilesResult) -> str:
    """Write a line a file, after what could not be done."""
    return _numbered(result.degraded, result.files)


@to_text.register
def _(response: Response) -> str:
    """Write the answer, or else the evidence, after what could not be done."""
    shown = response.answer or response.context or "nothing found"
    return visible("\n".join([*degraded_lines(response.degraded), f"({response.sureness})", shown]))


@to_text.register
def _(explanation: Explanation) -> str:
    """Write a line a step with its details below it, then a line a hit."""
    lines = ["Stages"]
    for step in explanation.steps:
        lines.append(f"{step.ms:8.1f} ms  {visible(step.stage)}")
        lines += [f"             {name}: {text}" for name, text in step_details(step).items()]
    lines.append("Hits: rank (score) in each list")
    for rank, hit in enumerate(explanation.response.hits, 1):
        named = one_line(cite(hit.title or hit.uri, hit.heading), 2 * TITLE_CHARS)
        lines.append(f"{rank:3}. {short_number(hit.score)}  {hit.chunk_id}  {named}")
        parts = (f"{visible(part.name)}: {part_text(part)}" for part in explanation.parts(hit))
        lines.append(f"     {'; '.join(parts)}")
    return "\n".join(lines)


@to_text.register
def _(quote: Quote) -> str:
    """Write the text and where it stands, on one line."""
    where = place(short_uri(quote.uri), quote.start, quote.end, quote.page)
    named = one_line(cite(quote.title or quote.uri, quote.heading), QUOTE_CHARS)
    return f"“{one_line(quote.text, QUOTE_CHARS)}” {named}  {where}"


@to_text.register
def _(document: StoredDocument) -> str:
    """Write its id, dataset, title and uri, on one line."""
    named = one_line(document.title or document.uri, TITLE_CHARS)
    uri = short_uri(document.uri)
    return f"{document.document_id}  {document.dataset}  {named}  {uri}"


@to_text.register
def _(document: ShownDocument) -> str:
    return document.text


@to_text.register
def _(excerpt: Excerpt) -> str:
    return excerpt.content


@to_text.register
def _(status: Status) -> str:
    """Write what the database is and holds, after what cannot be done."""
    return "\n".join([*degraded_lines(status.degraded), *status_lines(status)])


@to_text.register
def _(health: Health) -> str:
    """Write the status, then what is wrong."""
    problems = [f"problem: {each.problem}: {each.remedy}" for each in health.problems]
    end = problems or [verdict(health)]
    return visible("\n".join([*degraded_lines(health.degraded), *status_lines(health), *end]))


@to_text.register
def _(run: IngestRun) -> str:
    """Write its counts on one line, then how far it is and what failed."""
    return "\n".join(run_lines(run))


@to_text.register
def _(dataset: StoredDataset) -> str:
    documents, chunks = counted(dataset.documents, "document"), counted(dataset.chunks, "chunk")
    return visible(f"{dataset.dataset}: {documents}, {chunks}")


@to_text.register
def _(evaluation: Evaluation) -> str:
    """Write the tables in Markdown, after what could not be done."""
    tables = filter(None, (evaluation_table(evaluation), comparison_table(evaluation)))
    drawn = "\n\n".join(map(_markdown, tables))
    return "\n".join([*evaluation.warnings, *evaluation.failures, drawn])


def short_number(value: float | None) -> str:
    """Write a score or a rank, or that there is none."""
    return MISSING if value is None else f"{value:.4g}"


def part_text(part: Part) -> str:
    """Write a rank, and the score that goes with it."""
    score = "" if part.score is None else f" ({short_number(part.score)})"
    return short_number(part.rank) + score


def step_details(step: Step) -> dict[str, str]:
    """Return what a step was given, made and dropped, as far as it says so, each on one line."""
    parts = {"given": step.given, "made": step.made, "dropped": step.dropped}
    texts = {name: _detail(value) for name, value in parts.items() if value or value == 0}
    return {name: text for name, text in texts.items() if text}


def verdict(health: Health) -> str:
    """Say that nothing is wrong, and where something cannot be done, that it was told."""
    warnings = len(health.degraded)
    return f"healthy, with {counted(warnings, 'warning')}" if warnings else "healthy"


def status_rows(status: Status) -> list[tuple[str, str]]:
    """Return the most important of a status as texts, each with its name."""
    names = ("engine", "text_config", "space", "embedder", "confidence", "documents", "chunks")
    values = [(name, getattr(status, name)) for name in names]
    rows = [(name, "none" if value is None else str(value)) for name, value in values]
    rows.append(("without vector", str(status.chunks_without_vector)))
    if status.outdated_documents:
        texts = f"{counted(status.outdated_documents, 'document')}, run lexichord reindex"
        rows.append(("words of an earlier version", texts))
    if status.bytes is not None:
        rows.append(("size", f"{status.bytes / 2**20:.0f} MiB"))
    return rows


def status_lines(status: Status) -> Iterator[str]:
    """Yield what the database is and holds, its datasets, the latest ingests, a change of space."""
    for name, value in status_rows(status):
        yield visible(f"{name}: {value}")
    yield from (f"dataset {to_text(dataset)}" for dataset in status.by_dataset)
    for run in status.runs:
        yield from run_lines(run)
    if (change := status.reembed) is None:
        return
    if change.state == "filling":
        filled = f"{change.chunks - (change.missing or 0)} of {counted(change.chunks, 'chunk')}"
        state = "it runs" if change.running else "run it again to go on"
        yield visible(f"reembed to {change.other_space}: {filled}; {state}")
    elif change.state == "swapped":
        yield visible(f"kept beside: vectors of {change.other_space} (reembed --drop)")


def run_lines(run: IngestRun) -> Iterator[str]:
    """Yield how far an ingest is, how it ended, and what was not read."""
    amounts = {name: getattr(run, name) for name in INGEST_OUTCOMES}
    counts = ", ".join(f"{amount} {name}" for name, amount in amounts.items() if amount)
    state = f"{run.state}, {run.done} of {counted(run.total, 'file')}"
    yield f"run {run.run_id} of {run.started_at:%Y-%m-%d %H:%M}: {state}{counts and ': '}{counts}"
    if run.state == "stalled":
        seen = f"{run.seen_at:%Y-%m-%d %H:%M}"
        yield f"  no sign of life since {seen}: run it again, what is stored is skipped"
    if run.state == "interrupted":
        yield "  ended before its end: run it again, what is stored is skipped"
    for uri, progress in run.in_progress.items():
        yield f"  {file_progress(short_uri(uri), progress)}"
    for uri, reason in islice(run.failures.items(), MAX_FAILURES_SHOWN):
        yield escaped(f"  {short_uri(uri)}: {reason}")
    if (more := len(run.failures) - MAX_FAILURES_SHOWN) > 0:
        yield f"  and {more:,} more failed: see --json"
    if run.unread:
        kinds = ", ".join(f"{amount} {kind}" for kind, amount in run.unread.items())
        yield visible(f"  not read, of no kind that can be: {kinds}")


def dollars_text(amount: float | None) -> str:
    """Write an amount of dollars."""
    return "cost unknown" if amount is None else f"${amount:.4f}"


def usage_text(used: Usage) -> str:
    """Write what a service was asked, and what that costs, as far as it is known."""
    tokens = f", {counted(used.input_tokens, 'token', ',')}" if used.input_tokens else ""
    dollars = "" if used.dollars is None else f", ${used.dollars:.6f}"
    return f"{counted(used.requests, 'request', ',')}{tokens}{dollars}"


def file_progress(name: str, progress: FileProgress) -> str:
    """Write how far a file of an ingest is."""
    if progress.chunks is None:
        return escaped(f"{name}: being read")
    chunks = counted(progress.chunks, "chunk", ",")
    return escaped(f"{name}: {progress.embedded:,} of {chunks} embedded")


def evaluation_table(evaluation: Evaluation) -> list[list[str]]:
    """Return means, speed and failures as rows of text, a column a strategy, the head first."""
    runs = evaluation.runs
    names = dict.fromkeys(name for run in runs for name in run.means)
    clients = dict.fromkeys(number for run in runs for number in run.qps)
    timed = f"{{}} ms {runs[0].settings.get('milliseconds', '')}" if runs else ""
    return [
        ["", *(run.strategy for run in runs)],
        *_rows("{}", names, [run.means for run in runs], 4),
        *_rows(timed, ("p50", "p95") if runs else (), [run.milliseconds for run in runs], 1),
        *_rows("queries/s, {} clients", clients, [run.qps for run in runs], 1),
        ["failed", *(f"{len(run.failed)} of {len(run.queries)}" for run in runs)],
        ["run", *(str(run.id or "not recorded") for run in runs)],
    ]


def comparison_table(evaluation: Evaluation) -> list[list[str]]:
    """Return the differences from an earlier run as rows of text; none if there was none."""
    changes = evaluation.comparisons
    if not changes:
        return []
    head = ["strategy", "metric", f"less run {changes[0].before}", "95 %", ""]
    return [head, *map(_change, changes)]


def _change(change: Change) -> list[str]:
    difference = change.difference
    verdict = "noise" if difference.is_noise else "better" if difference.mean > 0 else "worse"
    interval = f"{difference.low:+.4f} to {difference.high:+.4f}"
    return [change.strategy, change.metric, f"{difference.mean:+.4f}", interval, verdict]


def _rows(
    label: str, names: Iterable[Any], columns: Sequence[Mapping[Any, float]], digits: int
) -> list[list[str]]:
    return [
        [label.format(name), *(write_number(column.get(name), digits) for column in columns)]
        for name in names
    ]


def _markdown(table: Sequence[Sequence[str]]) -> str:
    head, *rows = table
    lines = (head, ["---"] * len(head), *rows)
    return "\n".join(f"| {' | '.join(map(visible, cells))} |" for cells in lines)


def _numbered(degraded: Sequence[str], hits: Sequence[ChunkHit] | Sequence[FileHit]) -> str:
    lines = [f"{rank}. {to_text(hit)}" for rank, hit in enumerate(hits, 1)]
    return "\n".join([*degraded_lines(degraded), *(lines or ["nothing found"])])


def degraded_lines(reasons: Iterable[str]) -> list[str]:
    """Return what could not be done, a line each."""
    return [f"degraded: {escaped(reason)}" for reason in reasons]


def _detail(value: object) -> str:
    """Write what a stage says; ranks are left out, for they stand below, hit by hit."""
    if not isinstance(value, Mapping):
        return one_line(_plain(value), DETAIL_CHARS)
    texts = {name: _plain(part) for name, part in value.items() if part is not None}
    return one_line("; ".join(f"{name}: {text}" for name, text in texts.items()), DETAIL_CHARS)


def _plain(value: object) -> str:
    if isinstance(value, float):
        return short_number(value)
    if isinstance(value, Mapping):
        return " ".join(f"{name} {_plain(part)}" for name, part in value.items() if name != "ranks")
    if isinstance(value, list | tuple):
        return ", ".join(map(_plain, value)) or "none"
    return str(value)
