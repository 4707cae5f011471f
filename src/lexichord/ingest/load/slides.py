"""Slides: a section and a page each, with tables, charts' numbers and the speaker's notes."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from lxml.etree import _Element
from pptx import Presentation
from pptx.opc.package import Part
from pptx.oxml.ns import qn

from lexichord.errors import IngestError
from lexichord.ingest.load import PPTX_TYPE
from lexichord.ingest.load.archive import check_archive, diagram_lines, office_properties, parse_xml
from lexichord.ingest.load.marks import (
    HIDDEN,
    LoadOptions,
    Marks,
    add_speaker_notes,
    begin_slide,
    described,
    picture,
    titled,
)
from lexichord.ingest.load.tables import SpanningCell, even_rows, filled_rows
from lexichord.ingest.load.text import TextBuilder, storable_text
from lexichord.types import LoadedText

BROKEN_SLIDES = "is no PPTX, or a broken one: open it and save it again"
OLD_SLIDES = "is encrypted or an old .ppt: save it as .pptx without a password"
GROUP_TAG = qn("p:grpSp")
MAX_GROUP_DEPTH = 50  # groups in groups


def load(file: Path, named: str, options: LoadOptions) -> LoadedText:
    """Read a presentation. Raises IngestError."""
    check_archive(file, BROKEN_SLIDES, OLD_SLIDES)
    marks = Marks(options)
    try:
        deck = _Deck(Presentation(str(file)), marks)
        properties = office_properties(file)
    except MemoryError:
        raise
    except Exception as error:  # of the library and of what it stands on, without a common base
        if isinstance(error, IngestError):
            raise
        raise IngestError(BROKEN_SLIDES) from None
    title = properties.pop("title", "") or next(filter(None, deck.titles), named)
    return deck.built.document(PPTX_TYPE, title, marks.flagged(properties))


class _Deck:
    """The text of a presentation, and the titles of its slides."""

    def __init__(self, presentation: Any, marks: Marks) -> None:  # noqa: ANN401
        self.built = TextBuilder()
        self.titles = list[str]()
        self._read = set[Part]()  # diagrams and charts, which may be shown without end
        self._marks = marks
        self._people = read_people(presentation)
        # a list may name a slide without end: a presentation has each once
        slides = {slide.part: slide for slide in presentation.slides}
        for number, slide in enumerate(slides.values(), 1):
            self._add_slide(slide, number)

    def _add_slide(self, slide: Any, number: int) -> None:  # noqa: ANN401
        heading = slide.shapes.title
        title = "" if heading is None else _line(heading.text_frame.text)
        is_hidden = slide.element.get("show") in ("0", "false")
        if begin_slide(self.built, self._marks, number, title, is_hidden):
            self.titles.append(titled(title))
            for shape in _shapes(slide.shapes, 0):
                if heading is None or shape.shape_id != heading.shape_id:
                    self._add_shape(shape)
            self._add_beside(slide)
        self.built.drop_place()

    def _add_beside(self, slide: Any) -> None:  # noqa: ANN401
        """Add the speaker's notes, and what was said about the slide."""
        notes = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
        add_speaker_notes(self.built, "" if notes is None else _text(notes))
        for comment in slide_comments(slide, self._people, self._marks):
            self.built.paragraph(comment)

    def _add_shape(self, shape: Any) -> None:  # noqa: ANN401
        """Add what a shape shows and what is said of it; of a hidden one, marked."""
        shown = TextBuilder()
        _add_shown(shown, shape, self._read)
        if said := described(shape._element._nvXxPr.cNvPr.get("descr", "")):
            shown.paragraph(picture(said))
        if shown.text and _is_hidden(shape):
            self._add_hidden(shown, _line(shape.name) or "Shape")
        elif shown.text:
            self._add_built(shown)

    def _add_hidden(self, shown: TextBuilder, name: str) -> None:
        """Add what a hidden shape holds: words marked, a table below the shape's name, marked."""
        if not shown.tables:
            if text := self._marks.hidden(shown.text, "shape"):
                self.built.paragraph(text)
        elif marked := self._marks.hidden(name, "shape"):
            if HIDDEN in marked:
                self.built.paragraph(marked)
            self._add_built(shown)

    def _add_built(self, shown: TextBuilder) -> None:
        self.built.loaded(LoadedText(shown.text, PPTX_TYPE, "", tables=tuple(shown.tables)))


def _shapes(shapes: Iterable[Any], depth: int) -> Iterator[Any]:
    """Yield the shapes in their order, those in a group after the group."""
    for shape in shapes:
        yield shape
        if hasattr(shape, "shapes"):
            if depth == MAX_GROUP_DEPTH:
                raise IngestError(f"holds groups more than {MAX_GROUP_DEPTH} deep: ungroup them")
            yield from _shapes(shape.shapes, depth + 1)


