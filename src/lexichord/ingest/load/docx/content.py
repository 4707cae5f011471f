"""What a Word file holds: blocks, tables on their grid, text boxes; what its styles say of them.

The numbers of list items, which Word keeps outside the text, are counted here, too.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice

from docx.opc.part import Part, XmlPart
from docx.oxml import parse_xml
from docx.oxml.ns import qn
from docx.parts.document import DocumentPart
from lxml.etree import _Element

from lexichord.ingest.load.archive import FALLBACK_TAG, BasedStyles
from lexichord.ingest.load.parts import LIST_LEVELS, ListCounter, ListLevel
from lexichord.ingest.load.text import MAX_TEXT_BYTES, too_long_error

BLOCK_TAGS = {qn("w:p"), qn("w:tbl")}
MAX_PROPERTIES = 4  # elements of a row before its cells, at most three by the schema
BOX_TAG, INSERTED_TAG, ROW_TAG = qn("w:txbxContent"), qn("w:ins"), qn("w:tr")
# The same again.


def part_root(part: DocumentPart, kind: str) -> _Element | None:
    """Parse the part of the file that holds the styles, the numbering, the notes or the like."""
    for relation in part.rels.values():
        if not relation.is_external and relation.reltype.endswith(f"/{kind}"):
            return root_of(relation.target_part)
    return None


def root_of(part: Part) -> _Element:
    """Return a part's root, parsed by the library if it knows the kind."""
    root: _Element = part.element if isinstance(part, XmlPart) else parse_xml(part.blob)
    return root


def text_boxes(element: _Element) -> Iterator[_Element]:
    """Find the text boxes that hang on a paragraph; those in a box hang on its own paragraphs."""
    for child in element:
        if child.tag == BOX_TAG:
            yield child
        elif child.tag != FALLBACK_TAG:
            yield from text_boxes(child)


def block_elements(parent: _Element) -> Iterator[_Element]:
    """Yield the paragraphs and tables in a body, a cell, a box or a note, in order."""
    for child in parent:
        if child.tag in BLOCK_TAGS:
            yield child
        elif child.tag in (*WRAPPER_TAGS, INSERTED_TAG):
            yield from block_elements(child)


def sections(body: _Element) -> Iterator[tuple[_Element | None, list[_Element]]]:
    """Yield each section's properties, which stand at its end, with its blocks."""
    blocks = list[_Element]()
    for block in block_elements(body):
        blocks.append(block)
        if (section := block.find(_path("w:pPr", "w:sectPr"))) is not None:
            yield section, blocks
            blocks = []
    yield body.find(qn("w:sectPr")), blocks


MAX_COLUMNS = 63  # of a table, as Word takes it
WRAPPER_TAGS = {qn("w:sdt"), qn("w:sdtContent"), qn("w:customXml")}


def table_rows(table: _Element) -> list[_Element]:
    """Return a table's rows, those that were deleted left out."""
    return [row for row in _inside(table, "w:tr") if row.find(_path("w:trPr", "w:del")) is None]


def row_cells(row: _Element) -> list[_Element]:
    """Return a row's cells."""
    return _inside(row, "w:tc")


def count_header_rows(rows: Sequence[_Element]) -> int:
    """Count the rows that are marked as the table's head; the first where none is."""
    marked = [row.find(_path("w:trPr", "w:tblHeader")) for row in rows]
    amount = next((index for index, mark in enumerate(marked) if not is_on(mark)), len(rows))
    return amount or 1


def is_continuation(cell: _Element) -> bool:
    """Return whether a cell is the continuation of the one above it."""
    merged = cell.find(_path("w:tcPr", "w:vMerge"))
    return merged is not None and merged.get(qn("w:val"), "continue") == "continue"


def columns_of(cell: _Element) -> int:
    """Return over how many columns a cell reaches."""
    return _whole(cell.find(_path("w:tcPr", "w:gridSpan")), 1)


def columns_before(row: _Element) -> int:
    """Return how many columns a row leaves free before its first cell."""
    return _whole(row.find(_path("w:trPr", "w:gridBefore")), 0)


def _whole(said: _Element | None, otherwise: int) -> int:
    written = "" if said is None else said.get(qn("w:val"), "")
    return min(int(written), MAX_COLUMNS) if written.isdecimal() else otherwise


def is_hidden_row(row: _Element) -> bool:
    """Return whether a row of a table is hidden."""
    # Its properties come before its cells, of which each asks.
    first = islice(row, MAX_PROPERTIES)
    return any(is_on(each.find(qn("w:hidden"))) for each in first if each.tag == qn("w:trPr"))


