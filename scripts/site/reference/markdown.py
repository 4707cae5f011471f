"""Pieces of Markdown."""

from collections.abc import Iterable, Sequence


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; an empty text where there are no rows. Cells stay on one line."""
    lines = [f"| {' | '.join(_cell(cell) for cell in row)} |" for row in rows]
    if not lines:
        return ""
    return "\n".join([f"| {' | '.join(heads)} |", f"|{' --- |' * len(heads)}", *lines]) + "\n"


def code(text: str) -> str:
    """Return code for the middle of a line; an empty text stays empty."""
    return f"`{text}`" if text else ""


def block(text: str, language: str) -> str:
    """Return a block of code."""
    return f"```{language}\n{text}\n```\n"


def page(*parts: str) -> str:
    """Join the parts of a page, leaving out empty ones."""
    return "\n".join(part if part.endswith("\n") else f"{part}\n" for part in parts if part)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
