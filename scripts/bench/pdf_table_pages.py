"""Documents with a table whose cells are known, and documents that have none, as PDFs.

Three producers draw them: reportlab, a Chromium's print, LibreOffice.
"""

import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Literal

from playwright.sync_api import Page
from reportlab.lib import colors, pagesizes
from reportlab.lib.enums import TA_CENTER, TA_LEFT, TA_RIGHT
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.platypus import Flowable, Paragraph, SimpleDocTemplate, Spacer, Table

type Align = Literal["left", "center", "right"]

NAMES = [
    "Bolt", "Washer", "Hinge", "Bracket", "Spring", "Valve", "Gasket", "Bearing", "Pulley",
    "Rivet", "Clamp", "Flange", "Shaft", "Coupling", "Sensor", "Relay", "Fuse", "Switch", "Motor",
    "Pump", "Filter", "Hose", "Gauge", "Lever", "Cable", "Panel", "Cover", "Frame", "Handle",
    "Wheel",
]  # fmt: skip
PLACES = [
    "Lund", "Oslo", "Turin", "Cork", "Graz", "Basel", "Porto", "Ghent", "Riga", "Brno", "Lyon",
    "Bergen", "Malmö", "Split", "Pécs",
]  # fmt: skip
KINDS = [
    "steel", "brass", "copper", "zinc", "oak", "nylon", "rubber", "glass", "granite", "cotton",
    "felt", "paper",
]  # fmt: skip
LONG = (
    "delivered to the northern depot before noon and checked by two persons",
    "held back until the missing certificate of origin has been found",
    "replaced free of charge because the first batch had failed its test",
    "to be ordered again when fewer than forty are left on the shelf",
    "counted by hand, as the scanner of the hall was out of order",
)
HEADS = [
    "Article", "Grade", "Weight", "Price", "Depot", "Stock", "Margin", "Rate", "Score", "Length",
    "Count", "Share", "Total", "Mean",
]  # fmt: skip
LONG_HEADS = ("Net weight kg", "Unit price EUR", "Date of entry", "Share of total", "Mean per year")
PROSE = (
    "The list below names what was in stock at the end of the quarter, as the two wardens of the "
    "hall counted it; what had been sold and not yet fetched is left out, for it stands in the "
    "books of those who bought it and would otherwise be counted twice over.",
    "Prices hold until the end of the year. Who orders more than a hundred pieces at a time may "
    "ask for a rebate, which the office grants by letter, and nobody else: neither the drivers nor "
    "the wardens can bind the house by what they say at the gate.",
    "It has been agreed that losses are borne by whoever had the goods in hand when they were "
    "last seen whole, unless the other side shows that they were badly packed before that day.",
)


@dataclass(frozen=True)
class Style:
    """How tables look; pairs are from and to."""

    name: str
    columns: tuple[int, int] = (3, 6)
    rows: tuple[int, int] = (5, 14)
    gutter: tuple[float, float] = (8, 22)  # points between the columns' widest cells
    room: tuple[float, float] = (2, 6)  # points between rows, on top of the leading
    rules: Literal["", "booktabs", "rows", "zebra"] = ""
    numbers: float = 0.6  # share of the columns after the first
    text: Align = "left"
    number: Align = "right"
    wrapped: float = 0.0  # share of cells of long columns, of which there are one or two
    empty: float = 0.0
    head_lines: int = 1
    spans: bool = False
    middle: bool = False
    titled: bool = True  # prose above and below


