"""HTML for notebooks, in their own colours. Stored text is data: escaped, never obeyed."""

from collections.abc import Iterable, Sequence
from html import escape

from lexichord.types.text import visible

DIM = "opacity:.65"
LEFT = "text-align:left;vertical-align:top;white-space:pre-line"
QUOTE = "margin:.2em 0 .8em;padding-left:.8em;border-left:3px solid;white-space:pre-wrap;opacity:.9"
SHOWN = 1000  # characters of a passage
# Dollars between which notebooks would set formulas are those of contracts.
PLAIN = "tex2jax_ignore mathjax_ignore"


def escaped(text: str) -> str:
    """Give text as HTML that shows it, quotes escaped as well."""
    return escape(visible(text))


def page(degraded: Iterable[str], *parts: str) -> str:
    """Put parts below each other, after what could not be done."""
    lines = [f"<p><b>{escaped(reason)}</b></p>" for reason in degraded]
    return f'<div class="{PLAIN}">{"".join([*lines, *parts])}</div>'


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Draw a table of texts; nothing where there are no rows."""
    lines = ["".join(f'<td style="{LEFT}">{escaped(cell)}</td>' for cell in row) for row in rows]
    if not lines:
        return ""
    names = "".join(f'<th style="{LEFT}">{escaped(name)}</th>' for name in head)
    top = f"<thead><tr>{names}</tr></thead>" if head else ""
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table>{top}<tbody>{body}</tbody></table>"


def line(text: str, dim: str = "") -> str:
    """Write a line, and after it what matters less."""
    less = f' <span style="{DIM}">{escaped(dim)}</span>' if dim else ""
    return f"<div>{escaped(text)}{less}</div>"


def heading(text: str) -> str:
    """Write a heading."""
    return f"<p><b>{escaped(text)}</b></p>"


def quote(text: str, *, cut: bool = True) -> str:
    """Write a passage as it is, cut where it is long."""
    shown = text[:SHOWN] + " …" if cut and len(text) > SHOWN else text
    return f'<blockquote style="{QUOTE}">{escaped(shown)}</blockquote>'


def folded(title: str, *parts: str) -> str:
    """Put parts where a click shows them."""
    return f"<details><summary>{escaped(title)}</summary>{''.join(parts)}</details>"
