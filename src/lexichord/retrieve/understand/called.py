"""The document that words of a question are a name of: the one that they fit best, and no other.

Words fit by a title, a file's name and a title's initials; what only the first lines hold comes
along. What is called by its sort alone, "the lease", is the one document of that sort.
"""

import asyncio
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from lexichord.db.pool import Database
from lexichord.db.search import link_documents
from lexichord.retrieve.understand import Cues, load_cues
from lexichord.retrieve.understand.aspects import NamePart
from lexichord.retrieve.understand.linking import (
    BRIDGE_WORDS,
    DEFINITE_WORDS,
    MENTION_COUNTS,
    Mention,
    QueryWord,
    is_of_another,
)
from lexichord.types import Scope
from lexichord.types.questions import Link

MAX_PHRASE_WORDS = 4  # of "the software licence agreement"
ABBREVIATION = re.compile(r"[A-Z]{3,6}")
OTHER_ARTICLES = frozenset(
    ["ein", "eine", "einen", "einem", "einer", "eines", "dem", "den", "l", "le", "les", "un", "une"]
).union(["el", "los", "las", "una", "unos", "unas"])
SMALL_WORDS = (
    BRIDGE_WORDS | DEFINITE_WORDS | OTHER_ARTICLES | MENTION_COUNTS.keys() | {"each", "one"}
)
PREPOSITIONS_IN_PARTS = frozenset(["of", "for", "von", "des", "de", "del", "du"])
TITLE_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Naming:
    """A query in a language, whose words may name documents of a scope."""

    database: Database
    query: str
    language: str
    words: Sequence[QueryWord]
    scope: Scope

    @property
    def cues(self) -> Cues:
        """The cues of its language."""
        return load_cues(self.language)

    async def links(self, first: int = 0, last: int | None = None) -> list[Link]:
        """Return the links to documents of its words `first` to `last`."""
        words = self.words[first : None if last is None else last + 1]
        return await link_documents(self.database, [word.text for word in words], self.scope)


class Operand(NamedTuple):
    """A part of a list, the mentions that name its document, and that of the nearest one."""

    part: NamePart
    named: list[Mention]
    nearest: Mention | None

    @property
    def mentions(self) -> list[Mention]:
        """What it stands for, as far as names and first lines tell."""
        return self.named or ([self.nearest] if self.nearest else [])


class Fit(NamedTuple):
    """How well a document's names fit some words: better ones are greater."""

    telling: int  # words that its title or its file's name holds, but those for a sort of document
    named: int  # the same, with those for a sort of document
    covered: float  # share of the title's words


async def find_definite(asked: Naming, links: Sequence[Link]) -> list[Mention]:
    """Return the mentions of what is called by its sort: "the lease", "our travel policy".

    `links` are those of all of the query's words.
    """
    words, cues = asked.words, asked.cues
    parts = [
        NamePart(0, first, last)
        for first, word in enumerate(words[1:], start=1)
        if words[first - 1].lower in DEFINITE_WORDS and words[first - 1].lower != "s"
        for last in range(first, min(first + MAX_PHRASE_WORDS, len(words)))
        if words[last].lower in cues.document_words or ABBREVIATION.fullmatch(words[last].text)
    ]
    whole = [
        part
        for part in parts
        if not any(word.apart for word in words[part.first + 1 : part.last + 1])
    ]
    found = await asyncio.gather(*(_find_called(asked, part, links) for part in whole))
    return [
        mentions[0]
        for part, mentions, _ in filter(None, found)
        if len(mentions) == 1
        and not is_of_another(words, mentions[0], links)
        and (
            _is_called(words, part, mentions[0])
            if words[part.last].lower in cues.document_words
            else _is_telling(mentions[0])
        )
    ]


async def _find_called(asked: Naming, part: NamePart, links: Iterable[Link]) -> Operand | None:
    """Find what a part calls; None of a word for a sort of document that calls none alone."""
    if part.first == part.last and not await _is_the_one(asked, part.first, links):
        return None
    return await find_operand(asked, part)


async def _is_the_one(asked: Naming, number: int, links: Iterable[Link]) -> bool:
    """Return whether a word for a sort of document calls one alone, and not any: "the document".

    Where the query's own `links` show several, it calls none alone: no other is looked up.
    """
    word, cues = asked.words[number].lower, asked.cues
    if word not in cues.document_words - cues.any_document:
        return word not in cues.any_document
    if sum(link.named for link in links if link.word == number) > 1:
        return False
    return sum(link.named for link in await asked.links(number, number)) == 1


def _is_called(words: Sequence[QueryWord], part: NamePart, mention: Mention) -> bool:
    """Return whether words before its sort are a document's name: it says the sort itself, or they
    are written as a name, or are half of its title.

    "The properties file" is none that is called Intellectual Property Protection.
    """
    before = [number for number in mention.held if number != part.last]
    return (
        part.last in mention.held
        or any(words[number].name for number in before)
        or 2 * len(before) >= len(TITLE_WORD.findall(mention.title))
    )


def _is_telling(mention: Mention) -> bool:
    """Return whether no more than a few documents are called by these words: "the MSA"."""
    return mention.by_initials or bool(mention.rare)


