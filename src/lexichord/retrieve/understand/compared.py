"""The documents that a comparison names: each name of a list is looked up by itself.

"Compare the law of the MSA, the lease and Acme's policy" has lists, parted by the words of its
frame; the list of which most name a document is that of the documents, all else is what is
compared. A name stands for the one document that it fits best, and for none if it fits several.
What stands beside names in their list, or in the only list that can be one, is a document, too:
the one whose title, file name and first lines hold all of its words, else what a search for it
finds first.
"""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from lexichord.db.search import discover_files, hybrid_search, question_coverage
from lexichord.db.session import keys_known
from lexichord.retrieve.understand.aspects import LIST_BEFORE_SIGN, NamePart, split_parts
from lexichord.retrieve.understand.called import (
    PREPOSITIONS_IN_PARTS,
    SMALL_WORDS,
    Naming,
    Operand,
    find_operand,
    told,
)
from lexichord.retrieve.understand.linking import MENTION_COUNTS, Mention, QueryWord
from lexichord.types import ChunkHit, FileHit, Question, Scope

MIN_LONG_TITLE_WORDS = 4  # so many different ones of one title are no list
MAX_NAMES = 12  # parts of a question that are looked up


async def find_compared(
    asked: Naming, mentions: Sequence[Mention], *, is_comparison: bool
) -> list[Mention]:
    """Return the mentions of the documents that a comparison lists; none if it lists no two.

    Titles among the query's `mentions` stay whole.
    """
    words = asked.words
    whole = [one for one in mentions if _is_whole(words, one)]
    parts = split_parts(asked.query, words, asked.cues, whole)
    parts = parts if is_comparison else _before_sign(asked, parts)
    if not 1 < len(parts) <= MAX_NAMES:
        return []
    found = await asyncio.gather(*(find_operand(asked, part) for part in parts))
    found = [_with_name(words, one, mentions) for one in found]
    lists: defaultdict[int, list[Operand]] = defaultdict(list)
    for one in found:
        lists[one.part.group].append(one)
    listed = _documents_list(words, lists.values())
    documents = [one for one in listed if _is_document(asked, one, listed)]
    if not is_comparison:
        is_list = documents == listed and _are_known(documents)
        return await _one_each(asked, await _search_each(asked, documents) if is_list else [])
    # Files that the caller chose are the rows, unless the question names others.
    is_near = not asked.scope.documents and any(one.nearest for one in documents)
    names = [one.named for one in listed]
    if any(names) or (is_near and not _is_inside(asked, documents, found)):
        names = await _search_each(asked, documents)
    if sum(map(bool, names)) < 2:
        names = [one.named for one in found]
    if sum(map(bool, names)) < 2 and not asked.scope.documents:
        names = await _search_each(asked, _things(asked, found))
    return await _one_each(asked, names)


def _with_name(words: Sequence[QueryWord], one: Operand, mentions: Iterable[Mention]) -> Operand:
    """Return a part with the one name that stands among its other words: "Acme's definition"."""
    if one.named:
        return one
    inside = [
        mention
        for mention in mentions
        if one.part.first <= mention.first <= mention.last <= one.part.last
        and any(words[number].name for number in mention.held)
    ]
    return one._replace(named=inside if len(inside) == 1 else [])


def _things(asked: Naming, found: Sequence[Operand]) -> list[Operand]:
    """Return what is compared where no two documents are named: files are to be found for it.

    It is the first list, else what stands on both sides of "differs from" and "better than";
    nothing where the query says what it is in: "notice and rent in all leases", "… in the lease".
    """
    if not _says_compare(asked):
        return []
    said = [one for one in found if told(asked, one.part.first, one.part)[0]]
    lists = [[one for one in said if one.part.group == group.part.group] for group in said]
    things = next((listed for listed in lists if len(listed) > 1), _apart(asked, said))
    return [] if _is_inside(asked, things, said) else things


def _says_compare(asked: Naming) -> bool:
    """Return whether words compare things with each other, and do not only ask for the longest."""
    return any(word.lower in asked.cues.comparing_words for word in asked.words)


def _apart(asked: Naming, said: Sequence[Operand]) -> list[Operand]:
    """Return the part before and the part after a word as the "from" of "differs from"."""
    words, parting = asked.words, asked.cues.parting
    match = parting.search(asked.query) if parting else None
    if match is None:
        return []
    before = [one for one in said if words[one.part.last].end <= match.start(match.lastindex or 0)]
    after = [one for one in said if words[one.part.first].start >= match.end()]
    return [*before[-1:], *after[:1]] if before and after else []


def _is_inside(asked: Naming, things: Sequence[Operand], found: Sequence[Operand]) -> bool:
    """Return whether a query says in what it compares things: "… in the lease", "in all leases"."""
    kinds = asked.cues.document_words | MENTION_COUNTS.keys()
    after = [one for one in found if things and one.part.first > things[-1].part.last]
    says = any(asked.words[number].lower in kinds for one in after for number in one.part.place)
    return says or any(one.named for one in found if one not in things)


def _are_known(listed: Sequence[Operand]) -> bool:
    """Return whether names or first lines tell half of a list's documents."""
    return 2 * sum(bool(one.mentions) for one in listed) >= len(listed)


