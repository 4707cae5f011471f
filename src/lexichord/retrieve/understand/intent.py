"""The intent of a query: its kind, its parts, and the documents that it names."""

import re
from collections.abc import Sequence
from dataclasses import replace

from lexichord.db.evidence import link_documents
from lexichord.db.pool import Database
from lexichord.retrieve.understand.aspects import find_aspects
from lexichord.retrieve.understand.called import SMALL_WORDS, find_definite
from lexichord.retrieve.understand.compared import find_compared
from lexichord.retrieve.understand.cues import (
    MAX_READ_CHARS,
    find_cues,
    find_entities,
    find_kind,
    find_sub_questions,
    says_something,
)
from lexichord.retrieve.understand.linking import (
    Mention,
    QueryWord,
    find_mentions,
    keep_certain,
    make_hint,
    remove_mentions,
    remove_naming_clauses,
    says_which,
    split_words,
)
from lexichord.retrieve.understand.parts import LIST_BEFORE_SIGN, cut_words
from lexichord.types import Scope
from lexichord.types.questions import Intent

MIN_ASKED_WORDS = 3


def read_intent(query: str) -> Intent:
    """Read a query's kind, entities and sub-questions from its words alone; it stays whole.

    Kinds: `comparison` asks how several things differ, `list_all` for everything of a sort,
    `summary` what a text is about, `clause_lookup` for what one passage can say; `general` is the
    rest: why and how to, advice, bare words. Never raises; time grows linearly with the length.
    """
    kind, cue = find_kind(query)
    return Intent(
        kind,
        query,
        entities=find_entities(query),
        sub_questions=find_sub_questions(query),
        reason=f"{kind}: {cue}",
    )


async def find_intent(
    database: Database, query: str, hint: str | None = None, scope: Scope | None = None
) -> Intent:
    """Read a query, and link its words, or the hint's, to the documents that they name.

    Words that name documents become the hint; a clause that does nothing else leaves the question,
    unless little would be left. A comparison stays as it was asked, its `aspects` say what of it is
    compared. A caller's hint stays as it is, and the question with it. Raises ConfigError for a
    scope that does not exist, DatabaseError.
    """
    intent = read_intent(query)
    text = query if hint is None else hint
    if len(text) > MAX_READ_CHARS:
        return replace(intent, hint=hint, reason=f"{intent.reason}; too long to name a document")
    words = split_words(text, find_entities(text))
    if intent.kind == "comparison":
        words = cut_words(text, words, find_cues(text))
    scope = scope or Scope()
    mentions, is_listed = await _find_documents(
        database, text, words, scope, is_comparison=intent.kind == "comparison"
    )
    if not mentions and hint is None and not is_listed:
        mentions = await find_definite(database, words, scope, find_cues(text))
    linked = _linked(replace(intent, hint=hint), mentions)
    if hint is not None or not mentions:
        return linked
    if is_listed and linked.kind in ("clause_lookup", "general"):
        reason = linked.reason.replace(linked.kind, "comparison, of listed documents", 1)
        linked = replace(linked, kind="comparison", reason=reason)
    if linked.kind == "comparison":
        return _compared(linked, query, words, mentions)
    places = {mention.first for mention in mentions}  # of a list a part would be left
    question = remove_naming_clauses(query, words, mentions)
    return replace(
        linked,
        hint=make_hint(query, words, mentions),
        question=question if len(places) == 1 and _asks(question) else query,
    )


async def _find_documents(
    database: Database, text: str, words: Sequence[QueryWord], scope: Scope, *, is_comparison: bool
) -> tuple[list[Mention], bool]:
    """Return the mentions of documents, and whether these are the list of a comparison.

    A comparison says that it is one, or lists documents before a colon or a dash.
    """
    cues = find_cues(text)
    links = await link_documents(database, [word.text for word in words], scope)
    mentions = [one for one in find_mentions(words, links) if says_which(words, one, cues)]
    if is_comparison or LIST_BEFORE_SIGN.match(text):
        compared = await find_compared(
            database, text, words, scope, cues, mentions=mentions, is_comparison=is_comparison
        )
        if len({one.document_id for one in compared}) > 1 or (compared and not mentions):
            return compared, True
    return mentions if is_comparison else keep_certain(words, mentions, cues), False


def _compared(
    intent: Intent, query: str, words: Sequence[QueryWord], mentions: Sequence[Mention]
) -> Intent:
    """Return a comparison with what it compares: all of its question but the documents' names."""
    if len(intent.documents) == 1 and any(mention.is_listed for mention in mentions):
        return replace(intent, aspects=find_aspects(query))  # one document tells of all
    hint = make_hint(query, words, mentions)
    rest = remove_mentions(query, words, mentions)
    aspects = tuple(aspect for aspect in find_aspects(rest, hint) if _names_aspect(aspect))
    # "Is the notice of A longer than of B?" lists nothing, and without its names is no question.
    is_torn = len(aspects) == 1 and aspects[0].rstrip("?.! ") not in query
    return replace(intent, hint=hint, aspects=(query,) if is_torn or not aspects else aspects)


def _linked(intent: Intent, mentions: Sequence[Mention]) -> Intent:
    if not mentions:
        return replace(intent, reason=f"{intent.reason}; names no document")
    domains = {mention.domain for mention in mentions}
    documents = dict.fromkeys(mention.document_id for mention in mentions)
    titles = ", ".join(dict.fromkeys(f"'{mention.title}'" for mention in mentions))
    return replace(
        intent,
        documents=tuple(documents),
        domain=domains.pop() if len(domains) == 1 else "",
        reason=f"{intent.reason}; names {titles}",
    )


def _names_aspect(question: str) -> bool:
    """Return whether more is left of a comparison than the words that order it."""
    cues = find_cues(question)
    words = re.findall(r"\w{2,}", question.lower())
    return any(word not in cues.frame_words | cues.joint_words | SMALL_WORDS for word in words)


def _asks(question: str) -> bool:
    """Return whether enough is left to search for: three words, and not "How do I?"."""
    return len(re.findall(r"\w+", question)) >= MIN_ASKED_WORDS and says_something(question)
