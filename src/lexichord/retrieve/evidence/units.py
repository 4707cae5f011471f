"""What is said as one: a sentence with what it leans on, a list with what leads to it, code.

Each unit is a stretch of its passage, verbatim.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import takewhile

from lexichord.retrieve.evidence.relevance import sentences_of, sub_quote
from lexichord.retrieve.evidence.splitting import is_code
from lexichord.types.evidence import Quote

MAX_LIST_CHARS = 1500  # of a list or code that is shown whole
MAX_CLAUSE_CHARS = 400  # of a numbered clause or an item of a list that is shown whole
ITEM_OPENING = re.compile(
    r"(?P<bracket>\(\w{1,4}\))|(?P<letter>[a-z]{1,4}[.)]\s)|(?P<number>\d{1,2}[.)]\s)"
    r"|(?P<sign>[-*•–]\s)"
)
CLAUSE_NUMBER = re.compile(r"(?:§\s*|(?:Section|Article|Clause)\s+)?\d{1,3}(?:\.\d{1,3})*[.):]?\s")


def whole_unit(stretch: Quote, passages: Iterable[Quote], whole_lists: bool = False) -> Quote:
    """Return sentences together with what they cannot do without in their passage.

    These are the sentence that the first leans on and, where the last ends in a colon, the items or
    the code that follow; of code what leads to it; of a numbered clause or an item, if it is short,
    its other sentences; of an item, `whole_lists`, all of its list and what leads to that.
    """
    around = next((passage for passage in passages if holds_quote(passage, stretch)), None)
    if around is None:
        return stretch
    sentences = sentences_of(around)
    inside = [n for n, one in enumerate(sentences) if holds_quote(stretch, one.quote)]
    if not inside:
        return stretch
    quotes = [one.quote for one in sentences]
    is_part = whole_lists or is_code(quotes[inside[0]].text)
    first = _lead(quotes, inside[0]) if is_part else inside[0]
    while sentences[first].before and not quotes[first].text.startswith("|"):
        first -= 1
    end = _end_of_list(quotes, inside[-1], whole_lists)
    start = quotes[first].start
    if end - start > MAX_LIST_CHARS:
        return stretch
    clause = _clause_of(around, quotes, inside[0])
    if max(clause[1], end) - min(clause[0], start) <= MAX_CLAUSE_CHARS:
        start, end = min(clause[0], start), max(clause[1], end)
    return sub_quote(around, start - around.start, end - around.start, stretch.score)


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
    between = passage.text[
        sentences[number - 1].end - passage.start : sentences[number].start - passage.start
    ]
    return not between.strip(" ") and not _opens_item(sentences[number])


def _opens_item(sentence: Quote) -> bool:
    return bool(ITEM_OPENING.match(sentence.text) or CLAUSE_NUMBER.match(sentence.text))


def _lead(sentences: Sequence[Quote], number: int) -> int:
    """Return the sentence that leads to code or an item's list, or else its first item."""
    kind = kind_of_item(sentences[number])
    if kind is None and not is_code(sentences[number].text):
        return number
    while kind and number and kind_of_item(sentences[number - 1]) == kind:
        number -= 1
    return number - 1 if number and sentences[number - 1].text.rstrip().endswith(":") else number


def kind_of_item(sentence: Quote) -> str | None:
    """Return how an item is marked, by a letter, a number or a sign; None for other sentences."""
    opening = ITEM_OPENING.match(sentence.text)
    return opening.lastgroup if opening else None


def _end_of_list(sentences: Sequence[Quote], number: int, whole_lists: bool) -> int:
    """Return where a sentence ends: with its list, or the list or the code that it announces."""
    own, later = sentences[number], sentences[number + 1 :]
    kind = kind_of_item(own) if whole_lists else None
    if kind is None:
        if not own.text.rstrip().endswith(":"):
            return own.end
        if later and is_code(later[0].text):
            return later[0].end
        kind = kind_of_item(later[0]) if later else None
    items = [*takewhile(lambda one: kind is not None and kind_of_item(one) == kind, later)]
    return items[-1].end if items else own.end


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
