"""Lists and tables of a web page: numbered items, data as lines of cells, layout unwrapped."""

import re
from collections.abc import Callable, Iterator

from lxml.etree import SubElement, _Element

from lexichord.ingest.load.spans import SpanningCell, filled_rows
from lexichord.ingest.load.text import split_table
from lexichord.ingest.numerals import letters, roman

MARKER_ATTRIBUTE = "marker"  # the attribute of li that holds what stands before it
HTML_NUMBER_FORMS: dict[str, Callable[[int], str]] = {
    "a": letters,
    "A": lambda number: letters(number).upper(),
    "i": roman,
    "I": lambda number: roman(number).upper(),
    "lower-alpha": letters,
    "lower-latin": letters,
    "upper-alpha": lambda number: letters(number).upper(),
    "upper-latin": lambda number: letters(number).upper(),
    "lower-roman": roman,
    "upper-roman": lambda number: roman(number).upper(),
    "none": lambda number: "",
}
LIST_STYLE = re.compile(r"list-style(?:-type)?\s*:\s*([a-z-]+)")


def mark_items(root: _Element) -> None:
    """Set the marker of each list item that a browser shows."""
    for item in root.iter("li"):
        item.set(MARKER_ATTRIBUTE, "• ")
    for ordered in root.iter("ol"):
        _number(ordered)


def _number(ordered: _Element) -> None:
    style = LIST_STYLE.search(ordered.get("style", ""))
    form = HTML_NUMBER_FORMS.get(style[1] if style else ordered.get("type", ""), str)
    number = _whole(ordered.get("start"), 1)
    for item in ordered.iterchildren("li"):
        number = _whole(item.get("value"), number)
        written = form(number)
        item.set(MARKER_ATTRIBUTE, f"{written}. " if written else "")
        number += 1


def _whole(written: str | None, default: int) -> int:
    try:
        return int(written or default)
    except ValueError:
        return default


DATA_TABLE_TAG = "data-table"  # the element that stands for a table's lines
BLOCK_TAGS = (
    *("h1", "h2", "h3", "h4", "h5", "h6"),
    *("ul", "ol", "dl", "pre", "blockquote", "article", "section", "form"),
)
MAX_SPANNED_ROWS = 65534  # as browsers take it
MAX_CELL_PARAGRAPHS = 3  # in one cell: more are no data


def flatten_tables(root: _Element) -> list[int]:
    """Turn tables into text; return the length of the head of each that holds data, in order."""
    heads = list[int]()
    for table in list(root.iter("table")):
        rows = [row for row in table.iter("tr") if _owner(row) is table]
        if _is_data(table, rows):
            amount = _header_rows(rows)
            head, body = split_table(filled_rows(map(_cells, rows), amount), amount)
            if head or body:
                heads.append(len("".join(head)))
                _replace(table, "".join(head + body).removesuffix("\n"))
                continue
        _unwrap(table)
    return heads


def _owner(row: _Element) -> _Element | None:
    return next(row.iterancestors("table"), None)


def _is_data(table: _Element, rows: list[_Element]) -> bool:
    if len(rows) < 2 or next(table.iterdescendants("table", *BLOCK_TAGS), None) is not None:
        return False
    cells = [cell for row in rows for cell in row.iter("td", "th")]
    return all(sum(1 for _ in cell.iter("p")) <= MAX_CELL_PARAGRAPHS for cell in cells)


def _header_rows(rows: list[_Element]) -> int:
    """Count the rows in thead, or else those of th cells only; the first where there are none."""
    heads = [row for row in rows if next(row.iterancestors("thead"), None) is not None]
    if not heads:
        for row in rows:
            if next(row.iter("td"), None) is not None:
                break
            heads.append(row)
    return len(heads) or 1


def _cells(row: _Element) -> Iterator[SpanningCell]:
    for cell in row.iter("td", "th"):
        rows = _whole(cell.get("rowspan"), 1) or MAX_SPANNED_ROWS  # 0 is: all that follow
        yield SpanningCell(_text(cell), min(rows, MAX_SPANNED_ROWS), _whole(cell.get("colspan"), 1))


def _text(cell: _Element) -> str:
    for line_end in cell.iter("br", "p", "div", "li"):
        line_end.tail = f" {line_end.tail or ''}"
    return " ".join("".join(str(piece) for piece in cell.itertext()).split())


def _replace(table: _Element, lines: str) -> None:
    """Put the lines in the table's place; a caption stays before them."""
    tail, caption = table.tail, table.find("caption")
    text = "" if caption is None else _text(caption)
    table.clear()
    table.tag, table.tail = "div", tail
    table.text = text
    SubElement(table, DATA_TABLE_TAG).text = lines


def _unwrap(table: _Element) -> None:
    """Make blocks of a table's cells; those of a single row without blocks stay in one line."""
    rows = [row for row in table.iter("tr") if _owner(row) is table]
    blocks = table.iterdescendants("table", "p", "div", *BLOCK_TAGS)
    in_line = len(rows) == 1 and next(blocks, None) is None
    for part in table.iter("tr", "td", "th", "tbody", "thead", "tfoot", "caption"):
        if _owner(part) is table:
            part.tag = "span" if in_line and part.tag in ("td", "th") else "div"
            part.tail = f" {part.tail or ''}"
    table.tag = "div"
