"""The words of a question, found again in a text."""

import re

from lexichord.retrieve.words import OPENING

SHORTEST = 4  # letters of a word that is marked, unless it is a name or a number
# Words that say nothing, beside those that open a question.
SILENT = re.compile(
    r"(?:about|after|also|been|before|being|between|both|document|documents|even|file|files|into"
    r"|just|know|like|long|many|more|most|much|only|other|over|same|says|some|such|than|that|them"
    r"|then|there|these|they|this|those|under|upon|very|were|what|will|with|without|your)",
    re.I,
)
# The longest first: a pattern takes what fits first.
ENDING = "(?:ations?|ating|ate[ds]?|ators?|ions?|ings?|ments?|ies|ied|ers?|eds?|es?|ys?|s)"

type Part = tuple[str, bool]


def to_mark(question: str) -> re.Pattern[str] | None:
    """Give the pattern of a question's words and their other endings; None if it has none.

    Only what is shown depends on it: it knows no language but English.
    """
    stems = dict.fromkeys(_stem(word) for word in re.findall(r"\w+", question) if _tells(word))
    if not stems:
        return None
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, stems))}){ENDING}?\b", re.I)


def marked(text: str, words: re.Pattern[str] | None) -> list[Part]:
    """Give the parts of a text in their order, each with whether it is one of the words."""
    if words is None:
        return [(text, False)]
    parts, end = list[Part](), 0
    for match in words.finditer(text):
        parts += [(text[end : match.start()], False), (match[0], True)]
        end = match.end()
    return [part for part in [*parts, (text[end:], False)] if part[0]]


def _tells(word: str) -> bool:
    if OPENING.fullmatch(word) or SILENT.fullmatch(word):
        return False
    is_name = len(word) > 1 and (word.isupper() or any(map(str.isdigit, word)))
    return is_name or len(word) >= SHORTEST


def _stem(word: str) -> str:
    stem = re.sub(f"{ENDING}$", "", word, flags=re.I)
    return stem if len(stem) >= SHORTEST else word
