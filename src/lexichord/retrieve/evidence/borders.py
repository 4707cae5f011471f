"""Where one sentence ends and the next begins: sentencex's borders, but those that tear one.

It knows many abbreviations of the language it is told, yet not those of the others that a text
uses, and takes a dot inside a path or a name for an end.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise

import sentencex  # type: ignore[import-untyped]

from lexichord.display.plain_text import CODE_SPAN

# Its initials and titles are everybody's ("M. Dupont"), so they count beside the text's own.
COMMON_LANGUAGE = "en"
# What no sentence ends with, in English and in German. "etc." and "usw." may well end one.
ABBREVIATION = re.compile(
    r"(?<![\w.])(?:e\. ?g|i\. ?e|eg|cf|viz|vs|resp|approx|incl|excl|esp|ca|pp|nos|figs|eqs|vols"
    r"|z\. ?B|d\. ?h|u\. ?a|u\. ?U|i\. ?d\. ?R|i\. ?S\. ?d|i\. ?V\. ?m|o\. ?g|bzw|bspw|ggfs?|evtl"
    r"|inkl|exkl|einschl|ausschl|zzgl|abzgl|vgl|sog|insbes|insb)\.\s*\Z",
    re.I,
)
# What is short for something only where its number follows: "No. 5", but "She said no."
NUMBERED = re.compile(
    r"(?<![\w.])(?:nos?|nrn?|figs?|abb|tab|eqs?|sec|sect|secs|ch|chap|kap|vols?|bd|arts?|abs|ziff"
    r"|par|paras?|cls?|refs?|app|anh|anl|anm|rn|rz|pp?|ss?|ed|ver|v|gem|lt|tel|ext|room"
    r"|(?<!\d )(?:max|min|mind))\.\s*\Z",
    re.I,
)
NUMBER = re.compile(r"\s*[\[(]?(?:§|\d|(?:[IVXLCDM]{2,}|[VX])\b|[A-Z]{1,3}-?\d)")
# What stands right behind a dot in "../basics", "setup.py", "v2.1.10", "asyncio.Queue"; and
# behind the sign of an image.
GOES_ON = re.compile(r"[0-9A-Za-z\u00c0-\u04ff]|[_./\\](?=\S)|(?<=!)\[")
LAST_WORD = re.compile(r"([^\W\d_]+)\.\s*\Z")
CODE = re.compile(CODE_SPAN)
MAX_WORD_CHARS = 60
# Of a text that lost its blanks between sentences not all is one: no name stands that far behind.
MAX_GLUED_CHARS = 400


def sentence_borders(text: str, language: str = COMMON_LANGUAGE) -> Iterator[int]:
    """Yield where a sentence of `text` ends and another follows."""
    start = 0
    borders = _outside_code(text, _told_borders(text, language))
    for at, end in pairwise([*borders, len(text)]):
        # A quotation mark or a closing bracket alone belongs to what it closes.
        is_said = any(map(str.isalnum, text[at:end]))
        before = text[max(start, at - MAX_WORD_CHARS) : at]
        if is_said and not (is_cut(before, text[at:end]) or _is_glued(text, start, at)):
            yield at
            start = at


def _told_borders(text: str, language: str) -> list[int]:
    """Return the borders that both languages see; a language without rules has the general ones."""
    common = _borders(text, COMMON_LANGUAGE)
    if language == COMMON_LANGUAGE:
        return common
    own = frozenset(_borders(text, language))
    return [at for at in common if at in own or _counts(text, at, language)]


def _outside_code(text: str, borders: Iterable[int]) -> Iterator[int]:
    """Yield the borders that stand in no `code`."""
    spans = [match.span() for match in CODE.finditer(text)]
    for at in borders:
        before = bisect_left(spans, (at, 0))
        if not before or at >= spans[before - 1][1]:
            yield at


def _counts(text: str, at: int, language: str) -> bool:
    """Return whether a border before a number is one: German sees ordinals in all figures."""
    word = LAST_WORD.search(text, max(0, at - MAX_WORD_CHARS), at)
    return text[at].isdigit() and not (word and _is_short(word[1], language))


@lru_cache(maxsize=10_000)
def _is_short(word: str, language: str) -> bool:
    """Return whether a word with a full stop is an abbreviation of a language."""
    return not _borders(f"A {word}. A", language)


def _borders(text: str, language: str) -> list[int]:
    borders = sentencex.get_sentence_boundaries(language, text)
    return [border["start_index"] for border in borders if border["start_index"]]


def is_cut(before: str, after: str) -> bool:
    """Return whether a sentence was cut behind an abbreviation."""
    if ABBREVIATION.search(before):
        return True
    return bool(NUMBERED.search(before) and NUMBER.match(after))


def _is_glued(text: str, start: int, at: int) -> bool:
    """Return whether no blank follows a full stop, as in paths, names and numbers."""
    return (
        text[at - 1] in ".!?"
        and at - start <= MAX_GLUED_CHARS
        and GOES_ON.match(text, at) is not None
    )
