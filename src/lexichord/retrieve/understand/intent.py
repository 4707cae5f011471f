"""The intent of a query: its kind, its parts, and the documents that it names."""

import re
from collections.abc import Sequence
from dataclasses import replace

from lexichord.db.evidence import link_documents
from lexichord.db.pool import Database
from lexichord.retrieve.understand.compared import cut_words, find_compared, find_definite
from lexichord.retrieve.understand.cues import (
    MAX_READ_CHARS,
    find_cues,
    find_entities,
    find_kind,
    find_sub_questions,
)
from lexichord.retrieve.understand.linking import (
    BRIDGE_WORDS,
    Mention,
    are_listed,
    find_mentions,
    make_hint,
    remove_mentions,
    remove_naming_clauses,
    split_words,
)
from lexichord.types import Scope
from lexichord.types.questions import Intent

MIN_ASKED_WORDS = 3
# "Acme, Beta and the lease: how long …", "Acme vs Beta", "of the lease, the licence and the MSA".
LISTED_NAMES = re.compile(
    r"^[^:?\n]{2,200} [-–—:]|: |\b(?:vs|versus)\b|,[^,]{2,60} (?:and|or|und|y|et) "
)


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
    unless little would be left.
    What asks one thing of a list of documents ("in the lease and the licence") compares them.
    A caller's hint stays as it is, and the question with it. Raises ConfigError for a scope that
    does not exist, DatabaseError.
    """
    intent = read_intent(query)
    text = query if hint is None else hint
    if len(text) > MAX_READ_CHARS:
        return replace(intent, hint=hint, reason=f"{intent.reason}; too long to name a document")
    words = split_words(text, find_entities(text))
    is_comparison = intent.kind == "comparison"
    if is_comparison:
        words = cut_words(text, words, find_cues(text))
    links = await link_documents(database, [word.text for word in words], scope or Scope())
    mentions = find_mentions(words, links)
    if is_comparison or LISTED_NAMES.search(text):
        compared = await find_compared(
            database,
            text,
            words,
            scope or Scope(),
            find_cues(text),
            mentions=mentions,
            is_comparison=is_comparison,
        )
        mentions = compared or mentions
    if not mentions and hint is None:
        mentions = await find_definite(database, words, scope or Scope(), find_cues(text))
    linked = _linked(replace(intent, hint=hint), mentions)
    if hint is not None or not mentions:
        return linked
    if linked.kind in ("clause_lookup", "general") and are_listed(query, words, mentions):
        reason = linked.reason.replace(linked.kind, "comparison, of listed documents", 1)
        linked = replace(linked, kind="comparison", reason=reason)
    # What is compared in the documents is all but their names; else a clause goes or stays.
    remove = remove_mentions if linked.kind == "comparison" else remove_naming_clauses
    question = remove(query, words, mentions)
    asks = _names_aspect(question) if linked.kind == "comparison" else _asks(question)
    return replace(
        linked,
        hint=make_hint(query, words, mentions),
        question=question if asks else query,
    )


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
    words = re.findall(r"\w+", question.lower())
    return any(word not in cues.frame_words | cues.joint_words | BRIDGE_WORDS for word in words)


def _asks(question: str) -> bool:
    """Return whether enough is left to search for: two words besides the verb that orders it."""
    return len(re.findall(r"\w+", question)) >= MIN_ASKED_WORDS
