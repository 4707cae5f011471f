"""The text of a Word file's paragraphs, with what was inserted and without what was deleted.

What is hidden in it is left out; what hangs on it (notes, comments, pictures) is gathered.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import groupby
from operator import itemgetter
from types import MappingProxyType

from docx.opc.part import Part
from docx.oxml.ns import qn
from lxml.etree import _Element

from lexichord.ingest.load.archive import FALLBACK_TAG, diagram_lines
from lexichord.ingest.load.docx.content import (
    ROW_TAG,
    ParagraphStyles,
    is_hidden_row,
    is_on,
    property_value,
)
from lexichord.ingest.load.equations import EQUATION_TAGS, MATH_NAMESPACE, equation, set_apart
from lexichord.ingest.load.marks import PASSAGE, Marks, described, picture

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
        self._is_in_hidden_row = False
        self.notes = list[tuple[str, str]]()

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
                self.notes.append((NOTE_TAGS[child.tag], child.get(qn("w:id"), "")))
                yield hidden, f"[{len(self.notes)}]"
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
            lines = "\n".join(diagram_lines(self._part, element))
            self._pictures += filter(None, [self._marks.passage(lines) if hidden else lines])
        elif element.tag in DESCRIBING:
            said = described(element.get(DESCRIBING[element.tag], ""))
            if said and (hidden or element.get("hidden") in ("1", "true")):
                said = self._marks.hidden(said, "picture")
            if said:
                self._pictures.append(picture(said))


SYMBOL_TAG, FORM_TAG = qn("w:sym"), qn("w:ffData")
FIELD_TAG, FIELD_TYPE = qn("w:fldChar"), qn("w:fldCharType")
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
    for other in () if run is None else run.itersiblings():
        if any(mark.get(FIELD_TYPE) == "end" for mark in other.iter(FIELD_TAG)):
            return
        yield from (words.text or "" for words in other.iter(qn("w:t")))


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
