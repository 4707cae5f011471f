"""How likely the evidence holds an answer: from what it says, never from its rank.

confidence = P(as good as the best there is) x P(on the subject at all), two logistic functions.

The first is calibrated on half of ContractNLI dev, where a document is asked something that it may
not say; its main signal, `relative`, compares with what else the database holds on the question.
Nothing there is off the subject, so the second is learnt elsewhere: questions asked of the corpus
that they were written for, against those of another one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp

from lexichord.db import coverage
from lexichord.db.pool import Database
from lexichord.types import ChunkHit
from lexichord.types.reflection import Term

SEEN = 10  # hits that are judged
BEST = 3  # of them, whose words count
# Passages beyond this outdo what else is stored; how far says nothing more.
SATURATED = 1.3


@dataclass(frozen=True, slots=True)
class Signals:
    """What the confidence is made of.

    `relative` is that of sql/relative_evidence.sql, from 0, about 1 if nothing better is stored.
    `cosine` is the best hit's, None without the query's own vector. `held` is the idf-weighted
    share of the question's terms that the three best passages hold, 0 to 1.
    """

    relative: float
    cosine: float | None
    held: float


@dataclass(frozen=True, slots=True)
class Model:
    """Coefficients of one calibration: constant first; and its abstain border."""

    relative: tuple[float, float]  # constant, relative
    subject: tuple[float, float, float]  # constant, cosine, held
    abstain: float


# scripts/bench_confidence.py fits and checks these. The border keeps 90 % of half A's
# answerable pairs.
# AUROC / calibration error, half A, half B: with a vector .791 / .051, .787 / .044; by words alone
# .762 / .054, .777 / .059. Short of .82: what reached it knew the set's 17 hypotheses by their idf
# (50 signals .858 on half B, .725 on hypotheses not fitted on; `relative` alone .762 on such).
# Abstains on answerable code questions (not fitted on) .8 %, 0 %; on the sample questions 11.5 %,
# 7.7 %, on these within their own files 19 %, 15 %.
WITH_VECTOR = Model((-2.23, 5.16), (-8.07, 16.08, 5.09), 0.38)
WORDS_ONLY = Model((-1.66, 5.09), (-2.29, 0.0, 7.03), 0.32)


async def confidence(
    database: Database,
    question: str,
    hits: Sequence[ChunkHit],
    vector: Sequence[float] | None = None,
) -> float:
    """Give the probability, 0 to 1, that the hits hold an answer to the question; 0 without hits.

    `question` is what was searched for, without a hint; `vector` its embedding, None where there is
    no embedder or the search went by words alone. Compare with `abstain_below(vector)`.
    """
    if not hits:
        return 0.0
    ids = [hit.chunk_id for hit in hits[:SEEN]]
    terms = await coverage.question_coverage(database, question, ids[:BEST])
    relative = await coverage.relative_evidence(database, question, ids, vector)
    return probability(find_signals(hits, terms, relative, vector is not None))


def find_signals(
    hits: Sequence[ChunkHit], terms: Sequence[Term], relative: float | None, has_vector: bool
) -> Signals:
    """Put the signals together.

    Without the query's own vector the hits' dense scores are cosines to other passages, which say
    nothing here.
    """
    cosines = [hit.scores["dense"] for hit in hits[:SEEN] if hit.scores.get("dense") is not None]
    weight = sum(term.idf for term in terms)
    held = sum(term.idf for term in terms if term.chunks)
    return Signals(
        relative=relative or 0.0,
        cosine=max(cosines, default=0.0) if has_vector else None,
        held=held / weight if weight else 0.0,
    )


def probability(signals: Signals) -> float:
    """Give the confidence, 0 to 1."""
    model = WORDS_ONLY if signals.cosine is None else WITH_VECTOR
    constant, slope = model.relative
    good = _logistic(constant + slope * min(signals.relative, SATURATED))
    constant, by_cosine, by_held = model.subject
    return good * _logistic(constant + by_cosine * (signals.cosine or 0.0) + by_held * signals.held)


def abstain_below(vector: Sequence[float] | None) -> float:
    """Give the confidence below which nothing should be answered."""
    return (WORDS_ONLY if vector is None else WITH_VECTOR).abstain


def _logistic(value: float) -> float:
    return 1 / (1 + exp(-value))
