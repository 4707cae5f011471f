"""Sheets of drawn parts: XLSX and ODS."""

import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import xlsxwriter
from hypothesis import strategies as st

from tests.walked.said import Said
from tests.walked.shapes import Area, Grid, grids

ODF = "urn:oasis:names:tc:opendocument:xmlns:"
SPACES = " ".join(
    f'xmlns:{name}="{ODF}{name}:1.0"' for name in ("office", "table", "text", "style")
)


@dataclass(frozen=True)
class Sheet:
    """A sheet: its table, where that begins, whether it is hidden, which rows bear comments."""

    grid: Grid
    top: int
    left: int
    is_hidden: bool
    commented: frozenset[int]


SHEETS = st.lists(
    st.builds(
        Sheet,
        grids(hides=True),
        st.integers(0, 2),
        st.integers(0, 2),
        st.booleans(),
        st.frozensets(st.integers(0, 4), max_size=2),
    ),
    min_size=1,
    max_size=3,
)


@dataclass
class WrittenSheet:
    """A sheet's name and words, and the comments by their cells."""

    sheet: Sheet
    name: str
    words: dict[Area, str]
    comments: dict[Area, str]


def said_sheets(said: Said, sheets: Sequence[Sheet]) -> list[WrittenSheet]:
    """Note what stands in sheets; the first one is shown, for a workbook shows one at least."""
    return [
        _said_sheet(
            said,
            sheet if number else Sheet(sheet.grid, sheet.top, sheet.left, False, sheet.commented),
        )
        for number, sheet in enumerate(sheets)
    ]


def _said_sheet(said: Said, sheet: Sheet) -> WrittenSheet:
    is_dropped = sheet.is_hidden and said.options.hidden == "drop"
    if sheet.is_hidden:
        name = said.hidden_part("sheet", r"Sheet {} \(hidden\)")
    else:
        name = said.marked(r"(^|\n)Sheet {}(\n|$)")
    words = _words(said, sheet.grid, is_dropped)
    comments = dict[Area, str]()
    for row in sorted(sheet.commented):
        if row < sheet.grid.rows and (own := sheet.grid.own(row)):
            comments[own[0]] = said.word() if is_dropped else said.comment()
            said.absent |= {comments[own[0]]} if is_dropped else set()
    return WrittenSheet(sheet, name, words, comments)


def _words(said: Said, grid: Grid, is_dropped: bool) -> dict[Area, str]:
    """Return a word for each cell; what a hidden row or column drops is absent."""
    drops = said.options.hidden == "drop"
    hidden_rows, hidden_columns = grid.hidden_rows, grid.hidden_columns
    words = dict[Area, str]()
    for row in range(grid.rows):
        for area in grid.own(row):
            top, left, bottom, right = area
            rows = set(range(top, bottom)) - hidden_rows
            shows = bool(rows and set(range(left, right)) - hidden_columns)
            words[area] = said.word()
            if is_dropped or (drops and not shows):
                said.absent.add(words[area])
            else:
                said.texts[words[area]] = 1
                said.least.add(words[area])
    if not is_dropped:
        _note_hidden(said, grid, words)
    return words


def _note_hidden(said: Said, grid: Grid, words: dict[Area, str]) -> None:
    drops, marks = said.options.hidden == "drop", said.options.hidden == "mark"
    for row in range(grid.rows):
        own = grid.own(row)
        cells = [grid.area(row, column) for column in range(grid.columns)]
        shown = [words[cell] for cell in cells if words[cell] not in said.absent]
        if own and not (drops and row in grid.hidden_rows):
            said.row(shown if drops else [words[cell] for cell in cells])
        if own and marks and row in grid.hidden_rows:
            said.patterns.append(rf"{words[own[0]]}[^\n]*\(hidden\)")
    if drops:
        said.may_drop |= {"hidden row", "hidden column"}
        said.absent_by_place |= said.absent.intersection(words.values())


def make_xlsx(file: Path, said: Said, sheets: Sequence[Sheet]) -> None:
    book = xlsxwriter.Workbook(str(file))
    book.set_properties({"author": said.fact("author"), "title": said.fact("title")})
    for written in said_sheets(said, sheets):
        drawn, sheet = book.add_worksheet(written.name), written.sheet
        if sheet.is_hidden:
            drawn.hide()
        for (top, left, bottom, right), word in written.words.items():
            place = (top + sheet.top, left + sheet.left)
            if bottom - top + right - left > 2:
                drawn.merge_range(*place, bottom + sheet.top - 1, right + sheet.left - 1, word)
            else:
                drawn.write(*place, word)
        for (top, left, _, _), word in written.comments.items():
            drawn.write_comment(top + sheet.top, left + sheet.left, word)
        for row in sheet.grid.hidden_rows:
            drawn.set_row(row + sheet.top, None, None, {"hidden": True})
        for column in sheet.grid.hidden_columns:
            at = column + sheet.left
            drawn.set_column(at, at, None, None, {"hidden": True})
    book.close()


def make_ods(file: Path, said: Said, sheets: Sequence[Sheet]) -> None:
    tables = "".join(map(_table, said_sheets(said, sheets)))
    hidden = (
        '<office:automatic-styles><style:style style:name="ta2" style:family="table">'
        '<style:table-properties table:display="false"/></style:style></office:automatic-styles>'
    )
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
        archive.writestr(
            "content.xml",
            f"<office:document-content {SPACES}>{hidden}<office:body><office:spreadsheet>{tables}"
            "</office:spreadsheet></office:body></office:document-content>",
        )


def _table(written: WrittenSheet) -> str:
    sheet, grid = written.sheet, written.sheet.grid
    style = ' table:style-name="ta2"' if sheet.is_hidden else ""
    free = "<table:table-column/>" * sheet.left
    columns = "".join(
        f"<table:table-column{_hidden(column in grid.hidden_columns)}/>"
        for column in range(grid.columns)
    )
    above = "<table:table-row><table:table-cell/></table:table-row>" * sheet.top
    rows = "".join(
        f"<table:table-row{_hidden(row in grid.hidden_rows)}>"
        f"{'<table:table-cell/>' * sheet.left}{''.join(_cells(written, row))}</table:table-row>"
        for row in range(grid.rows)
    )
    opening = f'<table:table table:name="{written.name}"{style}>'
    return f"{opening}{free}{columns}{above}{rows}</table:table>"


def _hidden(is_hidden: bool) -> str:
    return ' table:visibility="collapse"' if is_hidden else ""


def _cells(written: WrittenSheet, row: int) -> Iterator[str]:
    for column in range(written.sheet.grid.columns):
        area = written.sheet.grid.area(row, column)
        if area[:2] != (row, column):
            yield "<table:covered-table-cell/>"
            continue
        said = written.comments.get(area)
        note = f"<office:annotation><text:p>{said}</text:p></office:annotation>" if said else ""
        yield (
            '<table:table-cell office:value-type="string"'
            f' table:number-rows-spanned="{area[2] - row}"'
            f' table:number-columns-spanned="{area[3] - column}">{note}'
            f"<text:p>{written.words[area]}</text:p></table:table-cell>"
        )