def _is_hidden(shape: Any) -> bool:  # noqa: ANN401
    """Return whether a shape is hidden, or a group that it is in."""
    groups = shape._element.iterancestors(GROUP_TAG)
    properties = (element._nvXxPr.cNvPr for element in (shape._element, *groups))
    return any(each.get("hidden") in ("1", "true") for each in properties)


def _add_shown(built: TextBuilder, shape: Any, read: set[Part]) -> None:  # noqa: ANN401
    if shape.has_text_frame and (text := _text(shape.text_frame)):
        built.paragraph(text)
    if getattr(shape, "has_table", False):
        rows = even_rows(filled_rows(map(_cells, shape.table.rows), 1))
        if any(map(any, rows)):
            built.markdown_table(rows, int(len(rows) > 1), None)
    if lines := "\n".join(diagram_lines(shape.part, shape._element, read)):
        built.paragraph(lines)
    if getattr(shape, "has_chart", False) and shape.chart_part not in read:
        read.add(shape.chart_part)
        _add_chart(built, shape.chart)


def _cells(row: Any) -> Iterator[SpanningCell]:  # noqa: ANN401
    for cell in row.cells:
        if not cell.is_spanned:
            rows, columns = (cell.span_height, cell.span_width) if cell.is_merge_origin else (1, 1)
            yield SpanningCell(storable_text(cell.text), rows, columns)


def _add_chart(built: TextBuilder, chart: Any) -> None:  # noqa: ANN401
    """Add a chart's title and its numbers, a row a category."""
    is_named = chart.has_title and chart.chart_title.has_text_frame
    if text := _text(chart.chart_title.text_frame) if is_named else "":
        built.paragraph(text)
    for plot in chart.plots:
        own = plot._element
        categories = _points(own, "./c:ser[1]/c:cat//c:lvl[1]/c:pt", "./c:ser[1]/c:cat//c:pt")
        series = [(one.name, _points(one._element, "./c:val//c:pt")) for one in plot.series]
        if not categories or not series:
            continue
        rows = [
            [categories.get(at, ""), *(_number(values.get(at)) for _, values in series)]
            for at in sorted(categories.keys() | {at for _, values in series for at in values})
        ]
        built.markdown_table([["", *(name for name, _ in series)], *rows], 1, None)


def _points(element: Any, *places: str) -> dict[int, str]:  # noqa: ANN401
    """Return the points at the first of the places that has any, by their numbers.

    The library looks through all for each, and for as many as the file says that there are.
    """
    found = next(filter(None, (element.xpath(place) for place in places)), ())
    return {point.idx: point.v.text or "" for point in found}


def _number(value: str | None) -> str:
    return f"{float(value):.15g}" if value else ""


def _text(frame: Any) -> str:  # noqa: ANN401
    """Return a frame's paragraphs, those of lists set in by their level."""
    lines = (
        "  " * paragraph.level + storable_text(paragraph.text.replace("\v", "\n"))
        for paragraph in frame.paragraphs
    )
    return "\n".join(line for line in lines if line.strip()).strip("\n")


def _line(text: str) -> str:
    return " ".join(storable_text(text).split())


PEOPLE = ("commentAuthors", "authors")  # of the old ones, and of the new


def read_people(presentation: Any) -> dict[str, str]:  # noqa: ANN401
    """Return the names of a presentation's commenters, by their ids."""
    return {
        author.get("id", ""): author.get("name", "")
        for kind in PEOPLE
        for root in _related(presentation.part, kind)
        for author in root
    }


def slide_comments(slide: Any, people: Mapping[str, str], marks: Marks) -> Iterator[str]:  # noqa: ANN401
    """Yield the comments on a slide, and the replies to each, marked."""
    for root in _related(slide.part, "comments"):
        for said in root.iter("{*}cm", "{*}reply"):
            author = people.get(said.get("authorId", ""), "")
            day = said.get("dt") or said.get("created") or ""
            if marked := marks.comment(_comment_text(said), author, day):
                yield marked


def _comment_text(said: _Element) -> str:
    """Return a comment's words, without those of its replies."""
    own = said.findtext("{*}text")
    words = said.iterfind("{*}txBody//{*}t") if own is None else []
    text = own if own is not None else " ".join(word.text or "" for word in words)
    return " ".join(storable_text(text).split())


def _related(part: Any, kind: str) -> Iterator[_Element]:  # noqa: ANN401
    """Yield the roots of the parts of a kind that a part names, each once."""
    links = [link for link in part.rels.values() if not link.is_external]
    named = (link.target_part for link in links if link.reltype.endswith(f"/{kind}"))
    yield from (parse_xml(each.blob) for each in dict.fromkeys(named))
