"""What an .xlsx file says of its sheets before their cells are read: their size, their formats.

Of formats those without which a number would not say what it is of: percents, amounts of money,
zeros in front, as of postal codes. Days are told by the cells themselves.
"""

import posixpath
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import IO

from lxml import etree

from lexichord.ingest.load.archive import open_archive, parse_xml

# Formats that every workbook has, by number.
BUILT_IN_FORMATS: Mapping[int, str] = MappingProxyType(
    {
        9: "0%",
        10: "0.00%",
        **dict.fromkeys((5, 6), '"$"#,##0'),
        **dict.fromkeys((7, 8), '"$"#,##0.00'),
        42: '"$"#,##0',
        44: '"$"#,##0.00',
    }
)
PADDING = re.compile(r"[_*].|\[(?!\$)[^\]]*\]")  # room for a sign, a filler, a colour or condition
CURRENCY = re.compile(
    r"\[\$(?P<code>[^\]-]+)(-[^\]]*)?\]|\"(?P<quoted>\s*([A-Z]{3}|[$€£¥₹])\s*)\"|(?P<sign>[$€£¥₹])"
)
SCALED = re.compile(r"[0#?],+(?![#0?,])")  # a comma after the digits: thousands are shown
DECIMALS = re.compile(r"\.([0#?]+)")
ZEROS = re.compile(r"0{2,}")
DIMENSION = re.compile(rb'<(?:\w+:)?dimension [^>]*?ref="([A-Z]+\d+)(?::([A-Z]+\d+))?"')
DIMENSION_BYTES = 4096  # of a sheet's part, within which it says how far its cells reach
STYLE_PART, BOOK_PART = "xl/styles.xml", "xl/workbook.xml"
RELATION_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"

type Place = tuple[int, int]  # row and column, from 0
type SheetFormats = Mapping[Place, str]


def read_formats(file: Path, broken: str) -> dict[str, SheetFormats]:
    """Return the formats of cells that say percent or a currency, by the sheets' names.

    Empty where the archive is no .xlsx. Raises IngestError.
    """
    with open_archive(file, broken) as archive:
        names = set(archive.namelist())
        if not {STYLE_PART, BOOK_PART} <= names:
            return {}
        styles = _styles(archive)
        if not styles:
            return {}
        sheets = ((name, part) for name, part in sheet_parts(archive) if part in names)
        return {name: dict(_cells(archive, part, styles)) for name, part in sheets}


def find_large_sheet(file: Path, broken: str, most_cells: int) -> str | None:
    """Return the name of a sheet whose values reach over more cells than so many, if there is one.

    Raises IngestError.
    """
    with open_archive(file, broken) as archive:
        names = set(archive.namelist())
        if BOOK_PART in names:
            for name, part in sheet_parts(archive):
                if part in names and _spanned_cells(archive, part, most_cells) > most_cells:
                    return name
    return None


def format_number(value: float, code: str) -> str | None:
    """Return a number as a format shows it; None where the number alone says as much."""
    shown = PADDING.sub("", code.partition(";")[0]).replace("\\", "")
    if ZEROS.fullmatch(shown):
        padded = f"{value:0{len(shown)}.0f}"
        return padded if value >= 0 and len(padded) == len(shown) else None
    currency = CURRENCY.search(shown)
    if SCALED.search(shown) or not ("%" in shown or currency):
        return None
    digits = DECIMALS.search(shown)
    decimals = len(digits[1]) if digits else 0
    sign = "-" if value < 0 else ""
    if "%" in shown:
        return f"{sign}{abs(value) * 100:.{decimals}f}%"
    assert currency is not None
    symbol = (currency["code"] or currency["quoted"] or currency["sign"]).strip()
    number = f"{abs(value):{',' if ',' in shown else ''}.{decimals}f}"
    space = " " if symbol.isalpha() else ""
    is_before = currency.start() < min((shown.find(c) for c in "0#?" if c in shown), default=0)
    return f"{sign}{symbol}{space}{number}" if is_before else f"{sign}{number} {symbol}"


def _spanned_cells(archive: zipfile.ZipFile, part: str, most_cells: int) -> int:
    """Return over how many cells a sheet's values reach, or says that they do if that is few."""
    with archive.open(part) as stream:
        said = DIMENSION.search(stream.read(DIMENSION_BYTES))
    if said:
        corners = (cell_place(corner.decode()) for corner in said.groups(said[1]))
        if (cells := _spanned(filter(None, corners))) <= most_cells:
            return cells
    with archive.open(part) as stream:
        return _spanned(_valued_places(stream))


def _valued_places(stream: IO[bytes]) -> Iterator[Place]:
    for row in sheet_rows(stream):
        for cell in row.iterfind("{*}c"):
            has_value = cell.find("{*}v") is not None or cell.find("{*}is") is not None
            if has_value and (place := cell_place(cell.get("r", ""))):
                yield place


def _spanned(places: Iterable[Place]) -> int:
    """Return how many cells the rectangle around some has."""
    first, last = None, (0, 0)
    for place in places:
        first = place if first is None else (min(first[0], place[0]), min(first[1], place[1]))
        last = max(last[0], place[0]), max(last[1], place[1])
    return (last[0] - first[0] + 1) * (last[1] - first[1] + 1) if first else 0


def _styles(archive: zipfile.ZipFile) -> dict[str, str]:
    """Return the formats that matter here, by the styles' numbers."""
    root = parse_xml(archive.read(STYLE_PART))
    codes = dict(BUILT_IN_FORMATS)
    for tag in root.iterfind("{*}numFmts/{*}numFmt"):
        codes[int(tag.get("numFmtId", "0"))] = tag.get("formatCode", "")
    used = (tag.get("numFmtId", "0") for tag in root.iterfind("{*}cellXfs/{*}xf"))
    found = ((str(number), codes.get(int(format_id), "")) for number, format_id in enumerate(used))
    return {number: code for number, code in found if format_number(1.0, code) is not None}


def sheet_parts(archive: zipfile.ZipFile) -> Iterator[tuple[str, str]]:
    """Yield the sheets' names with their parts of the archive."""
    links = parse_xml(archive.read("xl/_rels/workbook.xml.rels"))
    parts = {link.get("Id"): link.get("Target", "") for link in links}
    for sheet in parse_xml(archive.read(BOOK_PART)).iterfind("{*}sheets/{*}sheet"):
        part = parts.get(sheet.get(RELATION_ID), "")
        yield sheet.get("name", ""), posixpath.normpath(posixpath.join("/xl", part)).lstrip("/")


def _cells(
    archive: zipfile.ZipFile, part: str, styles: Mapping[str, str]
) -> Iterator[tuple[Place, str]]:
    with archive.open(part) as stream:
        for row in sheet_rows(stream):
            for cell in row.iterfind("{*}c"):
                code = styles.get(cell.get("s", ""))
                place = cell_place(cell.get("r", "")) if code else None
                if code and place:
                    yield place, code


def sheet_rows(stream: IO[bytes]) -> Iterator[etree._Element]:
    """Yield a sheet's rows, each gone from memory once the next is asked for."""
    for _, row in etree.iterparse(stream, tag="{*}row", resolve_entities=False, no_network=True):
        yield row
        row.clear()
        while row.getprevious() is not None:
            del row.getparent()[0]


def cell_place(reference: str) -> Place | None:
    """Return where B3 is: row 2, column 1."""
    match = re.fullmatch(r"([A-Z]{1,3})(\d{1,7})", reference)
    if match is None:
        return None
    column = 0
    for letter in match[1]:
        column = column * 26 + ord(letter) - ord("A") + 1
    return int(match[2]) - 1, column - 1
