"""Lists and tables of a web page: numbered items, data as lines of cells, layout unwrapped."""

import re
from collections.abc import Callable, Iterator
from itertools import islice

from lxml.etree import SubElement, _Element

from lexichord.ingest.load.marks import described, picture, within
from lexichord.ingest.load.parts import letters, roman
from lexichord.ingest.load.tables import SpanningCell, filled_rows
from lexichord.ingest.load.text import fenced, split_table

MARKER_ATTRIBUTE = "marker"  # the attribute of li that holds what stands before it
BULLET = "• "
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
        item.set(MARKER_ATTRIBUTE, BULLET)
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
# Of these, what data has in its cells as well, if it is short, and what only pages have.
ITEM_TAGS = ("ul", "ol", "dl", "pre", "blockquote")
PAGE_TAGS = frozenset(("h1", "h2", "article", "section", "form"))
MAX_CELL_CHARS = 500  # in a cell with blocks
MAX_CELL_LINES = 4  # of code, which no line can hold
ITEM_ENDS = (".", ";", ",", ":", "!", "?")  # after which an item wants no semicolon
MAX_SPANNED_ROWS = 65534  # as browsers take it
MAX_CELL_PARAGRAPHS = 3  # in one cell: more are no data


def flatten_tables(root: _Element) -> list[int]:
    """Turn tables into text; return the length of the head of each that holds data, in order."""
    heads, inner = list[int](), set[_Element]()
    for table in list(root.iter("table")):
        if table in inner:
            continue
        rows = [row for row in table.iter("tr") if _owner(row) is table]
        if _is_data(table, rows):
            amount = _header_rows(rows)
            head, body = split_table(filled_rows(map(_cells, rows), amount), amount)
            if head or body:
                heads.append(len("".join(head)))
                inner.update(table.iterdescendants("table"))
                _replace(table, "".join(head + body).removesuffix("\n"))
                continue
        _unwrap(table)
    return heads


def _owner(row: _Element) -> _Element | None:
    return next(row.iterancestors("table"), None)


def _is_data(table: _Element, rows: list[_Element]) -> bool:
    cells = [cell for row in rows for cell in _own_cells(row)]
    if len(rows) < 2 or any(sum(1 for _ in c.iter("p")) > MAX_CELL_PARAGRAPHS for c in cells):
        return False
    blocks = {str(block.tag) for block in table.iterdescendants("table", *BLOCK_TAGS)}
    return not blocks or (_is_data_by_form(table, rows, blocks) and all(map(_fits_in_line, cells)))


def _is_data_by_form(table: _Element, rows: list[_Element], blocks: set[str]) -> bool:
    """Return whether a table whose cells hold blocks is data: its columns or itself have names.

    Or else it is an even grid that has lines, or nothing but lists, code and quotes in its cells.
    """
    widths = {sum(1 for _ in _own_cells(row)) for row in rows}
    if max(widths) < 2 or blocks & PAGE_TAGS or table.get("role") in ("presentation", "none"):
        return False
    has_names = any(cell.tag == "th" for row in rows for cell in _own_cells(row))
    if has_names or table.find("caption") is not None:
        return True
    has_lines = table.get("border", "0") != "0"
    return len(widths) == 1 and (has_lines or blocks.issubset(ITEM_TAGS))


def _fits_in_line(cell: _Element) -> bool:
    """Return whether a cell's blocks are short, and a table in it has one row or one column."""
    if len(" ".join("".join(map(str, cell.itertext())).split())) > MAX_CELL_CHARS:
        return False
    if any("".join(map(str, c.itertext())).count("\n") >= MAX_CELL_LINES for c in cell.iter("pre")):
        return False
    for table in cell.iterdescendants("table"):
        rows = [row for row in table.iter("tr") if _owner(row) is table]
        if len(rows) > 1 and any(sum(1 for _ in _own_cells(row)) > 1 for row in rows):
            return False
    return True


def _own_cells(row: _Element) -> Iterator[_Element]:
    table = _owner(row)
    return (cell for cell in row.iter("td", "th") if _owner(cell) is table)


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
    for cell in _own_cells(row):
        rows = _whole(cell.get("rowspan"), 1) or MAX_SPANNED_ROWS  # 0 is: all that follow
        yield SpanningCell(_text(cell), min(rows, MAX_SPANNED_ROWS), _whole(cell.get("colspan"), 1))


