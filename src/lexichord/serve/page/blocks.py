"""Blocks as loaders write them, stretches of a text as HTML with marks and anchors, and code.

Code is highlighted: each stretch in an element of its class, its lines numbered where wanted.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from time import thread_time

from markdown_it import MarkdownIt
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markupsafe import Markup
from pygments.lexer import DelegatingLexer, Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Keyword, Literal, Name
from pygments.util import ClassNotFound

from lexichord.types.base import LANGUAGE_ENDINGS
from lexichord.work import check_wanted

type CharRange = tuple[int, int]
MARK = Markup("<mark>")
UNPLACED = -1  # of what cannot be found in the text: it is written without marks

DATA_NAMES = {
    "application/json": "json",
    "application/toml": "toml",
    "application/yaml": "yaml",
    "text/css": "css",
}
# As the library calls what is called otherwise here, or reads without what it takes in from others.
OTHER_NAMES = {"shellscript": "bash", "postgresql": "sql", "postgres": "sql"}
# Beside the languages that are read as code. Of the library's 600 lexers some take a quarter of a
# minute for one step, in which nothing else of the process runs; that of consoles, which looks for
# prompts, took as long for a line of 1,200 characters. None here takes in any other by its name.
OTHER_LANGUAGES = (
    "awk", "batch", "cmake", "cpp", "docker", "fortran", "fsharp", "graphql", "html", "ini",
    "jinja", "jsx", "less", "make", "markdown", "matlab", "nginx", "nix", "pascal", "properties",
    "protobuf", "pycon", "rst", "scheme", "scss", "splus", "tex", "tsx", "vbnet", "verilog", "vim",
    "xml",
)  # fmt: skip
LANGUAGES = frozenset(
    (*LANGUAGE_ENDINGS, *OTHER_NAMES.values(), *DATA_NAMES.values(), *OTHER_LANGUAGES)
)
MAX_HIGHLIGHTED_CHARS = 150_000
MAX_HIGHLIGHTED_LINE_CHARS = 1_000  # what no person wrote takes a lexer long
# Of the processor, for a text: 100,000 characters of real code take .1 to .6, and lexers look ahead
# from each word, over lines as well, so that one of 12,000 took 8.
MAX_HIGHLIGHTING_SECONDS, MAX_PASSAGE_SECONDS = 1.0, 0.1  # of a document; of one of many passages
# Of one language in another, all of which is read before the first stretch comes.
MAX_NESTED_CHARS = 2_000
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


@dataclass(frozen=True, slots=True)
class Mark:
    """What is marked, and the tags that open its first and its other stretches."""

    start: int
    end: int
    first: Markup
    again: Markup


def plain_marks(ranges: Iterable[CharRange]) -> list[Mark]:
    """Return marks that say nothing more than that something is marked."""
    return [Mark(start, end, MARK, MARK) for start, end in ranges]


class Stopwatch:
    """The processor's seconds that are left for a kind of work of this thread."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def time[Item](self, made: Iterable[Item]) -> Iterator[Item]:
        """Yield what is made, until no time is left or nobody waits for it."""
        steps = iter(made)
        while self._seconds > 0:
            check_wanted()
            started = thread_time()
            step = next(steps, None)
            self._seconds -= thread_time() - started
            if step is None:
                return
            yield step


class MarkWriter:
    """Writes the stretches of a text in their order, escaped.

    Marks stand apart and in order, as anchors do: elements without a text, each at a character.
    """

    def __init__(
        self,
        marks: Sequence[Mark] = (),
        anchors: Sequence[tuple[int, Markup]] = (),
        seconds: float = MAX_HIGHLIGHTING_SECONDS,
    ) -> None:
        self._marks = marks
        self._starts = [mark.start for mark in marks]
        self._anchors = anchors
        self._places = sorted(
            {place for mark in marks for place in (mark.start, mark.end)}
            | {place for place, _ in anchors}
        )
        self._written = 0  # of the anchors
        self._opened: set[int] = set()
        self.highlighting = Stopwatch(seconds)  # of all code in the text

    def write(self, text: str, start: int) -> Markup:
        """Return a stretch of which the character `start` of the text is the first."""
        if start == UNPLACED:
            return Markup.escape(text)
        end = start + len(text)
        first, last = bisect_right(self._places, start), bisect_left(self._places, end)
        cuts = [start, *self._places[first:last], end]
        return Markup().join(
            self.write_as(text[one - start : other - start], one) for one, other in pairwise(cuts)
        )

    def write_as(self, shown: str, start: int) -> Markup:
        """Return what a stretch without a cut is shown as, in its mark, after its anchors."""
        before = Markup().join(self._anchors_until(start))
        number = bisect_right(self._starts, start) - 1
        if not shown or number < 0 or start >= self._marks[number].end:
            return before + shown
        mark = self._marks[number]
        tag = mark.again if number in self._opened else mark.first
        self._opened.add(number)
        return before + tag + shown + Markup("</mark>")

    def write_rest(self) -> Markup:
        """Return the anchors of what was not shown."""
        return Markup().join(anchor for _, anchor in self._anchors[self._written :])

    def _anchors_until(self, place: int) -> Iterator[Markup]:
        while self._written < len(self._anchors) and self._anchors[self._written][0] <= place:
            yield self._anchors[self._written][1]
            self._written += 1


