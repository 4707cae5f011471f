"""OpenDocument's texts and presentations of drawn parts."""

import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hypothesis import strategies as st

from lexichord.ingest.load.marks import LoadOptions
from tests.walked.said import Said
from tests.walked.shapes import (
    HEADINGS,
    Aside,
    Block,
    Grid,
    Heading,
    Items,
    Paragraph,
    Picture,
    asides,
    blocks,
    grids,
    lists,
    paragraphs,
    words_of,
)
from tests.walked.writer import Writer

ODF = "urn:oasis:names:tc:opendocument:xmlns:"
NAMES = ("office", "table", "text", "style", "presentation", "meta")
SPACES = " ".join(
    [
        *(f'xmlns:{name}="{ODF}{name}:1.0"' for name in NAMES),
        f'xmlns:draw="{ODF}drawing:1.0" xmlns:svg="{ODF}svg-compatible:1.0"',
        'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xlink="http://www.w3.org/1999/xlink"',
    ]
)
STYLES = (
    "<office:automatic-styles>"
    '<style:style style:name="T1"><style:text-properties text:display="none"/></style:style>'
    '<style:style style:name="dp2"><style:drawing-page-properties'
    ' presentation:visibility="hidden"/></style:style></office:automatic-styles>'
)
PIECES = "plain bold link hidden note comment picture box ruby"
BLOCKS = blocks(
    PIECES,
    HEADINGS,
    lists(),
    grids(extras="bold hidden note comment picture box"),
    st.builds(Picture, st.just(False)),
    asides("plain hidden comment", HEADINGS, grids(), lists()),
)
MARGINS = st.tuples(st.booleans(), st.booleans(), st.booleans())


@dataclass(frozen=True)
class Slide:
    """A slide: what stands on it, and whether it has a title, notes, and is hidden."""

    blocks: tuple[Block, ...]
    has_title: bool
    has_notes: bool
    is_hidden: bool


SLIDE_BLOCKS = st.one_of(
    paragraphs("plain bold hidden"), lists(2), grids(), st.just(Picture(False))
)
SLIDES = st.lists(
    st.builds(
        Slide,
        st.lists(SLIDE_BLOCKS, min_size=1, max_size=3).map(tuple),
        st.booleans(),
        st.booleans(),
        st.booleans(),
    ),
    min_size=1,
    max_size=3,
)


