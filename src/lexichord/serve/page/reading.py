"""Texts as they are read: drawn from Markdown or as a loader wrote them, with marks.

In passages the answer's sentences or the question's words are marked.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import PurePosixPath

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline, image, link
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup

from lexichord.display.plain_text import plain_text, seen_spans
from lexichord.ingest.load import MARKDOWN_TYPE, NOTEBOOK_TYPE, TEXT_TYPE, kind_of
from lexichord.retrieve.understand import OPENING_WORD
from lexichord.serve.page.blocks import (
    MAX_PASSAGE_SECONDS,
    ROW,
    UNPLACED,
    CharRange,
    MarkWriter,
    add_rows,
    add_structure,
    is_code,
    plain_marks,
    show_code,
    show_fence,
)
from lexichord.serve.page.language import say

PLACE = "place"  # in the meta of a token with a text: the character that it begins at
LINES = "lines"  # in that of code in lines of its own: where each begins
END = "end"  # in that of a link's end and of a picture: behind it, in its paragraph
HEADING_SIGNS = re.compile(r"[^#]*#{1,6}[ \t]*")

LINE_MARKERS = re.compile(r"[ \t]*(?:(?:[-*+>•|]|\d{1,9}[.)]|#{1,6})[ \t]+|\|)*")
CITATION = re.compile(r"\[\d{1,3}\]")
SECTION_NUMBER = re.compile(
    r"(?:§+\s*|(?:Section|Article|Clause|Chapter|Part)\s+)?(\d{1,3}(?:\.\d{1,3})*)[.):]?\s", re.I
)
MIN_SENTENCE_CHARS = 12  # of what is looked for: less stands anywhere
MIN_MARKED_LETTERS = 4  # letters of a word that is marked, unless it is a name or a number
# Words that say nothing, beside those that open a question.
UNMARKED_WORD = re.compile(
    r"(?:about|after|also|been|before|being|between|both|document|documents|even|file|files|into"
    r"|just|know|like|long|many|more|most|much|only|other|over|same|says|some|such|than|that|them"
    r"|then|there|these|they|this|those|under|upon|very|were|what|will|with|without|your)",
    re.I,
)
# The longest first: a pattern takes what fits first.
WORD_ENDING = "(?:ations?|ating|ate[ds]?|ators?|ions?|ings?|ments?|ies|ied|ers?|eds?|es?|ys?|s)"


def add_places(markdown: MarkdownIt) -> None:
    """Have each token with a text know where it begins."""
    markdown.inline.ruler.at("link", _link)
    markdown.inline.ruler.at("image", _image)
    markdown.core.ruler.disable("text_join", ignoreInvalid=True)
    markdown.core.ruler.after("inline", "places", _place_all)


def _link(state: StateInline, silent: bool) -> bool:
    found = link(state, silent)
    if found and not silent:
        state.tokens[-1].meta[END] = state.pos
    return found


def _image(state: StateInline, silent: bool) -> bool:
    found = image(state, silent)
    if found and not silent:
        state.tokens[-1].meta[END] = state.pos
    return found


def _place_all(state: StateCore) -> None:
    lines, starts = state.src.split("\n"), [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    for token in state.tokens:
        if token.type == "fence" and token.map:
            token.meta[LINES] = _fence_starts(token, lines, starts)
        elif token.type == "inline":
            begins = token.meta.get("starts") or _line_starts(token, lines, starts)
            _place_children(token, begins)


def _fence_starts(token: Token, lines: Sequence[str], starts: Sequence[int]) -> list[int]:
    """Return where the lines within a fence begin: each is the end of a line of the text."""
    first = token.map[0] + 1 if token.map else 0
    return [
        starts[first + number] + len(lines[first + number]) - len(line)
        for number, line in enumerate(token.content.split("\n"))
        if first + number < len(lines)
    ]


def _line_starts(token: Token, lines: Sequence[str], starts: Sequence[int]) -> list[int]:
    """Return where the lines of a paragraph or a heading begin."""
    if token.map is None:
        return []
    first, parts = token.map[0], token.content.split("\n")
    line = lines[first]
    if len(parts) == 1 and not line.rstrip().endswith(parts[0]):  # a heading with signs behind it
        signs = HEADING_SIGNS.match(line)
        found = line.find(parts[0], signs.end() if signs else 0)
        return [starts[first] + found] if found >= 0 else []
    return [
        starts[first + number] + len(lines[first + number].rstrip()) - len(part.rstrip())
        for number, part in enumerate(parts)
    ]


def _place_children(token: Token, starts: Sequence[int]) -> None:
    """Turn places in a paragraph into those in the text."""
    content = token.content
    begins = [0, *(match.end() for match in re.finditer("\n", content))]
    if len(starts) != len(begins):
        return
    for child, place in _placed(content, token.children or ()):
        line = bisect_right(begins, place) - 1
        child.meta[PLACE] = starts[line] + place - begins[line] if place >= 0 else UNPLACED


def _placed(content: str, children: Sequence[Token]) -> Iterator[tuple[Token, int]]:
    """Yield the tokens with a text, and where in their paragraph it begins."""
    cursor = 0
    for child in children:
        sign = _sign(child)
        found = content.find(sign, cursor) if sign else cursor
        if found < 0:
            yield child, UNPLACED
            continue
        cursor = found + len(sign)
        if child.type == "code_inline":
            is_bare = content.startswith(child.markup, cursor + len(child.content))
            begin = cursor + (not is_bare)  # else a blank on each side of it is not shown
            yield child, begin
            cursor = content.find(child.markup, begin + len(child.content)) + len(child.markup)
        elif child.type in ("text", "text_special"):
            yield child, found
        elif child.type == "image":
            yield child, cursor
        cursor = child.meta.get(END, cursor)


def _sign(token: Token) -> str:
    """Return what stands in the text for a token, or opens it."""
    if token.type == "text":
        return token.content
    if token.type in ("softbreak", "hardbreak"):
        return "\n"
    if token.type == "image":
        return "!["
    if token.type == "link_open":
        return "<" if token.markup == "autolink" else "["
    return "" if token.type == "link_close" else token.markup


MARKDOWN_TYPES = (MARKDOWN_TYPE, NOTEBOOK_TYPE)
CELL_PARTER = " · "  # between the cells of a row that stands in a line of text
UNESCAPED_BAR = re.compile(r"(?<!\\)\|")
ITEM_JOINT = re.compile(r"(?<!\s)(?=[^\S\n]*\n)\s+[-*+•]\s+")
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


def answer_patterns(answer: str) -> list[re.Pattern[str]]:
    """Return what finds the lines of an answer in its passages, whatever their spaces."""
    lines = (LINE_MARKERS.sub("", line, count=1) for line in plain_text(answer).splitlines())
    parts = (part.strip() for line in lines for part in CITATION.split(line))
    return [
        re.compile(r"\s+".join(map(re.escape, part.split())))
        for part in parts
        if len(part) >= MIN_SENTENCE_CHARS
    ]


def find_answer(text: str, patterns: Iterable[re.Pattern[str]]) -> list[CharRange]:
    """Return where an answer's lines stand in a passage, each once, in order.

    The passage has markup that the answer is without.
    """
    places = [place for start, end in seen_spans(text) for place in range(start, end)]
    shown = "".join(text[place] for place in places)
    found = (match.span() for each in patterns if (match := each.search(shown)))
    return _joined((places[start], places[end - 1] + 1) for start, end in found)


def find_words(text: str, words: re.Pattern[str] | None) -> list[CharRange]:
    """Return where words stand in a text."""
    return [] if words is None else [match.span() for match in words.finditer(text)]


def word_pattern(question: str) -> re.Pattern[str] | None:
    """Return the pattern of a question's words and their other endings; None if it has none.

    Only what is shown depends on it: it knows no language but English.
    """
    stems = dict.fromkeys(_stem(word) for word in re.findall(r"\w+", question) if _is_marked(word))
    if not stems:
        return None
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, stems))}){WORD_ENDING}?\b", re.I)


def _is_marked(word: str) -> bool:
    if OPENING_WORD.fullmatch(word) or UNMARKED_WORD.fullmatch(word):
        return False
    is_name = len(word) > 1 and (word.isupper() or any(map(str.isdigit, word)))
    return is_name or len(word) >= MIN_MARKED_LETTERS


def _stem(word: str) -> str:
    stem = re.sub(f"{WORD_ENDING}$", "", word, flags=re.I)
    return stem if len(stem) >= MIN_MARKED_LETTERS else word


def show_passage(text: str, uri: str, marked: Sequence[CharRange] = ()) -> Markup:
    """Return a passage of the document of this uri as HTML, in which nothing of it can act."""
    writer = MarkWriter(plain_marks(marked), seconds=MAX_PASSAGE_SECONDS)
    return show_text(text, text_kind(TEXT_TYPE, uri), writer)


def section_of(heading: str) -> str:
    """Return the number of the innermost numbered heading of a path of headings, else ""."""
    for name in reversed(heading.split(" › ")):
        if match := SECTION_NUMBER.match(f"{name} "):
            return match[1]
    return ""


def place_in_words(page: int | None, heading: str) -> str:
    """Return the page and the section of a place, as far as they are known."""
    section = section_of(heading)
    shown_page = "" if page is None else say("places.page", page=str(page))
    return ", ".join(filter(None, [shown_page, section and say("places.section", section=section)]))


def _joined(ranges: Iterable[CharRange]) -> list[CharRange]:
    """Return ranges in order, those that overlap as one."""
    joined: list[CharRange] = []
    for start, end in sorted(ranges):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined
