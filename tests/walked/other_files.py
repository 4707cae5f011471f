"""Mails, rows, data, notebooks and PDFs of drawn parts."""

import csv
import json
from collections.abc import Callable, Sequence
from email.message import EmailMessage
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from reportlab.lib import pagesizes
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Table

from tests.walked.said import Said

MAIL_LINES = st.lists(st.sampled_from(("line", "quote", "blank")), min_size=1, max_size=6)
ROWS = st.tuples(st.integers(1, 5), st.integers(1, 4), st.sampled_from(",;\t|"), st.booleans())
VALUES = st.recursive(
    st.just("word"),
    lambda inner: st.lists(inner, max_size=3) | st.lists(inner, min_size=1, max_size=3).map(tuple),
)
CELLS = st.lists(
    st.sampled_from(("markdown", "code", "raw", "stream", "result", "error", "drawn", "written")),
    min_size=1,
)
PAGES = st.lists(
    st.lists(
        st.sampled_from(("line", "field", "comment", "link", "table")), min_size=1, max_size=4
    ),
    min_size=1,
    max_size=4,
)


def make_plain_mail(file: Path, said: Said, lines: Sequence[str], headers: Sequence[bool]) -> None:
    mail = EmailMessage()
    for name, is_there in zip(("From", "To", "Cc", "Subject"), (True, *headers), strict=True):
        if is_there:
            mail[name] = said.text(in_order=False)
    written = {"line": "{}", "quote": "> {}", "blank": "\n{}"}
    mail.set_content("\n".join(written[kind].format(said.text()) for kind in lines))
    file.write_bytes(mail.as_bytes())


def make_rows(file: Path, said: Said, rows: int, columns: int, sign: str, has_breaks: bool) -> None:
    """Write rows; a cell may hold the sign that parts cells, and a line's end."""
    with file.open("w", newline="") as stream:
        writer = csv.writer(stream, delimiter=sign)
        for _ in range(rows):
            words = [said.text() for _ in range(columns)]
            said.row(words)
            writer.writerow([f"{word}{sign}a\nb" if has_breaks else word for word in words])


def value(said: Said, drawn: Any) -> Any:
    """Return a value of JSON with a word for each key and each text."""
    if isinstance(drawn, tuple):
        return {said.text(): value(said, inner) for inner in drawn}
    if isinstance(drawn, list):
        return [value(said, inner) for inner in drawn]
    return said.text()


def make_notebook(file: Path, said: Said, kinds: Sequence[str]) -> None:
    file.write_text(json.dumps({"cells": [_cell(said, kind) for kind in kinds], "nbformat": 4}))


def _cell(said: Said, kind: str) -> dict[str, Any]:
    source = [f"{said.text()} a\n", said.text()]
    if kind in ("markdown", "raw"):
        return {"cell_type": kind, "source": source}
    outputs: dict[str, Callable[[], dict[str, Any]]] = {
        "stream": lambda: {"output_type": "stream", "text": [said.text()]},
        "result": lambda: {"output_type": "display_data", "data": {"text/plain": said.text()}},
        "drawn": lambda: {
            "output_type": "display_data",
            "data": {"text/html": said.gone("outputs in HTML alone")},
        },
        "written": lambda: {
            "output_type": "display_data",
            "data": {"text/markdown": [said.text()], "text/plain": "<an object>"},
        },
        "error": lambda: {"output_type": "error", "ename": said.text(), "evalue": said.text()},
    }
    shown = [outputs[kind]()] if kind in outputs else []
    return {"cell_type": "code", "source": "".join(source), "outputs": shown}


def make_pdf(file: Path, said: Said, pages: Sequence[Sequence[str]]) -> None:
    canvas: Any = Canvas(str(file), pagesize=pagesizes.A4)
    canvas.setTitle(said.fact("title"))
    margin = said.gone("running headers") if len(pages) >= 3 else ""
    for number, parts in enumerate(pages, 1):
        canvas.setFont("Helvetica", 10)
        canvas.drawString(60, 815, margin)
        canvas.drawString(60, 770, f"Of {said.text()} the meeting said that it goes on:")
        for place, part in enumerate(parts):
            _part(canvas, said, part, 700 - 100 * place, f"f{number}{place}")
        canvas.showPage()
    canvas.save()


def _part(canvas: Any, said: Said, part: str, bottom: int, name: str) -> None:
    if part == "field":
        word = said.text(in_order=False)
        canvas.acroForm.textfield(name=name, value=word, x=60, y=bottom, width=200, height=20)
    elif part == "comment":
        canvas.textAnnotation(said.comment(), Rect=(60, bottom, 80, bottom + 20))
    elif part == "table":
        rows = [[said.text(in_order=False) for _ in range(3)] for _ in range(3)]
        for row in rows:
            said.row(row)
        table = Table(rows, style=[("GRID", (0, 0), (-1, -1), 1, "black")])
        table.wrapOn(canvas, 300, 90)
        table.drawOn(canvas, 60, bottom)
    else:
        canvas.drawString(60, bottom, f"The {said.text()} stands here, and so it goes on.")
        if part == "link":
            address = f"http://{said.gone('addresses')}.example"
            canvas.linkURL(address, (60, bottom, 200, bottom + 12))
