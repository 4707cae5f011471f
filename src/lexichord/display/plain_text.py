"""Text as its readers see it: without what tells a program how to lay it out.

Of links and of Sphinx's roles the words stay, of pictures what they are called; targets, tags,
comments, attributes and admonitions' fences go. Nothing is put in, so that each stretch that stays
has its place in the text that is stored. Code stays as it is, and so does Markdown's emphasis.

An answer's text is laid out here, too: a paragraph or an item on a line, code as it is stored.
"""

import re
from collections.abc import Iterator
from itertools import zip_longest
from textwrap import dedent, indent

type Span = tuple[int, int]

# The backticks of a code span are counted up to nine, for those that nothing closes are looked for
# to the paragraph's end, once for each number of them.
CODE_SPAN = r"(?P<code>(?<!`)(?P<ticks>`{1,9})(?!`)(?:.|\n(?!\s*\n))+?(?<!`)(?P=ticks)(?!`))"
# Tildes right below a line underline it, as AsciiDoc writes headings.
CODE_BLOCK = (
    r"(?P<block>^[ \t]*(?P<fence>`{3,}|(?<![^\n:]\n)~{3,})[^\n]*$"
    r"(?s:.*?^[ \t]*(?P=fence)[`~]*[ \t]*$|.*))"
)
ATTRIBUTES = (
    r"(?<![ \t])[ \t]*\{:?[ \t]*(?:[#.][\w:.-]+|[\w-]+=(?:\"[^\"]*\"|[\w-]+))"
    r"(?:[ \t][^{}\n]*)?\}(?=[ \t\r\n.,;:)]|\Z)"
)
TAG_NAMES = (
    "a|abbr|address|article|aside|audio|b|bdi|bdo|big|blockquote|br|button|caption|center|cite|code"
    "|col|colgroup|dd|del|details|dfn|div|dl|dt|em|figcaption|figure|font|footer|form|h[1-6]|header"
    "|hr|i|iframe|img|input|ins|kbd|label|li|main|mark|nav|object|ol|p|picture|pre|q|s|samp|section"
    "|small|source|span|strike|strong|sub|summary|sup|svg|path|table|tbody|td|tfoot|th|thead|time|tr"
    "|tt|u|ul|var|video|wbr"
)
TAG = rf"</?(?i:{TAG_NAMES})(?:\s[^<>]*)?/?>"
# {ref}`text <target>` of MyST, :ref:`text <target>` of reStructuredText, its `text <address>`_.
ROLE = (
    r"(?:(?<![\w$`{])\{[A-Za-z][\w:.+-]{0,60}\}|(?<![\w:`]):[A-Za-z][\w:.+-]{0,60}:)"
    r"(?P<quotes>`{1,3})(?:!|(?P<last>~)|\.(?=\w))?(?P<role>[^`]+?)(?P=quotes)(?!`)"
)
# White space is looked through from its start alone: from each blank, its square would be read.
RST_LINK = r"(?<!`)`(?P<named>[^`<>]+?)(?:(?<!\s)\s+)?<[^`<>\n]+>`__?(?!\w)"
ROLE_TARGET = re.compile(r"(?P<role>.*\S)\s*<[^<>]*>\s*", re.S)
# The words of a link, brackets and a picture among them, and where it leads.
WORDS = r"(?:[^\[\]\\\n]|\\.|\n(?!\s*\n)|\[[^\[\]]*\]){0,500}"
TARGET = r"<[^<>\n]*>|[^\s()<>]*(?:\([^\s()]*\)[^\s()<>]*){0,9}"
TITLE = r"""(?:\s+(?:"[^"]*"|'[^']*'))?\s*"""
LINK = rf"(?<!\\)!?\[(?P<words>{WORDS})\]\((?P<anchor>#)?(?P<target>{TARGET}){TITLE}\)"
# [words][name] and [words][], whose address stands elsewhere in the document.
NAMED_LINK = (
    r"(?<![\w\])\\])!?\[(?P<linked>(?=[^\[\]\n]*[^\W\d_])[^\[\]\n^]+)\]"
    r"\[(?:[a-z0-9][^\[\]\n]{0,100})?\](?![\[(])"
)
STYLED_SPAN = r"(?<!\\)\[(?P<span>[^\[\]\n]+)\](?=\{[#.])"
AUTOLINK = r"(?<!\w)<(?P<address>[a-z][a-z0-9+.-]{1,30}:[^\s<>]+)>"
FOOTNOTE = r"\[\^[\w-]+\](?!:)"
DEFINITION_SIGN = r"^[ ]{0,3}:[ \t]{1,3}(?=[^\s:])"  # before what explains the line above
COMMENT = r"<!--(?s:.{0,2000}?)-->"
# An anchor (name)=, and what opens or closes an admonition: /// note | Title, :::{note}, !!! note.
MARKUP_LINE = (
    r"^[ \t]*(?:\([^()\n]{1,200}\)=|(?:/{3,}|:{3,}|(?:!{3}|\?{3}\+?)(?=[ \t]*[a-z]))"
    r"(?:[ \t]*(?:[a-z][\w-]*|\{[\w:.+-]+\}))?"
    r"(?:[ \t|]++\"?(?P<title>[^\"|\s][^\"\n]*+)\"?)?)[ \t]*$"
)
PARTS = (
    *(CODE_BLOCK, ROLE, RST_LINK, CODE_SPAN, MARKUP_LINE, LINK, NAMED_LINK, STYLED_SPAN),
    *(AUTOLINK, FOOTNOTE, DEFINITION_SIGN, COMMENT, TAG, ATTRIBUTES),
)
MARKUP = re.compile("|".join(PARTS), re.M)
ROLES = re.compile(f"{ROLE}|{RST_LINK}")
# What is stored of these files is their text: a tag in it is what they speak of.
TEXT_ENDINGS = (
    ".pdf .docx .pptx .pptm .odt .odp .rtf .xlsx .xlsm .xlsb .xls .ods .csv .tsv .tab .html .htm "
    ".xhtml .epub .eml .msg .tex .ltx .latex .txt .text .log .ini .cfg .conf .properties"
)
FILES_WITHOUT_MARKUP = tuple(TEXT_ENDINGS.split())
SHOWN = ("block", "code", "title", "span", "address", "named", "linked")  # as they are
# Where a link leads: an address, a path, an anchor, or a name that begins small, which no word may
# stand before: "f[i](x)" is none, nor is "[Seller](Buyer)", as contracts leave it to be chosen.
LINK_TARGET = re.compile(r"<.*>|.*[/.#:?=@].*|", re.S)
NAME_TARGET = re.compile(r"[a-z][\w-]*")


