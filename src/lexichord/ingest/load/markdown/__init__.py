"""Markdown and MDX: the text without what is for the program that lays it out.

What stands at the top of a file about the file, its front matter, becomes metadata; anchors,
includes, tags and comments are taken out, and of the marks that sites put in (shortcodes,
components, links between notes, roles) the words stay that readers see: what stands between its
ends, what it is given as a title, a label or a caption, where a link leads if it has no words.
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime, time
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Any, TypeGuard

from lexichord.display.plain_text import (
    ATTRIBUTES,
    CODE_BLOCK,
    CODE_SPAN,
    ROLE,
    RST_LINK,
    TAG,
    without_roles,
)
from lexichord.ingest.load import MARKDOWN_TYPE
from lexichord.ingest.load.includes import nearby_files
from lexichord.ingest.load.markdown.directives import (
    colon_blocks,
    read_block,
    with_myst_includes,
    without_comments,
)
from lexichord.ingest.load.marks import described, picture, within
from lexichord.ingest.load.text import (
    OPENING_HEADING,
    fenced,
    heading_name,
    part_by_fences,
    read_text,
    storable_text,
)
from lexichord.types import LoadedText

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
    whole = line.strip()

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
            stands_alone = whole == match[0].strip()
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
            at = _statement_end(lines, at)
            continue
        is_free = not lines[at].strip()
        yield lines[at]
        at += 1


def _statement_end(lines: list[str], at: int) -> int:
    """Return where a statement ends: with its last bracket, or else at the next empty line."""
    depth = 0
    for place in range(at, min(len(lines), at + MAX_CODE_LINES)):
        line = lines[place]
        depth += sum(map(line.count, "([{")) - sum(map(line.count, ")]}"))
        if depth <= 0:
            return place + 1
    inside = range(at, len(lines))
    return next((place for place in inside if not lines[place].strip()), len(lines))


def load(file: Path, named: str, place: Path) -> LoadedText:
    """Read a file of Markdown that stands in a place. Raises IngestError."""
    content, metadata = read_text(file)
    facts, body = split_front_matter(content)
    files = nearby_files(place)
    body = with_myst_includes(body, files, (place,))
    is_mdx = file.suffix.lower() == ".mdx"
    body = substitute(resolve_references(without_comments(body)), facts)
    text = clean_markdown(body if is_mdx else fence_indented(body), is_mdx)
    title = facts.pop("title", None)
    if not isinstance(title, str) or not title.strip():
        opening = OPENING_HEADING.search(text)
        title = heading_name(opening[1]) if opening else named
    flags = {"flags": files.flags()} if files.refused else {}
    return LoadedText(text, MARKDOWN_TYPE, title.strip(), metadata={**facts, **metadata, **flags})


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
    r"(?P<rest>[^\n]*))?[ \t]*\r?"
)
ADMONITION_TITLE = re.compile(
    r"""[|\s]*(?:"(?P<quoted>[^"]*)"|\[(?P<bracket>[^\]]*)\]|(?P<bare>[^"{\[\s].*))?"""
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
                end = line[len(line.removesuffix("\r").rstrip(" \t")) :]
                yield f"{match['indent']}{_label(match)}{end.strip(' ')}"
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
        return f"{match['kind']}{match['rest'].rstrip()}"
    found = ADMONITION_TITLE.fullmatch(_without_attributes(match["rest"]))
    title = found and (found["quoted"] or found["bracket"] or found["bare"])
    return title.strip() if title else f"{match['kind'].capitalize()}:"


def _without_attributes(words: str) -> str:
    """Return words without the attributes in braces that end them."""
    before, opening, after = words.rstrip().rpartition("{")
    ends = bool(opening) and after.endswith("}") and after.count("}") == 1
    return before.rstrip() if ends else words.rstrip()


def _inline(line: str, closed: frozenset[str], is_mdx: bool) -> str:
    line = without_marks(line, closed, is_mdx or bool(COMPONENT_LINE.fullmatch(line)))
    if INDENT.match(line):  # code, or deep in a list
        return line
    line = ALERT.sub(lambda alert: f"{alert[1]}{alert[2].capitalize()}:", line)
    return INLINE.sub(partial(_left, whole=line.strip()), line)


def _left(found: re.Match[str], whole: str) -> str:
    """Return what is left of markup: code, what is said of pictures, a blank between two cells.

    `whole` is all that the line holds.
    """
    tags, line = found["tags"], found.string
    if not tags:
        return found["code"] or ""
    said = filter(
        None, (described(double or single) for double, single in IMAGE_TEXT.findall(tags))
    )
    pictures = list(map(picture, said))
    if pictures and tags.strip() == whole:
        return " ".join(pictures)
    if pictures:
        return " ".join(map(within, pictures))
    before = line[max(found.start() - 1, 0) : found.start()]
    after = line[found.end() : found.end() + 1]
    return " " if PARTING.search(tags) and before.strip() and after.strip() else ""


FRONT_MATTER = re.compile(
    r"\A\ufeff?(?P<fence>---|\+\+\+)[ \t]*\r?\n(?P<facts>.{0,65536}?)^(?:(?P=fence)|\.\.\.)"
    r"[ \t]*\r?(?:\n|\Z)",
    re.MULTILINE | re.DOTALL,
)
MAX_DEPTH = 20  # values in values


def split_front_matter(content: str) -> tuple[dict[str, Any], str]:
    """Return what a text says of itself, and the rest; nothing and all of it where it says nothing.

    What cannot be read as keys with values is text.
    """
    match = FRONT_MATTER.match(content)
    if match is None:
        return {}, content
    facts = _parsed(match["facts"], is_toml=match["fence"] == "+++")
    if not isinstance(facts, Mapping):
        return {}, content
    try:
        return _plain(facts, 0), content[match.end() :].lstrip("\r\n")
    except ValueError:
        return {}, content


def _parsed(text: str, is_toml: bool) -> object:
    import yaml

    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        """Refuses references, by which a short text becomes a long one."""

        def compose_node(self, parent: Any, index: Any) -> Any:  # noqa: ANN401
            if self.check_event(yaml.AliasEvent):
                raise yaml.YAMLError("references are not read")
            return super().compose_node(parent, index)

    try:
        return tomllib.loads(text.replace("\r\n", "\n")) if is_toml else yaml.load(text, Loader)  # noqa: S506
    except (yaml.YAMLError, ValueError, TypeError, RecursionError, OverflowError):
        return None


def _plain(value: object, depth: int) -> Any:  # noqa: ANN401
    """Return a value as JSON has it: dates as text, keys as text. Raises ValueError."""
    if depth > MAX_DEPTH:
        raise ValueError
    if isinstance(value, Mapping):
        return {storable_text(str(key)): _plain(one, depth + 1) for key, one in value.items()}
    if isinstance(value, list | tuple | set):
        return [_plain(one, depth + 1) for one in value]
    if isinstance(value, date | datetime | time):
        return value.isoformat()
    if value is None or isinstance(value, bool | int) or _is_number(value):
        return value
    return storable_text(str(value))


def _is_number(value: object) -> bool:
    return isinstance(value, float) and isfinite(value)


# [name]: address "title"
DEFINITION = (
    r"^ {0,3}\[(?P<defined>[^\^\[\]\n][^\[\]\n]{0,200})\]:[ \t]+<?(?P<address>[^\s<>]+)>?"
    r"(?:[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'|\([^()\n]*\)))?[ \t]*(?:\n|\Z)"
)
REFERENCE = (
    r"(?<![\w\\\]])\[(?P<words>!\[[^\[\]]*\]\([^()\s]*\)|[^\^\[\]\n][^\[\]]{0,200})\]"
    r"(?:\[(?P<name>[^\[\]\n]{0,200})\])?(?![\[(:])"
)
NAME = re.compile(rf"{CODE_SPAN}|\{{\{{[ \t]*(?P<name>[\w.-]{{1,100}})[ \t]*\}}\}}")
PARTS = re.compile(f"{CODE_BLOCK}|{CODE_SPAN}|{DEFINITION}|{REFERENCE}", re.M)


def resolve_references(text: str) -> str:
    """Return a text with [words](address) for [words][name] and [words], without definitions."""
    parts = [*part_by_fences(text)]
    found = (match for words, _ in parts for match in PARTS.finditer(words) if match["defined"])
    addresses = {_folded(match["defined"]): match["address"] for match in found}

    def written(match: re.Match[str]) -> str:
        if match["defined"]:
            return ""
        address = match["words"] and addresses.get(_folded(match["name"] or match["words"]))
        return f"[{match['words']}]({address})" if address else match[0]

    if not addresses:
        return text
    # Pictures first, then what is linked by them.
    return "".join(PARTS.sub(written, PARTS.sub(written, words)) + code for words, code in parts)


def substitute(text: str, facts: Mapping[str, Any]) -> str:
    """Return a text with the words of its front matter for {{ names }}, as MyST has them."""
    myst = facts.get("myst")
    words = facts.get("substitutions") or (myst.get("substitutions") if _is_map(myst) else None)
    if not _is_map(words):
        return text

    def written(match: re.Match[str]) -> str:
        word = words.get(match["name"]) if match["name"] else None
        return match[0] if word is None or isinstance(word, Mapping | list) else str(word)

    return "".join(NAME.sub(written, told) + code for told, code in part_by_fences(text))


def _is_map(value: object) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(value, Mapping)


def _folded(name: str) -> str:
    return " ".join(name.casefold().split())


SET_IN = re.compile(r"(?: {4}|\t)[ \t]*\S")
# What text that is set in belongs to: an item, a note, a definition, an element. It is no code.
HOLDER = re.compile(r" {0,3}(?:[-*+•:]\s|<|\d{1,9}[.)]|[A-Za-z][.)]\s|\[\^|!{3}|\?{3}|={3}|/{3})")


def fence_indented(text: str) -> str:
    """Return a text with its indented code between fences."""
    pieces, holder = list[str](), ""
    for words, block in part_by_fences(text):
        lines = words.split("\n")
        pieces += ["\n".join(_fenced(lines, holder)), block]
        holder = next((line for line in reversed(lines) if _is_at_margin(line)), holder)
    return "".join(pieces)


def _is_at_margin(line: str) -> bool:
    return bool(line.strip()) and not SET_IN.match(line)


def _fenced(lines: Sequence[str], holder: str) -> Iterator[str]:
    """Yield lines; `holder` is the last one before them that is not set in."""
    at = 0
    while at < len(lines):
        stands_apart = at > 0 and not lines[at - 1].strip() and not HOLDER.match(holder)
        if stands_apart and SET_IN.match(lines[at]):
            end = _code_end(lines, at)
            yield fenced("\n".join(INDENT.sub("", line, count=1) for line in lines[at:end]))
            at = end
            continue
        holder = lines[at] if _is_at_margin(lines[at]) else holder
        yield lines[at]
        at += 1


def _code_end(lines: Sequence[str], at: int) -> int:
    """Return where lines that are set in end, empty ones between them included."""
    end = at
    while at < len(lines) and (SET_IN.match(lines[at]) or not lines[at].strip()):
        at += 1
        end = at if lines[at - 1].strip() else end
    return end
