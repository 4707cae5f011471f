"""How likely the evidence holds an answer: from what it says, never from its rank.

confidence = P(as good as the best there is) x P(on the subject at all), two logistic functions.

The first is calibrated on half of ContractNLI dev, where a document is asked something that it may
not say; its main signal, `relative`, compares with what else the database holds on the question.
Nothing there is off the subject, so the second is learnt elsewhere: questions asked of the corpus
that they were written for, against those of another one.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp

from lexichord.db import coverage
from lexichord.db.pool import Database
from lexichord.retrieve.relative import relative_evidence
from lexichord.types import ChunkHit, Question
from lexichord.types.reflection import Term

SEEN = 10  # hits that are judged
BEST = 3  # of them, whose words count
# Passages beyond this outdo what else is stored; how far says nothing more.
SATURATED = 1.3


@dataclass(frozen=True, slots=True)
class Signals:
    """What the confidence is made of.

    `relative` is that of `relative_evidence`, from 0, about 1 if nothing better is stored.
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
    enough: float  # of the words; what is held beyond says no more of the subject
    abstain: float


# scripts/bench_confidence.py fits and checks these. The border keeps 90 % of half A's
# answerable pairs.
# AUROC / calibration error, half A, half B: with a vector .820 / .040, .839 / .064; by words alone
# .806 / .051, .822 / .042. On hypotheses not fitted on AUROC .805, .822; .792, .808.
# Enough, with a vector 1, .7, .4: half A .821, .820, .819; answerable code questions turned away
# 10, 4, 12 of 248. By words 1, .5, .4, .3: half A, hypotheses not fitted on .763, .780, .792, .806;
# code questions asked of the NDAs turned away 92, 112, 96, 67 of 248.
# Abstains on answerable sample questions 10.3 %, 10.3 %; within their own files 17 %, 14 %: these
# paraphrase (share of words held at most .28, cosine .41), where foreign subjects lie as well.
WITH_VECTOR = Model((-2.26, 6.21), (-8.66, 15.85, 7.0), 0.7, 0.36)
WORDS_ONLY = Model((-2.75, 9.22), (-4.19, 0.0, 15.26), 0.4, 0.36)


async def confidence(database: Database, question: Question, hits: Sequence[ChunkHit]) -> float:
    """Give the probability, 0 to 1, that the hits hold an answer to the question; 0 without hits.

    Compare with `abstain_below(question.vector)`. Its hint and its `k` are not looked at.
    """
    if not hits:
        return 0.0
    best = [hit.chunk_id for hit in hits[:BEST]]
    terms, relative = await asyncio.gather(
        coverage.question_coverage(database, question.text, best),
        relative_evidence(database, question, hits[:SEEN]),
    )
    return probability(find_signals(hits, terms, relative, question.vector is not None))


def find_signals(
    hits: Sequence[ChunkHit], terms: Sequence[Term], relative: float, has_vector: bool
) -> Signals:
    """Put the signals together.

    Without the query's own vector the hits' dense scores are cosines to other passages, which say
    nothing here.
    """
    cosines = [hit.scores["dense"] for hit in hits[:SEEN] if hit.scores.get("dense") is not None]
    weight = sum(term.idf for term in terms)
    held = sum(term.idf for term in terms if term.chunks)
    return Signals(
        relative=relative,
        cosine=max(cosines, default=0.0) if has_vector else None,
        held=held / weight if weight else 0.0,
    )


def probability(signals: Signals) -> float:
    """Give the confidence, 0 to 1."""
    model = WORDS_ONLY if signals.cosine is None else WITH_VECTOR
    constant, slope = model.relative
    good = _logistic(constant + slope * min(signals.relative, SATURATED))
    constant, by_cosine, by_held = model.subject
    held = min(signals.held, model.enough)
    return good * _logistic(constant + by_cosine * (signals.cosine or 0.0) + by_held * held)


def abstain_below(vector: Sequence[float] | None) -> float:
    """Give the confidence below which nothing should be answered."""
    return (WORDS_ONLY if vector is None else WITH_VECTOR).abstain


def _logistic(value: float) -> float:
    return 1 / (1 + exp(-value))
