"""A question in other words, as a model puts it."""

from collections.abc import Sequence

from lexichord.db import coverage
from lexichord.db.pool import Database
from lexichord.errors import ProviderError
from lexichord.llm.ask import Ask, one_line
from lexichord.llm.sources import Source, mark
from lexichord.retrieve.rewrite import EXPANDED
from lexichord.retrieve.stages import Reword
from lexichord.types import ChunkHit, Scope
from lexichord.types.evidence import Quote
from lexichord.types.reflection import Rewrite, Wording

SHOWN = 5  # of the passages that were found


async def rewrite(
    ask: Ask,
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
    terms = await coverage.question_coverage(database, question, [hit.chunk_id for hit in hits])
    missing = [word for term in terms if not term.chunks for word in term.words]
    shown = [Source(n, Quote.of(hit)) for n, hit in enumerate(hits[:SHOWN], 1)]
    given = {"query": question, "passages": mark(shown), "missing": missing}
    try:
        said = await ask("rewrite", given)
    except ProviderError as error:
        ask.degrade("rewrite", error)
        return await twin(database, question, hits, scope, kind)
    text, reason = one_line(said["text"], EXPANDED), one_line(said["reason"])
    if said["kind"] == "none" or not text or text == question:
        return Rewrite("none", question, reason)
    if not await coverage.question_coverage(database, text, []):
        return Rewrite("none", question, "the model's words are none to search for")
    return Rewrite(said["kind"], text, f"{reason} (confidence {said['confidence']:.2f})")
