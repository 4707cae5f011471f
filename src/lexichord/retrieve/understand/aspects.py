"""The parts of a comparison's lists, and the aspects that it compares: the columns of its table.

Aspects are in the question's own words. English cues, whole words only; in other languages all that
stands between the words of the frame. Every "and" parts two aspects, unless the words tell that
they are one: a fixed pair of English ("terms and conditions"), "between A and B", an adjective
whose noun comes later ("direct and indirect losses"), two plurals under one article or preposition
("the rights and obligations"). What only its meaning holds together stays together in quotes.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from lexichord.retrieve.understand import (
    AUXILIARY_VERB,
    COMPARATIVE,
    COUNT_WORD,
    DOCUMENT_WORD,
    MAX_READ_CHARS,
    QUESTION_WORD,
    SUPERLATIVE,
    Cues,
    between,
    blank,
    blank_quoted,
    find_cues,
    find_language,
    find_sub_questions,
)
from lexichord.retrieve.understand.linking import Mention, QueryWord, split_words
from lexichord.types.questions import Intent

LIST_SIGN = re.compile(r"\s*[,;\u3001]\s*|\s&\s")
FRAME_SIGN = re.compile(r"[:?!¿¡\n\uff0c\uff1a\uff1f\uff01\uff1b\u3002]|\.\s|\s[-–—]+\s")
LIST_BEFORE_SIGN = re.compile(r"[^:?\n]{2,200}?(?=:\s|\s[-–—]+\s)")
PREPOSITIONS = frozenset(["in", "on", "under", "about", "across", "bei", "im", "en", "sur", "sous"])


class NamePart(NamedTuple):
    """Words `first` to `last` of a question, between the joints of list number `group`."""

    group: int
    first: int
    last: int

    @property
    def place(self) -> range:
        """The numbers of its words."""
        return range(self.first, self.last + 1)


def cut_words(query: str, words: Iterable[QueryWord], cues: Cues) -> list[QueryWord]:
    """Return words that no blanks part, as Chinese has them, cut where a list or its frame does."""
    if cues.cut is None:
        return list(words)
    cut: list[QueryWord] = []
    for word in words:
        start = word.start
        for match in cues.cut.finditer(query, word.start, word.end):
            for first, last, parts in ((start, match.start(), False), (*match.span(), True)):
                if first < last:
                    text = query[first:last]
                    cut.append(replace(word, text=text, start=first, end=last, parts=parts))
            start = match.end()
        if start < word.end:
            cut.append(replace(word, text=query[start : word.end], start=start))
    return cut


def split_parts(
    query: str,
    words: Sequence[QueryWord],
    cues: Cues,
    whole: Iterable[Mention] = (),
) -> list[NamePart]:
    """Return the parts of a comparison's lists; the words of its frame stand between lists.

    Titles that are there as a `whole` are not parted, whatever they hold.
    """
    inside = {number for each in whole for number in range(each.first + 1, each.last + 1)}
    frame = _frame(query, words, cues) - inside
    parting = cues.parting.search(query) if cues.parting else None
    parted_at = parting.start(parting.lastindex or 0) if parting else -1
    parts: list[NamePart] = []
    group, first = 0, None
    for number, word in enumerate(words):
        gap = query[words[number - 1].end : word.start] if number not in inside | {0} else ""
        opens_frame = _ends_list(gap, words[number - 1])
        is_frame = number in frame
        is_joint = number not in inside and (
            word.lower in cues.joint_words or word.start == parted_at
        )
        if first is not None and (opens_frame or is_frame or is_joint or LIST_SIGN.search(gap)):
            parts.append(NamePart(group, first, number - 1))
            first = None
        group += opens_frame or is_frame
        if first is None and not (is_frame or is_joint):
            first = number
    return parts if first is None else [*parts, NamePart(group, first, len(words) - 1)]


def _ends_list(gap: str, before: QueryWord) -> bool:
    """Return whether a sign between words ends a list; the dot of "v." and of initials does not."""
    is_short = len(before.text) == 1 and gap.startswith(".")
    return bool(FRAME_SIGN.search(gap)) and not is_short


def _frame(query: str, words: Sequence[QueryWord], cues: Cues) -> set[int]:
    """Return which words are of the frame.

    Before a colon or a dash, where none but prepositions would be, names are listed, and
    prepositions belong to these: "shifts at sea vs sleep in summer: participants".
    """
    frame = {
        number
        for number, word in enumerate(words)
        if (word.lower in cues.frame_words and not word.text.isupper())
        or (word.parts and word.lower not in cues.joint_words)
    }
    opening = LIST_BEFORE_SIGN.match(query)
    listed = {number for number in frame if opening and words[number].end <= opening.end()}
    are_names = all(words[number].lower in PREPOSITIONS for number in listed)
    return frame - listed if are_names else frame


OTHER_ARTICLE = re.compile(
    r"^(?:der|die|das|dem|den|des|eine?[nrms]?|el|la|los|las|una?|le|les|une?|des|l['’])\b\s*", re.I
)
MAX_ASPECTS = 8  # columns; the last one takes what is left of a longer list
# Two words of general English that are one thing in this order.
FIXED_PAIR = re.compile(
    r"(?:terms and conditions|search and rescue|health and safety|research and development"
    r"|wear and tear|profit and loss|goods and services|supply and demand|pros and cons"
    r"|rules and regulations|checks and balances|bed and breakfast|law and order|food and drink"
    r"|trial and error|arts and crafts|loss and damage|time and (?:place|materials?)"
    r"|questions and answers|name and address|policies and procedures"
    r"|roles and responsibilities)\b",
    re.I,
)

TOPIC_PREPOSITION = r"(?:about|on|in|as (?:to|regards)|regarding|concerning|over|for)"
TOPIC_PHRASE = (
    r"(?:in terms of|(?:with|in) (?:respect|regard)s? (?:to|of)|when it comes to|in relation to"
    r"|as (?:to|regards)|regarding|concerning)"
)
TREATMENT_VERB = (
    r"(?:treat|handle|regulate|deal with|define|approach|address|cover|govern|describe|set)"
)
STATEMENT_VERB = r"(?:say|state|provide|specify|stipulate|tell (?:us|me))s?"
SAMENESS = r"(?:the same|different(?:ly)?|alike|similar(?:ly)?|identical(?:ly)?)"
DEGREE = rf"(?:{COMPARATIVE}|{SUPERLATIVE})"
DIFFERENCE_VERB = r"(?:differ|vary|compare|diverge)s?"
# What stands before the list of aspects, and where it must end. In this order, the first that fits.
COMPARISON_FRAMES = tuple(
    re.compile(pattern, re.I | re.S)
    for pattern in (
        rf"\b{TOPIC_PHRASE} (?P<list>.+)",
        r"^(?:[^:\n]{0,200}:|[^:\n]{0,200}?\s?[-–—])\s+(?:compare\s+)?(?P<list>.*\w.*)",
        rf"\b(?:how|where|do|does)\b.{{0,200}}?\b{DIFFERENCE_VERB} {TOPIC_PREPOSITION}"
        r" (?P<list>.+)",
        rf"\b(?:do|does|did) (?P<list>.{{1,300}}?) {DIFFERENCE_VERB}\b",
        rf"\b{STATEMENT_VERB} (?:(?:anything|something) )?{TOPIC_PREPOSITION} (?P<list>.+)",
        rf"\b(?:do|does|did|is|are)\b.{{0,200}}?\b{TREATMENT_VERB}"
        rf" (?P<list>.{{1,300}}?) {SAMENESS}\b",
        rf"\bhow (?:do|does|did)\b.{{0,200}}?\b{TREATMENT_VERB} (?P<list>.+)",
        rf"\b(?:have|has|use|uses|under|with|apply|follow) {SAMENESS} (?P<list>.+)",
        rf"^(?:is|are) (?P<list>.{{1,300}}?) {SAMENESS}\b",
        rf"^(?:which|who|what|whose)\b.{{0,100}}?\b(?:the )?{DEGREE},? (?!to\b)(?P<list>.+)",
        r"^(?:what|which) (?P<list>[^,;?]{1,300}?) (?:do|does|did)\b(?! they\b| both\b)",
        r"\b(?:differences?|similarities|comparison)(?: (?:table|chart|matrix))?"
        rf"(?: (?:between|of|among|across))?(?: (?:of|{TOPIC_PREPOSITION}))? (?P<list>.+)",
        rf"\b(?:compare and contrast|compare|contrast|distinguish)(?: {TOPIC_PREPOSITION})?"
        r" (?P<list>.+)",
    )
)
BARE_LIST = re.compile(rf"^(?!(?:{QUESTION_WORD}|{AUXILIARY_VERB})\b)(?P<list>[^?]+)$", re.I | re.S)
SENTENCE_BREAK = re.compile(r"(?<=[?!])\s+|(?<=\.)\s+(?=[A-Z])")

PARENTHESIS = re.compile(r"\([^()\n]{1,200}\)")
PRONOUN_ONLY = re.compile(
    rf"\W*(?:they|them|it|these|those|this|that|both|all|each other|{COUNT_WORD})?\W*", re.I
)
# Where to look, once no document is named: "in both documents".
COMPARISON_TAIL = re.compile(
    rf"(?: (?:in|across|under|of|for|between|among|within|from) (?:(?:both|these|those|them"
    rf"|the {COUNT_WORD}|either)\b|(?:each|all) (?:of|{DOCUMENT_WORD})\b)(?: \w+){{0,3}}"
    rf"| (?:in|across|under|within) (?:all )?(?:the|this|that|our) {DOCUMENT_WORD}\b"
    r"|,? please|,? (?:in|as) a table|,? side[ -]by[ -]side| (?:to|from|with) each other)+$",
    re.I,
)
ITEM_SIGN = r"\s*(?:;|,(?!\d)|\n(?:\s*(?:[-*•]|\d{1,2}[.)]))?)\s*"
ITEM_CONJUNCTION = r"(?:and also|and|or|as well as|plus|along with|together with|&)"
ITEM_BREAK = re.compile(rf"{ITEM_SIGN}(?:{ITEM_CONJUNCTION}\s)?\s*|\s+{ITEM_CONJUNCTION}\s+", re.I)
ITEM_PREFIX = re.compile(
    rf"(?:(?:both|{TOPIC_PREPOSITION}|of|their|its|the|our|your|{DEGREE})\s+(?=[^\s,;.?!]))+"
    r"|[-*•]\s+",
    re.I,
)
ITEM_REMNANT = re.compile(
    r"(?: (?:under|between|across|among|and|or|vs\.?|versus))+$", re.I
)  # by linking
REPEATED_OPENING = re.compile(
    rf"(?:the|an?|their|its|our|your|of|to|from|with|by|{TOPIC_PREPOSITION})\s", re.I
)
OPEN_BETWEEN = re.compile(r"\bbetween\b(?:(?!\band\b).)*$", re.I)
LONE_ADJECTIVE = re.compile(r"\w*(?:ical|ional|[ct]ial|ous)$", re.I)
PLURAL_NOUN = re.compile(r"\w+[^\Wsiu]s", re.I)
SHARED_ARTICLE = re.compile(
    r"\b(?:the|their|its|our|of|on|for|to|by|with|in|from) \w+[^\Wsiu]s$", re.I
)


def aspects_of(intent: Intent) -> tuple[str, ...]:
    """Return what a comparison compares, as it was read with its documents, else in its words."""
    return intent.aspects or find_aspects(intent.question, intent.hint)


def find_aspects(question: str, hint: str | None = None) -> tuple[str, ...]:
    """Return what a comparison is to compare, verbatim and each once, without a leading "the".

    `question` has lost the words that name documents; where it could not, `hint` holds them, and
    they are no aspects. A question that names none in a list is itself the only aspect, as is one
    too long to be read. A list too long for a table has its rest in the last.
    Never raises; linear time.
    """
    if len(question) > MAX_READ_CHARS:
        return (question,)
    named = {name.casefold() for name in (hint or "").split(", ")}
    is_english = find_language(question) == "en"
    found = _aspects(question) if is_english else list_aspects(question)
    bare = (COMPARISON_TAIL.sub("", aspect.rstrip(" ?")) for aspect in found)
    aspects = {aspect.casefold(): aspect for aspect in bare}
    return tuple(aspects[key] for key in aspects if key not in named)[:MAX_ASPECTS] or (question,)


def list_aspects(question: str) -> list[str]:
    """Return what a question of any language lists between the words of its frame."""
    cues = find_cues(question)
    words = cut_words(question, split_words(question, ()), cues)
    spans = (
        (words[part.first].start, words[part.last].end)
        for part in split_parts(question, words, cues)
    )
    parts = (OTHER_ARTICLE.sub("", question[start:end]) for start, end in spans)
    return [part for part in parts if part]


def _aspects(question: str) -> list[str]:
    """Return the aspects that its sentences list, and those of its other questions; else its parts.

    Other sentences are only where it comes from, as in "I have two offers."
    """
    sentences = _sentences(question)
    lists = [_listed(sentence, COMPARISON_FRAMES) for sentence in sentences]
    if any(lists):
        pairs = zip(sentences, lists, strict=True)
        return [a for s, listed in pairs for a in listed or ([s] if s.endswith("?") else [])]
    return _listed(question, [BARE_LIST]) or list(find_sub_questions(question))


def _sentences(question: str) -> list[str]:
    spans = between(SENTENCE_BREAK, blank_quoted(question))
    return [question[start:end] for start, end in spans]


def _listed(sentence: str, frames: Iterable[re.Pattern[str]]) -> list[str]:
    """Return what a sentence lists in the first frame that fits it; [] if none does."""
    text = PARENTHESIS.sub(blank, blank_quoted(sentence))
    end = len(text.rstrip(" \t\n.?!,;:"))
    for frame in frames:
        if match := frame.search(text, 0, end):
            first = match.start("list")
            spans = _items(COMPARISON_TAIL.sub("", match["list"]))
            items = [_header(sentence[first + start : first + end]) for start, end in spans]
            return [item for item in items if not PRONOUN_ONLY.fullmatch(item)]
    return []


def _items(listed: str) -> Iterator[tuple[int, int]]:
    """Return the spans of a list's items."""
    start = count = 0
    parts = list(ITEM_BREAK.finditer(listed))
    has_signs = any(re.match(ITEM_SIGN, match[0]) for match in parts)
    for number, match in enumerate(parts):
        following = parts[number + 1].start() if number + 1 < len(parts) else len(listed)
        left, right = listed[start : match.start()], listed[match.end() : following]
        is_last = number + 1 == len(parts)
        if count == MAX_ASPECTS - 1 or _belong(left, match[0], right, has_signs, is_last):
            continue
        yield start, match.start()
        start, count = match.end(), count + 1
    yield start, len(listed)


