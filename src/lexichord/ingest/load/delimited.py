"""CSV and TSV: a table, whose first row names the columns unless it holds numbers."""

import csv
import re
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

from lexichord.errors import IngestError
from lexichord.ingest.load.kinds import CSV_TYPE, TSV_TYPE, kind_of
from lexichord.ingest.load.tables import add_tables
from lexichord.ingest.load.text import MAX_TEXT_BYTES, TextBuilder, read_text
from lexichord.types import LoadedText

DELIMITERS = ",;\t|"
SAMPLE_LINES = 20  # by which the delimiter is told
DELIMITER_LINE = re.compile(r"sep=(.)\r?\n", re.IGNORECASE)  # for spreadsheet programs


def load(file: Path, named: str) -> LoadedText:
    """Read a file of rows. Raises IngestError."""
    kind = kind_of(file.name) or CSV_TYPE
    content, metadata = read_text(file)
    built = TextBuilder()
    if named_delimiter := DELIMITER_LINE.match(content):
        delimiter = named_delimiter[1]
        content = f"\n{content[named_delimiter.end() :]}"  # the rows keep their numbers
    else:
        delimiter = "\t" if kind == TSV_TYPE else _delimiter(content)
    add_tables(built, _rows(content, delimiter), 2)
    return LoadedText(
        built.text,
        kind,
        named,
        headings=tuple(built.headings),
        tables=tuple(built.tables),
        metadata=metadata,
    )


def _rows(content: str, delimiter: str) -> Iterator[list[str]]:
    csv.field_size_limit(MAX_TEXT_BYTES)
    try:
        yield from csv.reader(StringIO(content, newline=""), delimiter=delimiter)
    except csv.Error as error:
        raise IngestError(f"is no table of delimited cells: {error}") from None


def _delimiter(content: str) -> str:
    """Return the sign that parts the first lines into the same number of cells, and the most."""
    lines = content.split("\n", SAMPLE_LINES)[:SAMPLE_LINES]
    sample = "\n".join(lines)

    def fit(delimiter: str) -> tuple[float, int]:
        widths = [len(row) for row in csv.reader(StringIO(sample), delimiter=delimiter) if row]
        common = max(set(widths), key=widths.count, default=1)
        return (widths.count(common) / len(widths) if common > 1 else 0.0), common

    try:
        return max(DELIMITERS, key=fit)
    except csv.Error:
        return ","