def _before_sign(asked: Naming, parts: Iterable[NamePart]) -> list[NamePart]:
    """Return the parts that stand before a colon or a dash."""
    opening = LIST_BEFORE_SIGN.match(asked.query)
    return [one for one in parts if opening and asked.words[one.last].end <= opening.end()]


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
    return any(words[number].name for number in one.part.place)


def _is_document(asked: Naming, one: Operand, listed: Sequence[Operand]) -> bool:
    """Return whether a part of the list stands for a document, and is not what is compared.

    What is written as a name does, and where one is known, what it is compared with. What is
    compared may follow the documents, "the lease, the licence, rent", and after a comparative goes
    before them: "which has the longer notice, the MSA or the lease?"
    """
    if one.named or _is_name(asked.words, one):
        return True
    first = listed[0].part.first
    if first and asked.cues.comparative.fullmatch(asked.words[first - 1].lower):
        return False
    sure = [each for each in listed if each.named]
    known = sure if len(sure) > 1 else [each for each in listed if each.mentions]
    if len(known) < 2 and _says_compare(asked):
        return True
    return any(one.part.first <= each.part.first for each in known)


async def _search_each(asked: Naming, listed: Sequence[Operand]) -> list[list[Mention]]:
    """Return the mentions of what each stands for, by its name or else by a search.

    What another one says as well, the lock of "a lock and a queueing lock", has a file of its own.
    """
    names = [one.mentions or await _search(asked, one, ()) for one in listed]
    said = [_content(asked.words, one) for one in listed]
    for number, one in enumerate(listed):
        longer = [each for each, other in zip(names, said, strict=True) if said[number] < other]
        taken = {mention.document_id for each in longer for mention in each}
        if taken & {mention.document_id for mention in names[number]}:
            names[number] = await _search(asked, one, taken)
    return names


def _content(words: Sequence[QueryWord], one: Operand) -> set[str]:
    said = {words[number].lower for number in one.part.place} - SMALL_WORDS
    return {word.removesuffix("s") for word in said}


async def _search(asked: Naming, one: Operand, taken: Collection[str]) -> list[Mention]:
    """Return a mention of what a search for a part finds first but documents that are `taken`.

    Where the part has names, the document says all of them. One in the question's language comes
    before others, which may tell the same.
    """
    own = {"key": "language", "op": "eq", "value": asked.language}
    narrowed = own if asked.scope.filter is None else {"and": [asked.scope.filter, own]}
    find = _first_with_names if _is_name(asked.words, one) else _first_file
    for scope in (replace(asked.scope, filter=narrowed), asked.scope):
        with keys_known():  # where no language was told, none is
            if found := await find(replace(asked, scope=scope), one, taken):
                return found
    return []


async def _first_file(asked: Naming, one: Operand, taken: Collection[str]) -> list[Mention]:
    said = (asked.words[number] for number in one.part.place)
    text = " ".join(word.text for word in said if word.lower not in SMALL_WORDS)
    if not all(term.df for term in await question_coverage(asked.database, text, [])):
        return []  # what else it says would find something near
    question = Question(query=text, scope=asked.scope, k=len(taken) + 1)
    files = await discover_files(asked.database, question)
    found = next((file for file in files if file.document_id not in taken), None)
    return [replace(_mention(one, found), is_found=True)] if found else []


async def _first_with_names(asked: Naming, one: Operand, taken: Collection[str]) -> list[Mention]:
    said = [asked.words[number] for number in one.part.place]
    names = [word.lower for word in said if word.name]
    text = " ".join(word.text for word in said)
    for hit in await hybrid_search(asked.database, Question(query=text, scope=asked.scope)):
        shown = f"{hit.title} {hit.uri} {hit.heading} {hit.content}".lower()
        if hit.document_id not in taken and all(name in shown for name in names):
            return [_mention(one, hit)]
    return []


def _mention(one: Operand, found: FileHit | ChunkHit) -> Mention:
    """Return the mention of a document that a search for a part finds: all its words are held."""
    held = frozenset(one.part.place)
    return Mention(found.document_id, found.title, found.dataset, *one.part[1:], held, held)


async def _one_each(asked: Naming, names: Sequence[Sequence[Mention]]) -> list[Mention]:
    """Return a mention for each name, whichever document of one title is most likely meant.

    None where nothing or one thing alone was to be found.
    """
    known = [name for name in names if name]
    if not known or len(names) < 2:
        return []
    tied = [mention.document_id for name in known if len(name) > 1 for mention in name]
    ranked = await _rank_tied(asked, tied) if tied else []
    order = {document: number for number, document in enumerate(ranked)}
    chosen = [min(name, key=lambda one: order.get(one.document_id, len(order))) for name in known]
    distinct = {mention.document_id: mention for mention in reversed(chosen)}
    return [
        replace(mention, is_listed=True)
        for mention in sorted(distinct.values(), key=lambda mention: mention.first)
    ]


async def _rank_tied(asked: Naming, tied: Sequence[str]) -> list[str]:
    """Return documents of one title, those in the question's language first, by their cards' fit.

    A text that is stored in several languages has the same title in each.
    """
    alike = Scope(documents=tuple(tied))
    own = replace(alike, filter={"language": asked.language})
    with keys_known():  # where no language was told, none is
        links = await replace(asked, scope=own).links()
    links += await replace(asked, scope=alike).links()
    return list(dict.fromkeys(link.document_id for link in links))
