"""A comparison's table to take away, and the files to choose for its rows."""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lexichord.retrieve.evidence.answer import write_table
from lexichord.serve.page.form import SearchForm
from lexichord.serve.page.language import say
from lexichord.serve.page.passages import place_in_words
from lexichord.types import Comparison, FileHit, Response, StoredDocument
from lexichord.types.base import cite, document_name, escaped, file_name
from lexichord.types.evidence import NOT_FOUND, Cell, Quote

FORMULA_OPENINGS = ("=", "+", "-", "@", "\t", "\r", "\n")  # of what a spreadsheet would compute
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
    shown = "\n".join(map(escaped, value.split("\n")))
    return f"'{shown}" if value.startswith(FORMULA_OPENINGS) else shown


def _quoted(cell: Cell) -> str:
    return "\n".join(map(_with_place, cell.quotes)) or say("results.not_in_file")


def _with_place(quote: Quote) -> str:
    where = place_in_words(quote.page, quote.heading) or cite("", quote.heading)
    return f"{' '.join(quote.text.split())}{f' ({where})' * bool(where)}"


def comparison_markdown(question: str, table: Comparison) -> str:
    """Return a table as Markdown under its question."""
    shown = write_table(table, ()) or NOT_FOUND
    return f"# {' '.join(question.split())}\n\n{shown}\n".translate(MARKDOWN_ENTITIES)
