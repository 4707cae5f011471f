"""The twins of intent and rewrite with a language model."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from lexichord.db import evidence
from lexichord.db.pool import Database
from lexichord.errors import ProviderError
from lexichord.retrieve.evidence.llm_answer import NumberedQuote, mark
from lexichord.retrieve.llm import MAX_LINE_CHARS, LlmCaller, shorten_line
from lexichord.retrieve.stages import FindIntent, RewriteQuestion
from lexichord.retrieve.understand.rewrite import MAX_EXPANDED_CHARS
from lexichord.types import ChunkHit, Scope
from lexichord.types.evidence import Quote
from lexichord.types.questions import Intent
from lexichord.types.response import Rewrite, Wording

MAX_QUESTION_PARTS = 10  # entities or sub-questions that are heeded; each of these is searched for
EMPTY_FIELD_WORDS = ("none", "null", "n/a")  # what models write where a field is to be empty


async def find_intent(
    ask: LlmCaller,
    twin: FindIntent,
    *,
    database: Database,
    query: str,
    hint: str | None,
    scope: Scope,
) -> Intent:
    """Read a query; a hint that the model finds in it is linked to documents by their titles."""
    try:
        outputs = await ask("intent", {"query": query, "given_hint": hint or ""})
    except ProviderError as error:
        ask.degrade("intent", error)
        return await twin(database=database, query=query, hint=hint, scope=scope)
    meant = hint or _text(outputs["hint"]) or None
    read = await twin(database=database, query=query, hint=meant, scope=scope)
    question, parts = (
        shorten_line(outputs["question"], max(MAX_LINE_CHARS, len(query))),
        _texts(outputs["sub_questions"]),
    )
    return replace(
        read,
        kind=outputs["kind"],
        aspects=() if hint is None else read.aspects,  # they are those of its own question
        question=(question or query) if hint is None else read.question,
        entities=_texts(outputs["entities"]),
        sub_questions=parts if len(parts) > 1 else (),
        domain=_text(outputs["domain"]) or read.domain,
        reason=f"{outputs['kind']}: {shorten_line(outputs['reason'])}",
    )


def _text(output: str) -> str:
    text = shorten_line(output)
    return "" if text.casefold() in EMPTY_FIELD_WORDS else text


def _texts(outputs: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, map(_text, outputs))))[:MAX_QUESTION_PARTS]


REWRITE_PASSAGES = 5  # of the passages that were found


async def rewrite(
    ask: LlmCaller,
    twin: RewriteQuestion,
    *,
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
        return await twin(database=database, question=question, hits=hits, scope=scope, kind=kind)
    terms = await evidence.question_coverage(database, question, [hit.chunk_id for hit in hits])
    missing = [word for term in terms if not term.chunks for word in term.words]
    shown = [NumberedQuote(n, Quote.of(hit)) for n, hit in enumerate(hits[:REWRITE_PASSAGES], 1)]
    inputs = {"query": question, "passages": mark(shown), "missing": missing}
    try:
        outputs = await ask("rewrite", inputs)
    except ProviderError as error:
        ask.degrade("rewrite", error)
        return await twin(database=database, question=question, hits=hits, scope=scope, kind=kind)
    text, reason = (
        shorten_line(outputs["text"], MAX_EXPANDED_CHARS),
        shorten_line(outputs["reason"]),
    )
    if outputs["kind"] == "none" or not text or text == question:
        return Rewrite("none", question, reason)
    if not await evidence.question_coverage(database, text, []):
        return Rewrite("none", question, "the model's words are none to search for")
    return Rewrite(outputs["kind"], text, f"{reason} (confidence {outputs['confidence']:.2f})")