STYLES = (
    Style("plain", room=(2, 8), number="left"),
    Style("narrow", gutter=(4.5, 6.5)),
    Style("right"),
    Style("centred", text="center", number="center"),
    Style("wide", columns=(8, 12), gutter=(6, 9)),
    Style("two", columns=(2, 2), rows=(4, 10)),
    Style("booktabs", rules="booktabs", room=(1, 4)),
    Style("zebra", rules="zebra", room=(3, 7)),
    Style("row rules", rules="rows", room=(4, 8), wrapped=0.3),
    Style("wrapped", wrapped=0.5, room=(4, 9), rows=(5, 10)),
    Style("wrapped tight", wrapped=0.4, room=(0, 0.5), rows=(5, 10)),
    Style("empty", empty=0.3, columns=(4, 7)),
    Style("sparse", empty=0.55, columns=(4, 7), rows=(8, 14)),
    Style("head of lines", head_lines=2, columns=(4, 7)),
    Style("head that spans", spans=True, columns=(5, 9)),
    Style("pages", rows=(60, 120), room=(2, 5)),
    Style("pages, wrapped", rows=(30, 60), wrapped=0.4, room=(3, 6), empty=0.1),
    Style("middle", middle=True, wrapped=0.5, room=(4, 9)),
    Style("words", numbers=0.0, columns=(3, 5)),
    Style("close", room=(0, 1), gutter=(7, 12)),
)
PRODUCERS = ("reportlab", "chromium", "libreoffice")
FONTS = {
    "Helvetica": "Liberation Sans",
    "Times-Roman": "Liberation Serif",
    "Courier": "Liberation Mono",
}
BOLD = {"Helvetica": "Helvetica-Bold", "Times-Roman": "Times-Bold", "Courier": "Courier-Bold"}


@dataclass
class Known:
    """A table and the prose around it."""

    style: Style
    font: str
    size: float
    gutter: float
    room: float
    head: list[list[tuple[str, int]]]  # rows of texts and how many columns they span
    rows: list[list[str]]
    aligns: list[Align]
    widths: list[float]  # points, without the gutter
    long: set[int]  # columns that are wrapped
    above: list[str]
    below: list[str]

    @property
    def names(self) -> list[str]:
        """Return the words of the head above each column."""
        whole = [[text for text, span in row for _ in range(span)] for row in self.head]
        return [" ".join(filter(None, parts)) for parts in zip(*whole, strict=True)]


def known_table(style: Style, seed: str) -> Known:
    """Make up a table of a style."""
    chance = random.Random(seed)
    columns, amount = chance.randint(*style.columns), chance.randint(*style.rows)
    font = chance.choice(list(FONTS)[: 2 if chance.random() < 0.85 else 3])
    size = chance.choice([7, 8, 8.5, 9]) if columns > 7 else chance.choice([8, 9, 10, 11, 12])
    if style.wrapped:
        columns, size = min(columns, 5), min(size, 10)
    numeric = {c for c in range(1, columns) if chance.random() < style.numbers}
    texts = [c for c in range(1, columns) if c not in numeric]
    long = (
        set(chance.sample(texts, min(len(texts), chance.randint(1, 2)))) if style.wrapped else set()
    )
    long = long or ({columns - 1} if style.wrapped else long)
    numeric -= long
    rows = [
        [_cell(chance, c, number, numeric, long, style) for c in range(columns)]
        for number in range(amount)
    ]
    for row in rows:
        if not any(row[1:]):
            row[-1] = _cell(chance, columns - 1, 0, numeric, set(), Style(""))
    aligns: list[Align] = [style.number if c in numeric else style.text for c in range(columns)]
    aligns[0] = "left"
    known = Known(
        *(style, font, size, chance.uniform(*style.gutter), chance.uniform(*style.room)),
        *(_head(chance, style, columns), rows, aligns, [], long),
        above=chance.sample(PROSE, 1 if style.titled else 0),
        below=chance.sample(PROSE, 1 if style.titled else 0),
    )
    known.widths = _widths(chance, known)
    return known


def _cell(
    chance: random.Random, column: int, number: int, numeric: set[int], long: set[int], style: Style
) -> str:
    if column == 0:
        return f"{chance.choice(NAMES)} {number + 1}"
    if chance.random() < style.empty:
        return ""
    if column in long and chance.random() < style.wrapped:
        return chance.choice(LONG)
    if column not in numeric:
        return chance.choice(
            [chance.choice(PLACES), chance.choice(KINDS), f"{chance.choice(KINDS)} {column}"]
        )
    made = random.Random(f"{column}{style.name}").randrange(4)
    amount = chance.choice([9, 99, 999, 9999, 99999])
    value = chance.uniform(0, amount)
    return [f"{value:,.2f}", f"{value:.0f}", f"{value % 100:.1f} %", f"{value:.0f} kg"][made]


