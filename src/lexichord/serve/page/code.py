"""Code, highlighted: each stretch in an element of its class, its lines numbered where wanted."""

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

from markupsafe import Markup
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Keyword, Literal, Name
from pygments.util import ClassNotFound

from lexichord.serve.page.blocks import UNPLACED, MarkWriter

DATA_NAMES = {
    "application/json": "json",
    "application/toml": "toml",
    "application/yaml": "yaml",
    "text/css": "css",
}
OTHER_NAMES = {"shellscript": "bash"}  # as the library calls what is called otherwise here
MAX_HIGHLIGHTED_CHARS = 150_000
MAX_HIGHLIGHTED_LINE_CHARS = 5_000  # what no person wrote takes a lexer long
# What a lexer tells apart, by what is told apart here; the first that fits counts.
CLASSES = (
    (Keyword.Constant, "number"),
    (Keyword, "keyword"),
    (Comment, "comment"),
    (Literal.String, "string"),
    (Literal, "number"),
    (Name.Builtin, "keyword"),
    (Name.Function, "name"),
    (Name.Class, "name"),
    (Name.Tag, "name"),
    (Name.Decorator, "name"),
    (Name.Attribute, "name"),
)
LINE = re.compile(r"[^\n]*\n|[^\n]+")


def is_code(kind: str) -> bool:
    """Return whether a text of this media type is code, or data written as code is."""
    return kind.startswith("text/x-") or kind in DATA_NAMES


def show_code(text: str, kind: str, writer: MarkWriter) -> Markup:
    """Return code in its lines."""
    name = DATA_NAMES.get(kind, kind.removeprefix("text/x-"))
    shown = Markup().join(_stretches(text, name, line_starts(text), writer))
    return Markup('<div class="code">{}{}</div>').format(shown, writer.write_rest())


def show_fence(text: str, info: str, starts: Sequence[int], writer: MarkWriter) -> Markup:
    """Return code in lines of its own, which begin at `starts`."""
    name = re.split(r"[\s{,]", info.strip(), maxsplit=1)[0]
    shown = Markup().join(_stretches(text, name, starts, writer))
    return Markup('<div class="code" tabindex="0">{}</div>\n').format(shown)


def line_starts(text: str) -> list[int]:
    """Return where the lines of a text begin."""
    return [0, *(match.end() for match in re.finditer("\n", text))]


def _stretches(text: str, name: str, starts: Sequence[int], writer: MarkWriter) -> Iterator[Markup]:
    """Yield what a lexer tells apart, each part on one line."""
    line, begin = 0, 0
    for at, css, value in highlighted(text, name):
        for match in LINE.finditer(value):
            place = at + match.start()
            start = starts[line] + place - begin if line < len(starts) else UNPLACED
            shown = writer.write(match[0], start)
            yield Markup('<span class="{}">{}</span>').format(css, shown) if css else shown
            if match[0].endswith("\n"):
                line, begin = line + 1, at + match.end()


def highlighted(text: str, name: str) -> Iterator[tuple[int, str, str]]:
    """Yield the stretches of a code: where each begins, its class or "", and its text.

    One without a class is the whole where the language is not known, or the lines are too long.
    """
    lexer = _lexer(OTHER_NAMES.get(name, name))
    longest = max(map(len, text.split("\n")))
    if lexer is None or longest > MAX_HIGHLIGHTED_LINE_CHARS or len(text) > MAX_HIGHLIGHTED_CHARS:
        yield 0, "", text
        return
    for at, kind, value in lexer.get_tokens_unprocessed(text):
        yield at, _class_of(kind), value


@lru_cache(maxsize=64)  # documents say what their code is in
def _lexer(name: str) -> Lexer | None:
    try:
        lexer: Lexer = get_lexer_by_name(name)
    except ClassNotFound:
        return None
    return lexer


@cache
def _class_of(kind: tuple[str, ...]) -> str:
    return next((name for ancestor, name in CLASSES if kind in ancestor), "")
