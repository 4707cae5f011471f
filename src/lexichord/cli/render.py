"""Results for people. Stored text is data: never markup, never terminal codes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from lexichord.types.base import cite, counted, escaped, short_uri, visible

if TYPE_CHECKING:
    from lexichord.ingest.report import Report
    from lexichord.providers.model_folders import ListedModel
    from lexichord.types import (
        Backup,
        ChunkHit,
        Documents,
        Excerpt,
        Exported,
        FileHit,
        FilesResult,
        Health,
        IndexUse,
        Response,
        SearchResult,
        ShownDocument,
        Status,
        StoredDataset,
    )
    from lexichord.types.evidence import Cell, Comparison, ContextSource
    from lexichord.types.response import QueryEvent, Reflection

MAX_SNIPPET_CHARS = 1000  # of a hit
MOST_LANGUAGES = 5  # of a model that are named in a line
out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)

type ResultRow = Mapping[str, Any]


def retried(made: Report) -> None:
    """Print the outcome of retrying failed files."""
    if made.run_id:
        report(made)
    else:
        out.print("nothing to do: no file has failed")
        degraded(made.degraded)


def report(made: Report, verbose: bool = False) -> None:
    """Print the outcome of an ingest; `verbose` names all that was left out."""
    from lexichord.ingest.report import outcome, remarks

    for line in outcome(made):
        out.print(printable(line))
    for line in remarks(made, verbose):
        err.print(printable(line))
    degraded(made.degraded)


def copied(row: ResultRow) -> None:
    """Print a line a dataset."""
    for report in row["datasets"]:
        counts = ", ".join(f"{report[name]} {name}" for name in ("copied", "replaced", "skipped"))
        chunks = counted(report["chunks"], "chunk")
        out.print(printable(f"{report['dataset']}: {counts}; {chunks} copied"))
    if not row["datasets"]:
        out.print("nothing to copy: there are no datasets")


def backup(made: Backup) -> None:
    """Print what a backup holds."""
    out.print(printable(f"{_held(made)} are in {made.file}"))


def restored(made: Backup) -> None:
    """Print what was restored, and what was not."""
    out.print(printable(f"{_held(made)} restored from {made.file}; engine {made.engine}"))
    for line in made.left_out:
        err.print(printable(line))


def exported(export: Exported) -> None:
    """Print how much was written."""
    out.print(f"{_held(export)} written to the vechord namespace {export.namespace}")
    degraded(export.degraded)


def _held(made: Backup | Exported) -> str:
    return f"{counted(made.documents, 'document')}, {counted(made.chunks, 'chunk')}"


def search(result: SearchResult, explain: bool) -> None:
    """Print chunk hits."""
    degraded(result.degraded)
    if not result.hits:
        out.print("nothing found")
    for number, hit in enumerate(result.hits, 1):
        _hit(number, hit, result.query, explain)


def files(result: FilesResult, explain: bool) -> None:
    """Print file hits."""
    degraded(result.degraded)
    if not result.files:
        out.print("nothing found")
    for number, file in enumerate(result.files, 1):
        file_line(number, file, explain)


def file_line(number: int, file: FileHit, explain: bool) -> None:
    """Print a file hit."""
    line = Text(f"{number}. ") + printable(file.title or file.uri)
    out.print(line + Text(f"  {file.score:.2f}  ", "dim") + printable(short_uri(file.uri)))
    if explain:
        parts = {name: score and round(score, 3) for name, score in file.scores.items()}
        out.print(f"   {plain(parts)}; {counted(file.hits, 'hit')}", style="dim")
    if file.metadata:
        out.print(Text("   ") + printable(plain(file.metadata)), style="dim")


def documents(listed: Documents) -> None:
    """Print a line a document."""
    for document in listed:
        number = f"{document.document_id} {counted(document.chunks, 'chunk', '>5'):12}  "
        place = f"{document.dataset}  {short_uri(document.uri)}  "
        out.print(Text(number, "dim") + printable(place) + printable(document.title))


def document(shown: ShownDocument) -> None:
    """Print a document and the places of its chunks."""
    row = shown.document.to_dict()
    for name in ("document_id", "dataset", "uri", "title", "media_type", "characters", "metadata"):
        out.print(Text(f"{name}: ", "dim") + printable(plain(row[name])))
    for chunk in shown.chunks:
        place = f"{chunk.chunk_id} {chunk.start}-{chunk.end}"
        line = Text(f"  {place:36}", "dim") + printable(chunk.heading or "")
        out.print(line + printable(f"  {' '.join(chunk.content.split())[:60]}"))


def passage(excerpt: Excerpt) -> None:
    """Print a chunk's surroundings."""
    place = f"{short_uri(excerpt.uri)}:{excerpt.start}-{excerpt.end}"
    out.print(printable(f"{cite(excerpt.title, excerpt.heading)}  {place}"), style="bold")
    out.print(printable(excerpt.content))


def status(state: Status) -> None:
    """Print what the database is and holds."""
    _facts(state)
    degraded(state.degraded)


