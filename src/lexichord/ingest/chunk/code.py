"""Declarations in source code of any language, nested by indentation."""

import re
from collections.abc import Iterator

from lexichord.types import Heading

TAB = 4  # columns
DECLARATION = re.compile(
    r"^(?P<indent>[ \t]*)"
    r"(?:(?:export|default|public|private|protected|internal|static|abstract|final|sealed|open"
    r"|override|async|unsafe|extern|const|inline|virtual|data|pub(?:\([a-z:]+\))?)[ \t]+)*"
    r"(?P<keyword>def|class|fn|func|fun|function|struct|enum|impl|trait|interface|type|mod|module"
    r"|namespace|object|protocol|extension"
    r"|(?:create|CREATE)(?: or replace| OR REPLACE)? (?:function|FUNCTION|table|TABLE|view|VIEW))"
    r"(?=[ \t(<])(?P<rest>[^\n]*)",
    re.MULTILINE,
)
NAME = re.compile(r"[ \t]*(?:<[^>\n]{0,80}>)?[ \t]*(?:\([^)\n]{0,80}\)[ \t]*)?(?P<name>[\w.:$]*\w)")
BLOCK_END = re.compile(r"^[ \t]*\}[);,]*[ \t]*\r?$", re.MULTILINE)
ABOVE = re.compile(r"[ \t]*(?:@|#|//|/\*|\*|--|\"\"\")")  # comments and decorators belong below


def declarations(text: str) -> Iterator[Heading]:
    """Give the declarations in order, each from the comment above it; `level` counts from 1."""
    opened: list[int] = []
    previous = 0
    for match in DECLARATION.finditer(text):
        name = NAME.match(match["rest"])
        if name is None:
            continue
        indent = len(match["indent"].expandtabs(TAB))
        while opened and opened[-1] >= indent:
            opened.pop()
        opened.append(indent)
        start = _with_comment(text, match.start(), previous)
        previous = match.end()
        yield Heading(start, match.end(), len(opened), f"{match['keyword']} {name['name'].strip()}")


def declared_names(text: str) -> list[str]:
    """Give the names that a piece of code declares, as often as it does."""
    named = (NAME.match(match["rest"]) for match in DECLARATION.finditer(text))
    return [name["name"] for name in named if name]


def is_code(text: str) -> bool:
    """Tell a piece of code from prose: it declares something, or a brace closes a block."""
    return bool(BLOCK_END.search(text) or declared_names(text))


def _with_comment(text: str, start: int, floor: int) -> int:
    """Move up over the lines right above that are comments or decorators."""
    while start > floor:
        above = text.rfind("\n", floor, start - 1) + 1
        if above <= floor or not ABOVE.match(text, above, start):
            return start
        start = above
    return start
