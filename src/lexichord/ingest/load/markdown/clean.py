"""Takes out of Markdown what is markup and no text; code stays as it is."""

import re
from collections.abc import Iterator

from lexichord.ingest.markdown import fenced_blocks

# What is left out with all that it holds: its opening, and what closes it.
HIDDEN = (
    (re.compile(r"<!--"), re.compile(r"-->")),
    (re.compile(r"<script\b", re.IGNORECASE), re.compile(r"</script\s*>", re.IGNORECASE)),
    (re.compile(r"<style\b", re.IGNORECASE), re.compile(r"</style\s*>", re.IGNORECASE)),
)
# Lines that are for the program alone: includes, shortcodes, tables of contents, link targets.
MARKUP_LINE = re.compile(
    r"[ \t]*(?:\{\*.*\*\}|\{!.*!\}|\{%.*%\}|\{\{[<%].*[>%]\}\}|(?:--8<--|;--8<--).*"
    r"|\[TOC\]|\[\[_?toc_?\]\]|\{:[^{}]*\})[ \t]*\r?",
    re.IGNORECASE,
)
MDX_LINE = re.compile(
    r"(?:import\s.*['\"][^'\"]+['\"];?|export\s+(?:const|default|function|let)\s.*"
    r"|\{/\*.*\*/\})[ \t]*\r?"
)
COMPONENT_LINE = re.compile(r"[ \t]*</?[A-Z][\w.]*(?:\s[^<>]*)?/?>[ \t]*\r?")
# /// note | Title, !!! note "Title", ??? note, ::: note Title; /// and ::: also close.
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
CODE_SPAN = r"(?P<code>(?<!`)(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`))"
ATTRIBUTES = (
    r"(?<![ \t])[ \t]*\{:?[ \t]*(?:[#.][\w:.-]+|[\w-]+=(?:\"[^\"]*\"|[\w-]+))"
    r"(?:[ \t]+[^{}\n]*)?[ \t]*\}(?=[ \t\r.,;:)]|$)"
)
TAG_NAMES = (
    "a|abbr|address|article|aside|audio|b|bdi|bdo|big|blockquote|br|button|caption|center|cite|code"
    "|col|colgroup|dd|del|details|dfn|div|dl|dt|em|figcaption|figure|font|footer|form|h[1-6]|header"
    "|hr|i|iframe|img|input|ins|kbd|label|li|main|mark|nav|object|ol|p|picture|pre|q|s|samp|section"
    "|small|source|span|strike|strong|sub|summary|sup|svg|path|table|tbody|td|tfoot|th|thead|time|tr"
    "|tt|u|ul|var|video|wbr"
)
TAG = rf"</?(?:{TAG_NAMES})(?:\s[^<>]*)?/?>"
INLINE = re.compile(f"{CODE_SPAN}|{ATTRIBUTES}|{TAG}", re.IGNORECASE)


def clean_markdown(text: str, is_mdx: bool = False) -> str:
    """Return a text of Markdown without its markup; what is code stays character for character."""
    pieces, start = [], 0
    for block_start, block_end in [*fenced_blocks(text), (len(text), len(text))]:
        pieces.append(_clean(text[start:block_start], is_mdx))
        pieces.append(text[block_start:block_end])
        start = block_end
    return "".join(pieces)


def _clean(text: str, is_mdx: bool) -> str:
    for opening, closing in HIDDEN:
        text = "".join(_shown(text, opening, closing))
    return "\n".join(_lines(text.split("\n"), is_mdx))


def _shown(text: str, opening: re.Pattern[str], closing: re.Pattern[str]) -> Iterator[str]:
    """Yield what is outside of hidden stretches; one that is never closed is none."""
    start = 0
    while (opened := opening.search(text, start)) and (
        closed := closing.search(text, opened.end())
    ):
        yield text[start : opened.start()]
        start = closed.end()
    yield text[start:]


def _lines(lines: list[str], is_mdx: bool) -> Iterator[str]:
    inside = False  # of an admonition whose text is set in
    for line in lines:
        match = ADMONITION.fullmatch(line)
        if match and _is_admonition(match):
            inside = match["fence"][0] in "!?"
            if match["kind"]:
                yield f"{match['indent']}{_label(match)}{match['end'].strip(' ')}"
            continue
        if MARKUP_LINE.fullmatch(line) or (is_mdx and MDX_LINE.fullmatch(line)):
            continue
        if COMPONENT_LINE.fullmatch(line):
            continue
        inside = inside and (not line.strip() or bool(INDENT.match(line)))
        cleaned = _inline(INDENT.sub("", line, count=1) if inside else line)
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


def _inline(line: str) -> str:
    if INDENT.match(line):  # code, or deep in a list
        return line
    line = ALERT.sub(lambda alert: f"{alert[1]}{alert[2].capitalize()}:", line)
    return INLINE.sub(lambda found: found["code"] or "", line)