def _head(chance: random.Random, style: Style, columns: int) -> list[list[tuple[str, int]]]:
    names = ["Article", *chance.sample(HEADS[1:], columns - 1)]
    if style.head_lines > 1:
        parts = [chance.choice(LONG_HEADS).split(" ", 1) for _ in names[1:]]
        return [
            [("Article", 1), *((f, 1) for f, _ in parts)],
            [("", 1), *((s, 1) for _, s in parts)],
        ]
    if not style.spans:
        return [[(name, 1) for name in names]]
    groups = [("", 1)]
    while (left := columns - sum(span for _, span in groups)) > 0:
        span = left if left < 4 else chance.choice([2, left - 2])
        groups.append((str(2020 + len(groups)), span))
    return [groups, [(name, 1) for name in names]]


def _widths(chance: random.Random, known: Known) -> list[float]:
    heads = [[text for text, span in row for _ in range(span)] for row in known.head]
    widths = []
    for column in range(len(known.rows[0])):
        bold = [stringWidth(row[column], BOLD[known.font], known.size) for row in heads]
        if column in known.long:
            widths.append(max(*bold, chance.uniform(9, 16) * known.size))
            continue
        cells = [stringWidth(row[column], known.font, known.size) for row in known.rows]
        widths.append(max(*bold, *cells) + 1)
    return widths


def by_reportlab(known: Known, file: Path) -> None:
    """Draw by platypus; what is not wrapped is a string, as most programs write it."""
    body = ParagraphStyle("body", fontName=known.font, fontSize=10, leading=12.5, spaceAfter=7)
    sides = {"left": TA_LEFT, "center": TA_CENTER, "right": TA_RIGHT}
    styles = [
        ParagraphStyle(
            "cell", fontName=known.font, fontSize=known.size, leading=known.size * 1.2,
            alignment=sides[align],
        )
        for align in known.aligns
    ]  # fmt: skip
    cells: list[list[object]] = [
        [text if index == 0 else "" for text, span in row for index in range(span)]
        for row in known.head
    ]
    for row in known.rows:
        cells.append(
            [
                Paragraph(cell, styles[c]) if c in known.long and cell else cell
                for c, cell in enumerate(row)
            ]
        )
    table = Table(
        cells,
        colWidths=[width + known.gutter for width in known.widths],
        repeatRows=len(known.head),
        style=_commands(known),
        spaceBefore=6,
        spaceAfter=10,
    )
    story: list[Flowable] = [*(Paragraph(text, body) for text in known.above), table]
    story += [Spacer(1, 4), *(Paragraph(text, body) for text in known.below)]
    SimpleDocTemplate(str(file), pagesize=_paper(known)).build(story)


def _paper(known: Known) -> tuple[float, float]:
    width = sum(known.widths) + known.gutter * len(known.widths)
    width_of_page, height = pagesizes.A4
    return (height, width_of_page) if width > 440 else (width_of_page, height)


def _commands(known: Known) -> list[tuple[object, ...]]:
    first, last, head = (0, 0), (-1, -1), len(known.head)
    commands: list[tuple[object, ...]] = [
        ("FONT", first, last, known.font, known.size, known.size * 1.2),
        ("FONT", first, (-1, head - 1), BOLD[known.font], known.size, known.size * 1.2),
        ("LEFTPADDING", first, last, known.gutter / 2),
        ("RIGHTPADDING", first, last, known.gutter / 2),
        ("TOPPADDING", first, last, known.room / 2),
        ("BOTTOMPADDING", first, last, known.room / 2),
        ("VALIGN", first, last, "MIDDLE" if known.style.middle else "TOP"),
        *(("ALIGN", (c, 0), (c, -1), align.upper()) for c, align in enumerate(known.aligns)),
    ]
    place = 0
    for text, span in known.head[0] if known.style.spans else []:
        if text:
            commands.append(("SPAN", (place, 0), (place + span - 1, 0)))
            commands.append(("ALIGN", (place, 0), (place, 0), "CENTER"))
        place += span
    if known.style.rules == "booktabs":
        heights = [("LINEABOVE", first), ("LINEBELOW", (0, head - 1)), ("LINEBELOW", (0, -1))]
        commands += [(name, at, (-1, at[1]), 0.8, colors.black) for name, at in heights]
    if known.style.rules == "rows":
        commands.append(("LINEBELOW", first, last, 0.5, colors.grey))
    if known.style.rules == "zebra":
        commands.append(("ROWBACKGROUNDS", first, last, [colors.whitesmoke, colors.white]))
    return commands


