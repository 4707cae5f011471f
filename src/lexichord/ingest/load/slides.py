"""Slides: a section and a page each, with tables, charts' numbers and the speaker's notes."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pptx import Presentation

from lexichord.errors import IngestError
from lexichord.ingest.load.archive import check_archive
from lexichord.ingest.load.kinds import PPTX_TYPE
from lexichord.ingest.load.marks import HIDDEN, Marks
from lexichord.ingest.load.options import LoadOptions
from lexichord.ingest.load.properties import office_properties
from lexichord.ingest.load.text import TextBuilder, storable_text
from lexichord.types import LoadedText

BROKEN_SLIDES = "is no PPTX, or a broken one: open it and save it again"
OLD_SLIDES = "is encrypted or an old .ppt: save it as .pptx without a password"
MAX_SLIDE_TITLE_CHARS = 200  # characters: more are no title
MAX_GROUP_DEPTH = 50  # groups in groups


def load(file: Path, named: str, options: LoadOptions) -> LoadedText:
    """Read a presentation. Raises IngestError."""
    marks = Marks(options)
    check_archive(file, BROKEN_SLIDES, OLD_SLIDES)
    built = TextBuilder()
    titles: list[str] = []
    try:
        for number, slide in enumerate(Presentation(str(file)).slides, 1):
            titles.append(_add_slide(built, slide, number, marks))
        properties = office_properties(file)
    except MemoryError:
        raise
    except Exception as error:  # of the library and of what it stands on, without a common base
        if isinstance(error, IngestError):
            raise
        raise IngestError(BROKEN_SLIDES) from None
    title = properties.pop("title", "") or next(filter(None, titles), named)
    return LoadedText(
        built.text,
        PPTX_TYPE,
        title,
        headings=tuple(built.headings),
        tables=tuple(built.tables),
        pages=built.pages,
        metadata=marks.flagged(properties),
    )


def _add_slide(built: TextBuilder, slide: Any, number: int, marks: Marks) -> str:  # noqa: ANN401
    """Add a slide; return its title. A hidden one says so in its text."""
    built.page()
    heading = slide.shapes.title
    title = "" if heading is None else _line(heading.text_frame.text)
    is_titled = 0 < len(title) <= MAX_SLIDE_TITLE_CHARS
    name = f"Slide {number}"
    if slide.element.get("show") in ("0", "false"):
        name = marks.hidden(name, "slide")
        if not name:
            return ""
    built.place(2, f"{name}: {title}" if is_titled else name, apart=True)
    if HIDDEN in name:
        built.paragraph(f"{name}: {title}" if title else name)
    elif title:
        built.paragraph(title)
    for shape in _shapes(slide.shapes, 0):
        if heading is None or shape.shape_id != heading.shape_id:
            _add_shape(built, shape)
    notes = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
    if text := "" if notes is None else _text(notes):
        built.paragraph("Speaker notes", 3)
        built.paragraph(text)
    built.drop_place()
    return title if is_titled else ""


def _shapes(shapes: Iterable[Any], depth: int) -> Iterator[Any]:
    """Yield the shapes in their order, those in groups in the groups' place."""
    for shape in shapes:
        if hasattr(shape, "shapes"):
            if depth == MAX_GROUP_DEPTH:
                raise IngestError(f"holds groups more than {MAX_GROUP_DEPTH} deep: ungroup them")
            yield from _shapes(shape.shapes, depth + 1)
        else:
            yield shape


def _add_shape(built: TextBuilder, shape: Any) -> None:  # noqa: ANN401
    if shape.has_text_frame and (text := _text(shape.text_frame)):
        built.paragraph(text)
    if getattr(shape, "has_table", False):
        rows = [[storable_text(cell.text) for cell in row.cells] for row in shape.table.rows]
        if any(any(row) for row in rows):
            built.markdown_table(rows, int(len(rows) > 1), None)
    if getattr(shape, "has_chart", False):
        _add_chart(built, shape.chart)


def _add_chart(built: TextBuilder, chart: Any) -> None:  # noqa: ANN401
    """Add a chart's title and its numbers, a row a category."""
    is_named = chart.has_title and chart.chart_title.has_text_frame
    if text := _text(chart.chart_title.text_frame) if is_named else "":
        built.paragraph(text)
    for plot in chart.plots:
        series = [(one.name, list(one.values)) for one in plot.series]
        if not series:
            continue
        categories = [str(category) for category in plot.categories]
        columns = [[*map(_number, values)] for _, values in series]
        rows = [
            [category, *(column[at] if at < len(column) else "" for column in columns)]
            for at, category in enumerate(categories)
        ]
        if rows:
            built.markdown_table([["", *(name for name, _ in series)], *rows], 1, None)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.15g}"


def _text(frame: Any) -> str:  # noqa: ANN401
    """Return a frame's paragraphs, those of lists set in by their level."""
    lines = (
        "  " * paragraph.level + storable_text(paragraph.text.replace("\v", "\n"))
        for paragraph in frame.paragraphs
    )
    return "\n".join(line for line in lines if line.strip()).strip("\n")


def _line(text: str) -> str:
    return " ".join(storable_text(text).split())
