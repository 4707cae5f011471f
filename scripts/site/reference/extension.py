"""Sphinx' side: pages that are made while the site is built, and docstrings as we write them."""

import re
from importlib import import_module
from typing import TypeAliasType

from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from reference import cli, http, mcp, python, settings, sql

PAGES = {
    "reference/cli": cli.markdown,
    "reference/http": http.markdown,
    "reference/mcp": mcp.markdown,
    "reference/python": python.markdown,
    "reference/settings": settings.markdown,
    "reference/sql": sql.markdown,
}


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the pages' makers."""
    app.connect("source-read", _complete)
    app.connect("autodoc-process-docstring", _literal)
    app.connect("missing-reference", _alias)
    return {"parallel_read_safe": True}


def _complete(_app: Sphinx, name: str, source: list[str]) -> None:
    """Append to a page what is made for it."""
    if name in PAGES:
        source[0] += "\n" + PAGES[name]()


def _literal(
    _app: Sphinx, _what: str, _name: str, _each: object, _options: object, lines: list[str]
) -> None:
    """Make a docstring reStructuredText: code between backquotes stays code, all else plain."""
    lines[:] = "".join(map(_part, re.split(r"(`[^`]+`)", "\n".join(lines)))).split("\n")


def _part(text: str) -> str:
    if text.startswith("`") and text.endswith("`") and len(text) > 1:
        return f"\\ ``{text[1:-1]}``\\ "
    return re.sub(r"(?<!^)([*|\\])", r"\\\1", re.sub(r"(\w)_(?=\W|$)", r"\1\\_", text))


def _alias[T](_app: Sphinx, _env: BuildEnvironment, node: pending_xref, text: T) -> T | None:
    """Let an alias of a type stand in a signature by its name, without a description."""
    module, _, name = node.get("reftarget", "").rpartition(".")
    if not module.startswith("lexichord"):
        return None
    return text if isinstance(getattr(import_module(module), name, None), TypeAliasType) else None
