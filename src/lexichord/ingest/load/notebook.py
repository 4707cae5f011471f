"""Notebooks: the words as Markdown, the code of each cell, and what it printed."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lexichord.errors import IngestError
from lexichord.ingest.load.kinds import NOTEBOOK_TYPE
from lexichord.ingest.load.text import TextBuilder, read_text, storable_text
from lexichord.types import LoadedText

BROKEN_NOTEBOOK = "is no notebook, or a broken one: open it and save it again"
MAX_OUTPUT_CHARS = 4000  # of a cell
CELL_LEVEL = 8  # below every heading of Markdown


def load(file: Path, named: str) -> LoadedText:
    """Read a notebook. Raises IngestError."""
    content, metadata = read_text(file)
    try:
        notebook = json.loads(content)
        cells = list(_cells(notebook))
        built = TextBuilder()
        for number, cell in enumerate(cells, 1):
            _add_cell(built, cell, number)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise IngestError(BROKEN_NOTEBOOK) from None
    opening = built.headings and built.headings[0]
    title = opening.name if opening and opening.level == 1 else named
    return LoadedText(
        built.text,
        NOTEBOOK_TYPE,
        title,
        headings=tuple(sorted(built.headings, key=lambda heading: heading.start)),
        tables=tuple(built.tables),
        metadata=metadata,
    )


def _cells(notebook: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    if "cells" not in notebook and "worksheets" not in notebook:
        raise ValueError
    yield from notebook.get("cells", ())
    for sheet in notebook.get("worksheets", ()):  # before 2015
        yield from sheet["cells"]


def _add_cell(built: TextBuilder, cell: Mapping[str, Any], number: int) -> None:
    source = _joined(cell.get("source") or cell.get("input") or "")
    if cell["cell_type"] in ("markdown", "heading"):
        if source.strip():
            marks = f"{'#' * int(cell.get('level', 1))} " if cell["cell_type"] == "heading" else ""
            built.markdown(marks + source.strip("\n"))
        return
    if source.strip():
        built.place(CELL_LEVEL, f"Cell {number}")
        built.lines(source.strip("\n"))
    shown = "\n".join(filter(None, map(_output, cell.get("outputs") or ())))
    if shown:
        built.place(CELL_LEVEL, f"Cell {number}, output")
        cut = "\n[…]" if len(shown) > MAX_OUTPUT_CHARS else ""
        built.lines(shown[:MAX_OUTPUT_CHARS] + cut)


def _output(output: Mapping[str, Any]) -> str:
    """Return what is text of an output."""
    if output.get("output_type") in ("error", "pyerr"):
        return storable_text(f"{output.get('ename', '')}: {output.get('evalue', '')}")
    data = output.get("data") or output
    written = output.get("text") or data.get("text/markdown") or data.get("text/plain") or ""
    return _joined(written).strip()


def _joined(source: str | Sequence[str]) -> str:
    return storable_text(source if isinstance(source, str) else "".join(source))
