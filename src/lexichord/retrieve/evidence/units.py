"""What is said as one: a sentence with what it leans on, a list with what leads to it, code.

Each unit is a stretch of its passage, verbatim.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lexichord.retrieve.evidence.relevance import sentences_of, sub_quote
from lexichord.retrieve.evidence.splitting import FENCE, indent, is_code
from lexichord.types.evidence import Quote

MAX_UNIT_CHARS = 1900  # of a list that is shown whole, or code and what leads to it
MAX_CLAUSE_CHARS = 400  # of a numbered clause or an item of a list that is shown whole
ITEM_OPENING = re.compile(
    r"(?P<bracket>\(\w{1,4}\))|(?P<letter>[a-z]{1,4}[.)]\s)|(?P<number>\d{1,2}[.)]\s)"
    r"|(?P<sign>[-*•–]\s)"
)
CLAUSE_NUMBER = re.compile(r"(?:§\s*|(?:Section|Article|Clause)\s+)?\d{1,3}(?:\.\d{1,3})*[.):]?\s")
HEADING = re.compile(r"^#{1,6}\s", re.M)
MAX_LABELS = 2  # between a sentence and the code that it announces
LABEL = re.compile(r"(?!#)[^\n]{1,40}(?<![.!?])")
LONG_CODE = re.compile(rf"\s*\n{FENCE.pattern}\n(?s:.{{1,1200}})(?=\n)", re.M)
# How a sentence ends that says nothing without what follows.
ANNOUNCES = re.compile(
    r"(?:[:\uff1a]|(?<!\w)(?:(?:e\. ?g|z\. ?B|p\. ?ej)\.|(?:as follows|wie folgt|como sigue)[.]?))"
    r"[\s*_)\"”’]*\Z"
)


@dataclass(frozen=True, slots=True)
class Needs:
    """What a unit holds beside its sentences: of an item all of its list, the code that follows."""

    lists: bool = False
    code: bool = False


SENTENCES_ONLY = Needs()


def whole_unit(stretch: Quote, passages: Iterable[Quote], needs: Needs = SENTENCES_ONLY) -> Quote:
    """Return sentences together with what they cannot do without in their passage.

    These are the sentence that the first leans on and, where the last announces them, the items,
    the lines set in or the code that follow; of code what leads to it; of a numbered clause or an
    item, if it is short, its other sentences. Where lists are needed, of an item all of its list
    and what leads to that; where code is, of another sentence the code that its paragraph leads to.
    """
    around = next((passage for passage in passages if holds_quote(passage, stretch)), None)
    if around is None:
        return stretch
    quotes = [one.quote for one in sentences_of(around)]
    inside = [n for n, one in enumerate(quotes) if _overlap(stretch, one)]
    if not inside:
        return stretch
    for needed in dict.fromkeys((needs, SENTENCES_ONLY)):
        start, end = _reach(around, inside, needed)
        if end - start <= MAX_UNIT_CHARS:
            return sub_quote(around, start - around.start, end - around.start, stretch.score)
    return stretch


def _overlap(one: Quote, other: Quote) -> bool:
    return one.start < other.end and other.start < one.end


def _reach(passage: Quote, inside: Sequence[int], needs: Needs) -> tuple[int, int]:
    """Return where the unit of a passage's sentences of these numbers begins and ends."""
    sentences = sentences_of(passage)
    quotes = [one.quote for one in sentences]
    first = _lead(passage, quotes, inside[0], needs)
    while sentences[first].before and not quotes[first].text.startswith("|"):
        first -= 1
    # Of a sentence that goes on behind code, as "as in: … is read:", all.
    while first > 1 and quotes[first].text[0].islower() and is_code(quotes[first - 1].text):
        first -= 2
    last = quotes[_last(passage, quotes, inside[-1], needs)]
    start, end = quotes[first].start, last.end
    if (needs.code or ANNOUNCES.search(last.text)) and not is_code(last.text):
        end = _beginning_of_code(passage, end)
    clause = _clause_of(passage, quotes, inside[0])
    if max(clause[1], end) - min(clause[0], start) <= MAX_CLAUSE_CHARS:
        return min(clause[0], start), max(clause[1], end)
    return start, end