async def find_operand(asked: Naming, part: NamePart) -> Operand:
    """Find the documents that a part names, or else its end after an "of", and the nearest one.

    What stands before the "of" belongs to a name only if a title has it: "notice of Acme" has none.
    """
    words = asked.words
    starts = [
        number + 1
        for number in range(part.first, part.last)
        if words[number].lower in PREPOSITIONS_IN_PARTS
    ]
    links = await asked.links(part.first, part.last)
    nearest = _nearest(asked, part, links)
    ways = [(start, _named(asked, start, part, links)) for start in [part.first, *starts]]
    # In "Acme's definition of confidential information" the latter is no name.
    names = {number for number in part.place if words[number].name}
    named = [
        (start, found)
        for start, found in ways
        if found and found[0].held & (names or found[0].held)
    ]
    called = {(link.document_id, part.first + link.word) for link in links if link.named}
    for start, mentions in named[:-1]:
        before = range(start, min(number for number in starts if number > start))
        if any((mentions[0].document_id, number) in called for number in before):
            return Operand(part, mentions, nearest)
    return Operand(part, named[-1][1] if named else [], nearest)


def _nearest(asked: Naming, part: NamePart, links: Iterable[Link]) -> Mention | None:
    """Return the mention of the document whose names and first lines hold all words of a part.

    A word that many documents hold tells nothing, so that one has to be rare.
    """
    content, telling = told(asked, part.first, part)
    said = [number for number in telling if asked.words[number].lower not in asked.cues.common]
    near = [
        held  # the best by its card first
        for held in _by_document(part, links).values()
        if said and held.keys() >= set(said) and any(held[number].rare for number in said)
    ]
    if not near:
        return None
    best = max(near, key=lambda held: sum(held[n].named for n in said))
    is_name = any(best[number].named or asked.words[number].name for number in said)
    return replace(_mention(best, content), is_found=not is_name)


def told(asked: Naming, start: int, part: NamePart) -> tuple[list[int], list[int]]:
    """Return the words of a part that say something, and those that tell which document it is."""
    words, sorts = asked.words, asked.cues.document_words
    content = [n for n in range(start, part.last + 1) if words[n].lower not in SMALL_WORDS]
    return content, [n for n in content if words[n].lower not in sorts] or content


def _by_document(part: NamePart, links: Iterable[Link]) -> dict[str, dict[int, Link]]:
    by_document: defaultdict[str, dict[int, Link]] = defaultdict(dict)
    for link in links:
        by_document[link.document_id][part.first + link.word] = link
    return by_document


def _named(asked: Naming, start: int, part: NamePart, links: Iterable[Link]) -> list[Mention]:
    """Return the mentions of the documents that these words fit best, if their titles are one."""
    words = asked.words
    content, telling = told(asked, start, part)
    if not content:
        return []
    by_document = _by_document(part, links)
    fits = {document: _fit(words, content, telling, held) for document, held in by_document.items()}
    good = {document: fit for document, fit in fits.items() if fit is not None}
    best = [document for document, fit in good.items() if fit == max(good.values())]
    titles = {next(iter(by_document[document].values())).title for document in best}
    if len(titles) != 1 or not _is_definite(words, content, best, by_document, good):
        return []
    return [_mention(by_document[document], content) for document in best]


def _fit(
    words: Sequence[QueryWord],
    content: Sequence[int],
    telling: Sequence[int],
    held: dict[int, Link],
) -> Fit | None:
    """Return how well a document fits; None if it lacks a word that tells which one is meant."""
    if not all(number in held for number in telling):
        return None
    named = [number for number in content if number in held and held[number].named]
    told = sum(number in named for number in telling)
    by_card = all(words[n].name for n in telling) and any(held[n].rare for n in telling)
    if not told and not by_card:
        return None
    title = TITLE_WORD.findall(next(iter(held.values())).title)
    covered = sum(
        len(words[n].text.removesuffix("s")) if held[n].initials and not held[n].in_title else 1
        for n in named
        if held[n].in_title or held[n].initials
    )
    initials = "".join(word[0] for word in title).upper()
    leads = any(
        held[n].initials and initials.startswith(words[n].text.removesuffix("s")) for n in named
    )
    return Fit(told, len(named), leads + min(covered / max(len(title), 1), 1))


def _is_definite(
    words: Sequence[QueryWord],
    content: Sequence[int],
    best: Sequence[str],
    by_document: dict[str, dict[int, Link]],
    good: dict[str, Fit],
) -> bool:
    """Return whether the words name a document, rather than what it is about."""
    before = words[content[0] - 1].lower if content[0] else ""
    links = [by_document[best[0]][n] for n in content if n in by_document[best[0]]]
    has_name = any(words[n].name for n in content)
    whole = good[best[0]].covered >= 1 or good[best[0]].named > 1
    return before in DEFINITE_WORDS or has_name or whole or any(link.rare for link in links)


def _mention(held: dict[int, Link], content: Sequence[int]) -> Mention:
    link = next(iter(held.values()))
    numbers = frozenset(content) & held.keys()
    rare = frozenset(n for n in numbers if held[n].named and held[n].rare)
    initials = any(held[n].initials for n in numbers)
    place = (content[0], content[-1])
    return Mention(link.document_id, link.title, link.domain, *place, numbers, rare, initials)