def _facts(state: Status) -> None:
    from lexichord.display.record_text import status_lines

    for line in status_lines(state):
        out.print(printable(line))


def datasets(stored: Iterable[StoredDataset]) -> None:
    """Print a line a dataset."""
    from lexichord.display.record_text import to_text

    for dataset in stored:
        out.print(printable(to_text(dataset)))


def indexes(used: Iterable[IndexUse]) -> None:
    """Print a line an index."""
    for index in used:
        use = "used" if index.used else "not used (a small table needs none)"
        out.print(f"index {index.index_name}: {use if index.plan else 'not built yet'}")


def doctor(health: Health) -> None:
    """Print the status, what the indexes do, what cannot be done, and what is wrong."""
    from lexichord.display.record_text import verdict

    out.print(", ".join(f"{part.name} {part.version}" for part in health.server))
    _facts(health)
    indexes(health.indexes)
    for fault in health.extension_faults:
        known = f"{fault.extension} {fault.version} is known for: {fault.problem}: {fault.remedy}"
        out.print(printable(known), style="yellow")
    for reason in health.degraded:
        out.print(printable(f"warning: {reason}"), style="yellow")
    for advice in health.advice:
        out.print(printable(f"advice: {advice.problem}: {advice.remedy}"), style="yellow")
    for problem in health.problems:
        out.print(printable(f"problem: {problem.problem}: {problem.remedy}"), style="red")
    if not health.problems:
        out.print(verdict(health), style="yellow" if health.degraded else "green")


def worked(row: ResultRow) -> None:
    """Print what a worker has done."""
    counts = ("stored", "kept", "deleted", "refused", "embedded")
    out.print(", ".join(f"{row[name]} {name}" for name in counts))


def deleted(row: ResultRow) -> None:
    """Print how many documents are gone."""
    out.print(f"{row['deleted']} deleted")


def dsn(row: ResultRow) -> None:
    """Print an address."""
    out.print(Text(row["dsn"]))


def stopped(row: ResultRow) -> None:
    """Print whether there was a server to stop."""
    out.print("stopped" if row["stopped"] else "was not running")


def models(row: ResultRow) -> None:
    """Print a line a model, and where it is."""
    listed: list[ListedModel] = row["models"]
    lines = list(map(_model_columns, listed))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for model, line in zip(listed, lines, strict=True):
        out.print(printable("  ".join(map(str.ljust, line, widths)).rstrip()))
        place = f"here: {model.folder}" if model.folder else "not here"
        out.print(Text("  ") + printable(place), style="dim")


def _model_columns(model: ListedModel) -> tuple[str, ...]:
    return (
        *(model.name, model.kind, f"{model.megabytes:>4} MB"),
        *(model.licence or "licence not known", _languages(model.languages), model.setting),
    )


def _languages(codes: Sequence[str] | None) -> str:
    """Name a few languages, count many."""
    if codes is None:
        return "languages not known"
    return ", ".join(codes) if len(codes) <= MOST_LANGUAGES else f"{len(codes)} languages"


def model(facts: ResultRow) -> None:
    """Print all that is known of a model, a line a fact."""
    for name, value in facts.items():
        if name != "use" and value not in (None, {}):
            out.print(Text(f"{name}: ", "dim") + printable(plain(value)))
    if not facts["folder"]:
        out.print("folder: none, it is not on this machine")
    _usage(out, facts)


def fetching(file: str, size: int) -> None:
    """Print on stderr which file is downloaded now."""
    err.print(printable(f"{file}, {size / 1e6:.1f} MB"))


def fetched(row: ResultRow) -> None:
    """Print where a model is, and on stderr how to use it."""
    out.print(printable(row["folder"]))
    _usage(err, row)


def _usage(console: Console, row: ResultRow) -> None:
    console.print(Text("use it: ", "dim") + printable("; or ".join(row["use"])))


def degraded(reasons: Iterable[str]) -> None:
    """Print on stderr what could not be done."""
    for reason in reasons:
        err.print(Text(f"degraded: {escaped(reason)}", "yellow"))


