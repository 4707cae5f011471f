"""The report's blocks of plain text, tables and plots, rendered as Markdown and as HTML.

All text is untrusted: it is escaped here, and only here.
"""

import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import assert_never

# The page loads and runs nothing: no script, no address.
REPORT_CSP = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"

REPORT_CSS = """
body { font: 15px/1.5 system-ui, sans-serif; color: #111; max-width: 68rem; margin: 2rem auto;
  padding: 0 1rem; overflow-wrap: break-word }
h1, h2, h3 { line-height: 1.25; break-after: avoid } h3 { overflow-wrap: anywhere }
h2 { margin-top: 2.5rem; border-bottom: 1px solid #bbb } h3 { margin-top: 2rem }
figure { margin: 1rem 0; break-inside: avoid } img { width: 100%; height: auto }
caption, figcaption { color: #444; font-size: 14px; padding: .25rem 0; text-align: left }
div { overflow-x: auto; margin: 1rem 0 }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums }
th, td { border-bottom: 1px solid #ddd; padding: .2rem .5rem; text-align: left;
  vertical-align: top; min-width: 3rem }
thead th { border-bottom: 1px solid #666; vertical-align: bottom } tbody th { font-weight: 600 }
tr { break-inside: avoid }
@media print { body { font-size: 10pt; margin: 0; max-width: none } div { overflow: visible }
  table { font-size: 8pt } th, td { padding: .1rem .3rem; min-width: 0 } }
"""

# White space except the no-break space, control codes, bidirectional controls, lone surrogates.
UNPRINTABLE_CHARS = re.compile(
    r"(?:[^\S\xa0]|[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff])+"
)

MARKDOWN_MARKUP = re.compile(r"[\\`*\[\]|~$#]|(?<!\w)_|_(?!\w)")


@dataclass(frozen=True, slots=True)
class ReportHeading:
    """A title, of level 1 to 3."""

    text: str
    level: int = 2


@dataclass(frozen=True, slots=True)
class ReportList:
    """A list of sentences."""

    texts: Sequence[str]


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A table: rows as long as the header, the first cell of each its heading."""

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class ReportPlot:
    """A picture with its caption, which says what it shows."""

    caption: str
    svg: str


type ReportBlock = str | ReportHeading | ReportList | ReportTable | ReportPlot


def to_plain(text: str) -> str:
    """Return a text on one line, without unprintable characters."""
    return UNPRINTABLE_CHARS.sub(" ", text).strip()


def to_markdown(blocks: Sequence[ReportBlock]) -> str:
    """Render blocks as Markdown, with GitHub's tables and without plots; all text is escaped."""
    return "\n\n".join(text for block in blocks if (text := _markdown(block))) + "\n"


def to_html(blocks: Sequence[ReportBlock]) -> str:
    """Render blocks as one self-contained page; all text is escaped.

    The first block is the heading that names the page.
    """
    title = next(block.text for block in blocks if isinstance(block, ReportHeading))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{REPORT_CSP}">
<meta name="viewport" content="width=device-width">
<title>{_html_text(title)}</title>
<style>{REPORT_CSS}</style>
</head>
<body>
<main>
{"\n".join(map(_html, blocks))}
</main>
</body>
</html>
"""


def _markdown(block: ReportBlock) -> str:
    match block:
        case str():
            return _markdown_text(block)
        case ReportHeading():
            return f"{'#' * block.level} {_markdown_text(block.text)}"
        case ReportList():
            return "\n".join(f"- {_markdown_text(text)}" for text in block.texts)
        case ReportTable():
            lines = [block.header, ["---"] * len(block.header), *block.rows]
            rows = [" | ".join(map(_markdown_text, line)) for line in lines]
            return f"{_markdown_text(block.caption)}:\n\n" + "\n".join(f"| {row} |" for row in rows)
        case ReportPlot():
            return ""
        case _:
            assert_never(block)


def _html(block: ReportBlock) -> str:
    match block:
        case str():
            return f"<p>{_html_text(block)}</p>"
        case ReportHeading():
            return f"<h{block.level}>{_html_text(block.text)}</h{block.level}>"
        case ReportList():
            items = "".join(f"<li>{_html_text(text)}</li>" for text in block.texts)
            return f"<ul>{items}</ul>"
        case ReportTable():
            return _html_table(block)
        case ReportPlot():
            caption, data = _html_text(block.caption), b64encode(block.svg.encode()).decode()
            picture = f'<img src="data:image/svg+xml;base64,{data}" alt="{caption}">'
            return f"<figure>{picture}<figcaption>{caption}</figcaption></figure>"
        case _:
            assert_never(block)


def _html_table(table: ReportTable) -> str:
    caption = _html_text(table.caption)
    head = "".join(f'<th scope="col">{_html_cell(cell)}</th>' for cell in table.header)
    rows = "\n".join(
        f'<tr><th scope="row">{_html_cell(row[0])}</th>'
        + "".join(f"<td>{_html_cell(cell)}</td>" for cell in row[1:])
        + "</tr>"
        for row in table.rows
    )
    return (
        f'<div role="region" aria-label="{caption}" tabindex="0">'
        f"<table><caption>{caption}</caption>"
        f"<thead><tr>{head}</tr></thead>\n<tbody>{rows}</tbody></table></div>"
    )


def _html_text(text: str) -> str:
    return escape(to_plain(text))


def _html_cell(text: str) -> str:
    """Allow line breaks in long names and paths, where their parts end."""
    return re.sub(r"[/_]", r"\g<0><wbr>", _html_text(text))


def _markdown_text(text: str) -> str:
    """Escape what Markdown reads as markup, HTML included."""
    return MARKDOWN_MARKUP.sub(r"\\\g<0>", escape(to_plain(text).replace("\xa0", " "), quote=False))


def drop_empty_tables(*tables: ReportTable) -> list[ReportTable]:
    """Return the tables that have rows."""
    return [table for table in tables if table.rows]