def plain_text(text: str) -> str:
    """Return a text of Markdown as its readers see it; what holds nothing to see stays as it is."""
    shown = "".join(text[start:end] for start, end in seen_spans(text))
    return shown if any(map(str.isalnum, shown)) else text


def shown_text(text: str, uri: str) -> str:
    """Return a text of the document of this uri as readers see it."""
    return text if uri.lower().endswith(FILES_WITHOUT_MARKUP) else plain_text(text)


def without_roles(text: str) -> str:
    """Return a comment of code without roles, which are all that it has of markup."""
    return ROLES.sub(lambda match: "".join(match.string[a:b] for a, b in _seen(match)), text)


def seen_spans(text: str, start: int = 0, end: int | None = None) -> list[Span]:
    """Return the stretches of a text that its readers see, in order."""
    end = len(text) if end is None else end
    spans: list[Span] = []
    for match in MARKUP.finditer(text, start, end):
        spans += [(start, match.start()), *_seen(match)]
        start = match.end()
    return [span for span in (*spans, (start, end)) if span[0] < span[1]]


def _seen(match: re.Match[str]) -> Iterator[Span]:
    """Yield what is seen of one piece of markup."""
    parts = match.groupdict()
    if parts.get("words") is not None:
        yield from _seen_of_link(match)
    elif parts["role"] is not None:
        named = ROLE_TARGET.fullmatch(match.string, *match.span("role"))
        start, end = named.span("role") if named else match.span("role")
        # Of ~package.module.name the last part is seen.
        yield (match.string.rfind(".", start, end) + 1 or start) if parts["last"] else start, end
    else:
        yield from (match.span(name) for name in SHOWN if parts.get(name) is not None)


