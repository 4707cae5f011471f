"""DOCX: headings by their styles, the numbers of lists written out, tables a line a row.

The text of paragraphs has what was inserted and not what was deleted; what is hidden is left out,
and what hangs on it (notes, comments, pictures) is gathered. Blocks, styles and the numbers of
lists are in `content`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from types import MappingProxyType

import docx
from docx.document import Document
from docx.opc.part import Part
from docx.oxml.ns import qn
from docx.parts.document import DocumentPart
from lxml.etree import _Element

from lexichord.errors import IngestError
from lexichord.ingest.load import DOCX_TYPE
from lexichord.ingest.load.archive import (
    ARCHIVE_ERRORS,
    FALLBACK_TAG,
    check_archive,
    diagram_lines,
    office_properties,
)
from lexichord.ingest.load.docx.content import (
    ROW_TAG,
    ListNumbering,
    ParagraphStyles,
    block_elements,
    count_header_rows,
    grid_rows,
    is_hidden_row,
    is_on,
    part_root,
    property_value,
    root_of,
    row_cells,
    sections,
    table_rows,
    text_boxes,
)
from lexichord.ingest.load.equations import EQUATION_TAGS, MATH_NAMESPACE, equation, set_apart
from lexichord.ingest.load.marks import PASSAGE, LoadOptions, Marks, described, picture, within
from lexichord.ingest.load.text import TextBuilder
from lexichord.types import LoadedText

RUN_TAG, COMMENT_TAG, RUBY_TAG = qn("w:r"), qn("w:commentReference"), qn("w:ruby")
DIAGRAM_TAG = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}relIds"
TEXT_TAGS = {qn("w:t"), f"{{{MATH_NAMESPACE}}}t"}
CHARACTER_TAGS = {
    qn("w:tab"): "\t",
    qn("w:ptab"): "\t",
    qn("w:br"): "\n",
    qn("w:cr"): "\n",
    qn("w:noBreakHyphen"): "-",
}
NOTE_TAGS = {qn("w:footnoteReference"): "footnotes", qn("w:endnoteReference"): "endnotes"}
SKIPPED_TAGS = {
    qn("w:pPr"),
    qn("w:rPr"),
    qn("w:del"),
    qn("w:moveFrom"),
    qn("w:txbxContent"),
    FALLBACK_TAG,
}
# What is said of a picture, by the elements that say it.
DESCRIBING = {qn("wp:docPr"): "descr", "{urn:schemas-microsoft-com:vml}shape": "alt"}


class ParagraphReader:
    """Reads paragraphs in their order, and gathers what hangs on them."""

    def __init__(
        self, part: Part, styles: ParagraphStyles, marks: Marks, comments: Mapping[str, str]
    ) -> None:
        self._part, self._styles, self._marks = part, styles, marks
        self._comments = dict(comments)
        self._waiting = list[str]()
        self._pictures = list[str]()
        self._diagrams = set[Part]()  # that were read
        self._is_in_hidden_row = False
        self.notes = dict[tuple[str, str], int]()  # their numbers, by kind and id

    def text(self, paragraph: _Element) -> str:
        """Return a paragraph's text, without what is hidden in it, unless that is kept.

        Where a whole row of a table is hidden, its words stay, for the row is marked.
        """
        self._is_in_hidden_row = any(map(is_hidden_row, paragraph.iterancestors(ROW_TAG)))
        runs = self._runs(paragraph, self._styles.hides_paragraph(paragraph))
        parts = (
            (hidden and not self._is_in_hidden_row, "".join(text for _, text in group))
            for hidden, group in groupby(runs, itemgetter(0))
        )
        shown = (self._marks.passage(text) if hidden else text for hidden, text in parts)
        return set_apart("".join(shown))

    def take_pictures(self) -> list[str]:
        """Return what is said of the pictures since the last call."""
        taken, self._pictures = self._pictures, []
        return taken

    def take_comments(self) -> list[str]:
        """Return the comments on what was read since the last call."""
        taken, self._waiting = self._waiting, []
        return taken

    def other_comments(self) -> list[str]:
        """Return the comments on nothing that was read."""
        return list(self._comments.values())

    def _runs(self, element: _Element, hidden: bool) -> Iterator[tuple[bool, str]]:
        for child in element:
            if (text := self._own_text(child, hidden)) is not None:
                yield hidden, text
            elif child.tag in NOTE_TAGS and self._shows_note(hidden):
                note = NOTE_TAGS[child.tag], child.get(qn("w:id"), "")
                yield hidden, f"[{self.notes.setdefault(note, len(self.notes) + 1)}]"
            elif child.tag == RUBY_TAG:
                yield from self._ruby(child, hidden)
            elif child.tag == RUN_TAG:
                yield from self._runs(child, self._styles.hides_run(child, hidden))
            elif child.tag not in SKIPPED_TAGS:
                self._gather(child, hidden)
                yield from self._runs(child, hidden)

    def _own_text(self, element: _Element, hidden: bool) -> str | None:
        """Return what an element is in the text; None where that is what stands in it."""
        if element.tag in TEXT_TAGS:
            return element.text or ""
        if element.tag in EQUATION_TAGS:
            return equation(element, partial(self._words, hidden=hidden))
        if element.tag == SYMBOL_TAG:
            return read_symbol(element) or self._marks.unknown_symbol()
        if element.tag == FORM_TAG:
            return form_field(element)
        return CHARACTER_TAGS.get(element.tag)

    def _ruby(self, ruby: _Element, hidden: bool) -> Iterator[tuple[bool, str]]:
        """Yield words, and behind them in brackets what stands above them in small letters."""
        for part, form in (("w:rubyBase", "{}"), ("w:rt", " ({})")):
            text = "".join(self._words(each, hidden) for each in ruby.iterfind(qn(part)))
            yield hidden, form.format(text) if text else ""

    def _words(self, element: _Element, hidden: bool) -> str:
        return "".join(text for _, text in self._runs(element, hidden))

    def _shows_note(self, hidden: bool) -> bool:
        return not hidden or self._is_in_hidden_row or self._marks.keeps_hidden(PASSAGE)

    def _gather(self, element: _Element, hidden: bool) -> None:
        """Take a comment, or what is said of a picture, out of what hangs on a paragraph."""
        if element.tag == COMMENT_TAG:
            comment = self._comments.pop(element.get(qn("w:id"), ""), "")
            self._waiting += [comment] if comment else []
        elif element.tag == DIAGRAM_TAG:
            lines = "\n".join(diagram_lines(self._part, element, self._diagrams))
            self._pictures += filter(None, [self._marks.passage(lines) if hidden else lines])
        elif element.tag in DESCRIBING:
            said = described(element.get(DESCRIBING[element.tag], ""))
            if said and (hidden or element.get("hidden") in ("1", "true")):
                said = self._marks.hidden(said, "picture")
            if said:
                self._pictures.append(picture(said))


SYMBOL_TAG, FORM_TAG = qn("w:sym"), qn("w:ffData")
FIELD_TAG, FIELD_TYPE, WORDS_TAG = qn("w:fldChar"), qn("w:fldCharType"), qn("w:t")
MAX_FIELD_ELEMENTS = 200  # up to a field's end: some twenty runs with all their properties
CHECKED, UNCHECKED = "☑", "☐"


def read_symbol(element: _Element) -> str | None:
    """Return a symbol; None where nobody knows what its font shows."""
    try:
        number = int(element.get(qn("w:char"), ""), 16)
    except ValueError:
        return None
    return symbol(element.get(qn("w:font"), ""), number)


def form_field(form: _Element) -> str:
    """Return a field's choice or check mark; "" where text shows it, as that of other fields."""
    box, choices = form.find(qn("w:checkBox")), form.find(qn("w:ddList"))
    if (box is None and choices is None) or any(map(str.strip, _result(form))):
        return ""
    return _choice(choices) if choices is not None else _check_mark(form)


