"""The one entrance: evidence by intent."""

from collections.abc import Sequence
from dataclasses import replace

from lexichord.db.pool import Database
from lexichord.retrieve.evidence.clauses import Join, find_clauses, join_neighbours, rank_files
from lexichord.retrieve.evidence.comparison import compare
from lexichord.retrieve.evidence.listing import list_all
from lexichord.retrieve.evidence.relevance import Embed, QuestionVectors
from lexichord.retrieve.evidence.summary import summarise
from lexichord.types import ChunkHit, FileHit
from lexichord.types.evidence import Evidence


async def gather_evidence(
    database: Database,
    kind: str,
    question: str,
    hits: Sequence[ChunkHit],
    *,
    aspects: Sequence[str] = (),
    files: Sequence[FileHit] = (),
    vectors: QuestionVectors | None = None,
    space: str | None = None,
    embed: Embed | None = None,
    join: Join = join_neighbours,
) -> Evidence:
    """Return the evidence that an intent of this kind asks for.

    Of a comparison `files` are the rows, `aspects` the columns; without aspects the question is the
    only one, without files it is a clause lookup. `vectors` are those of the aspects, or of the
    question alone, of `space`; `embed` gives unit vectors of sentences in that space: better
    choices, more time. `join` makes passages of a clause lookup's quotes.
    """
    if kind == "comparison" and files:
        columns = list(aspects) or [question]
        return await compare(database, columns, files, vectors, space, embed)
    if kind == "list_all":
        return await list_all(database, question, hits, vectors, embed)
    if kind == "summary":
        summary = await summarise(database, question, hits, embed)
        return replace(summary, files=rank_files(hits))
    return await find_clauses(database, hits, join)
