"""A response for people: its answer, files, evidence, sources, and how it came about."""

from rich.table import Table
from rich.text import Text

from lexichord.cli.render import degraded, file_line, out, printable, short
from lexichord.types import Explanation, Response
from lexichord.types.evidence import NOT_FOUND, Cell, Comparison
from lexichord.types.json import Json
from lexichord.types.reflection import Reflection


def response(found: Response, explain: bool) -> None:
    """Print the files, the evidence as text, and where each passage stands."""
    degraded(found.degraded)
    out.print(Text("Intent: ", "bold") + printable(found.intent.reason))
    sure = f"{found.confidence:.2f}"
    out.print(Text("Confidence: ", "bold") + sure + " (no answer)" * found.abstained)
    if found.answer:
        _answer(found)
    for said in found.unverified:
        line = " ".join(said.split())
        out.print(printable(f"Unverified, in no source: {line}"), style="yellow")
    if found.reflection is not None:
        _reflection(found.reflection)
    out.print("Files", style="bold")
    for number, file in enumerate(found.files, 1):
        file_line(number, file, explain)
    out.print("\nEvidence", style="bold")
    out.print(printable(found.context) or "nothing found")
    out.print("Sources", style="bold")
    for source in found.sources:
        out.print(Text(f"[{source['number']}] {short(source['uri'])}:{_span(source)}"))
    if explain:
        out.print(printable(str(Explanation(found))))


def _answer(found: Response) -> None:
    """Print the answer; on a terminal a comparison is drawn, elsewhere it is Markdown."""
    out.print("Answer", style="bold")
    if found.comparison is not None and out.is_terminal:
        out.print(_table(found.comparison), soft_wrap=False)
    else:
        out.print(printable(found.answer))


def _reflection(found: Reflection) -> None:
    """Print what reflection came to, each grade with its reason."""
    rounds = f"{len(found.rounds)} round{'s' * (len(found.rounds) != 1)}"
    passed = "passed" if found.passed else "not passed"
    out.print(Text("Reflection: ", "bold") + printable(f"{passed}; {rounds}; {found.stopped}"))
    for grade in found.grades:
        out.print(printable(f"  {grade.name} {grade.score:.2f}: {grade.reason}"))


def _table(comparison: Comparison) -> Table:
    table = Table(show_lines=True)
    for name in ("File", *comparison.aspects):
        table.add_column(printable(name))
    for file in comparison.documents:
        cells = [comparison.cell(file.document_id, aspect) for aspect in comparison.aspects]
        table.add_row(printable(file.title or short(file.uri)), *map(_cell, cells))
    return table


def _cell(cell: Cell) -> Text:
    quotes = "\n".join(" ".join(quote.text.split()) for quote in cell.quotes)
    return printable(quotes) if cell.found else Text(NOT_FOUND, "dim")


def _span(source: Json) -> str:
    page = f" page {source['page']}" if source["page"] else ""
    return f"{source['start']}-{source['end']}{page}"
