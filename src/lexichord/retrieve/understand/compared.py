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
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from operator import or_
from typing import NamedTuple

from lexichord.db.call_settings import keys_known
from lexichord.db.evidence import link_documents
from lexichord.db.pool import Database
from lexichord.db.search import hybrid_search
from lexichord.retrieve.understand.cues import Cues, find_language
from lexichord.retrieve.understand.linking import (
    BRIDGE_WORDS,
    DEFINITE_WORDS,
    MENTION_COUNTS,
    Mention,
    QueryWord,
)
from lexichord.types import Question, Scope
from lexichord.types.questions import Link

MAX_PHRASE_WORDS = 4  # of "the software licence agreement"
ABBREVIATION = re.compile(r"[A-Z]{3,6}")
MIN_LONG_TITLE_WORDS = 4  # so many different ones of one title are no list
MAX_NAMES = 12  # parts of a question that are looked up
LIST_SIGN = re.compile(r"\s*[,;\u3001]\s*|\s&\s")
FRAME_SIGN = re.compile(r"[:?!¿¡\n\uff0c\uff1a\uff1f\uff01\uff1b\u3002]|\.\s|\s[-–—]+\s")
LIST_BEFORE_SIGN = re.compile(r"[^:?\n]{2,200}?(?=:\s|\s[-–—]+\s)")
PREPOSITIONS = frozenset(["in", "on", "under", "about", "across", "bei", "im", "en", "sur", "sous"])
SMALL_WORDS = BRIDGE_WORDS | DEFINITE_WORDS | MENTION_COUNTS.keys() | {"each"}
PREPOSITIONS_IN_PARTS = frozenset(["of", "for", "von", "des", "de", "del", "du"])
VERSUS = re.compile(r"\b(?:vs|versus)\b", re.IGNORECASE)
TITLE_WORD = re.compile(r"\w+")


class NamePart(NamedTuple):
    """Words `first` to `last` of a question, between the joints of list number `group`."""

    group: int
    first: int
    last: int


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
    parts: list[NamePart] = []
    group, first = 0, None
    for number, word in enumerate(words):
        gap = query[words[number - 1].end : word.start] if number not in inside | {0} else ""
        opens_frame = _ends_list(gap, words[number - 1])
        is_frame = number in frame
        is_joint = word.lower in cues.joint_words and number not in inside
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
    parts = opening if opening[1:] else parts
    if not 1 < len(parts) <= MAX_NAMES:
        return []
    found = await asyncio.gather(*(_find(database, words, part, scope, cues) for part in parts))
    lists: defaultdict[int, list[Operand]] = defaultdict(list)
    for one in found:
        lists[one.part.group].append(one)
    listed = _documents_list(words, lists.values())
    documents = [one for one in listed if _is_document(words, one, listed, cues)]
    if is_comparison:
        are_rows = any(one.mentions for one in documents)
    else:
        is_list = opening[1:] or VERSUS.search(query) or _are_definite(words, listed)
        are_rows = bool(is_list) and documents == listed and _are_known(documents)
    if are_rows:
        search = partial(_search, database, words, scope=scope, language=find_language(query))
        names = [one.mentions or await search(one) for one in documents]
    else:
        names = [one.named for one in listed]
    if is_comparison and sum(map(bool, names)) < 2:
        names = [one.named for one in found]
    return await _one_each(database, query, words, names, is_comparison or are_rows)


def _are_definite(words: Sequence[QueryWord], listed: Sequence[Operand]) -> bool:
    """Return whether all parts are names or begin as "the harvest" does, and one is known by name.

    Neither "water, gas and power" nor "the water and the gas" lists documents.
    """
    named = [bool(one.named) or _is_name(words, one) for one in listed]
    definite = [words[one.part.first].lower in DEFINITE_WORDS for one in listed]
    return any(named) and all(map(or_, named, definite))


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
        key=lambda listed: sum(
            2 * bool(one.named) + bool(one.nearest) + _is_name(words, one) for one in listed
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

    What is written as a name does. What is compared may follow the documents, "the lease, the
    licence, rent", and after a comparative goes before them: "which has the longer notice, the MSA
    or the lease?"
    """
    if one.named or _is_name(words, one):
        return True
    first = listed[0].part.first
    if first and cues.comparative.fullmatch(words[first - 1].lower):
        return False
    sure = [each for each in listed if each.named]
    known = sure if len(sure) > 1 else [each for each in listed if each.mentions]
    return any(one.part.first <= each.part.first for each in known)


async def _search(
    database: Database, words: Sequence[QueryWord], one: Operand, *, scope: Scope, language: str
) -> list[Mention]:
    """Return a mention of the document that a search for a part finds first with all its names.

    A document in the question's language comes before others, which may tell the same.
    """
    own = {"key": "language", "op": "eq", "value": language}
    narrowed = own if scope.filter is None else {"and": [scope.filter, own]}
    for each in (replace(scope, filter=narrowed), scope):
        with keys_known():  # where no language was told, none is
            if found := await _first_with_names(database, words, one, each):
                return found
    return []


async def _first_with_names(
    database: Database, words: Sequence[QueryWord], one: Operand, scope: Scope
) -> list[Mention]:
    place = range(one.part.first, one.part.last + 1)
    names = [words[number].lower for number in place if words[number].name]
    text = " ".join(words[number].text for number in place)
    for hit in await hybrid_search(database, Question(query=text, scope=scope)):
        said = f"{hit.title} {hit.uri} {hit.heading} {hit.content}".lower()
        if all(name in said for name in names):
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
    found = await asyncio.gather(*(_find(database, words, part, scope, cues) for part in whole))
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
    """Find the documents that a part names, or else its end after an "of", and the nearest one."""
    starts = [
        number + 1
        for number in range(part.first, part.last)
        if words[number].lower in PREPOSITIONS_IN_PARTS
    ]
    links = await link_documents(
        database, [word.text for word in words[part.first : part.last + 1]], scope
    )
    nearest = _nearest(words, part, links, cues)
    for start in [part.first, *starts]:
        if mentions := _named(words, start, part, links, cues):
            return Operand(part, mentions, nearest)
    return Operand(part, [], nearest)


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
    database: Database,
    query: str,
    words: Sequence[QueryWord],
    names: Sequence[Sequence[Mention]],
    may_lack: bool,
) -> list[Mention]:
    """Return a mention for each name, whichever document of one title is most likely meant.

    None if there are no two, or if one is unknown that must not be: "who pays for water, gas and
    the lease" lists no documents.
    """
    known = [name for name in names if name]
    if len(known) < 2 or (len(known) < len(names) and not may_lack):
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
