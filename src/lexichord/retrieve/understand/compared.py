"""The documents that a comparison names: each name of a list is looked up by itself.

"Compare the law of the MSA, the lease and Acme's policy" has lists, parted by the words of its
frame; the list of which most name a document is that of the documents, all else is what is
compared. A name stands for the one document that it fits best, and for none if it fits several.
What stands beside names in their list, or in the only list that can be one, is a document, too:
the one whose title, file name and first lines hold all of its words, else what a search for it
finds first.
"""

import asyncio
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from lexichord.db.call_settings import keys_known
from lexichord.db.evidence import link_documents, question_coverage
from lexichord.db.pool import Database
from lexichord.db.search import discover_files, hybrid_search
from lexichord.retrieve.understand.cues import Cues, find_language
from lexichord.retrieve.understand.linking import (
    BRIDGE_WORDS,
    DEFINITE_WORDS,
    MENTION_COUNTS,
    Mention,
    QueryWord,
)
from lexichord.retrieve.understand.parts import LIST_BEFORE_SIGN, NamePart, split_parts
from lexichord.types import Question, Scope
from lexichord.types.questions import Link

MAX_PHRASE_WORDS = 4  # of "the software licence agreement"
ABBREVIATION = re.compile(r"[A-Z]{3,6}")
MIN_LONG_TITLE_WORDS = 4  # so many different ones of one title are no list
MAX_NAMES = 12  # parts of a question that are looked up
SMALL_WORDS = BRIDGE_WORDS | DEFINITE_WORDS | MENTION_COUNTS.keys() | {"each", "one"}
PREPOSITIONS_IN_PARTS = frozenset(["of", "for", "von", "des", "de", "del", "du"])
TITLE_WORD = re.compile(r"\w+")


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


async def find_compared(
    database: Database,
    query: str,
    words: Sequence[QueryWord],
    scope: Scope,
    cues: Cues,
    *,
    mentions: Sequence[Mention],
    is_comparison: bool,
) -> list[Mention]:
    """Return the mentions of the documents that a comparison lists; none if it lists no two.

    Titles among the query's `mentions` stay whole.
    """
    parts = split_parts(query, words, cues, [one for one in mentions if _is_whole(words, one)])
    opening = [] if is_comparison else _before_sign(query, words, parts)
    parts = parts if is_comparison else opening
    if not 1 < len(parts) <= MAX_NAMES:
        return []
    found = await asyncio.gather(*(_find(database, words, part, scope, cues) for part in parts))
    lists: defaultdict[int, list[Operand]] = defaultdict(list)
    for one in found:
        lists[one.part.group].append(one)
    listed = _documents_list(words, lists.values())
    documents = [one for one in listed if _is_document(words, one, listed, cues)]
    search = partial(_search_each, database, words, scope=scope, language=find_language(query))
    if not is_comparison:
        is_list = documents == listed and _are_known(documents)
        return await _one_each(database, query, words, await search(documents) if is_list else [])
    # Files that the caller chose are the rows, unless the question names others.
    is_near = not scope.documents and any(one.nearest for one in documents)
    names = [one.named for one in listed]
    if any(names) or (is_near and not _is_inside(words, documents, found, cues)):
        names = await search(documents)
    if sum(map(bool, names)) < 2:
        names = [one.named for one in found]
    if sum(map(bool, names)) < 2 and not scope.documents:
        names = await search(_things(query, words, found, cues))
    return await _one_each(database, query, words, names)


def _things(
    query: str, words: Sequence[QueryWord], found: Sequence[Operand], cues: Cues
) -> list[Operand]:
    """Return what is compared where no two documents are named: files are to be found for it.

    It is the first list, else what stands on both sides of "differs from" and "better than";
    nothing where the query says what it is in: "notice and rent in all leases", "… in the lease".
    """
    if not any(word.lower in cues.comparing_words for word in words):
        return []
    said = [one for one in found if _told(words, one.part.first, one.part, cues)[0]]
    lists = [[one for one in said if one.part.group == group.part.group] for group in said]
    things = next((listed for listed in lists if len(listed) > 1), _apart(query, words, said, cues))
    return [] if _is_inside(words, things, said, cues) else things


def _apart(
    query: str, words: Sequence[QueryWord], said: Sequence[Operand], cues: Cues
) -> list[Operand]:
    """Return the part before and the part after a word as the "from" of "differs from"."""
    match = cues.parting.search(query) if cues.parting else None
    if match is None:
        return []
    before = [one for one in said if words[one.part.last].end <= match.start(match.lastindex or 0)]
    after = [one for one in said if words[one.part.first].start >= match.end()]
    return [*before[-1:], *after[:1]] if before and after else []


def _is_inside(
    words: Sequence[QueryWord], things: Sequence[Operand], found: Sequence[Operand], cues: Cues
) -> bool:
    """Return whether a query says in what it compares things: "… in the lease", "in all leases"."""
    kinds = cues.document_words | MENTION_COUNTS.keys()
    after = [one for one in found if things and one.part.first > things[-1].part.last]
    places = [range(one.part.first, one.part.last + 1) for one in after]
    says = any(words[number].lower in kinds for place in places for number in place)
    return says or any(one.named for one in found if one not in things)


