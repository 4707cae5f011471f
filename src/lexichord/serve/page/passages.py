"""Passages as a page shows them: their Markdown rendered, the answer's sentences marked in them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import PurePosixPath

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup, escape

from lexichord.ingest.load.kinds import TEXT_TYPE, kind_of
from lexichord.retrieve.understand.cues import OPENING_WORD

type CharRange = tuple[int, int]

# Around what is marked, while a text is rendered: of private use, so that no text has a say in it.
OPEN, CLOSE = "\ue000", "\ue001"
LINE_MARKERS = re.compile(r"[ \t]*(?:(?:[-*+>•|]|\d{1,9}[.)]|#{1,6})[ \t]+|\|)*")
CITATION = re.compile(r"\s*\[\d{1,3}\]\s*")
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


def answer_patterns(answer: str) -> list[re.Pattern[str]]:
    """Return what finds the lines of an answer in its passages, whatever their spaces."""
    lines = (LINE_MARKERS.sub("", line, count=1) for line in answer.splitlines())
    parts = (part for line in lines for part in CITATION.split(line))
    return [
        re.compile(r"\s+".join(map(re.escape, part.split())))
        for part in parts
        if len(part) >= MIN_SENTENCE_CHARS
    ]


def find_answer(text: str, patterns: Iterable[re.Pattern[str]]) -> list[CharRange]:
    """Return where an answer's lines stand in a passage, each once, in order."""
    return _joined(match.span() for each in patterns if (match := each.search(text)))


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
    """Return a passage as HTML, in which nothing of a document can act.

    What a document of this uri has in Markdown is rendered, without links; a plain text and code
    keep their lines. Raises nothing: what is no Markdown is shown as it stands.
    """
    clean = text.replace(OPEN, " ").replace(CLOSE, " ")
    kind = kind_of(PurePosixPath(uri).name) or TEXT_TYPE
    if kind == TEXT_TYPE or kind.startswith("text/x-"):
        name = "lines" if kind == TEXT_TYPE else "code"
        inner = _Marks().show(_with_marks(clean, marked))
        return Markup('<div class="{}">{}</div>').format(name, inner)
    shown = _markdown().render(_with_marks(clean, marked), {"marks": _Marks()})
    return Markup(shown)  # noqa: S704 (the renderer escapes texts, and HTML is off)


def show_line(text: str) -> Markup:
    """Return a line with its code and emphasis rendered, and nothing else."""
    shown = _markdown().renderInline(text.replace(OPEN, " "), {"marks": _Marks()})
    return Markup(shown)  # noqa: S704 (as above)


def section_of(heading: str) -> str:
    """Return the number of the innermost numbered heading of a path of headings, else ""."""
    for name in reversed(heading.split(" › ")):
        if match := SECTION_NUMBER.match(f"{name} "):
            return match[1]
    return ""


def _joined(ranges: Iterable[CharRange]) -> list[CharRange]:
    """Return ranges in order, those that overlap as one."""
    joined: list[CharRange] = []
    for start, end in sorted(ranges):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _with_marks(text: str, marked: Sequence[CharRange]) -> str:
    """Return a text with signs around what is marked, line by line."""
    parts, last = list[str](), 0
    for start, end in _lines(text, marked):
        parts += [text[last:start], OPEN, text[start:end], CLOSE]
        last = end
    return "".join([*parts, text[last:]])


def _lines(text: str, marked: Iterable[CharRange]) -> Iterator[CharRange]:
    """Yield what is marked of each line or cell, after what makes the line an item or a row."""
    for first, last in marked:
        for line in re.finditer(r"[^\n|]+", text[first:last]):
            start, end = first + line.start(), first + line.end()
            markers = LINE_MARKERS.match(text, text.rfind("\n", 0, start) + 1)
            start = max(start, markers.end() if markers else start)
            end = start + len(text[start:end].rstrip())
            if start < end:
                yield start, end


class _Marks:
    """Whether a mark is open, from one stretch of text to the next."""

    def __init__(self) -> None:
        self.is_open = False

    def show(self, text: str) -> Markup:
        """Return a text escaped, what is between the signs in marks of its own."""
        shown = Markup()
        for part in re.split(f"([{OPEN}{CLOSE}])", text):
            if part in (OPEN, CLOSE):
                self.is_open = part == OPEN
            elif part:
                shown += Markup("<mark>{}</mark>").format(part) if self.is_open else escape(part)
        return shown


class _Renderer(RendererHTML):
    """Renders texts with their marks, links as their words and pictures as what they are called."""

    def renderInline(  # noqa: N802 (the library's name)
        self, tokens: Sequence[Token], options: OptionsDict, env: EnvType
    ) -> str:
        """Return a paragraph's or a cell's parts; no mark goes on from the one before."""
        _marks(env).is_open = False
        return super().renderInline(tokens, options, env)

    def text(self, tokens: Sequence[Token], idx: int, _: OptionsDict, env: EnvType) -> str:
        """Return a text."""
        return _marks(env).show(tokens[idx].content)

    def code_inline(self, tokens: Sequence[Token], idx: int, _: OptionsDict, env: EnvType) -> str:
        """Return code within a line."""
        return f"<code>{_marks(env).show(tokens[idx].content)}</code>"

    def fence(self, tokens: Sequence[Token], idx: int, _: OptionsDict, env: EnvType) -> str:
        """Return code in lines of its own."""
        return f'<div class="code">{_marks(env).show(tokens[idx].content)}</div>\n'

    def heading_open(self, *_: object) -> str:
        """Return the opening of a heading: in a passage it is no heading of the page."""
        return '<p class="heading">'

    def heading_close(self, *_: object) -> str:
        """Return the end of a heading."""
        return "</p>\n"

    def softbreak(self, *_: object) -> str:
        """Return the end of a line, which a reader of the document sees, too."""
        return "<br>\n"

    def link_open(self, *_: object) -> str:
        """Return nothing: a link would lead away from this server."""
        return ""

    link_close = link_open

    def image(self, tokens: Sequence[Token], idx: int, _: OptionsDict, env: EnvType) -> str:
        """Return what a picture is called."""
        return _marks(env).show(tokens[idx].content)


def _marks(env: EnvType) -> _Marks:
    marks: _Marks = env["marks"]
    return marks


@cache
def _markdown() -> MarkdownIt:
    """Return what renders Markdown as loaders write it; indented lines are no code in others."""
    markdown = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Renderer)
    return markdown.enable("table").disable(["code", "html_block", "html_inline", "reference"])