def _inside(parent: _Element, name: str) -> list[_Element]:
    elements = list[_Element]()
    for child in parent:
        if child.tag == qn(name):
            elements.append(child)
        elif child.tag in WRAPPER_TAGS:
            elements += _inside(child, name)
    return elements


@cache
def _path(*names: str) -> str:
    return "/".join(qn(name) for name in names)


def is_on(mark: _Element | None) -> bool:
    """Return whether a property is there and not switched off."""
    return mark is not None and mark.get(qn("w:val"), "1") not in ("0", "false", "off")


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


HEADING_STYLE = re.compile(r"heading ([1-9])", re.IGNORECASE)
VALUE_ATTRIBUTE = qn("w:val")
PARAGRAPH_PROPERTIES = qn("w:pPr")
RUN_PROPERTIES, RUN_STYLE, VANISH = qn("w:rPr"), qn("w:rStyle"), qn("w:vanish")


tag_of = cache(qn)  # asked for often


@dataclass(frozen=True, slots=True)
class ResolvedStyle:
    """What a style says or, where it says nothing, those that it is based on."""

    heading_level: int | None
    is_title: bool
    list_number: str | None
    list_level: str | None
    hides: bool


class ParagraphStyles:
    """The paragraph styles of a document, by id; each may be based on another."""

    def __init__(self, root: _Element | None) -> None:
        styles = [] if root is None else root.findall(qn("w:style"))
        by_id = {style.get(qn("w:styleId"), ""): style for style in styles}
        self._styles = BasedStyles(by_id, _parent, _resolved)
        self._default = next(
            (
                style.get(qn("w:styleId"), "")
                for style in styles
                if style.get(qn("w:type")) == "paragraph" and style.get(qn("w:default")) == "1"
            ),
            "",
        )

    def level(self, paragraph: _Element) -> int | None:
        """Return a heading's level, 1 the outermost; None for other paragraphs."""
        outline = _outline(paragraph.find(PARAGRAPH_PROPERTIES))
        if outline is not None:
            return _outline_level(outline)
        return self._styles.of(self._style_id(paragraph)).heading_level

    def is_title(self, paragraph: _Element) -> bool:
        """Return whether a paragraph is the document's title."""
        return self._styles.of(self._style_id(paragraph)).is_title

    def number(self, paragraph: _Element) -> tuple[str, str | None, str] | None:
        """Return the id of a paragraph's list, its level there, and its style's id."""
        named = self._style_id(paragraph)
        number, level = _list_place(paragraph.iterchildren(PARAGRAPH_PROPERTIES))
        if number is None:
            style = self._styles.of(named)
            number, level = style.list_number, level or style.list_level
        return None if number is None else (number, level, named)

    def hides_paragraph(self, paragraph: _Element) -> bool:
        """Return whether a paragraph's style hides its text."""
        return self._styles.of(self._style_id(paragraph)).hides

    def hides_run(self, run: _Element, otherwise: bool) -> bool:
        """Return whether a run is hidden, by itself, its style or, `otherwise`, what holds it."""
        properties = run.find(RUN_PROPERTIES)
        if properties is None:
            return otherwise
        said = properties.find(VANISH)
        if said is not None:
            return is_on(said)
        named = properties.find(RUN_STYLE)
        if otherwise or named is None:
            return otherwise
        return self._styles.of(named.get(VALUE_ATTRIBUTE, "")).hides

    def _style_id(self, paragraph: _Element) -> str:
        properties = paragraph.find(PARAGRAPH_PROPERTIES)
        named = None if properties is None else property_value(properties, "w:pStyle")
        return named or self._default


def _parent(style: _Element) -> str | None:
    return property_value(style, "w:basedOn")


def _resolved(chain: Sequence[_Element]) -> ResolvedStyle:
    """Return what a style says together with those that it is based on, itself first."""
    names = [(property_value(style, "w:name") or "").lower() for style in chain]
    properties = [each for style in chain if (each := style.find(PARAGRAPH_PROPERTIES)) is not None]
    outline = next((said for each in properties if (said := _outline(each)) is not None), None)
    number, level = _list_place(properties)
    return ResolvedStyle(
        heading_level=_named_level(names) if outline is None else _outline_level(outline),
        is_title="title" in names,
        list_number=number,
        list_level=level,
        hides=any(is_on(style.find(f"{RUN_PROPERTIES}/{VANISH}")) for style in chain),
    )


def _outline(properties: _Element | None) -> str | None:
    """Return the level that paragraph properties give their paragraph, as it is written, from 0."""
    written = None if properties is None else property_value(properties, "w:outlineLvl")
    return written if written is not None and written.isdecimal() else None


def _outline_level(written: str) -> int | None:
    return int(written) + 1 if int(written) < 9 else None


