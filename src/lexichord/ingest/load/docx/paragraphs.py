"""The text of a Word file's paragraphs, with what was inserted and without what was deleted.

What is hidden in it is left out; what hangs on it (notes, comments, pictures) is gathered.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import groupby
from operator import itemgetter

from docx.opc.part import Part
from docx.oxml.ns import qn
from lxml.etree import _Element

from lexichord.ingest.load.diagrams import diagram_lines
from lexichord.ingest.load.docx.content import FALLBACK_TAG, ROW_TAG, is_hidden_row
from lexichord.ingest.load.docx.equations import (
    EQUATION_TAGS,
    MATH_NAMESPACE,
    equation,
    set_apart,
)
from lexichord.ingest.load.docx.signs import FORM_TAG, SYMBOL_TAG, form_field, read_symbol
from lexichord.ingest.load.docx.styles import ParagraphStyles
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
