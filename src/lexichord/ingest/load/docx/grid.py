"""The rows of a Word table on its grid: what is merged, in each row that it covers."""

from collections.abc import Callable, Iterable, Iterator

from lxml.etree import _Element

from lexichord.ingest.load.docx.content import (
    columns_before,
    columns_of,
    is_continuation,
    is_hidden_row,
    row_cells,
)
from lexichord.ingest.load.text import MAX_TEXT_BYTES, too_long_error


def grid_rows(
    rows: Iterable[_Element], header_rows: int, read: Callable[[_Element], str]
) -> Iterator[list[str]]:
    """Yield the texts of a table's rows, each below that of its column.

    What is merged downwards stands in each row that holds something besides, in the header once,
    and in the first row that shows.
    Raises IngestError where that comes to too much text.
    """
    above, waiting = dict[int, str](), set[int]()
    length = 0
    for number, row in enumerate(rows):
        texts = {cell: read(cell) for cell in row_cells(row) if not is_continuation(cell)}
        is_filled = number >= header_rows and any(map(str.strip, texts.values()))
        line = _line(row, texts, above, waiting, is_filled)
        length += sum(map(len, line))
        if length > MAX_TEXT_BYTES:
            raise too_long_error()
        yield line


def _line(
    row: _Element,
    texts: dict[_Element, str],
    above: dict[int, str],
    waiting: set[int],
    is_filled: bool,
) -> list[str]:
    """Return a row's texts; keep in `above` what may go on below.

    The columns in `waiting` are those whose text has stood in hidden rows only.
    """
    is_hidden = is_hidden_row(row)
    line = [""] * columns_before(row)
    used = len(line)
    for cell in row_cells(row):
        column = len(line)
        if cell in texts:
            above[column] = texts[cell]
            waiting.add(column)
        goes_on = is_filled or (column in waiting and not is_hidden)
        text = texts.get(cell, above.get(column, "") if goes_on else "")
        waiting -= set() if is_hidden else {column}
        used = len(line) + 1
        line += [text, *[""] * (columns_of(cell) - 1)]
    return line[:used]