def _text(cell: _Element) -> str:
    """Return what a cell holds in a line, items of lists apart from each other."""
    for block in cell.iterdescendants("br", "p", "div", *BLOCK_TAGS, "tr", "td", "th", "dt"):
        block.tail = f" {block.tail or ''}"
    items = list(cell.iterdescendants("li", "dd"))
    for item in items:
        marker = item.get(MARKER_ATTRIBUTE, "")
        is_parted = item.getnext() is None or _ends_itself(item)
        item.text = f" {'' if marker == BULLET else marker}{item.text or ''}"
        item.tail = f"{' ' if is_parted else '; '}{item.tail or ''}"
    text = " ".join("".join(str(piece) for piece in cell.itertext()).split())
    return text.replace(" ; ", "; ") if items else text


def _ends_itself(item: _Element) -> bool:
    return "".join(map(str, item.itertext())).rstrip().endswith(ITEM_ENDS)


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


CLOSING_SIGNS = ".,;:!?)]"  # before which no blank stands; "" is among them
DECORATION_ROLES = ("none", "presentation")


def set_labels_apart(root: _Element) -> None:
    """Make pictures of the labels of what only says by its role that it is one."""
    for item in list(root.iter()):
        if item.get("role") == "img" and item.get("aria-label") and item.tag not in ("img", "svg"):
            label = item.makeelement("img", {"alt": str(item.attrib.pop("aria-label"))})
            label.tail, item.text = item.text, None
            item.insert(0, label)


def describe_pictures(root: _Element) -> None:
    """Put what is said of each picture in its place: a block where no words stand beside it.

    A description that the picture's caption repeats is left to the caption.
    """
    pictures = list(root.iter("img", "svg"))
    blocks = [_block(item) for item in pictures]
    alone = {block: _is_wordless(block) for block in set(blocks)}
    figures = [next(item.iterancestors("figure"), None) for item in pictures]
    captions = {figure: _captions(figure) for figure in set(figures)}
    for item, block, figure in zip(pictures, blocks, figures, strict=True):
        said = _said(item)
        if any(map(str.isalnum, said)) and said not in captions[figure]:
            _describe(item, said, alone[block])
        elif said and not said.isascii():  # an emoji
            item.tail = f"{said}{item.tail or ''}"


def _block(item: _Element) -> _Element:
    """Return what a picture stands in."""
    return next(over for over in item.iterancestors() if over.tag != "picture")


def _is_wordless(block: _Element) -> bool:
    """Return whether no words stand beside the pictures and blocks in a block."""
    return not any(str(piece or "").strip() for piece in (block.text, *(c.tail for c in block)))


def _said(item: _Element) -> str:
    """Return a picture's description; "" of one that only decorates."""
    if item.get("aria-hidden") == "true" or item.get("role") in DECORATION_ROLES:
        return ""
    label = item.get("aria-label") or item.get("alt")
    if label is None and item.tag == "svg":
        label = item.findtext("{*}title") or item.findtext("{*}desc")
    return described(label or "")


def _captions(figure: _Element | None) -> set[str]:
    captions = () if figure is None else figure.iterfind("figcaption")
    return {" ".join("".join(map(str, caption.itertext())).split()) for caption in captions}


def _describe(item: _Element, said: str, is_alone: bool) -> None:
    """Write the description; what was the picture is no element of its own."""
    tail = item.tail or ""
    if not is_alone:
        apart = "" if tail[:1].isspace() or tail[:1] in CLOSING_SIGNS else " "
        item.tail = f" {within(picture(said))}{apart}{tail}"
        return
    item.clear()
    item.tag, item.text, item.tail = "div", picture(said), tail


# Classes of what shows code: of Sphinx, Asciidoctor, highlight.js, Prism, Pygments and Rouge.
CODE_CLASS = re.compile(r"(?:^|[\s-])(?:highlight|highlighter|language|listing|code|codehilite)")
WRAPPERS = 2  # elements around `pre` that may say so
LINE_TAGS = ("br", "div", "p", "li")  # what ends a line inside `pre`


def fence_code(root: _Element) -> None:
    """Put code between fences, so that it is read as code. Other preformatted text stays."""
    for pre in root.iter("pre"):
        is_in_table = next(pre.iterancestors("td", "th"), None) is not None
        if not is_in_table and _shows_code(pre) and (code := _code(pre)).strip():
            tail = pre.tail
            pre.clear()
            pre.text, pre.tail = fenced(code), tail


def _code(pre: _Element) -> str:
    for line in pre.iter(*LINE_TAGS):
        if next(line.iterdescendants(*LINE_TAGS), None) is None:  # else what it holds ends the line
            line.tail = f"\n{line.tail or ''}"
    return "".join(map(str, pre.itertext())).strip("\n")


def _shows_code(pre: _Element) -> bool:
    around = [pre, *islice(pre.iterancestors(), WRAPPERS)]
    named = any(CODE_CLASS.search(item.get("class", "")) for item in around)
    return named or pre.find("code") is not None
