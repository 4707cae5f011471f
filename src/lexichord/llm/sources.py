"""Documents' text as a model is shown it: numbered, and between marks that no text can hold."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from lexichord.providers.marks import enclose, mark_word
from lexichord.retrieve.aggregate.context import citation
from lexichord.retrieve.aggregate.quotes import sub_quote
from lexichord.types import Json
from lexichord.types.evidence import Quote

# Signs that models write in each other's place: quotation marks, dashes.
ALIKE = ("'`\u2018\u2019", '"\u201c\u201d', "-\u2010\u2011\u2013\u2014")
SAME = {sign: f"[{re.escape(signs)}]" for signs in ALIKE for sign in signs}
MARKS = " \t\n'\"“”„«»\u2018\u2019"
# A quote begins and ends where a word or a number does: "10 years" does not stand in "110 years",
# nor "5%" in "0.5%". Scripts that put no spaces between words have no such places.
LETTER = "0-9A-Za-z\u00c0-\u04ff"
START = rf"(?:(?<![{LETTER}])(?!(?<=[0-9][.,])[0-9])|(?![{LETTER}]))"
END = rf"(?:(?![{LETTER}])(?!(?<=[0-9])[.,][0-9])|(?<![{LETTER}]))"
# Between quotation marks; single ones are also apostrophes.
QUOTED = re.compile(
    r"[“\"„«`]([^“”\"„«»`]+)[”\"“»`]"
    r"|(?<!\w)['\u2018]((?:[^'\u2018\u2019]|(?<=\w)['\u2019](?=\w))+)['\u2019](?!\w)"
)
ADDRESS = re.compile(r"//[^\s)>\]]+")


class Source(NamedTuple):
    """A passage with the number under which the model sees it."""

    number: int
    quote: Quote


def number_sources(quotes: Iterable[Quote], sources: Sequence[Json]) -> list[Source]:
    """Give the quotes that the context shows, under its numbers."""
    numbers = {
        (each["document_id"], each["start"], each["end"]): each["number"] for each in sources
    }
    places = {(quote.document_id, quote.start, quote.end): quote for quote in quotes}
    shown = [Source(numbers[place], places[place]) for place in numbers if place in places]
    return sorted(shown, key=lambda source: source.number)


def mark(sources: Sequence[Source], among: Sequence[Source] = ()) -> str:
    """Write sources one after another, each between marks.

    The marks' word is a digest of all texts and titles of the prompt (those `among` which the
    sources are, by default they alone), so that none can hold it and pretend to end there.
    """
    word = mark_word(f"{_name(quote)}\0{quote.text}" for _, quote in among or sources)
    return "\n".join(
        enclose(quote.text, word, f" number={number} title={_name(quote)!r}")
        for number, quote in sources
    )


def _name(quote: Quote) -> str:
    """A title is the document's own word, too: on one line."""
    return " ".join(f"{citation(quote) or quote.uri}".split())[:200]


def find_quote(said: str, number: int, sources: Sequence[Source]) -> Quote | None:
    """Give the stored text that a model's quote is, in the source it names, or else in any.

    White space, and the way in which quotation marks and dashes are written, may differ.
    """
    for source in sorted(sources, key=lambda each: each.number != number):
        if span := _find(said, source.quote.text):
            return sub_quote(source.quote, *span, source.quote.score)
    return None


def _find(said: str, text: str) -> tuple[int, int] | None:
    for quoted in dict.fromkeys((said, said.strip(MARKS))):
        words = quoted.split()
        if words and sum(map(len, words)) <= len(text):
            pattern = r"\s+".join(map(_pattern, words))
            if found := re.search(START + pattern + END, text):
                return found.span()
    return None


def _pattern(word: str) -> str:
    return "".join(SAME.get(sign) or re.escape(sign) for sign in word)


def is_invented(said: str, sources: Sequence[Source]) -> bool:
    """Tell whether a text quotes, or links to, anything that no source holds.

    A comma or full stop inside the quotation marks may be the text's own.
    """
    linked = dict.fromkeys(ADDRESS.findall(said))
    if any(not any(each in source.quote.text for source in sources) for each in linked):
        return True
    quoted = dict.fromkeys(match[1] or match[2] for match in QUOTED.finditer(said))
    return any(not find_quote(each.rstrip(".,;:!?"), 0, sources) for each in quoted)