HEAD_LINE = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?")
ROW = re.compile(r"\|.*\|")
UNESCAPED_BAR = re.compile(r"(?:[^|\\]|\\.?)*")
BULLET = re.compile(r"•[ \t]+")
MAX_NAMED_LEVEL = 6

type Cell = tuple[int, str]  # where it begins, and what it holds


def add_rows(markdown: MarkdownIt) -> None:
    """Have rows between bars be a table, though their head is missing: a chunk may lack it."""
    markdown.block.ruler.before("paragraph", "rows", _rows, {"alt": ["paragraph"]})


def add_structure(markdown: MarkdownIt) -> None:
    """Have rows, columns parted by tabs, bullets and the names of headings be what they are."""
    add_rows(markdown)
    ends: RuleOptionsType = {"alt": ["paragraph"]}
    markdown.block.ruler.before("rows", "named_heading", _named_heading, ends)
    markdown.block.ruler.before("paragraph", "columns", _columns, ends)
    markdown.block.ruler.before("paragraph", "bullets", _bullets, ends)
    markdown.inline.ruler.push("escaped_bar", _escaped_bar)


def _rows(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    """Take a table: a line with bars above one of dashes, or lines that bars stand around."""
    if not _has_bar(state, line):
        return False
    has_head = line + 1 < end and _is_head_line(state, line + 1)
    if not (has_head or ROW.fullmatch(_line(state, line).strip())):
        return False
    last = next((at for at in range(line + 1, end) if not _has_bar(state, at)), end)
    if not silent:
        lines = [at for at in range(line, last) if not _is_head_line(state, at)]
        _push_table(state, last, [_barred_cells(state, at) for at in lines], has_head)
    return True


def _columns(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    """Take two lines or more whose cells are parted by tabs."""
    last = next((at for at in range(line, end) if "\t" not in _line(state, at).strip()), end)
    if last - line < 2:
        return False
    if not silent:
        rows = [_tabbed_cells(state, at) for at in range(line, last)]
        _push_table(state, last, rows, has_head=False)
    return True


def _bullets(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    """Take lines that begin with a bullet, and empty ones between them."""
    if not BULLET.match(_line(state, line)):
        return False
    if silent:
        return True
    state.push("bullet_list_open", "ul", 1)
    state.line = line
    while state.line < end and (bullet := BULLET.match(_line(state, state.line))):
        _push_item(state, bullet.end(), end)
        while state.line < end and state.isEmpty(state.line):
            state.line += 1
    state.push("bullet_list_close", "ul", -1)
    return True


def _push_item(state: StateBlock, marker: int, end: int) -> None:
    """Add an item with the lines that go on with it."""
    first = last = state.line
    while last < end and not state.isEmpty(last):
        last += 1
        if last < end and BULLET.match(_line(state, last)):
            break
    texts = [_line(state, first)[marker:], *(_line(state, at) for at in range(first + 1, last))]
    starts = [_begin(state, first) + marker, *(_begin(state, at) for at in range(first + 1, last))]
    _push(state, "list_item", "li", "\n".join(texts), starts)
    state.line = last


def _named_heading(state: StateBlock, line: int, _: int, silent: bool) -> bool:
    """Take a line that is known to be a heading."""
    level = state.env["headings"].get(_begin(state, line))
    if level is None:
        return False
    if not silent:
        tag = f"h{min(level, MAX_NAMED_LEVEL)}"
        _push(state, "heading", tag, _line(state, line).rstrip(), [_begin(state, line)])
        state.line = line + 1
    return True


def _escaped_bar(state: StateInline, silent: bool) -> bool:
    """Take a bar that a loader wrote with a backslash, to keep it in its cell."""
    if not state.src.startswith("\\|", state.pos):
        return False
    if not silent:
        token = state.push("text_special", "", 0)
        token.content, token.markup = "|", "\\|"
    state.pos += 2
    return True


def _push_table(state: StateBlock, last: int, rows: list[list[Cell]], has_head: bool) -> None:
    head, body = (rows[:1], rows[1:]) if has_head else ([], rows)
    state.push("table_open", "table", 1)
    for name, part in (("thead", head), ("tbody", body)):
        if part:
            state.push(f"{name}_open", name, 1)
            for row in part:
                _push_row(state, row, "th" if name == "thead" else "td")
            state.push(f"{name}_close", name, -1)
    state.push("table_close", "table", -1)
    state.line = last


def _push_row(state: StateBlock, cells: list[Cell], tag: str) -> None:
    state.push("tr_open", "tr", 1)
    for start, text in cells:
        shown = tag if text else "td"  # an empty head is none
        _push(state, shown, shown, text, [start])
    state.push("tr_close", "tr", -1)


def _push(state: StateBlock, name: str, tag: str, text: str, starts: list[int]) -> None:
    """Add an element of a text, the lines of which begin at `starts`."""
    state.push(f"{name}_open", tag, 1)
    token = state.push("inline", "", 0)
    token.content, token.children, token.meta["starts"] = text, [], starts
    state.push(f"{name}_close", tag, -1)


def _has_bar(state: StateBlock, line: int) -> bool:
    inside = state.sCount[line] >= state.blkIndent and not state.isEmpty(line)
    return inside and "|" in _line(state, line)


def _is_head_line(state: StateBlock, line: int) -> bool:
    text = _line(state, line).strip()
    return "|" in text and HEAD_LINE.fullmatch(text) is not None


def _barred_cells(state: StateBlock, line: int) -> list[Cell]:
    """Return what stands between bars; one after a backslash parts nothing."""
    text, start = _line(state, line).rstrip(), _begin(state, line)
    ends = [match.end() for match in _until_bars(text)]
    cells = list(_trimmed(text, start, [-1, *ends]))
    if text.startswith("|"):
        del cells[0]
    return cells[:-1] if text.endswith("|") and len(cells) > 1 else cells


def _until_bars(text: str) -> Iterator[re.Match[str]]:
    place = 0
    while place <= len(text) and (match := UNESCAPED_BAR.match(text, place)):
        yield match
        place = match.end() + 1


def _tabbed_cells(state: StateBlock, line: int) -> list[Cell]:
    text = _line(state, line)
    ends = [match.start() for match in re.finditer("\t", text)]
    return list(_trimmed(text, _begin(state, line), [-1, *ends, len(text)]))


def _trimmed(text: str, start: int, cuts: list[int]) -> Iterator[Cell]:
    for one, other in pairwise(cuts):
        cell = text[one + 1 : other]
        yield start + one + 1 + len(cell) - len(cell.lstrip()), cell.strip()


def _begin(state: StateBlock, line: int) -> int:
    return state.bMarks[line] + state.tShift[line]


def _line(state: StateBlock, line: int) -> str:
    return state.src[_begin(state, line) : state.eMarks[line]]


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
    for at, css, value in highlighted(text, name, writer.highlighting):
        for match in LINE.finditer(value):
            place = at + match.start()
            start = starts[line] + place - begin if line < len(starts) else UNPLACED
            shown = writer.write(match[0], start)
            yield Markup('<span class="{}">{}</span>').format(css, shown) if css else shown
            if match[0].endswith("\n"):
                line, begin = line + 1, at + match.end()


def highlighted(text: str, name: str, left: Stopwatch) -> Iterator[tuple[int, str, str]]:
    """Yield the stretches of a code: where each begins, its class or "", and its text.

    One without a class is the whole where the language is not known, or the lines are too long,
    and the rest where the time is over.
    """
    lexer = _lexer(OTHER_NAMES.get(name, name))
    longest = max(map(len, text.split("\n")))
    most = MAX_NESTED_CHARS if isinstance(lexer, DelegatingLexer) else MAX_HIGHLIGHTED_CHARS
    if lexer is None or longest > MAX_HIGHLIGHTED_LINE_CHARS or len(text) > most:
        yield 0, "", text
        return
    end = 0
    for at, kind, value in left.time(lexer.get_tokens_unprocessed(text)):
        yield at, _class_of(kind), value
        end = at + len(value)
    if end < len(text):
        yield end, "", text[end:]


@lru_cache(maxsize=64)  # documents say what their code is in
def _lexer(name: str) -> Lexer | None:
    try:
        lexer: Lexer = get_lexer_by_name(name, handlecodeblocks=False)
    except ClassNotFound:
        return None
    return None if LANGUAGES.isdisjoint(lexer.aliases) else lexer


@cache
def _class_of(kind: tuple[str, ...]) -> str:
    return next((name for ancestor, name in CLASSES if kind in ancestor), "")
