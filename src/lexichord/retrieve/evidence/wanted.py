"""What sort of thing a question wants, and whether a sentence holds such a thing.

By the question's own words: what is asked for by "when", "how long", "how much" is of a type that a
pattern can find, whatever the document is about (the answer's type of Li & Roth, 2002). Each
language's patterns stand under [wanted] in its file of `understand/languages/`, in the order in
which they are tried. Where no type is told, no sentence is preferred for it.
"""

import re
from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from lexichord.retrieve.evidence.values import find_values
from lexichord.retrieve.numbers import SPELLED_NUMBER
from lexichord.retrieve.understand.cues import (
    WORD,
    find_language,
    language_file,
    load_cues,
    named_words,
    words_filled_in,
)

type WantedType = Literal[
    "duration",
    "start",
    "end",
    "date",
    "price",
    "amount",
    "number",
    "person",
    "place",
    "reason",
    "duty",
    "how-to",
    "yes/no",
    "definition",
]

VALUE_TYPES: frozenset[WantedType] = frozenset(["duration", "date", "price", "amount", "number"])
# "3. Ask", "5.2 The tenant", not "3.5 million".
ITEM_NUMBER = re.compile(
    r"\A\W*(?:\d{1,3}(?:\.\d{1,3})*[.)]\s+|\d{1,3}(?:\.\d{1,3})+\s+(?=[^\W\d_a-z]))"
)
YEAR_IN_TEXT = re.compile(r"(?<!\d)(?:1\d|20)\d\d(?!\d)")


@dataclass(frozen=True, slots=True)
class WantedCues:
    """How one language asks for a type, and what a sentence with it holds.

    That is a value of one of the kinds, or what a pattern finds; where it is `dated`, a pattern's
    and a date. `subject` finds what stands behind the thing that a sentence defines.
    """

    question: re.Pattern[str]
    values: frozenset[str]
    patterns: tuple[re.Pattern[str], ...]
    dated: bool
    subject: re.Pattern[str] | None

    def are_held(self, sentence: str) -> bool:
        """Return whether a sentence holds what is wanted."""
        is_said = any(pattern.search(sentence) for pattern in self.patterns)
        if self.dated:
            return is_said and bool(
                YEAR_IN_TEXT.search(sentence) or _holds_value(sentence, {"date"})
            )
        if is_said or ("number" in self.values and _spells_number(sentence)):
            return True
        return bool(self.values) and _holds_value(sentence, self.values)


def _spells_number(sentence: str) -> bool:
    """Return whether a number is written out; "one" is a pronoun far more often."""
    return any(match[0].lower() != "one" for match in SPELLED_NUMBER.finditer(sentence))


def _holds_value(sentence: str, kinds: Collection[str]) -> bool:
    return any(value.kind in kinds for value in find_values(sentence))


@cache
def load_wanted(language: str) -> Mapping[WantedType, WantedCues]:
    """Read a language's types, once; in the order in which they are tried."""
    return {
        name: WantedCues(
            _any_of(language, data["question"], re.I),
            frozenset(data.get("values", ())),
            tuple(
                _any_of(language, data[key], flags)
                for key, flags in (("sentence", re.I), ("case", re.NOFLAG))
                if key in data
            ),
            data.get("dated", False),
            _any_of(language, data["subject"], re.I) if "subject" in data else None,
        )
        for name, data in language_file(language)["wanted"].items()
    }


def _any_of(language: str, patterns: str | Sequence[str], flags: re.RegexFlag) -> re.Pattern[str]:
    each = [patterns] if isinstance(patterns, str) else patterns
    return re.compile("|".join(words_filled_in(language, one) for one in each), flags)


def wanted_type(question: str) -> WantedType | None:
    """Return the type of thing that a question wants; None where it is not told.

    What stands before the clause that asks does not ask: "If I quit, who pays the rest?"
    """
    language = find_language(question)
    lead = _lead(language)
    asked = lead.sub("", question) if lead else question
    types = load_wanted(language)
    return next((name for name, cues in types.items() if cues.question.search(asked)), None)


@cache
def _lead(language: str) -> re.Pattern[str] | None:
    words = named_words(language)
    return re.compile(words["before_asking"], re.I) if "before_asking" in words else None


@cache
def _asking_words(language: str) -> re.Pattern[str]:
    return re.compile(named_words(language)["asking"], re.I)


def without_asking(question: str) -> str:
    """Return a question without the words that only ask for a type: an answer need not hold them.

    All of it where nothing else is left.
    """
    rest = _asking_words(find_language(question)).sub(" ", question)
    return rest if any(map(str.isalnum, rest)) else question


def counted_things(question: str) -> str:
    """Return what a question wants the number of: "sick" of "how many sick days do I get?".

    "" where it wants no number, or one of people or of units, which a text need not name.
    """
    words = named_words(find_language(question))
    found = re.search(words["counted"], question, re.I) if "counted" in words else None
    if found is None:
        return ""
    return " ".join(re.sub(words["uncounted"], " ", found["counted"], flags=re.I).split())


def opens_with_term(question: str, sentence: str) -> bool:
    """Return whether a sentence defines what a question asks for: "A bill of lading is …".

    Before its verb stands nothing but words of the question, and at least half of these.
    """
    language = find_language(sentence)
    cues = load_wanted(language).get("definition")
    verb = cues.subject.search(sentence) if cues and cues.subject else None
    if verb is None:
        return False
    small = load_cues(language).common
    asked = _stems(question, small)
    subject = {word for word in _stems(sentence[: verb.start()], small) if word.isalpha()}
    return bool(subject) and subject <= asked and 2 * len(subject) >= len(asked)


def _stems(text: str, small: Container[str]) -> set[str]:
    """Return a text's words but small ones, without capitals and the "s" of a plural."""
    return {word.removesuffix("s") for word in WORD.findall(text.lower()) if word not in small}


def holds_wanted(wanted: WantedType, sentence: str) -> bool:
    """Return whether a sentence holds something of a type, by the cues of its own language.

    The number of an item says nothing: "3. Ask your manager."
    """
    text = ITEM_NUMBER.sub("", sentence)
    cues = load_wanted(find_language(text)).get(wanted)
    return cues is not None and cues.are_held(text)