def as_html(known: Known) -> str:
    """Write a table as a page of the web."""
    rules = {
        "booktabs": "thead,tbody{border-bottom:1px solid}thead{border-top:1px solid}",
        "rows": "tr{border-bottom:1px solid #999}",
        "zebra": "tr:nth-child(even){background:#eee}",
        "": "",
    }[known.style.rules]
    bare = "white-space:nowrap"
    columns = "".join(
        f"td:nth-child({c}){{text-align:{align};"
        f"{f'width:{width}pt' if c - 1 in known.long else bare}}}"
        f"tr:last-child>th:nth-child({c}){{text-align:{align}}}"
        for c, (align, width) in enumerate(zip(known.aligns, known.widths, strict=True), 1)
    )
    css = (
        f"body{{font:10pt/1.25 '{FONTS[known.font]}';margin:0}}"
        f"table{{border-collapse:collapse;font-size:{known.size}pt;line-height:1.2;margin:8pt 0}}"
        f"td,th{{padding:{known.room / 2}pt {known.gutter / 2}pt;"
        f"vertical-align:{'middle' if known.style.middle else 'top'}}}th{{{bare}}}"
    )
    head = "".join(f"<tr>{''.join(map(_th, row))}</tr>" for row in known.head)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in known.rows
    )
    above, below = (
        "".join(f"<p>{text}</p>" for text in part) for part in (known.above, known.below)
    )
    page = "@page{size:A4 landscape}" if _paper(known)[0] > 600 else "@page{size:A4}"
    return (
        f"<style>{page}{css}{columns}{rules}</style>{above}"
        f"<table><thead>{head}</thead><tbody>{body}</tbody></table>{below}"
    )


def _th(cell: tuple[str, int]) -> str:
    text, span = cell
    return f"<th colspan={span}>{text}</th>" if span > 1 else f"<th>{text}</th>"


def by_chromium(page: Page, html: str, file: Path) -> None:
    """Print a page to a file."""
    page.set_content(html)
    margin = dict.fromkeys(("top", "bottom", "left", "right"), "20mm")
    page.pdf(path=str(file), prefer_css_page_size=True, margin=margin)  # type: ignore[arg-type]


FODT = """<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0"
 xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0"
 office:version="1.2" office:mimetype="application/vnd.oasis.opendocument.text">
<office:automatic-styles><style:page-layout style:name="p"><style:page-layout-properties
 fo:page-width="{width}pt" fo:page-height="{height}pt" fo:margin="56pt"/></style:page-layout>
{styles}</office:automatic-styles><office:master-styles><style:master-page style:name="Standard"
 style:page-layout-name="p"/></office:master-styles>
<office:body><office:text>{body}</office:text></office:body></office:document>"""