def whole_clause(sentence: Quote, passage: Quote) -> Quote:
    """Return a sentence with the others of its numbered clause or item, if that is short."""
    quotes = [one.quote for one in sentences_of(passage)]
    inside = [number for number, one in enumerate(quotes) if holds_quote(sentence, one)]
    if not inside:
        return sentence
    start, end = _clause_of(passage, quotes, inside[0])
    if end - start > MAX_CLAUSE_CHARS:
        return sentence
    return sub_quote(passage, start - passage.start, end - passage.start, sentence.score)


def _clause_of(passage: Quote, sentences: Sequence[Quote], number: int) -> tuple[int, int]:
    """Return where a sentence's numbered clause or item begins and ends; of others, the sentence.

    "5.2 The building is heated on weekdays. Other hours cost EUR 48." says one thing.
    """
    first = last = number
    while first and not _opens_item(sentences[first]) and _is_next(passage, sentences, first):
        first -= 1
    if not _opens_item(sentences[first]):
        return sentences[number].start, sentences[number].end
    while last + 1 < len(sentences) and _is_next(passage, sentences, last + 1):
        last += 1
    return sentences[first].start, sentences[last].end


def _is_next(passage: Quote, sentences: Sequence[Quote], number: int) -> bool:
    """Return whether a sentence goes on in the paragraph of the one before it."""
    between = _between(passage, sentences, number)
    return not between.strip(" ") and not _opens_item(sentences[number])


def _opens_item(sentence: Quote) -> bool:
    return bool(ITEM_OPENING.match(sentence.text) or CLAUSE_NUMBER.match(sentence.text))


def _lead(passage: Quote, sentences: Sequence[Quote], number: int, needs: Needs) -> int:
    """Return the sentence that leads to code or an item's list, or else its first item."""
    item = _item_of(passage, sentences, number) if needs.lists else None
    if item is None and not is_code(sentences[number].text):
        return number
    first = number if item is None else _first_item(passage, sentences, item)
    if not first or is_code(sentences[first - 1].text):
        return first
    leads = needs.code and item is None and not _between(passage, sentences, first).strip()
    return first - 1 if leads or ANNOUNCES.search(sentences[first - 1].text) else first


def _item_of(passage: Quote, sentences: Sequence[Quote], number: int) -> int | None:
    """Return the item that a sentence is, or stands in; None for one that is in no list."""
    while kind_of_item(sentences[number]) is None:
        if not number or not _is_inside_item(passage, sentences, number):
            return None
        number -= 1
    return number


def _first_item(passage: Quote, sentences: Sequence[Quote], item: int) -> int:
    first, kind = item, kind_of_item(sentences[item])
    for number in range(item - 1, -1, -1):
        if HEADING.search(_between(passage, sentences, number + 1)):
            break
        if kind_of_item(sentences[number]) == kind:
            first = number
        elif not _is_inside_item(passage, sentences, number):
            break
    return first


def _last_item(passage: Quote, sentences: Sequence[Quote], item: int) -> int:
    """Return the last sentence of an item's list, code and other items inside of it included."""
    last, kind = item, kind_of_item(sentences[item])
    for number in range(item + 1, len(sentences)):
        is_item = kind_of_item(sentences[number]) == kind
        is_part = is_item or _is_inside_item(passage, sentences, number)
        if not is_part or HEADING.search(_between(passage, sentences, number)):
            break
        last = number
    return last


def _is_inside_item(passage: Quote, sentences: Sequence[Quote], number: int) -> bool:
    """Return whether a sentence goes on in the paragraph before it, or is set in."""
    start = sentences[number].start - passage.start
    line_start = passage.text.rfind("\n", 0, start) + 1
    is_set_in = len(passage.text[line_start:start]) > 1 and passage.text[line_start:start].isspace()
    return is_set_in or _is_next(passage, sentences, number)


def kind_of_item(sentence: Quote) -> str | None:
    """Return how an item is marked, by a letter, a number or a sign; None for other sentences."""
    opening = ITEM_OPENING.match(sentence.text)
    return opening.lastgroup if opening else None