def _check_mark(form: _Element) -> str:
    checked = form.find(f"{qn('w:checkBox')}/{qn('w:checked')}")
    if checked is None:
        checked = form.find(f"{qn('w:checkBox')}/{qn('w:default')}")
    return CHECKED if is_on(checked) else UNCHECKED


def _choice(choices: _Element) -> str:
    chosen = property_value(choices, "w:result") or property_value(choices, "w:default") or "0"
    entries = [entry.get(qn("w:val"), "") for entry in choices.iterfind(qn("w:listEntry"))]
    is_there = chosen.isdecimal() and int(chosen) < len(entries)
    return entries[int(chosen)] if is_there else ""


def _result(form: _Element) -> Iterator[str]:
    """Yield the words that a field shows: those up to its end."""
    run = next(form.iterancestors(qn("w:r")), None)
    others = (
        each for other in (() if run is None else run.itersiblings()) for each in other.iter()
    )
    for each in islice(others, MAX_FIELD_ELEMENTS):
        if each.tag == FIELD_TAG and each.get(FIELD_TYPE) == "end":
            return
        if each.tag == WORDS_TAG:
            yield each.text or ""


PRIVATE = range(0xF000, 0xF100)  # where files put the numbers of symbol fonts
UNICODE_FROM = 0x100  # what is beyond is Unicode's own number

