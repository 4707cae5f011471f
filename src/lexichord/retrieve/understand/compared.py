"""The documents that a comparison names: each name of a list is looked up by itself.

"Compare the law of the MSA, the lease and Acme's policy" has lists, parted by the words of its
frame; the list of which most name a document is that of the documents, all else is what is
compared. A name stands for the one document that it fits best, and for none if it fits several.
"""

import asyncio
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from lexichord.db.call_settings import keys_known
from lexichord.db.evidence import link_documents
from lexichord.db.pool import Database
from lexichord.retrieve.understand.cues import Cues, find_language
from lexichord.retrieve.understand.linking import (
    BRIDGE_WORDS,
    DEFINITE_WORDS,
    MENTION_COUNTS,
    Mention,
    QueryWord,
)
from lexichord.types import Scope
from lexichord.types.questions import Link

MAX_PHRASE_WORDS = 4  # of "the software licence agreement"
ABBREVIATION = re.compile(r"[A-Z]{3,6}")
MAX_NAMES = 12  # parts of a question that are looked up
LIST_SIGN = re.compile(r"\s*[,;&]\s*")
FRAME_SIGN = re.compile(r"[:?!¿¡\n]|\.\s|\s[-–—]+\s")
SMALL_WORDS = BRIDGE_WORDS | DEFINITE_WORDS | MENTION_COUNTS.keys() | {"each"}
PREPOSITIONS_IN_PARTS = frozenset(["of", "for", "von", "des", "de", "del", "du"])
TITLE_WORD = re.compile(r"\w+")


class NamePart(NamedTuple):
    """Words `first` to `last` of a question, between the joints of list number `group`."""

    group: int
    first: int
    last: int


class Fit(NamedTuple):
    """How well a document's names fit some words: better ones are greater."""

    telling: int  # words that its title or its file's name holds, but those for a sort of document
    named: int  # the same, with those for a sort of document
    covered: float  # share of the title's words


def split_parts(query: str, words: Sequence[QueryWord], cues: Cues) -> list[NamePart]:
    """Return the parts of a comparison's lists; the words of its frame stand between lists."""
    parts: list[NamePart] = []
    group, first = 0, None
    for number, word in enumerate(words):
        gap = query[words[number - 1].end : word.start] if number else ""
        opens_frame = bool(FRAME_SIGN.search(gap))
        is_frame = word.lower in cues.frame_words and not word.text.isupper()
        is_joint = word.lower in cues.joint_words
        if first is not None and (opens_frame or is_frame or is_joint or LIST_SIGN.search(gap)):
            parts.append(NamePart(group, first, number - 1))
            first = None
        group += opens_frame or is_frame
        if first is None and not (is_frame or is_joint):
            first = number
    return parts if first is None else [*parts, NamePart(group, first, len(words) - 1)]


async def find_compared(
    database: Database, query: str, words: Sequence[QueryWord], scope: Scope, cues: Cues
) -> list[Mention]:
    """Return the mentions of the documents that a comparison lists; none if it lists no two."""
    parts = split_parts(query, words, cues)
    if not 1 < len(parts) <= MAX_NAMES:
        return []
    found = await asyncio.gather(*(_find(database, words, part, scope, cues) for part in parts))
    lists: defaultdict[int, list[list[Mention]]] = defaultdict(list)
    for part, mentions in zip(parts, found, strict=True):
        if mentions:
            lists[part.group].append(mentions)
    if not lists:
        return []
    longest = max(lists.values(), key=len)
    chosen = longest if len(longest) > 1 else [each for group in lists.values() for each in group]
    if len(chosen) < 2:
        return []
    return await _one_each(database, words, chosen, find_language(query))


async def find_definite(
    database: Database, words: Sequence[QueryWord], scope: Scope, cues: Cues
) -> list[Mention]:
    """Return the mentions of what is called by its sort: "the lease", "our travel policy"."""
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
    found = await asyncio.gather(*(_find(database, words, part, scope, cues) for part in whole))
    return [
        mentions[0]
        for part, mentions in zip(whole, found, strict=True)
        if len(mentions) == 1
        and (words[part.last].lower in cues.document_words or _is_telling(mentions[0]))
    ]


def _is_telling(mention: Mention) -> bool:
    """Return whether no more than a few documents are called by these words: "the MSA"."""
    return mention.by_initials or bool(mention.rare)


async def _find(
    database: Database, words: Sequence[QueryWord], part: NamePart, scope: Scope, cues: Cues
) -> list[Mention]:
    """Return the mentions of the documents that a part names, or else its end after an "of"."""
    starts = [
        number + 1
        for number in range(part.first, part.last)
        if words[number].lower in PREPOSITIONS_IN_PARTS
    ]
    links = await link_documents(
        database, [word.text for word in words[part.first : part.last + 1]], scope
    )
    for start in [part.first, *starts]:
        if mentions := _named(words, start, part, links, cues):
            return mentions
    return []


def _named(
    words: Sequence[QueryWord], start: int, part: NamePart, links: Iterable[Link], cues: Cues
) -> list[Mention]:
    """Return the mentions of the documents that these words fit best, if their titles are one."""
    content = [n for n in range(start, part.last + 1) if words[n].lower not in SMALL_WORDS]
    telling = [n for n in content if words[n].lower not in cues.document_words] or content
    if not content:
        return []
    by_document: defaultdict[str, dict[int, Link]] = defaultdict(dict)
    for link in links:
        by_document[link.document_id][part.first + link.word] = link
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


async def _one_each(
    database: Database,
    words: Sequence[QueryWord],
    names: Sequence[Sequence[Mention]],
    language: str,
) -> list[Mention]:
    """Return a mention for each name, whichever document of one title is most likely meant."""
    tied = [mention.document_id for name in names if len(name) > 1 for mention in name]
    ranked = await _rank_tied(database, words, tied, language) if tied else []
    order = {document: number for number, document in enumerate(ranked)}
    chosen = [min(name, key=lambda one: order.get(one.document_id, len(order))) for name in names]
    distinct = {mention.document_id: mention for mention in reversed(chosen)}
    return sorted(distinct.values(), key=lambda mention: mention.first)


async def _rank_tied(
    database: Database, words: Sequence[QueryWord], tied: Sequence[str], language: str
) -> list[str]:
    """Return documents of one title, those in the question's language first, by their cards' fit.

    A text that is stored in several languages has the same title in each.
    """
    texts = [word.text for word in words]
    alike = Scope(documents=tuple(tied))
    with keys_known():  # where no language was told, none is
        own = await link_documents(database, texts, replace(alike, filter={"language": language}))
    links = [*own, *await link_documents(database, texts, alike)]
    return list(dict.fromkeys(link.document_id for link in links))