def _last(passage: Quote, sentences: Sequence[Quote], number: int, needs: Needs) -> int:
    """Return the last sentence of a unit: of its list, or of what it announces."""
    item = _item_of(passage, sentences, number) if needs.lists else None
    if item is not None:
        return _last_item(passage, sentences, item)
    if is_code(sentences[number].text):
        return number
    last = _end_of_paragraph(passage, sentences, number) if needs.code else number
    announces = bool(ANNOUNCES.search(sentences[last].text))
    if not (announces or needs.code):
        return number
    for at in range(last, min(last + 1 + MAX_LABELS, len(sentences))):
        if at > last and not (announces and _is_label(sentences[at].text)):
            break
        found = _led_to(passage, sentences, at)
        if found is not None:
            return found
    return number


def _is_label(text: str) -> bool:
    """Return whether a line may name one of several ways: "With pip:", "Linux"."""
    return bool(ANNOUNCES.search(text) or LABEL.fullmatch(text))


def _led_to(passage: Quote, sentences: Sequence[Quote], number: int) -> int | None:
    """Return the last sentence of the code, the list or what is set in right behind one.

    Of long code it is that one.
    """
    following = number + 1
    if following == len(sentences):
        return None
    announces = ANNOUNCES.search(sentences[number].text)
    between = _between(passage, sentences, following).strip()
    is_next = not between or (announces and LABEL.fullmatch(between))
    if is_code(sentences[following].text) and is_next:
        return following
    if FENCE.fullmatch(between):
        return number
    if not announces:
        return None
    if kind_of_item(sentences[following]) is not None:
        return _last_item(passage, sentences, following)
    return _last_set_in(passage, sentences, number)


def _last_set_in(passage: Quote, sentences: Sequence[Quote], number: int) -> int | None:
    """Return the last sentence that is set in more than the one before them all; None if none is.

    "Exit status:" says nothing without the lines that are set in below it.
    """
    own, last = _indent(passage, sentences[number]), None
    for at in range(number + 1, len(sentences)):
        is_behind_heading = _between(passage, sentences, at).strip()
        if is_behind_heading or _indent(passage, sentences[at]) <= own:
            break
        last = at
    return last


def _indent(passage: Quote, sentence: Quote) -> int:
    """Return how many blanks the line of a sentence's beginning begins with."""
    start = sentence.start - passage.start
    return indent(passage.text[passage.text.rfind("\n", 0, start) + 1 :])


def _beginning_of_code(passage: Quote, end: int) -> int:
    """Return where the beginning ends of code that follows and is too long to be a sentence."""
    code = LONG_CODE.match(passage.text, end - passage.start)
    return passage.start + code.end() if code else end


def _end_of_paragraph(passage: Quote, sentences: Sequence[Quote], number: int) -> int:
    """Return the last sentence before an empty line, a heading or code."""
    while number + 1 < len(sentences):
        following = sentences[number + 1]
        if is_code(following.text) or _opens_item(following):
            break
        between = _between(passage, sentences, number + 1)
        if between.strip() or between.count("\n") > 1:
            break
        number += 1
    return number


def _between(passage: Quote, sentences: Sequence[Quote], number: int) -> str:
    """Return what stands between a sentence and the one before it."""
    start, end = sentences[number - 1].end, sentences[number].start
    return passage.text[start - passage.start : end - passage.start]


def holds_quote(one: Quote, other: Quote) -> bool:
    """Return whether a quote's stretch holds another's."""
    inside = one.start <= other.start and other.end <= one.end
    return one.document_id == other.document_id and inside


def apart(quotes: Iterable[Quote]) -> list[Quote]:
    """Return the quotes that no other quote holds; of the same stretch the first."""
    kept: list[Quote] = []
    for quote in quotes:
        if any(holds_quote(one, quote) for one in kept):
            continue
        held = [n for n, one in enumerate(kept) if holds_quote(quote, one)]
        place = held[0] if held else len(kept)
        kept = [one for n, one in enumerate(kept) if n not in held]
        kept.insert(place, quote)
    return kept


def is_list(quote: Quote) -> bool:
    """Return whether a quote holds several items of a list."""
    return sum(bool(ITEM_OPENING.match(line.strip())) for line in quote.text.splitlines()) > 1
