"""Texts as they are read: what Markdown or a loader wrote drawn, code highlighted, with marks."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import PurePosixPath

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup

from lexichord.ingest.load.kinds import MARKDOWN_TYPE, NOTEBOOK_TYPE, TEXT_TYPE, kind_of
from lexichord.serve.page.blocks import ROW, add_rows, add_structure
from lexichord.serve.page.code import is_code, show_code, show_fence
from lexichord.serve.page.language import say
from lexichord.serve.page.marks import UNPLACED, MarkWriter
from lexichord.serve.page.offsets import LINES, PLACE, add_places

MARKDOWN_TYPES = (MARKDOWN_TYPE, NOTEBOOK_TYPE)
CELL_PARTER = " · "  # between the cells of a row that stands in a line of text
UNESCAPED_BAR = re.compile(r"(?<!\\)\|")
ITEM_JOINT = re.compile(r"\s*\n\s*[-*+•]\s+")
NO_LEVEL = 0  # of the headings of a passage: they are none of the page
LAST_LEVEL = 6


def text_kind(media_type: str, uri: str) -> str:
    """Return the type that a text is shown as: of what was stored as plain text, by its name."""
    by_name = kind_of(PurePosixPath(uri).name) if media_type == TEXT_TYPE else None
    return by_name or media_type


def show_text(
    text: str,
    kind: str,
    writer: MarkWriter,
    headings: Mapping[int, int] | None = None,
    level: int = NO_LEVEL,
) -> Markup:
    """Return a text of a media type as HTML, in which nothing of it can act.

    Markdown is rendered, without links and pictures; of what a loader read from another kind of
    file the tables, the items and the `headings`, whose places and depths are known. Plain texts
    and code keep their lines. `level` is that of the heading above the text.
    """
    if kind == TEXT_TYPE:
        return Markup('<div class="lines">{}{}</div>').format(
            writer.write(text, 0), writer.write_rest()
        )
    if is_code(kind):
        return show_code(text, kind, writer)
    markdown = _markdown() if kind in MARKDOWN_TYPES else _structured()
    env = {"writer": writer, "headings": headings or {}, "level": level, "above": []}
    shown = markdown.render(_as_parsed(text), env)
    # The renderer escapes what it writes, and HTML is off.
    return Markup(shown) + writer.write_rest()  # noqa: S704


def show_line(text: str) -> Markup:
    """Return a line with its code and emphasis rendered; the cells of a row stand in a line.

    So do several lines, of which items are parted as cells are.
    """
    row = text.strip()
    if ROW.fullmatch(row):
        text = CELL_PARTER.join(filter(None, map(str.strip, UNESCAPED_BAR.split(row))))
    text = ITEM_JOINT.sub(CELL_PARTER, text)
    env = {"writer": MarkWriter(), "headings": {}, "level": NO_LEVEL, "above": []}
    shown = _markdown().renderInline(_as_parsed(text), env)
    return Markup(shown)  # noqa: S704 (as above)


def show_heading(path: str, uri: str) -> Markup:
    """Return a path of headings; those of Markdown with their code and emphasis rendered."""
    is_markdown = text_kind(TEXT_TYPE, uri) in MARKDOWN_TYPES
    return show_line(path) if is_markdown else Markup.escape(path)


def _as_parsed(text: str) -> str:
    """Return a text as the parser would make it, but with each character in its place."""
    return text.replace("\r\n", " \n").replace("\r", "\n").replace("\0", "\ufffd")


class _Renderer(RendererHTML):
    """Renders texts with their marks, links as their words and pictures as what they are called."""

    def text(self, tokens: Sequence[Token], idx: int, _: OptionsDict, env: EnvType) -> str:
        """Return a text."""
        return _writer(env).write(tokens[idx].content, tokens[idx].meta.get(PLACE, UNPLACED))

    def text_special(self, tokens: Sequence[Token], idx: int, _: OptionsDict, env: EnvType) -> str:
        """Return a sign that is written in another way, or as it is."""
        token = tokens[idx]
        if token.content == token.markup:  # a backslash that escapes nothing, and what follows it
            return self.text(tokens, idx, _, env)
        return _writer(env).write_as(token.content, token.meta.get(PLACE, UNPLACED))

    def code_inline(self, tokens: Sequence[Token], idx: int, _: OptionsDict, env: EnvType) -> str:
        """Return code within a line."""
        return f"<code>{self.text(tokens, idx, _, env)}</code>"

    def fence(self, tokens: Sequence[Token], idx: int, _: OptionsDict, env: EnvType) -> str:
        """Return code in lines of its own."""
        token = tokens[idx]
        return show_fence(token.content, token.info, token.meta.get(LINES, []), _writer(env))

    def heading_open(self, tokens: Sequence[Token], idx: int, _: OptionsDict, env: EnvType) -> str:
        """Return the opening of a heading, one level below the one that it stands under."""
        if env["level"] == NO_LEVEL:
            return '<p class="heading">'
        above: list[str] = env["above"]
        while above and above[-1] >= tokens[idx].tag:
            above.pop()
        above.append(tokens[idx].tag)
        return f"<h{_level(env)}>"

    def heading_close(self, tokens: Sequence[Token], idx: int, _: OptionsDict, env: EnvType) -> str:
        """Return the end of a heading."""
        return "</p>\n" if env["level"] == NO_LEVEL else f"</h{_level(env)}>\n"

    def table_open(self, *_: object) -> str:
        """Return the opening of a table, which may be wider than the page."""
        div = Markup('<div class="table" role="group" aria-label="{}" tabindex="0">')
        return f"{div.format(say('places.table'))}<table>\n"

    def table_close(self, *_: object) -> str:
        """Return the end of a table."""
        return "</table></div>\n"

    def link_open(self, *_: object) -> str:
        """Return nothing: a link would lead away from this server."""
        return ""

    link_close = link_open

    def image(self, tokens: Sequence[Token], idx: int, _: OptionsDict, env: EnvType) -> str:
        """Return what a picture is called."""
        return self.text(tokens, idx, _, env)


def _level(env: EnvType) -> int:
    level: int = env["level"] + len(env["above"])
    return min(level, LAST_LEVEL)


def _writer(env: EnvType) -> MarkWriter:
    writer: MarkWriter = env["writer"]
    return writer


@cache
def _markdown() -> MarkdownIt:
    """Return what renders Markdown; indented lines are no code in what loaders write."""
    markdown = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Renderer)
    markdown.disable(["code", "html_block", "html_inline", "reference"])
    add_rows(markdown)
    add_places(markdown)
    return markdown


@cache
def _structured() -> MarkdownIt:
    """Return what renders what a loader wrote: no sign in it is Markdown but a table's."""
    markdown = MarkdownIt("zero", {"html": False, "breaks": True}, renderer_cls=_Renderer)
    markdown.enable("newline")
    add_structure(markdown)
    add_places(markdown)
    return markdown