def as_fodt(known: Known) -> str:
    """Write a table as a word processor's file in one piece of XML."""
    font, half = FONTS[known.font], known.room / 2
    full = sum(known.widths) + known.gutter * len(known.widths)
    styles = [
        _paragraph_style("body", font, 10, "left", "fo:margin-bottom='7pt'"),
        f"<style:style style:name='t' style:family='table'><style:table-properties "
        f"style:width='{full}pt' table:align='left' fo:margin-bottom='8pt'/></style:style>",
    ]
    for c, (align, width) in enumerate(zip(known.aligns, known.widths, strict=True)):
        styles.append(
            f"<style:style style:name='c{c}' style:family='table-column'><style:table-column-"
            f"properties style:column-width='{width + known.gutter}pt'/></style:style>"
        )
        styles.append(_paragraph_style(f"d{c}", font, known.size, align))
        styles.append(_paragraph_style(f"h{c}", font, known.size, align, bold=True))
    styles.append(_paragraph_style("hs", font, known.size, "center", bold=True))
    padding = f"fo:padding='{half}pt' fo:padding-left='{known.gutter / 2}pt' "
    padding += f"fo:padding-right='{known.gutter / 2}pt' "
    padding += f"style:vertical-align='{'middle' if known.style.middle else 'top'}'"
    for name, extra in _borders(known.style.rules).items():
        styles.append(
            f"<style:style style:name='{name}' style:family='table-cell'>"
            f"<style:table-cell-properties {padding} {extra}/></style:style>"
        )
    heads = (_fodt_head(row, "x" if row is known.head[0] else "y") for row in known.head)
    head = "".join(f"<table:table-row>{row}</table:table-row>" for row in heads)
    rows = ["".join(_fodt_cells(row, _kind(known, n))) for n, row in enumerate(known.rows)]
    body = "".join(f"<table:table-row>{row}</table:table-row>" for row in rows)
    columns = "".join(
        f"<table:table-column table:style-name='c{c}'/>" for c in range(len(known.widths))
    )
    table = (
        f"<table:table table:style-name='t'>{columns}<table:table-header-rows>{head}"
        f"</table:table-header-rows>{body}</table:table>"
    )
    above, below = (
        "".join(f"<text:p text:style-name='body'>{text}</text:p>" for text in part)
        for part in (known.above, known.below)
    )
    width, height = _paper(known)
    return FODT.format(
        width=width, height=height, styles="".join(styles), body=above + table + below
    )


def _paragraph_style(
    name: str, font: str, size: float, align: str, extra: str = "", bold: bool = False
) -> str:
    weight = " fo:font-weight='bold'" if bold else ""
    side = {"left": "start", "right": "end"}.get(align, align)
    return (
        f"<style:style style:name='{name}' style:family='paragraph'><style:paragraph-properties "
        f"fo:text-align='{side}' {extra}/><style:text-properties fo:font-family=\"'{font}'\" "
        f"fo:font-size='{size}pt'{weight}/></style:style>"
    )


def _borders(rules: str) -> dict[str, str]:
    """Return the styles of the head's first and last rows, of odd and even ones and the last."""
    line = "0.7pt solid #000000"
    below = f"fo:border-bottom='{line}'"
    if rules == "booktabs":
        both = f"fo:border-top='{line}' {below}"
        return {"x": both, "y": below, "o": "", "e": "", "z": below}
    if rules == "rows":
        return dict.fromkeys("xyoez", below)
    if rules == "zebra":
        return {"x": "", "y": "", "o": "fo:background-color='#eeeeee'", "e": "", "z": ""}
    return dict.fromkeys("xyoez", "")


def _kind(known: Known, number: int) -> str:
    return "z" if number == len(known.rows) - 1 else "oe"[number % 2]


def _fodt_head(row: Sequence[tuple[str, int]], style: str) -> str:
    parts, place = list[str](), 0
    for text, span in row:
        wide = f" table:number-columns-spanned='{span}'" if span > 1 else ""
        named = "hs" if span > 1 else f"h{place}"
        parts.append(
            f"<table:table-cell table:style-name='{style}'{wide}>"
            f"<text:p text:style-name='{named}'>{text}</text:p></table:table-cell>"
            + "<table:covered-table-cell/>"
            * (span - 1)
        )
        place += span
    return "".join(parts)


def _fodt_cells(row: Sequence[str], style: str) -> Iterator[str]:
    for c, cell in enumerate(row):
        yield (
            f"<table:table-cell table:style-name='{style}'><text:p text:style-name='d{c}'>"
            f"{escape(cell)}</text:p></table:table-cell>"
        )


def by_libreoffice(program: str, files: Sequence[Path], folder: Path) -> None:
    """Convert files of a word processor, all in one go."""
    profile = f"-env:UserInstallation={(folder / 'profile').as_uri()}"
    command = [program, profile, "--headless", "--convert-to", "pdf", "--outdir", str(folder)]
    subprocess.run([*command, *map(str, files)], check=True, stdout=sys.stderr)
