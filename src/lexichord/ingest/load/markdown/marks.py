"""Marks that sites put into Markdown: shortcodes, components, links between notes, roles.

Of each the words stay that readers see: what stands between its ends, what it is given as a title,
a label or a caption, where a link leads if it has no words.
"""

import re
from collections.abc import Iterator

from lexichord.display.plain_text import CODE_SPAN, ROLE, RST_LINK, without_roles

# What a mark is given that readers see.
SEEN_NAMES = "title|text|label|caption|alt|summary|heading|header|description|code"
GIVEN = re.compile(
    rf"(?<![\w-])(?:{SEEN_NAMES})\s*=\s*\{{?(?:\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)'|`(?P<literal>[^`]*)`)",
    re.IGNORECASE,
)
# {{< note title="…" >}} and {{% note %}} of Hugo, {% tab title="…" %} of Liquid and GitBook.
SHORTCODE = r"\{\{[<%](?P<hugo>[^{}]{0,1000}?)[>%]\}\}|\{%(?P<liquid>[^{}%]{0,1000})%\}"
LINKED = re.compile(r"\s*(?:rel)?ref\s+\"?(?P<target>[^\s\"]+)\"?\s*")
PARAMETER = re.compile(r"\s*_?param\s+\"?(?P<name>[\w.-]+)\"?(?:\s.*)?")
_BRACES = r"\{(?:[^{}]|\{(?:[^{}]|\{[^{}]{0,200}\}){0,200}\}){0,500}\}"
_ATTRIBUTE = rf"[\w:-]+(?:\s*=\s*(?:\"[^\"<]*\"|'[^'<]*'|{_BRACES}))?|\{{\.\.\.[\w.]+\}}"
COMPONENT = (
    rf"(?:(?<!\w)<|</)(?P<component>[A-Z][\w.]{{0,60}})(?:\s+(?:{_ATTRIBUTE})){{0,40}}\s*/?>"
)
CLOSED = re.compile(r"</([A-Z][\w.]{0,60})\s*>|<([A-Z][\w.]{0,60})(?:\s[^<>]{0,1000})?/>")
CLOSED_SHORTCODE = re.compile(r"\{\{[<%]\s*/\s*([\w/.-]{1,60})")
SHORTCODE_NAME = re.compile(r"\s*(?P<name>\w[\w/.-]*)")
ICON_ROLE = re.compile(r"\{(?:octicon|fa[a-z]?|material[\w-]*|icon)\}")
# [[Page|words]] and ![[note#part]] of Obsidian; [[1]](address) and lists in lists are none.
NOTE_LINK = (
    r"(?<![\w\[\\])!?\[\[(?P<page>[^\s\[\]|#^][^\[\]|#^\n]{0,200})?(?P<part>[#^][^\[\]|\n]{0,200})?"
    r"(?:\\?\|(?P<shown>[^\[\]\n]{0,200}))?\]\](?![\[(])"
)
PICTURE_WIDTH = re.compile(r"\s*\d+(?:x\d+)?\s*")
NOTE_COMMENT = r"(?<![%\d])%%(?!%)[^%\n]+%%(?!%)"
BLOCK_NAME = r"(?<=\S)[ \t]+\^[A-Za-z0-9-]{1,60}(?=[ \t]*\r?$)"
MARKS = re.compile(
    f"(?P<role_mark>{ROLE}|{RST_LINK})|{CODE_SPAN.replace('ticks', 'marks')}|{SHORTCODE}"
    f"|{COMPONENT}|{NOTE_LINK}|{NOTE_COMMENT}|{BLOCK_NAME}"
)
# Those that may go over lines, put into one.
SPREAD = re.compile(f"{SHORTCODE}|{COMPONENT}")
OWN_CODE = re.compile(
    r"(?:import\s+(?:['\"{*]|[\w$]+\s*(?:,|from\b))|export\s+(?:const|default|function|let|var|async|class)\b)"
)
MAX_CODE_LINES = 300
MARKUP_IN_WORDS = re.compile(r"[<>{}\[\]*_\\]")


