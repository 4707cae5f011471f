"""Where in a text the parts of its parsed Markdown stand.

markdown-it says of a block on which lines it is, and of what stands in a line nothing: it is found
again, in order, behind the signs that were read before it. What is not found is left unplaced.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline, image, link
from markdown_it.token import Token

from lexichord.serve.page.marks import UNPLACED

PLACE = "place"  # in the meta of a token with a text: the character that it begins at
LINES = "lines"  # in that of code in lines of its own: where each begins
END = "end"  # in that of a link's end and of a picture: behind it, in its paragraph
HEADING_SIGNS = re.compile(r"[^#]*#{1,6}[ \t]*")


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
