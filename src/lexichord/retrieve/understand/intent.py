"""The intent of a query: its kind, its parts, and the documents that it names; and other words.

A question in other words is also searched as it was asked, so a rewrite can only add. No model
makes it up: words that a rewrite adds stand in the documents, words that it drops are named in its
reason.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from lexichord.db import search
from lexichord.db.pool import Database
from lexichord.retrieve.understand import (
    MAX_READ_CHARS,
    WORD,
    find_cues,
    find_entities,
    find_kind,
    find_language,
    find_sub_questions,
    says_something,
)
from lexichord.retrieve.understand.aspects import LIST_BEFORE_SIGN, cut_words, find_aspects
from lexichord.retrieve.understand.called import SMALL_WORDS, Naming, find_definite
from lexichord.retrieve.understand.compared import find_compared
from lexichord.retrieve.understand.linking import (
    MENTION_COUNTS,
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
from lexichord.types import ChunkHit, Scope
from lexichord.types.questions import Intent, Link
from lexichord.types.response import Definition, Rewrite, Term, Wording

MAX_EXPANDED_CHARS = 200  # characters; both limits are kbbridge's
MAX_RELAXED_CHARS = 150
MAX_ADDED_WORDS = 5  # words of the documents at most; not tuned
MIN_KEPT_TERMS = 2  # terms that a relaxed question keeps
MAX_LONG_FORM_WORDS = 5  # words of a long form

UPPERCASE_ABBREVIATION = re.compile(r"(?<!\w)[A-Z][A-Z0-9]{1,5}(?!\w)")
# What stands in brackets or follows such a word only narrows what is asked.
BRACKETED_QUALIFIER = re.compile(r"\s*(?:\([^()]*\)|\[[^\[\]]*\])")
DEFINITION_TEXT = re.compile(
    r"\s*(?:means|refers to|stands for|is defined as|:|=|–)\s+([^.;:\n]{3,200})", re.I
)


async def rewrite(
    database: Database,
    question: str,
    hits: Sequence[ChunkHit],
    scope: Scope,
    kind: Wording | None = None,
) -> Rewrite:
    """Expand or relax a question after looking at what it found, best first.

    Without `kind`: relaxed if the documents lack one of its words or the hits hold few of them,
    else expanded. Definitions come from `scope` alone.
    """
    ids = [hit.chunk_id for hit in hits]
    terms = await search.question_coverage(database, question, ids)
    if kind == "relaxation" or (kind is None and any(not term.df for term in terms)):
        return relax(question, terms)
    definitions = await search.find_definitions(database, find_short_forms(question), scope)
    related = await search.related_words(database, question, ids)
    expanded = expand(question, definitions, related)
    return relax(question, terms) if kind is None and expanded.kind == "none" else expanded


def find_short_forms(question: str) -> list[str]:
    """Return the abbreviations and initials of a question, which may have a long form."""
    words = WORD.findall(question)
    runs = (
        words[start : start + length]
        for length in range(MAX_LONG_FORM_WORDS, 1, -1)
        for start in range(len(words) - length + 1)
    )
    initials = ("".join(word[0] for word in run).upper() for run in runs)
    return list(dict.fromkeys([*UPPERCASE_ABBREVIATION.findall(question), *initials]))


def expand(
    question: str, definitions: Sequence[Definition] = (), related: Sequence[str] = ()
) -> Rewrite:
    """Add long forms, short forms and definitions, then words that the best chunks share."""
    forms = [form for definition in definitions for form in _forms(question, definition)]
    known = {word.casefold() for word in WORD.findall(question)}
    text, reasons = question, list[str]()
    for added, reason in [*forms, *((word, "shared by the best passages") for word in related)]:
        new = not {word.casefold() for word in WORD.findall(added)} <= known
        if (
            new
            and len(reasons) < MAX_ADDED_WORDS
            and len(text) + 1 + len(added) <= MAX_EXPANDED_CHARS
        ):
            text = f"{text} {added}"
            known |= {word.casefold() for word in WORD.findall(added)}
            reasons.append(f"'{added}': {reason}")
    if not reasons:
        return Rewrite("none", question, "the documents offer no other words, or there is no room")
    return Rewrite("expansion", text, "added " + "; ".join(reasons))


def relax(question: str, terms: Sequence[Term]) -> Rewrite:
    """Drop qualifiers and the words that nothing holds; else the rarest that the chunks lack.

    Half of the terms stay, and two at least.
    """
    text = BRACKETED_QUALIFIER.sub("", question).strip()
    reasons = [
        f"'{qualifier.strip()}': a qualifier" for qualifier in BRACKETED_QUALIFIER.findall(question)
    ]
    keep = max(MIN_KEPT_TERMS, (len(terms) + 1) // 2)
    for term, reason in _droppable(terms)[: max(0, len(terms) - keep)]:
        text, dropped = _without(text, term.words), ", ".join(term.words)
        reasons.append(f"'{dropped}': {reason}")
    text = cut_at_word(text, MAX_RELAXED_CHARS)
    if not reasons or not WORD.search(text):
        return Rewrite("none", question, "nothing can be dropped")
    return Rewrite("relaxation", text, "dropped " + "; ".join(reasons))


def _forms(question: str, definition: Definition) -> list[tuple[str, str]]:
    """Return the other form of an abbreviation, or what a definition says."""
    question_words = {word.casefold() for word in WORD.findall(question)}
    long = _long_form(definition.term, definition.before)
    if definition.term.casefold() in question_words:
        if long:
            return [(long, f"what {definition.term} is short for")]
        meaning = DEFINITION_TEXT.match(definition.after)
        return [(meaning[1].strip(), f"how {definition.term} is defined")] if meaning else []
    written = {word.casefold() for word in WORD.findall(long)}
    return [(definition.term, f"short for {long}")] if long and written <= question_words else []


def _long_form(term: str, before: str) -> str:
    """Return the words at the end of `before` whose initials are the term, else ""."""
    letters = term.casefold()
    words = list(WORD.finditer(before))[-len(letters) :]
    if not letters.isalpha() or "".join(word[0][0] for word in words).casefold() != letters:
        return ""
    gap = before[words[-1].end() :]
    return before[words[0].start() : words[-1].end()] if len(gap.strip(" \"'(“„«")) == 0 else ""


def _droppable(terms: Sequence[Term]) -> list[tuple[Term, str]]:
    unknown = [(term, "in no document") for term in terms if not term.df]
    absent = [term for term in terms if term.df and not term.chunks]
    rarest = sorted(absent, key=lambda term: (-term.idf, term.lexeme))
    return unknown + [(term, "rare, and in none of the passages found") for term in rarest[:1]]


def _without(text: str, words: Sequence[str]) -> str:
    for word in words:
        text = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", "", text)
    return re.sub(r"\s+([,.;:?!])", r"\1", re.sub(r"\s{2,}", " ", text)).strip(" ,;:")


def cut_at_word(text: str, most: int) -> str:
    """Return whole words of the beginning of a text, `most` characters at most."""
    return text if len(text) <= most else text[: most + 1].rpartition(" ")[0]


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
    asked = Naming(database, text, find_language(text), words, scope or Scope())
    links = await asked.links()
    is_comparison = intent.kind == "comparison"
    mentions, is_listed = await _find_documents(asked, links, is_comparison=is_comparison)
    if not mentions and hint is None and not is_listed:
        mentions = await find_definite(asked, links)
    if is_comparison and not (mentions or asked.scope.documents):
        intent = _of_one_thing(intent, asked)
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


def _of_one_thing(intent: Intent, asked: Naming) -> Intent:
    """Return a question for the most of something as one for a passage, unless it speaks of files.

    "Which plan is the cheapest?" compares no documents, as "which lease is the longest?" does.
    """
    of_files = asked.cues.comparing_words | asked.cues.document_words | MENTION_COUNTS.keys()
    if any(word.lower in of_files for word in asked.words):
        return intent
    reason = intent.reason.replace("comparison", "clause_lookup", 1)
    return replace(intent, kind="clause_lookup", reason=f"{reason}, and no documents")


async def _find_documents(
    asked: Naming, links: Sequence[Link], *, is_comparison: bool
) -> tuple[list[Mention], bool]:
    """Return the mentions of documents, and whether these are the list of a comparison.

    A comparison says that it is one, or lists documents before a colon or a dash.
    """
    words, cues = asked.words, asked.cues
    found = find_mentions(words, links)
    mentions = [one for one in found if says_which(words, one, cues)]
    if is_comparison or LIST_BEFORE_SIGN.match(asked.query):
        compared = await find_compared(asked, mentions, is_comparison=is_comparison)
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
    if is_torn or not aspects:
        # Files that are only found for things have the things as columns, and no others in common.
        things = [query[words[one.first].start : words[one.last].end] for one in mentions]
        aspects = tuple(things) if any(one.is_found for one in mentions) else (query,)
    return replace(intent, hint=hint, aspects=aspects)


def _linked(intent: Intent, mentions: Sequence[Mention]) -> Intent:
    if not mentions:
        return replace(intent, reason=f"{intent.reason}; names no document")
    domains = {mention.domain for mention in mentions}
    documents = dict.fromkeys(mention.document_id for mention in mentions)
    named = _said("names", (one for one in mentions if not one.is_found))
    found = _said("finds", (one for one in mentions if one.is_found))
    return replace(
        intent,
        documents=tuple(documents),
        domain=domains.pop() if len(domains) == 1 else "",
        reason="; ".join(filter(None, [intent.reason, named, found])),
    )


def _said(verb: str, mentions: Iterable[Mention]) -> str:
    """Say which documents a query names, or which are found for its words; "" for none."""
    titles = ", ".join(dict.fromkeys(f"'{one.title}'" for one in mentions))
    return f"{verb} {titles}" if titles else ""


def _names_aspect(question: str) -> bool:
    """Return whether more is left of a comparison than the words that order it."""
    cues = find_cues(question)
    words = re.findall(r"\w{2,}", question.lower())
    return any(word not in cues.frame_words | cues.joint_words | SMALL_WORDS for word in words)


def _asks(question: str) -> bool:
    """Return whether enough is left to search for: three words, and not "How do I?"."""
    return len(re.findall(r"\w+", question)) >= MIN_ASKED_WORDS and says_something(question)