def in_one_line(text: str) -> str:
    """Return a text whose marks stand in one line each."""
    return SPREAD.sub(lambda match: match[0].replace("\n", " "), text)


def closed_names(text: str) -> frozenset[str]:
    """Return the names of components and shortcodes that a text closes.

    No other name in <> is one of a component; of other shortcodes the name stays, amid words.
    """
    components = (name for pair in CLOSED.findall(text) for name in pair if name)
    return frozenset((*components, *CLOSED_SHORTCODE.findall(text)))


def without_marks(line: str, closed: frozenset[str], is_mdx: bool) -> str:
    """Return a line with the words of its marks; code stays as it is."""

    def words(match: re.Match[str]) -> str:
        parts = match.groupdict()
        if parts["role_mark"]:
            return _role_words(match[0])
        if parts["code"]:
            return match[0]
        if parts["component"]:
            is_one = is_mdx or parts["component"] in closed
            follows = line[match.end() : match.end() + 1].strip()
            return _labelled(_given_words(match[0]), follows) if is_one else match[0]
        if parts["hugo"] is not None:
            stands_alone = line.strip() == match[0].strip()
            return _shortcode_words(match["hugo"]) or _name(match["hugo"], closed, stands_alone)
        if parts["liquid"] is not None:
            return _given_words(match["liquid"])
        return _note_words(parts)

    return MARKS.sub(words, line)


def _role_words(role: str) -> str:
    """Return a role's words; between ticks where they look like markup."""
    if ICON_ROLE.match(role):
        return ""
    words = without_roles(role)
    return f"`{words}`" if MARKUP_IN_WORDS.search(words) else words


def _shortcode_words(given: str) -> str:
    if given.startswith("/*"):  # one that is shown as it is written
        return given.strip("/* ")
    if match := LINKED.fullmatch(given) or PARAMETER.fullmatch(given):
        return match[1]
    return _given_words(given)


def _name(given: str, closed: frozenset[str], stands_alone: bool) -> str:
    """Return the name of a shortcode that stands for a word."""
    named = SHORTCODE_NAME.match(given)
    return named["name"] if named and not stands_alone and named["name"] not in closed else ""


def _labelled(words: str, follows: str) -> str:
    """Return a title as it stands before words in the same line."""
    return f"{words}: " if words and follows and follows != "<" else words


def _given_words(mark: str) -> str:
    found = (match[match.lastgroup or 0] for match in GIVEN.finditer(mark))
    return " – ".join(words for words in map(str.strip, found) if words)


def _note_words(parts: dict[str, str | None]) -> str:
    """Return the words of a link to a note, or the note's name; of a comment or a name nothing."""
    shown, page, part = parts["shown"] or "", parts["page"] or "", parts["part"] or ""
    if shown.strip() and not PICTURE_WIDTH.fullmatch(shown):
        return shown.strip()
    named = [page.strip(), *(piece.strip() for piece in part.split("#") if piece[:1] != "^")]
    return " › ".join(piece for piece in named if piece)


def own_code(lines: list[str]) -> Iterator[str]:
    """Yield the lines of a text of MDX that neither import nor export anything."""
    at, is_free = 0, True
    while at < len(lines):
        if is_free and OWN_CODE.match(lines[at]):
            at = _code_end(lines, at)
            continue
        is_free = not lines[at].strip()
        yield lines[at]
        at += 1


def _code_end(lines: list[str], at: int) -> int:
    """Return where a statement ends: with its last bracket, or else at the next empty line."""
    depth = 0
    for place in range(at, min(len(lines), at + MAX_CODE_LINES)):
        line = lines[place]
        depth += sum(map(line.count, "([{")) - sum(map(line.count, ")]}"))
        if depth <= 0:
            return place + 1
    inside = range(at, len(lines))
    return next((place for place in inside if not lines[place].strip()), len(lines))
