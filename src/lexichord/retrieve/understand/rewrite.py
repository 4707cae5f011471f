"""A question in other words, from what the documents themselves say: no model, always a reason.

The original is searched as well, so a rewrite can only add. Nothing here is made up: words that a
rewrite adds stand in the documents, words that it drops are named in its reason.
"""

import re
from collections.abc import Sequence

from lexichord.db import evidence
from lexichord.db.pool import Database
from lexichord.retrieve.understand.cues import WORD
from lexichord.types import ChunkHit, Scope
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
    terms = await evidence.question_coverage(database, question, ids)
    if kind == "relaxation" or (kind is None and any(not term.df for term in terms)):
        return relax(question, terms)
    definitions = await evidence.find_definitions(database, find_short_forms(question), scope)
    related = await evidence.related_words(database, question, ids)
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