def _named_level(names: Iterable[str]) -> int | None:
    """Return the level of the first style whose name is a heading's."""
    for name in names:
        if match := HEADING_STYLE.fullmatch(name):
            return int(match[1])
        if name == "title":
            return 1
    return None


def _list_place(properties: Iterable[_Element]) -> tuple[str | None, str | None]:
    """Return the first list's id that paragraph properties name, and the first level up to it."""
    level: str | None = None
    for each in properties:
        numbering = each.find(tag_of("w:numPr"))
        if numbering is None:
            continue
        level = level or property_value(numbering, "w:ilvl")
        if (number := property_value(numbering, "w:numId")) is not None:
            return number, level
    return None, level


def property_value(parent: _Element, name: str) -> str | None:
    """Return what a property is set to; None where it is absent."""
    child = parent.find(tag_of(name))
    return None if child is None else child.get(VALUE_ATTRIBUTE)


class ListNumbering:
    """Counts the list items of a document, which must be asked for in order."""

    def __init__(self, root: _Element | None, styles: ParagraphStyles) -> None:
        self._styles = styles
        self._lists = dict[str, ListCounter]()
        self._nums = dict[str, _Element]()
        self._begun = set[str]()
        self._linked, self._pointing = dict[str, str](), dict[str, str]()  # lists, by their styles
        for element in [] if root is None else root:
            self._take(element)
        self._meant = dict[str, str]()  # the list that one which points at another means
        for style, name in self._pointing.items():
            self._meant.setdefault(name, self._linked.get(style, name))

    def _take(self, element: _Element) -> None:
        if element.tag == qn("w:num"):
            self._nums[element.get(qn("w:numId"), "")] = element
        elif element.tag == qn("w:abstractNum"):
            name = element.get(qn("w:abstractNumId"), "")
            self._lists[name] = ListCounter(_levels(element))
            links = {"w:styleLink": self._linked, "w:numStyleLink": self._pointing}
            for link, lists in links.items():
                if style := property_value(element, link):
                    lists[style] = name

    def label(self, paragraph: _Element) -> str:
        """Count a paragraph and return its number; "" for one that has none."""
        numbering = self._styles.number(paragraph)
        if numbering is None or numbering[0] not in self._nums:
            return ""
        number, written, style = numbering
        counting = self._counting(number)
        level = _level(counting, written, style)
        if level not in counting.levels:
            return ""
        self._begin(number, counting)
        counting.count(level)
        return counting.label(level)

    def _counting(self, number: str) -> ListCounter:
        """Find the list that a number's id means; a list may point at another by its style."""
        name = property_value(self._nums[number], "w:abstractNumId") or ""
        return self._lists.setdefault(self._meant.get(name, name), ListCounter({}))

    def _begin(self, number: str, counting: ListCounter) -> None:
        """Where an id is met first, take in what it changes in its list."""
        if number in self._begun:
            return
        self._begun.add(number)
        for override in self._nums[number].findall(qn("w:lvlOverride")):
            index = _whole_number(override.get(qn("w:ilvl")), 0)
            if (level := override.find(qn("w:lvl"))) is not None and 0 <= index < LIST_LEVELS:
                counting.levels[index] = _read_level(level)
            start = property_value(override, "w:startOverride")
            if start is not None and index in counting.levels:
                counting.levels[index] = replace(
                    counting.levels[index], start=_whole_number(start, 1)
                )
                counting.reached[index:] = [None] * (LIST_LEVELS - index)


def _levels(abstract: _Element) -> dict[int, ListLevel]:
    levels = {
        _whole_number(level.get(qn("w:ilvl")), 0): level for level in abstract.findall(qn("w:lvl"))
    }
    return {
        index: _read_level(level) for index, level in levels.items() if 0 <= index < LIST_LEVELS
    }


def _read_level(level: _Element) -> ListLevel:
    return ListLevel(
        form=property_value(level, "w:numFmt") or "decimal",
        pattern=property_value(level, "w:lvlText") or "",
        start=_whole_number(property_value(level, "w:start"), 0),
        restarts=property_value(level, "w:lvlRestart") != "0",
        all_decimal=level.find(qn("w:isLgl")) is not None,
        style=property_value(level, "w:pStyle"),
    )


def _level(counting: ListCounter, written: str | None, style: str) -> int:
    """Return a paragraph's level, which its style may choose."""
    if written is None:
        for index, level in counting.levels.items():
            if level.style == style:
                return index
    return _whole_number(written, 0)


def _whole_number(written: str | None, default: int) -> int:
    return int(written) if written is not None and written.lstrip("-").isdecimal() else default