def _seen_of_link(match: re.Match[str]) -> Iterator[Span]:
    """Yield the words of a link or, where it has none, where it leads; all of what is no link."""
    before = match.string[max(0, match.start() - 1) : match.start()]
    leads = match["anchor"] or LINK_TARGET.fullmatch(match["target"])
    if not (leads or (NAME_TARGET.fullmatch(match["target"]) and not before.isalnum())):
        yield match.span()
    elif match["words"].strip():
        yield from seen_spans(match.string, *match.span("words"))
    elif not match[0].startswith("!"):
        yield match.span("target")


MAX_CODE_LINES = 12  # with something on them
WHOLE_LINE = re.compile(r"\s*(?:#{1,6}\s|\|)")  # a heading and a row end with their line
CUT = "…"  # stands for the rest of code
CODE = re.compile(CODE_BLOCK, re.M)
FENCE = re.compile(r"(?P<margin>[ \t]*)(?P<fence>`{3,}|~{3,})[ \t]*\{?\.?(?P<language>[\w+#.-]*)")
ITEM = r"(?:[-*+•–]\s|(?:\d{1,3}|[A-Za-z]|[ivxlc]{2,5})[.)]\s|\(\w{1,4}\))"
# What begins a line of its own: an item, a heading, a row, a quotation.
LINE_OPENING = re.compile(rf"\s*(?:{ITEM}|#{{1,6}}\s|\||>)")
ITEM_OR_CODE = re.compile(rf"\s*(?:`{{3}}|~{{3}}|{ITEM})")


def lay_out(text: str) -> list[str]:
    """Return the lines of a text; long code is cut, and closed where it is not."""
    parts = part_by_code(text)
    return [line for words, code in parts for line in (*_paragraphs(words), *_code(code))]


def part_by_code(text: str) -> Iterator[tuple[str, str]]:
    """Yield the words before each block of code with it; the last ones with ""."""
    parts = CODE.split(text)  # words, a block and its fence in turn
    return zip_longest(parts[::3], parts[1::3], fillvalue="")


def _paragraphs(text: str) -> Iterator[str]:
    """Yield each paragraph, item, heading and row in one line, items as far set in as they are."""
    kept = ""
    for line in [*text.splitlines(), ""]:
        if kept and (not line.strip() or LINE_OPENING.match(line) or WHOLE_LINE.match(kept)):
            yield kept
            kept = ""
        kept = f"{kept} {' '.join(line.split())}" if kept else line.rstrip()


def _code(block: str) -> Iterator[str]:
    """Yield a block's lines, unless it is empty, behind its fence no more than the language."""
    fence = FENCE.match(block)
    if fence is None:
        return
    lines = block.splitlines()[1:]
    if lines and lines[-1].strip().startswith(fence["fence"]):
        lines.pop()
    shown = dedent("\n".join(lines)).rstrip().splitlines()
    said = [number for number, line in enumerate(shown) if line.strip()]
    if len(said) > MAX_CODE_LINES + 1:
        shown = [*shown[: said[MAX_CODE_LINES - 1] + 1], CUT]
    if said:
        opening = f"{fence['fence']}{fence['language']}"
        yield from (indent(line, fence["margin"]) for line in (opening, *shown, fence["fence"]))
