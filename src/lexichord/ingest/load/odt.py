"""OpenDocument text: headings by their levels, lists, tables, notes at their place."""

from collections.abc import Iterator
from pathlib import Path

from lxml.etree import QName, _Element

from lexichord.errors import IngestError
from lexichord.ingest.load.archive import open_archive, parse_xml
from lexichord.ingest.load.kinds import ODT_TYPE
from lexichord.ingest.load.properties import open_document_properties
from lexichord.ingest.load.text import TextBuilder, storable_text
from lexichord.types import LoadedText

BROKEN_ODT = "is no ODT, or a broken one: open it and save it again"
ENCRYPTED_ODT = "is encrypted: save it without a password"
MAX_REPEATED = 100  # times that a cell, a row or a space stands in a table or a line
OPEN_DOCUMENT = "urn:oasis:names:tc:opendocument:xmlns:"
LEFT_OUT = ("tracked-changes", "annotation", "annotation-end", "desc", "title", "sequence-decls")
WRAPPERS = ("section", "index-body", "list-header", "table-header-rows", "table-row-group")


def load(file: Path, named: str) -> LoadedText:
    """Read a text document. Raises IngestError."""
    built = TextBuilder()
    with open_archive(file, BROKEN_ODT) as archive:
        manifest = parse_xml(archive.read("META-INF/manifest.xml"))
        if next(manifest.iter("{*}encryption-data"), None) is not None:
            raise IngestError(ENCRYPTED_ODT)
        body = parse_xml(archive.read("content.xml")).find("{*}body/{*}text")
        if body is None:
            raise IngestError(BROKEN_ODT)
        _add(built, body)
    properties = open_document_properties(file)
    return LoadedText(
        built.text,
        ODT_TYPE,
        properties.pop("title", "") or named,
        headings=tuple(built.headings),
        tables=tuple(built.tables),
        metadata=properties,
    )


def _add(built: TextBuilder, parent: _Element) -> None:
    for element in parent:
        name = QName(element).localname
        text = _text(element).strip("\n") if name in ("h", "p") else ""
        if text.strip():
            level = _count(element, "text", "outline-level") if name == "h" else None
            built.paragraph(text, level)
        elif name == "list":
            for item in _inside(element, "list-item"):
                _add_item(built, item, "")
        elif name == "table":
            _add_table(built, element)
        elif name in WRAPPERS or name.endswith(("-index", "-of-content")):
            _add(built, element)


def _add_item(built: TextBuilder, item: _Element, indent: str) -> None:
    """Add a list's item with its mark; what else it holds is set in below."""
    text = "\n".join(filter(str.strip, map(_text, item.iterfind("{*}p"))))
    if text:
        built.paragraph(f"{indent}• {text}")
    for heading in item.iterfind("{*}h"):
        if named := _text(heading).strip():
            built.paragraph(named, _count(heading, "text", "outline-level"))
    for inner in item.iterfind("{*}list"):
        for below in _inside(inner, "list-item"):
            _add_item(built, below, f"{indent}  ")


def _add_table(built: TextBuilder, table: _Element) -> None:
    rows = [
        cells
        for row in _inside(table, "table-row")
        for cells in [list(_cells(row))] * _count(row, "table", "number-rows-repeated")
    ]
    rows = [row for row in rows if any(map(str.strip, row))]
    if not rows:
        return
    width = max(place for row in rows for place, cell in enumerate(row, 1) if cell.strip())
    even = [[*row[:width], *[""] * (width - len(row))] for row in rows]
    built.markdown_table(even, int(len(even) > 1), None)


def _cells(row: _Element) -> Iterator[str]:
    for cell in row.iterchildren("{*}table-cell", "{*}covered-table-cell"):
        text = " ".join(_text(part).strip() for part in cell.iter("{*}p", "{*}h"))
        yield from [text] * _count(cell, "table", "number-columns-repeated")


def _inside(parent: _Element, name: str) -> Iterator[_Element]:
    for child in parent:
        if QName(child).localname == name:
            yield child
        elif QName(child).localname in WRAPPERS:
            yield from _inside(child, name)


def _text(element: _Element) -> str:
    return storable_text("".join(_pieces(element)))


def _pieces(element: _Element) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        name = QName(child).localname
        if name == "s":
            yield " " * _count(child, "text", "c")
        elif name in ("tab", "line-break"):
            yield "\t" if name == "tab" else "\n"
        elif name == "note":
            body = child.find("{*}note-body")
            yield f" [{' '.join(''.join(_pieces(body)).split())}]" if body is not None else ""
        elif name not in LEFT_OUT:
            yield from _pieces(child)
        yield child.tail or ""


def _count(element: _Element, namespace: str, name: str) -> int:
    written = element.get(f"{{{OPEN_DOCUMENT}{namespace}:1.0}}{name}", "1")
    return min(max(int(written), 1), MAX_REPEATED) if written.isdecimal() else 1