def _belong(left: str, joint: str, right: str, has_signs: bool, is_last: bool) -> bool:
    """Return whether what a joint joins is one aspect.

    An "or" parts only where it is the last joint of a longer list: "rent, term or notice".
    """
    if re.match(ITEM_SIGN, joint):
        return False
    if OPEN_BETWEEN.search(left):
        return True
    if REPEATED_OPENING.match(right):
        return False
    if joint.strip().lower() == "or" and not (has_signs and is_last):
        return True
    pair = FIXED_PAIR.match(f"{left.rpartition(' ')[2]} and {right}")
    return bool(pair) or _shares_noun(left, right) or _are_plurals(left, right)


def _shares_noun(left: str, right: str) -> bool:
    """Return whether the first is an adjective of the second's noun: "direct and indirect loss"."""
    word = ITEM_PREFIX.sub("", left)
    if " " in word or " " not in right:
        return False
    opposite = re.match(rf"(?:un|in|im|il|ir|dis|non-?){re.escape(word)}\b", right, re.I)
    return bool(opposite or LONE_ADJECTIVE.fullmatch(word))


def _are_plurals(left: str, right: str) -> bool:
    return bool(SHARED_ARTICLE.search(left) and PLURAL_NOUN.fullmatch(right))


def _header(item: str) -> str:
    item = ITEM_REMNANT.sub("", item.strip(" \t\n.,;:?!"))
    before = ITEM_PREFIX.match(item)
    return item[before.end() :] if before else item
