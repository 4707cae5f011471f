"""Presentations of drawn parts: PPTX."""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from pptx import Presentation

from tests.walked.docx_files import png
from tests.walked.said import Said
from tests.walked.shapes import Block, Grid, Items, Paragraph, grids, lists, paragraphs, words_of
from tests.walked.shapes import Picture as PictureShape

TITLED, BARE = 5, 6  # layouts of the library's own template
SHAPES = st.tuples(
    st.one_of(paragraphs("plain bold link"), lists(2), grids(), st.just(PictureShape(False))),
    st.sampled_from(("shown", "hidden", "grouped")),
)
SLIDES = st.lists(
    st.tuples(st.lists(SHAPES, min_size=1, max_size=3), *[st.booleans()] * 3),
    min_size=1,
    max_size=3,
)

type DrawnSlide = tuple[Sequence[tuple[Block, str]], bool, bool, bool]


class PptxWriter:
    """Writes one presentation."""

    def __init__(self, said: Said) -> None:
        self.said, self.deck = said, Presentation()

    def write(self, file: Path, slides: Sequence[DrawnSlide]) -> None:
        for number, slide in enumerate(slides, 1):
            self._slide(slide, number)
        self.deck.core_properties.title = self.said.fact("title")
        self.deck.core_properties.keywords = self.said.fact("keywords")
        self.deck.save(str(file))

    def _slide(self, drawn: DrawnSlide, number: int) -> None:
        shapes, has_title, has_notes, is_hidden = drawn
        said = self.said
        slide = self.deck.slides.add_slide(self.deck.slide_layouts[TITLED if has_title else BARE])
        is_hidden = is_hidden and number > 1  # one is shown at least
        if is_hidden:
            slide.element.set("show", "0")
        if is_hidden and said.options.hidden == "drop":
            said.dropped["hidden slide"] += 1
            word = said.word()
            said.absent.add(word)
            slide.shapes.add_textbox(0, 0, 9000, 9000).text_frame.text = word
            return
        if is_hidden and said.options.hidden == "mark":
            said.patterns.append(rf"Slide {number} \(hidden\)")
        if has_title:
            slide.shapes.title.text = said.heading()
        for block, how in shapes:
            self._shape(slide, block, how)
        if has_notes:
            slide.notes_slide.notes_text_frame.text = said.text()

    def _shape(self, slide: Any, block: Block, how: str) -> None:
        """Add a shape; one that is hidden, or in a group of shapes, holds a word alone."""
        said = self.said
        if how == "hidden":
            shape = slide.shapes.add_textbox(0, 0, 9000, 9000)
            shape.text_frame.text = said.hidden_part("shape", r"{} \(hidden\)")
            shape._element.nvSpPr.cNvPr.set("hidden", "1")
        elif how == "grouped":
            group = slide.shapes.add_group_shape().shapes.add_group_shape()
            group.shapes.add_textbox(0, 0, 9000, 9000).text_frame.text = said.text()
        elif isinstance(block, Grid):
            self._table(slide, block)
        elif isinstance(block, PictureShape):
            picture = slide.shapes.add_picture(BytesIO(png()), 0, 0)
            picture._element.nvPicPr.cNvPr.set("descr", f"the {said.picture()}")
        else:
            frame = slide.shapes.add_textbox(0, 0, 9000, 9000).text_frame
            self._paragraph(frame, block)

    def _paragraph(self, frame: Any, block: Block) -> None:
        if isinstance(block, Items):
            self._list(frame, block, 0)
            return
        assert isinstance(block, Paragraph)
        for piece in block.pieces:
            run = frame.paragraphs[0].add_run()
            run.text = f" {self.said.text()} "
            run.font.bold = piece == "bold"
            if piece == "link":
                run.hyperlink.address = "http://x.example"

    def _list(self, frame: Any, items: Items, level: int) -> None:
        for inner in items.items:
            paragraph = frame.add_paragraph()
            paragraph.text, paragraph.level = self.said.text(), level
            if inner:
                self._list(frame, inner, level + 1)

    def _table(self, slide: Any, grid: Grid) -> None:
        table = slide.shapes.add_table(grid.rows, grid.columns, 0, 0, 9000, 9000).table
        for (top, left, bottom, right), word in words_of(grid, self.said).items():
            cell = table.cell(top, left)
            cell.text = word
            if bottom - top + right - left > 2:
                cell.merge(table.cell(bottom - 1, right - 1))