def _are_known(listed: Sequence[Operand]) -> bool:
    """Return whether names or first lines tell half of a list's documents."""
    return 2 * sum(bool(one.mentions) for one in listed) >= len(listed)


def _before_sign(
    query: str, words: Sequence[QueryWord], parts: Iterable[NamePart]
) -> list[NamePart]:
    """Return the parts that stand before a colon or a dash."""
    opening = LIST_BEFORE_SIGN.match(query)
    return [one for one in parts if opening and words[one.last].end <= opening.end()]


def _is_whole(words: Sequence[QueryWord], mention: Mention) -> bool:
    held = {words[number].lower for number in mention.held}
    return mention.is_whole or len(held) >= MIN_LONG_TITLE_WORDS


def _documents_list(words: Sequence[QueryWord], lists: Iterable[list[Operand]]) -> list[Operand]:
    """Return the list of which most names documents, comes near one or is written as a name.

    Of "start and term of the lease, the licence and the MSA" what goes before "of" is compared.
    """
    listed = max(
        lists,
        key=lambda listed: (
            any(one.named for one in listed),
            sum(2 * bool(one.named) + bool(one.nearest) + _is_name(words, one) for one in listed),
        ),
    )
    owned = [n for n, one in enumerate(listed) if one.named and _is_owned(words, one)]
    return listed[owned[0] :] if owned else listed


def _is_owned(words: Sequence[QueryWord], one: Operand) -> bool:
    """Return whether a part says what is asked of the document that it names: "term of the MSA"."""
    before = range(one.part.first, one.named[0].first)
    return any(words[number].lower in PREPOSITIONS_IN_PARTS for number in before)


def _is_name(words: Sequence[QueryWord], one: Operand) -> bool:
    return any(words[number].name for number in range(one.part.first, one.part.last + 1))


def _is_document(
    words: Sequence[QueryWord], one: Operand, listed: Sequence[Operand], cues: Cues
) -> bool:
    """Return whether a part of the list stands for a document, and is not what is compared.

    What is written as a name does, and where one is known, what it is compared with. What is
    compared may follow the documents, "the lease, the licence, rent", and after a comparative goes
    before them: "which has the longer notice, the MSA or the lease?"
    """
    if one.named or _is_name(words, one):
        return True
    first = listed[0].part.first
    if first and cues.comparative.fullmatch(words[first - 1].lower):
        return False
    sure = [each for each in listed if each.named]
    known = sure if len(sure) > 1 else [each for each in listed if each.mentions]
    return len(known) < 2 or any(one.part.first <= each.part.first for each in known)


async def _search_each(
    database: Database,
    words: Sequence[QueryWord],
    listed: Sequence[Operand],
    *,
    scope: Scope,
    language: str,
) -> list[list[Mention]]:
    """Return the mentions of what each stands for, by its name or else by a search.

    What another one says as well, the lock of "a lock and a queueing lock", has a file of its own.
    """
    search = partial(_search, database, words, scope=scope, language=language)
    names = [one.mentions or await search(one, ()) for one in listed]
    said = [_content(words, one) for one in listed]
    for number, one in enumerate(listed):
        longer = [each for each, other in zip(names, said, strict=True) if said[number] < other]
        taken = {mention.document_id for each in longer for mention in each}
        if taken & {mention.document_id for mention in names[number]}:
            names[number] = await search(one, taken)
    return names


def _content(words: Sequence[QueryWord], one: Operand) -> set[str]:
    place = range(one.part.first, one.part.last + 1)
    said = {words[number].lower for number in place} - SMALL_WORDS
    return {word.removesuffix("s") for word in said}


async def _search(
    database: Database,
    words: Sequence[QueryWord],
    one: Operand,
    taken: Collection[str],
    *,
    scope: Scope,
    language: str,
) -> list[Mention]:
    """Return a mention of what a search for a part finds first but documents that are `taken`.

    Where the part has names, the document says all of them. One in the question's language comes
    before others, which may tell the same.
    """
    own = {"key": "language", "op": "eq", "value": language}
    narrowed = own if scope.filter is None else {"and": [scope.filter, own]}
    place = range(one.part.first, one.part.last + 1)
    has_names = any(words[number].name for number in place)
    find = _first_with_names if has_names else _first_file
    for each in (replace(scope, filter=narrowed), scope):
        with keys_known():  # where no language was told, none is
            if found := await find(database, words, one, taken, each):
                return found
    return []


async def _first_file(
    database: Database,
    words: Sequence[QueryWord],
    one: Operand,
    taken: Collection[str],
    scope: Scope,
) -> list[Mention]:
    place = range(one.part.first, one.part.last + 1)
    text = " ".join(words[n].text for n in place if words[n].lower not in SMALL_WORDS)
    if not all(term.df for term in await question_coverage(database, text, [])):
        return []  # what else it says would find something near
    question = Question(query=text, scope=scope, k=len(taken) + 1)
    held = frozenset(place)
    return [
        Mention(file.document_id, file.title, file.dataset, *one.part[1:], held, held)
        for file in await discover_files(database, question)
        if file.document_id not in taken
    ][:1]


