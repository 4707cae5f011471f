"""What a query wants, as a model reads it; which documents that names is looked up as ever."""

from collections.abc import Iterable
from dataclasses import replace

from lexichord.db.pool import Database
from lexichord.errors import ProviderError
from lexichord.llm.ask import LONGEST, Ask, one_line
from lexichord.retrieve.stages import FindIntent
from lexichord.types import Scope
from lexichord.types.intent import Intent

PARTS = 10  # entities or sub-questions that are heeded; each of these is searched for
NOTHING = ("none", "null", "n/a")  # what models write where a field is to be empty


async def find_intent(
    ask: Ask,
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
        one_line(said["question"], max(LONGEST, len(query))),
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
    return "" if text.casefold() in NOTHING else text


def _texts(said: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, map(_text, said))))[:PARTS]
