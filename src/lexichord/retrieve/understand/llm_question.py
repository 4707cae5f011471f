"""The twins of intent and rewrite with a language model."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from lexichord.db import evidence
from lexichord.db.pool import Database
from lexichord.errors import ProviderError
from lexichord.retrieve.evidence.llm_answer import Source, mark
from lexichord.retrieve.llm import MAX_LINE_CHARS, LlmCaller, one_line
from lexichord.retrieve.stages import FindIntent, Reword
from lexichord.retrieve.understand.rewrite import EXPANDED
from lexichord.types import ChunkHit, Scope
from lexichord.types.evidence import Quote
from lexichord.types.questions import Intent
from lexichord.types.reflection import Rewrite, Wording

MAX_QUESTION_PARTS = 10  # entities or sub-questions that are heeded; each of these is searched for
EMPTY_FIELD_WORDS = ("none", "null", "n/a")  # what models write where a field is to be empty


async def find_intent(
    ask: LlmCaller,
    twin: FindIntent,
    database: Database,
    query: str,
    hint: str | None,
    scope: Scope | None,
) -> Intent:
    """Read a query; a hint that the model finds in it is linked to documents by their titles."""
    try:
        said = await ask("intent", {"query": query, "given_hint": hint or ""})
    except ProviderError as error:
        ask.degrade("intent", error)
        return await twin(database, query, hint, scope)
    read = await twin(database, query, hint or _text(said["hint"]) or None, scope)
    question, parts = (
        one_line(said["question"], max(MAX_LINE_CHARS, len(query))),
        _texts(said["sub_questions"]),
    )
    return replace(
        read,
        kind=said["kind"],
        question=(question or query) if hint is None else read.question,
        entities=_texts(said["entities"]),
        sub_questions=parts if len(parts) > 1 else (),
        domain=_text(said["domain"]) or read.domain,
        reason=f"{said['kind']}: {one_line(said['reason'])}",
    )


def _text(said: str) -> str:
    text = one_line(said)
    return "" if text.casefold() in EMPTY_FIELD_WORDS else text


def _texts(said: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, map(_text, said))))[:MAX_QUESTION_PARTS]


REWRITE_PASSAGES = 5  # of the passages that were found


async def rewrite(
    ask: LlmCaller,
    twin: Reword,
    database: Database,
    question: str,
    hits: Sequence[ChunkHit],
    scope: Scope,
    kind: Wording | None,
) -> Rewrite:
    """Expand or relax a question after a look at what it found.

    The model chooses the kind. Who is not content with its choice and asks for a relaxation gets
    the twin's: asked the same once more, the model would say the same.
    """
    if kind == "relaxation":
        return await twin(database, question, hits, scope, kind)
    terms = await evidence.question_coverage(database, question, [hit.chunk_id for hit in hits])
    missing = [word for term in terms if not term.chunks for word in term.words]
    shown = [Source(n, Quote.of(hit)) for n, hit in enumerate(hits[:REWRITE_PASSAGES], 1)]
    given = {"query": question, "passages": mark(shown), "missing": missing}
    try:
        said = await ask("rewrite", given)
    except ProviderError as error:
        ask.degrade("rewrite", error)
        return await twin(database, question, hits, scope, kind)
    text, reason = one_line(said["text"], EXPANDED), one_line(said["reason"])
    if said["kind"] == "none" or not text or text == question:
        return Rewrite("none", question, reason)
    if not await evidence.question_coverage(database, text, []):
        return Rewrite("none", question, "the model's words are none to search for")
    return Rewrite(said["kind"], text, f"{reason} (confidence {said['confidence']:.2f})")