async def _first_with_names(
    database: Database,
    words: Sequence[QueryWord],
    one: Operand,
    taken: Collection[str],
    scope: Scope,
) -> list[Mention]:
    place = range(one.part.first, one.part.last + 1)
    names = [words[number].lower for number in place if words[number].name]
    text = " ".join(words[number].text for number in place)
    for hit in await hybrid_search(database, Question(query=text, scope=scope)):
        said = f"{hit.title} {hit.uri} {hit.heading} {hit.content}".lower()
        if hit.document_id not in taken and all(name in said for name in names):
            held = frozenset(place)
            return [Mention(hit.document_id, hit.title, hit.dataset, *one.part[1:], held, held)]
    return []


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
    found = [
        await _find(database, words, part, scope, cues)
        for part in whole
        if part.first < part.last or await _is_the_one(database, words[part.first], scope, cues)
    ]
    return [
        mentions[0]
        for part, mentions, _ in found
        if len(mentions) == 1
        and (
            _is_called(words, part, mentions[0])
            if words[part.last].lower in cues.document_words
            else _is_telling(mentions[0])
        )
    ]


async def _is_the_one(database: Database, word: QueryWord, scope: Scope, cues: Cues) -> bool:
    """Return whether one document alone is called by a word, and not any: "the document"."""
    if word.lower in cues.any_document:
        return False
    links = await link_documents(database, [word.text], scope)
    return sum(link.named for link in links) == 1


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


async def _find(
    database: Database, words: Sequence[QueryWord], part: NamePart, scope: Scope, cues: Cues
) -> Operand:
    """Find the documents that a part names, or else its end after an "of", and the nearest one.

    What stands before the "of" belongs to a name only if a title has it: "notice of Acme" has none.
    """
    starts = [
        number + 1
        for number in range(part.first, part.last)
        if words[number].lower in PREPOSITIONS_IN_PARTS
    ]
    links = await link_documents(
        database, [word.text for word in words[part.first : part.last + 1]], scope
    )
    nearest = _nearest(words, part, links, cues)
    ways = [(start, _named(words, start, part, links, cues)) for start in [part.first, *starts]]
    named = [(start, mentions) for start, mentions in ways if mentions]
    called = {(link.document_id, part.first + link.word) for link in links if link.named}
    for start, mentions in named[:-1]:
        before = range(start, min(number for number in starts if number > start))
        if any((mentions[0].document_id, number) in called for number in before):
            return Operand(part, mentions, nearest)
    return Operand(part, named[-1][1] if named else [], nearest)


def _nearest(
    words: Sequence[QueryWord], part: NamePart, links: Iterable[Link], cues: Cues
) -> Mention | None:
    """Return the mention of the document whose names and first lines hold all words of a part.

    A word that many documents hold tells nothing, so that one has to be rare.
    """
    content, telling = _told(words, part.first, part, cues)
    said = [number for number in telling if words[number].lower not in cues.common]
    near = [
        held  # the best by its card first
        for held in _by_document(part, links).values()
        if said and held.keys() >= set(said) and any(held[number].rare for number in said)
    ]
    if not near:
        return None
    return _mention(max(near, key=lambda held: sum(held[n].named for n in said)), content)


def _told(
    words: Sequence[QueryWord], start: int, part: NamePart, cues: Cues
) -> tuple[list[int], list[int]]:
    """Return the words of a part that say something, and those that tell which document it is."""
    content = [n for n in range(start, part.last + 1) if words[n].lower not in SMALL_WORDS]
    return content, [n for n in content if words[n].lower not in cues.document_words] or content


def _by_document(part: NamePart, links: Iterable[Link]) -> dict[str, dict[int, Link]]:
    by_document: defaultdict[str, dict[int, Link]] = defaultdict(dict)
    for link in links:
        by_document[link.document_id][part.first + link.word] = link
    return by_document


def _named(
    words: Sequence[QueryWord], start: int, part: NamePart, links: Iterable[Link], cues: Cues
) -> list[Mention]:
    """Return the mentions of the documents that these words fit best, if their titles are one."""
    content, telling = _told(words, start, part, cues)
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


async def _one_each(
    database: Database, query: str, words: Sequence[QueryWord], names: Sequence[Sequence[Mention]]
) -> list[Mention]:
    """Return a mention for each name, whichever document of one title is most likely meant.

    None where nothing or one thing alone was to be found.
    """
    known = [name for name in names if name]
    if not known or len(names) < 2:
        return []
    tied = [mention.document_id for name in known if len(name) > 1 for mention in name]
    ranked = await _rank_tied(database, words, tied, find_language(query)) if tied else []
    order = {document: number for number, document in enumerate(ranked)}
    chosen = [min(name, key=lambda one: order.get(one.document_id, len(order))) for name in known]
    distinct = {mention.document_id: mention for mention in reversed(chosen)}
    return [
        replace(mention, is_listed=True)
        for mention in sorted(distinct.values(), key=lambda mention: mention.first)
    ]


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