class OdfWriter(Writer):
    """Writes one file."""

    def _block(self, block: Block) -> str:
        said = self.said
        if isinstance(block, Paragraph):
            return f"<text:p>{' '.join(map(self._piece, block.pieces))}</text:p>"
        if isinstance(block, Heading):
            return f'<text:h text:outline-level="{block.level}">{said.heading()}</text:h>'
        if isinstance(block, Items):
            return self._list(block)
        if isinstance(block, Grid):
            return self.table(block)
        if isinstance(block, Aside):
            return f"<text:section>{self.blocks(block.blocks)}</text:section>"
        assert isinstance(block, Picture)
        return f"<draw:frame><draw:image/><svg:desc>the {said.picture()}</svg:desc></draw:frame>"

    def _piece(self, kind: str) -> str:
        said = self.said
        if kind == "hidden":
            return f'<text:span text:style-name="T1">{said.passage()}</text:span>'
        if kind == "note":
            words = f"{said.text()} {self._piece('hidden')}"
            body = f"<text:note-body><text:p>{words}</text:p></text:note-body>"
            return f"<text:note>{body}</text:note>"
        if kind == "comment":
            by = "<dc:creator>Ada Berg</dc:creator><dc:date>2026-03-04T10:00:00</dc:date>"
            words = f"<text:p>{said.comment('Ada Berg')}</text:p>"
            return f"<office:annotation>{by}{words}</office:annotation>"
        if kind == "picture":
            return (
                f"<draw:frame><draw:image/><svg:title>the {said.picture()}</svg:title></draw:frame>"
            )
        if kind == "ruby":
            base = f"<text:ruby-base>{said.text()}</text:ruby-base>"
            return f"<text:ruby>{base}<text:ruby-text>{said.text()}</text:ruby-text></text:ruby>"
        if kind == "box":
            lines = "".join(f"<text:p>{said.text()}</text:p>" for _ in range(2))
            return f"<draw:frame><draw:text-box>{lines}</draw:text-box></draw:frame>"
        tags = {"plain": ("", ""), "bold": ("<text:span>", "</text:span>")}
        opening, closing = tags.get(kind, ('<text:a xlink:href="http://x.example">', "</text:a>"))
        return f"{opening}{said.text()}{closing}"

    def _list(self, items: Items) -> str:
        inner = "".join(
            f"<text:list-item><text:p>{self.said.text()}</text:p>{self._list(item) if item else ''}"
            "</text:list-item>"
            for item in items.items
        )
        return f"<text:list>{inner}</text:list>"

    def table(self, grid: Grid) -> str:
        words = words_of(grid, self.said)
        rows = "".join(
            f"<table:table-row>{''.join(self._cells(grid, row, words))}</table:table-row>"
            for row in range(grid.rows)
        )
        return f"<table:table>{rows}</table:table>"

    def _cells(
        self, grid: Grid, row: int, words: dict[tuple[int, int, int, int], str]
    ) -> Iterator[str]:
        for column in range(grid.columns):
            area = grid.area(row, column)
            if area[:2] != (row, column):
                yield "<table:covered-table-cell/>"
                continue
            yield (
                f'<table:table-cell table:number-rows-spanned="{area[2] - row}"'
                f' table:number-columns-spanned="{area[3] - column}">'
                f"<text:p>{words[area]} {self._extra(grid.extra(area))}</text:p></table:table-cell>"
            )

    def make_odt(self, file: Path, parts: Sequence[Block], margins: tuple[bool, ...]) -> None:
        said, (has_header, has_footer, is_hidden) = self.said, margins
        pages = ""
        if has_header:
            pages += f"<style:header><text:p>{said.marked('Header: {}')}</text:p></style:header>"
        if has_footer and is_hidden:
            word = said.hidden_part("footer", r"Footer: {} \(hidden\)")
            pages += f'<style:footer style:display="false"><text:p>{word}</text:p></style:footer>'
        elif has_footer:
            pages += f"<style:footer><text:p>{said.marked('Footer: {}')}</text:p></style:footer>"
        styles = (
            f"<office:document-styles {SPACES}><office:master-styles>"
            f'<style:master-page style:name="Standard">{pages}</style:master-page>'
            "</office:master-styles></office:document-styles>"
        )
        self._save(file, f"<office:text>{self.blocks(parts)}</office:text>", styles)

    def make_odp(self, file: Path, slides: Sequence[Slide]) -> None:
        drawn = "".join(self._slide(slide, number) for number, slide in enumerate(slides, 1))
        self._save(file, f"<office:presentation>{drawn}</office:presentation>")

    def _slide(self, slide: Slide, number: int) -> str:
        """Write a slide; of one that is hidden and dropped nothing is text."""
        said = self.said
        is_hidden = slide.is_hidden and number > 1  # one is shown at least
        if is_hidden and said.options.hidden == "drop":
            said.dropped["hidden slide"] += 1
            other = Said(said.kind, LoadOptions(hidden="keep"), _count=said._count)
            drawn = OdfWriter(other)._slide(replace(slide, is_hidden=False), number)
            said.absent |= {*other.texts, *other.absent}
            said._count = other._count
            return drawn.replace("<draw:page", '<draw:page draw:style-name="dp2"', 1)
        if is_hidden and said.options.hidden == "mark":
            said.patterns.append(rf"Slide {number} \(hidden\)")
        style = ' draw:style-name="dp2"' if is_hidden else ""
        title = notes = ""
        if slide.has_title:
            title = self._frame(f"<text:p>{said.heading()}</text:p>", "title")
        shapes = "".join(map(self._shape, slide.blocks))
        if slide.has_notes:
            frame = self._frame(f"<text:p>{said.text()}</text:p>", "notes")
            notes = f"<presentation:notes>{frame}</presentation:notes>"
        return f"<draw:page{style}>{title}{shapes}{notes}</draw:page>"

    def _shape(self, block: Block) -> str:
        if isinstance(block, Picture):
            return self._block(block)
        if isinstance(block, Grid):
            return f"<draw:frame>{self.table(block)}<draw:image/></draw:frame>"
        return self._frame(self._block(block), "outline")

    def _frame(self, inner: str, kind: str) -> str:
        return (
            f'<draw:frame presentation:class="{kind}"><draw:text-box>{inner}</draw:text-box>'
            "</draw:frame>"
        )

    def _save(self, file: Path, body: str, styles: str = "") -> None:
        said = self.said
        about = f"<dc:title>{said.fact('title')}</dc:title>"
        about += f"<dc:creator>{said.fact('author')}</dc:creator>"
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("META-INF/manifest.xml", "<manifest/>")
            archive.writestr(
                "content.xml",
                f"<office:document-content {SPACES}>{STYLES}<office:body>{body}</office:body>"
                "</office:document-content>",
            )
            archive.writestr(
                "meta.xml",
                f"<office:document-meta {SPACES}><office:meta>{about}</office:meta>"
                "</office:document-meta>",
            )
            if styles:
                archive.writestr("styles.xml", styles)
