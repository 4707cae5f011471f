"""Passages as a page shows them, the answer's sentences or the question's words marked in them."""

import re
from collections.abc import Iterable, Sequence

from markupsafe import Markup

from lexichord.display.plain_text import plain_text, seen_spans
from lexichord.ingest.load.kinds import TEXT_TYPE
from lexichord.retrieve.understand.cues import OPENING_WORD
from lexichord.serve.page.blocks import CharRange, MarkWriter, plain_marks
from lexichord.serve.page.language import say
from lexichord.serve.page.reading import show_text, text_kind

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
    lines = (LINE_MARKERS.sub("", line, count=1) for line in plain_text(answer).splitlines())
    parts = (part for line in lines for part in CITATION.split(line))
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
    return show_text(text, text_kind(TEXT_TYPE, uri), MarkWriter(plain_marks(marked)))


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