_ADOBE = {  # Adobe's encoding of Symbol, by the first number of each row
    0x20: " !∀#∃%&∋()\u2217+,\u2212./0123456789:;<=>?",
    0x40: "≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_",
    0x60: "‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}\u223c",
    0xA0: "€ϒ\u2032≤\u2044∞ƒ♣♦♥♠↔←↑→↓°±″≥\u00d7∝∂•÷≠≡≈…⏐⎯↵",  # noqa: RUF001
    0xC0: "\u2135\u2111\u211c℘⊗⊕∅∩\u222a⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬\u2227\u2228⇔⇐⇑⇒⇓",
    0xE0: "◊⟨®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪",
    0xF1: "⟩∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭",
}
_WINGDINGS = {
    **{0x22: "✂", 0x28: "☎", 0x2A: "✉", 0x45: "☜", 0x46: "☞", 0x47: "☝", 0x4A: "☺", 0x4C: "☹"},
    **{0x6C: "●", 0x6E: "■", 0x6F: "☐", 0x70: "☐", 0x71: "❑", 0x72: "❒", 0x75: "◆", 0x76: "❖"},
    **{0x78: "☒", 0x80: "⓪", **{0x81 + place: chr(0x2460 + place) for place in range(10)}},
    **{0x8C + place: chr(0x2776 + place) for place in range(10)},
    **{0x9E: "·", 0x9F: "•", 0xA1: "○", 0xA7: "▪", 0xA8: "☐", 0xAB: "★", 0xD8: "➢"},
    **{0xDF: "←", 0xE0: "→", 0xE1: "↑", 0xE2: "↓", 0xE8: "➔", 0xEF: "⇦", 0xF0: "⇨"},
    **{0xF1: "⇧", 0xF2: "⇩", 0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑"},
}
FONTS: Mapping[str, Mapping[int, str]] = MappingProxyType(
    {
        "symbol": {
            first + place: sign for first, row in _ADOBE.items() for place, sign in enumerate(row)
        },
        "wingdings": _WINGDINGS,
        "wingdings 2": {
            **{0x4F: "✗", 0x50: "✓", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0x54: "☒", 0xA3: "☐"},
        },
        "webdings": {0x61: "✓", 0x72: "✗"},
    }
)


def symbol(font: str, number: int) -> str | None:
    """Return what a sign of a font is in Unicode; None where that is not known."""
    signs = FONTS.get(font.strip().lower())
    own = number & 0xFF if number in PRIVATE else number
    if signs is not None and own < UNICODE_FROM:
        return signs.get(own)
    known = number not in PRIVATE and 0x20 <= number <= 0xFFFF and chr(number).isprintable()
    return chr(number) if known else None


BROKEN_DOCX = "is no DOCX, or a broken one: open it and save it again"
OLD_DOCX = "is encrypted or an old .doc: save it as .docx without a password"


def load(file: Path, named: str, options: LoadOptions) -> LoadedText:
    """Read a Word file. Raises IngestError."""
    marks = Marks(options)
    check_archive(file, BROKEN_DOCX, OLD_DOCX)
    try:
        document = docx.Document(str(file))
        loaded = _Reader(document, marks).read(named)
    except ARCHIVE_ERRORS:
        raise IngestError(BROKEN_DOCX) from None
    properties = office_properties(file)
    properties.pop("title", None)
    return replace(loaded, metadata=marks.flagged(properties))


class _Reader:
    """Walks through one document, once."""

    def __init__(self, document: Document, marks: Marks) -> None:
        self._part, self._marks = document.part, marks
        self._body: _Element = document.element.body
        self._named = str(document.core_properties.title or "").strip()
        self._title = ""
        self._styles = ParagraphStyles(part_root(self._part, "styles"))
        self._numbers = ListNumbering(part_root(self._part, "numbering"), self._styles)
        comments = read_comments(part_root(self._part, "comments"), marks)
        self._paragraphs = ParagraphReader(self._part, self._styles, marks, comments)
        self._margins = Margins(self._part, marks, self._margin)
        self._headers = list[str]()
        self._built = TextBuilder()

    def read(self, named: str) -> LoadedText:
        if self._body.getroottree().docinfo.internalDTD is not None:
            raise IngestError(BROKEN_DOCX)  # the format has none; entities would be left out
        for section, blocks in sections(self._body):
            self._read_section(section, blocks)
        self._add(self._margins.never_shown())
        self._read_notes()
        self._add(self._paragraphs.other_comments())
        return self._built.document(DOCX_TYPE, self._title or self._named or named)

    def _add(self, texts: Iterable[str]) -> None:
        for text in texts:
            self._built.paragraph(text)

    def _read_section(self, section: _Element | None, blocks: Sequence[_Element]) -> None:
        """Read a section, its headers before it or below the heading that opens it."""
        self._headers, footers = ([], []) if section is None else self._margins.of(section)
        self._read(blocks)
        self._add_headers()
        self._add(footers)

    def _add_headers(self) -> None:
        waiting, self._headers = self._headers, []
        self._add(waiting)

    def _read(self, blocks: Iterable[_Element]) -> None:
        for block in blocks:
            if block.tag == qn("w:p"):
                self._read_paragraph(block)
            else:
                self._read_table(block)
            self._add(self._paragraphs.take_pictures())
            self._add(self._paragraphs.take_comments())

    def _read_paragraph(self, paragraph: _Element) -> None:
        text = self._numbered(paragraph).strip("\n")
        level = self._styles.level(paragraph)
        if text.strip():
            if level is None:
                self._add_headers()
            self._built.paragraph(text, level)
            self._add_headers()
            if not self._title and self._styles.is_title(paragraph):
                self._title = " ".join(text.split())
        for box in text_boxes(paragraph):
            self._read(block_elements(box))

    def _numbered(self, paragraph: _Element) -> str:
        label = self._numbers.label(paragraph)
        text = self._paragraphs.text(paragraph)
        return f"{label} {text.lstrip()}" if label and text.strip() else text

    def _margin(self, root: _Element) -> str:
        """Return the lines of a header or footer; one of signs alone is a rule."""
        lines = (" ".join(filter(None, line)) for line in self._lines(root))
        return "\n".join(line for line in lines if any(map(str.isalnum, line)))

    def _lines(self, parent: _Element) -> Iterator[Sequence[str]]:
        """Yield the words of each paragraph and row in a header or footer."""
        for block in block_elements(parent):
            if block.tag == qn("w:p"):
                boxes = [piece for box in text_boxes(block) for piece in self._pieces(box)]
                yield self._paragraphs.text(block).split()
                yield [*boxes, *map(within, self._paragraphs.take_pictures())]
            else:
                for row in table_rows(block):
                    yield [self._cell(cell) for cell in row_cells(row)]

    def _read_table(self, table: _Element) -> None:
        """Read a table; one of a single row only sets out what is in its cells."""
        self._add_headers()
        listed_rows = table_rows(table)
        if len(listed_rows) == 1:
            for cell in row_cells(listed_rows[0]):
                self._read(block_elements(cell))
            return
        head = count_header_rows(listed_rows)
        lines = grid_rows(listed_rows, head, self._cell)
        self._built.table(map(self._marked, listed_rows, lines), head)

    def _marked(self, row: _Element, cells: list[str]) -> list[str]:
        """Return the texts of a row's cells; one that is hidden says so in its last."""
        return self._marks.hidden_row(cells) if is_hidden_row(row) else cells

    def _cell(self, cell: _Element) -> str:
        """Return a cell's text in one line."""
        return " ".join(self._pieces(cell))

    def _pieces(self, cell: _Element) -> Iterator[str]:
        for block in block_elements(cell):
            if block.tag == qn("w:p"):
                yield from self._numbered(block).split()
                yield from map(within, self._paragraphs.take_pictures())
                for box in text_boxes(block):
                    yield from self._pieces(box)
            else:
                for row in table_rows(block):
                    for inner in row_cells(row):
                        yield from self._pieces(inner)

    def _read_notes(self) -> None:
        """Put foot- and endnotes after the text, numbered as they are named in it.

        One that is named over and over has one number, and stands once.
        """
        roots = {kind: part_root(self._part, kind) for kind in NOTE_TAGS.values()}
        notes = {
            (kind, note.get(qn("w:id"))): note
            for kind, root in roots.items()
            for note in ([] if root is None else root)
        }
        for key, number in list(self._paragraphs.notes.items()):
            if (note := notes.get(key)) is not None:
                self._built.paragraph(f"[{number}] {' '.join(self._pieces(note))}")
                self._add(self._paragraphs.take_comments())


HEADER, FOOTER = "w:headerReference", "w:footerReference"
KINDS = {HEADER: "Header", FOOTER: "Footer"}


class Margins:
    """The headers and footers of a document, section after section."""

    def __init__(self, part: DocumentPart, marks: Marks, read: Callable[[_Element], str]) -> None:
        self._part, self._marks, self._read = part, marks, read
        settings = part_root(part, "settings")
        parted = None if settings is None else settings.find(qn("w:evenAndOddHeaders"))
        self._parts_even_pages = is_on(parted)
        self._linked = dict[tuple[str, str], str]()
        self._texts = dict[Part, str]()
        self._seen = set[str]()

    def of(self, section: _Element) -> tuple[list[str], list[str]]:
        """Return a section's headers and footers that no section before it had."""
        for kind in KINDS:
            for reference in section.iterfind(qn(kind)):
                pages = reference.get(qn("w:type"), "default")
                self._linked[kind, pages] = reference.get(qn("r:id"), "")
        has_first = is_on(section.find(qn("w:titlePg")))
        shown = {"first": has_first, "default": True, "even": self._parts_even_pages}
        names = [name for name, is_shown in shown.items() if is_shown]
        return list(self._shown(HEADER, names)), list(self._shown(FOOTER, names))

    def never_shown(self) -> Iterator[str]:
        """Yield the headers and footers that no page shows."""
        for (kind, _), link in self._linked.items():
            if (text := self._text(link)) and text not in self._seen:
                self._seen.add(text)
                if marked := self._marks.hidden(text, KINDS[kind].lower()):
                    yield f"{KINDS[kind]}: {marked}"

    def _shown(self, kind: str, pages: Iterable[str]) -> Iterator[str]:
        for text in (self._text(self._linked.get((kind, each), "")) for each in pages):
            if text and text not in self._seen:
                self._seen.add(text)
                yield f"{KINDS[kind]}: {text}"

    def _text(self, link: str) -> str:
        """Return the text of a header or footer, read once; "" where it has no letter."""
        relation = self._part.rels.get(link)
        if relation is None or relation.is_external:
            return ""
        part = relation.target_part
        if part not in self._texts:
            text = self._read(root_of(part)).strip()
            self._texts[part] = text if any(map(str.isalpha, text)) else ""
        return self._texts[part]


def read_comments(root: _Element | None, marks: Marks) -> dict[str, str]:
    """Return the comments by their ids, marked; those that are left out are not among them."""
    comments = [] if root is None else root.findall(qn("w:comment"))
    marked = {each.get(qn("w:id"), ""): _marked(each, marks) for each in comments}
    return {name: text for name, text in marked.items() if text}


def _marked(comment: _Element, marks: Marks) -> str:
    paragraphs = (
        "".join(text.text or "" for text in paragraph.iter(qn("w:t")))
        for paragraph in comment.iter(qn("w:p"))
    )
    author, day = comment.get(qn("w:author"), ""), comment.get(qn("w:date"), "")
    return marks.comment("\n".join(filter(str.strip, paragraphs)), author, day)
