"""Other ways of asking a question: in the words of its best chunks, and inside discovered files."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lexichord.db import search as db
from lexichord.db.pool import Database
from lexichord.types import FileHit, Question
from lexichord.types.questions import Feedback, Variant

# Mean average precision within one document (ContractNLI dev), plain 52.4: with feedback of weight
# 2 59.8, .9 55.2. Rocchio's moved vector gave 52.6, so it stays out.
MAX_VARIANTS = 4  # ways of asking, the original among them
ORIGINAL_WEIGHT = 1.0
FEEDBACK_WEIGHT = 2.0

# Evidence recall within 4,000 characters, a third of half of the NDA questions, raw / by hint, with
# feedback over the whole scope as well: 90.0 / 89.5; and inside the best file with weight .3
# 90.9 / 89.5, .6 91.0 / 89.2, 1 91.3 / 90.0; inside the best two 91.2 / 90.0, three 91.4 / 90.0.
# With the question's own words there 88.7 / 89.4, with those of the file's best chunks 90.5 / 89.5.
# Beside these, feedback over the whole scope gives nothing: without it .4 to 1.9 points more.
FILE_WEIGHT = 1.0

# The mean cosine of the feedback chunks tells where feedback helps: half of the code questions .15
# to .42 (Pass@10 93.1 without feedback, 85.0 with it), of the NDA questions .49 to .67. A weak
# first pass alone tells nothing: among the weakest quarter feedback costs code most, 12.6 points.
MIN_COHERENCE = 0.46


@dataclass(frozen=True, slots=True)
class VariantSet:
    """The variants of a question, the original first, and in words why these.

    `least` is the coherence below which documents differ.
    """

    variants: tuple[Variant, ...]
    reason: str
    coherence: float | None = None
    least: float = MIN_COHERENCE

    @property
    def is_scattered(self) -> bool:
        """Return whether the best chunks of several documents are known to differ."""
        return self.coherence is not None and self.coherence < self.least


def least_coherence(unlike: float) -> float:
    """Return the border of coherence in a space where what is unlike has the cosine `unlike`.

    With e5-small-v2, all of whose coherences are above the border as it is, that is 70 % of code
    questions without feedback, none of the contracts' and 2 % of the policies'.
    """
    return unlike + (1 - unlike) * MIN_COHERENCE


async def make_variants(
    database: Database,
    question: Question,
    files: Sequence[FileHit] = (),
    limit: int = MAX_VARIANTS,
    *,
    always: bool = False,
) -> VariantSet:
    """Return the original and up to `limit` - 1 variants by relevance feedback, each inside a file.

    Where the scope pins documents there is one for all of them. They are made where the best chunks
    of several documents are alike, or `always`. Feedback comes from all documents, also where the
    scope pins some: within one it is known to hurt.
    """
    original = Variant("original", question.query, question.vector, ORIGINAL_WEIGHT)
    if question.mode == "dense":
        return VariantSet((original,), "words make variants, and only vectors are searched")
    everywhere = replace(question, scope=replace(question.scope, documents=()))
    least = least_coherence(question.unlike)
    feedback = await db.relevance_feedback(database, everywhere, None if always else least)
    measured = (feedback.coherence, least)
    if not feedback.terms:
        return VariantSet((original,), _why_none(feedback), *measured)
    if limit < 2:
        return VariantSet((original,), "no variants are wanted", *measured)
    pinned = bool(question.scope.documents)
    others = [_by_feedback(question, feedback)] if pinned else _inside(question, feedback, files)
    return VariantSet((original, *others[: limit - 1]), _why(feedback, always), *measured)


def _by_feedback(question: Question, feedback: Feedback) -> Variant:
    query, vector = question.query, question.vector
    return Variant("feedback", query, vector, FEEDBACK_WEIGHT, terms=feedback.terms)


def _inside(question: Question, feedback: Feedback, files: Sequence[FileHit]) -> list[Variant]:
    return [
        replace(
            _by_feedback(question, feedback),
            name=f"file {place}",
            weight=FILE_WEIGHT,
            documents=(file.document_id,),
        )
        for place, file in enumerate(files, start=1)
    ]


def _why(feedback: Feedback, always: bool) -> str:
    if always:
        return "variants were asked for"
    return f"the best chunks of {len(feedback.chunk_ids)} documents are alike"


def _why_none(feedback: Feedback) -> str:
    if feedback.coherence is None:
        return "fewer than two documents with vectors have chunks to learn from"
    return f"the best chunks of {len(feedback.chunk_ids)} documents are not alike"
