"""Takes out of Markdown what is markup and no text; code stays as it is."""

import re
from collections.abc import Callable, Iterator
from functools import partial

from lexichord.display.plain_text import ATTRIBUTES, CODE_SPAN, TAG
from lexichord.ingest.load.markdown.directives import colon_blocks, read_block
from lexichord.ingest.load.markdown.marks import (
    closed_names,
    in_one_line,
    own_code,
    without_marks,
)
from lexichord.ingest.load.marks import described, picture, within
from lexichord.ingest.markdown import part_by_fences

# What is left out with all that it holds: its opening, and what closes it.
HIDDEN = (
    (re.compile(r"<!--"), re.compile(r"-->")),
    (re.compile(r"<script\b", re.IGNORECASE), re.compile(r"</script\s*>", re.IGNORECASE)),
    (re.compile(r"<style\b", re.IGNORECASE), re.compile(r"</style\s*>", re.IGNORECASE)),
)
# Lines that are for the program alone: includes, tables of contents, link targets as
# kramdown and MyST have them, the beginnings of divisions.
MARKUP_LINE = re.compile(
    r"[ \t]*(?:\{\*.*\*\}|\{!.*!\}|(?:--8<--|;--8<--).*"
    r"|\[TOC\]|\[\[_?toc_?\]\]|\{:[^{}]*\}|\([^()\n]{1,200}\)=|:{3,}[ \t]*\{[.#][^{}]*\})[ \t]*\r?",
    re.IGNORECASE,
)
MDX_COMMENT = (re.compile(r"\{/\*"), re.compile(r"\*/\}"))
NOTE_COMMENT_LINES = re.compile(r"^%%[ \t]*\n(?:(?!%%[ \t]*$)[^\n]*\n){1,200}%%[ \t]*$\n?", re.M)
COMPONENT_LINE = re.compile(r"[ \t]*</?[A-Z][\w.]*(?:\s[^<>]*)?/?>[ \t]*\r?")
# === "Title", as tabs have it, /// note | Title, !!! note "Title", ??? note, ::: note Title; ///
# and ::: also close.
TAB = re.compile(r"(?P<indent>[ \t]*)={3}[!+]?[ \t]+\"(?P<title>[^\"\n]+)\"[ \t]*\r?")
ADMONITION = re.compile(
    r"(?P<indent>[ \t]*)(?P<fence>/{3,}|!{3}|\?{3}\+?|:{3,})(?:[ \t]*(?P<kind>[A-Za-z][\w-]*)"
    r"(?P<rest>[^\n]*?))?(?P<end>[ \t]*\r?)"
)
ADMONITION_TITLE = re.compile(
    r"""[|\s]*(?:"(?P<quoted>[^"]*)"|\[(?P<bracket>[^\]]*)\]|(?P<bare>[^"{\[\s].*?))?"""
    r"""\s*(?:\{[^{}]*\})?\s*$"""
)
ALERT = re.compile(r"(>[ \t]*)\[!(\w+)\][+-]?")  # > [!NOTE], as GitHub has it
INDENT = re.compile(r" {4}|\t")
INLINE = re.compile(f"{CODE_SPAN}|{ATTRIBUTES}|(?P<tags>(?:{TAG})+)", re.IGNORECASE)
PARTING = re.compile(  # tags that readers see as a line's end, or as the edge of a cell
    r"</?(?:br|hr|p|div|table|t[dhr]|li|[uo]l|d[dlt]|h[1-6]|blockquote|summary|(?:fig)?caption)\b",
    re.IGNORECASE,
)
IMAGE_TEXT = re.compile(r"<img\b[^<>]*?\salt\s*=\s*(?:\"([^\"]*)\"|'([^']*)')", re.IGNORECASE)


def clean_markdown(text: str, is_mdx: bool = False) -> str:
    """Return a text of Markdown without its markup; what is code stays character for character."""
    pieces = list[str]()
    clean, clean_all = partial(_clean, is_mdx=is_mdx), partial(clean_markdown, is_mdx=is_mdx)
    for words, block in part_by_fences(text):
        pieces += [*colon_blocks(words, clean), read_block(block, clean_all)]
    return "".join(pieces)


def _clean(text: str, is_mdx: bool) -> str:
    for opening, closing in (*HIDDEN, MDX_COMMENT) if is_mdx else HIDDEN:
        text = "".join(_shown(text, opening, closing))
    text = in_one_line(NOTE_COMMENT_LINES.sub("", text))
    inline = partial(_inline, closed=closed_names(text), is_mdx=is_mdx)
    lines = text.split("\n")
    return "\n".join(_lines([*own_code(lines)] if is_mdx else lines, inline))


def _shown(text: str, opening: re.Pattern[str], closing: re.Pattern[str]) -> Iterator[str]:
    """Yield what is outside of hidden stretches; one that is never closed is none."""
    start = 0
    while (opened := opening.search(text, start)) and (
        closed := closing.search(text, opened.end())
    ):
        yield text[start : opened.start()]
        start = closed.end()
    yield text[start:]


def _lines(lines: list[str], inline: Callable[[str], str]) -> Iterator[str]:
    inside = False  # of an admonition whose text is set in
    for line in lines:
        if tab := TAB.fullmatch(line):
            inside = True
            yield f"{tab['indent']}{tab['title']}"
            continue
        match = ADMONITION.fullmatch(line)
        if match and _is_admonition(match):
            inside = match["fence"][0] in "!?"
            if match["kind"]:
                yield f"{match['indent']}{_label(match)}{match['end'].strip(' ')}"
            continue
        if MARKUP_LINE.fullmatch(line):
            continue
        inside = inside and (not line.strip() or bool(INDENT.match(line)))
        cleaned = inline(INDENT.sub("", line, count=1) if inside else line)
        cleaned = cleaned.lstrip() if COMPONENT_LINE.fullmatch(line) else cleaned
        if cleaned.strip() or not line.strip():  # a line of tags alone leaves no empty one
            yield cleaned


def _is_admonition(match: re.Match[str]) -> bool:
    """Return whether a line opens or closes one; "!!!" alone is a shout."""
    return bool(match["kind"]) or match["fence"][0] in "/:"


def _label(match: re.Match[str]) -> str:
    """Return an admonition's title or, without one, its kind, as they are shown."""
    if match["rest"].startswith("."):  # the name of what is documented there: fastapi.Query
        return f"{match['kind']}{match['rest']}"
    found = ADMONITION_TITLE.match(match["rest"])
    title = found and (found["quoted"] or found["bracket"] or found["bare"])
    return title.strip() if title else f"{match['kind'].capitalize()}:"


def _inline(line: str, closed: frozenset[str], is_mdx: bool) -> str:
    line = without_marks(line, closed, is_mdx or bool(COMPONENT_LINE.fullmatch(line)))
    if INDENT.match(line):  # code, or deep in a list
        return line
    line = ALERT.sub(lambda alert: f"{alert[1]}{alert[2].capitalize()}:", line)
    return INLINE.sub(_left, line)


def _left(found: re.Match[str]) -> str:
    """Return what is left of markup: code, what is said of pictures, a blank between two cells."""
    tags, line = found["tags"], found.string
    if not tags:
        return found["code"] or ""
    said = filter(
        None, (described(double or single) for double, single in IMAGE_TEXT.findall(tags))
    )
    pictures = list(map(picture, said))
    if pictures and tags.strip() == line.strip():
        return " ".join(pictures)
    if pictures:
        return " ".join(map(within, pictures))
    before, after = line[: found.start()][-1:], line[found.end() :][:1]
    return " " if PARTING.search(tags) and before.strip() and after.strip() else ""