def plain(value: object) -> str:
    """Write a value of metadata, or of a record, as people do."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {plain(one)}" for name, one in value.items()) or "none"
    if isinstance(value, list | tuple):
        return ", ".join(map(plain, value)) or "none"
    is_word = value is None or isinstance(value, bool)
    return str(value).lower() if is_word else str(value)


def metadata(values: Mapping[str, Any]) -> None:
    """Print a line a key."""
    for name, value in values.items():
        out.print(Text(f"{visible(name)}: ", "dim") + printable(plain(value)))


def printable(text: str) -> Text:
    """Return text without control codes or a byte order mark."""
    return Text(visible(text))


def _hit(number: int, hit: ChunkHit, query: str, explain: bool) -> None:
    title = cite(hit.title or hit.uri, hit.heading)
    place = f"{short_uri(hit.uri)}:{hit.start}-{hit.end}"
    out.print(Text(f"{number}. ") + printable(title), style="bold")
    out.print(Text(f"   {hit.score:.2f}  {hit.chunk_id}  ", "dim") + printable(place))
    if explain:
        out.print(f"   {_channel(hit, 'dense')}, {_channel(hit, 'keyword')}", style="dim")
    cut = " …" if len(hit.content) > MAX_SNIPPET_CHARS else ""
    snippet = printable(hit.content[:MAX_SNIPPET_CHARS] + cut)
    snippet.highlight_words(re.findall(r"\w{4,}", query), "bold", case_sensitive=False)
    out.print(snippet, end="\n\n")


def _channel(hit: ChunkHit, name: str) -> str:
    score, rank = hit.scores.by_list[name], hit.ranks[name]
    return f"{name} {'-' if score is None else f'{score:.3f}'} (rank {rank or '-'})"


def response(answered: Response, explain: bool) -> None:
    """Print the files, the evidence as text, and where each passage stands."""
    degraded(answered.degraded)
    out.print(Text("Intent: ", "bold") + printable(answered.intent.reason))
    confidence = f"{answered.confidence:.2f} that the evidence holds an answer"
    out.print(Text("Confidence: ", "bold") + confidence + ": none is given" * answered.abstained)
    if answered.answer:
        _answer(answered)
    for sentence in answered.unverified:
        line = " ".join(sentence.split())
        out.print(printable(f"Unverified, in no source: {line}"), style="yellow")
    if answered.reflection is not None:
        _reflection(answered.reflection)
    meant = len(answered.relevant_files)
    out.print(Text("Files", "bold") + (f" ({meant} relevant)" if meant else " (none stands out)"))
    for number, file in enumerate(answered.files, 1):
        file_line(number, file, explain)
    out.print("\nEvidence", style="bold")
    out.print(printable(answered.context) or "nothing found")
    out.print("Sources", style="bold")
    for source in answered.sources:
        out.print(printable(f"[{source.number}] {short_uri(source.uri)}:{_span(source)}"))
    if explain:
        from lexichord.types import Explanation

        out.print(printable(str(Explanation(answered))))


def event(event: QueryEvent) -> None:
    """Print on stderr what a query has come to; the response itself is printed in the end."""
    from lexichord.types.response import DraftEvent, EvidenceEvent, FilesEvent

    if isinstance(event, FilesEvent):
        names = (file.title or short_uri(file.uri) for file in event.files)
        err.print(Text("Files: ", "bold") + (printable(", ".join(names)) or "none"))
    elif isinstance(event, EvidenceEvent):
        amount = f"{counted(len(event.sources), 'passage')}, confidence {event.confidence:.2f}"
        err.print(Text("Evidence: ", "bold") + amount)
    elif isinstance(event, DraftEvent):
        if event.start == 0:
            err.print("Draft, not checked:", style="bold")
        err.print(printable(event.text), end="")


def _answer(answered: Response) -> None:
    """Print the answer; on a terminal a comparison is drawn, elsewhere it is Markdown."""
    sure = answered.answer_confidence
    part = "first" if answered.claimed else "marked"
    note = "" if sure is None else f" (its {part} sentence is right with {sure:.2f})"
    out.print(Text(answered.heading, "bold") + note)
    if answered.comparison is not None and out.is_terminal:
        out.print(_table(answered.comparison), soft_wrap=False)
    else:
        out.print(_with_phrase(answered))


def _with_phrase(answered: Response) -> Text:
    """Return the answer with the phrase of its first sentence in bold."""
    text = printable(answered.answer)
    if answered.phrase is not None:
        phrase = visible(" ".join(answered.phrase.text.split()))
        if (start := text.plain.partition("\n")[0].find(phrase)) >= 0:
            text.stylize("bold", start, start + len(phrase))
    return text


def _reflection(reflection: Reflection) -> None:
    """Print what reflection came to, each grade with its reason."""
    rounds = counted(len(reflection.rounds), "round")
    passed = "passed" if reflection.passed else "not passed"
    out.print(Text("Reflection: ", "bold") + printable(f"{passed}; {rounds}; {reflection.stopped}"))
    for grade in reflection.grades:
        out.print(printable(f"  {grade.name} {grade.score:.2f}: {grade.reason}"))


def _table(comparison: Comparison) -> Table:
    table = Table(show_lines=True)
    for name in ("File", *comparison.aspects):
        table.add_column(printable(name))
    for file in comparison.documents:
        cells = [comparison.cell(file.document_id, aspect) for aspect in comparison.aspects]
        table.add_row(printable(file.title or short_uri(file.uri)), *map(_cell, cells))
    return table


def _cell(cell: Cell) -> Text:
    from lexichord.types.evidence import NOT_FOUND

    quotes = "\n".join(" ".join(quote.text.split()) for quote in cell.quotes)
    return printable(quotes) if cell.found else Text(NOT_FOUND, "dim")


def _span(source: ContextSource) -> str:
    page = f" page {source.page}" if source.page else ""
    return f"{source.start}-{source.end}{page}"
