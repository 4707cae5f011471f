"""The probability that the best hits of all that is stored hold an answer.

Judged by the sentence that would answer, and by what the best passage holds of the question.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp

import numpy as np

from lexichord.db.pool import Database
from lexichord.retrieve.evidence.relevance import EmbedSentences, coverage, embed_all, weigh_texts
from lexichord.retrieve.evidence.sentences import (
    EMBEDDED_SENTENCES,
    FITTED_SPACE,
    find_candidates,
    word_signals,
)
from lexichord.types import ChunkHit, Question
from lexichord.types.evidence import Quote

JUDGED_HITS = 10  # hits that are judged
COVERAGE_HITS = 5  # of them, among which the passage is that holds most of the question's terms
FIRST_EMBEDDED = 4  # sentences, the best by words; the others only where these leave a doubt
CLEAR_CONFIDENCE = 0.8  # above it there is none


@dataclass(frozen=True, slots=True)
class ConfidenceSignals:
    """The measurements behind a confidence, each of the question.

    `cosine` is that of the sentence that would answer, None where words alone judge. `sentence` and
    `passage` are the idf-weighted shares of the question's terms that this sentence and the best
    passage, its title and heading with it, hold, 0 to 1.
    """

    cosine: float | None
    sentence: float
    passage: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """Coefficients of one calibration."""

    constant: float
    cosine: float
    sentence: float
    passage: float


# 333 everyday questions over four kinds of documents, each kind by the other three, with vectors /
# by words (scripts/fit_confidence.py): AUROC of answerable against near misses .890 / .750,
# calibration error .031 / .048; refused where the other kinds' border keeps 92 %: answerable 7.8 /
# 8.5 %, near misses 66 / 31 %. Margin, type asked for, rarest missing term, the passage's cosine
# and relative evidence gained nothing beside these.
WITH_VECTOR = Calibration(-6.17, 10.13, 0.0, 4.13)
WORDS_ONLY = Calibration(-2.35, 0.0, 1.58, 5.11)
MIN_CONFIDENCE = 0.6  # below it nothing should be answered


def is_fitted(question: Question) -> bool:
    """Return whether the vectors that a question is searched by are those that were fitted on."""
    return question.vector is not None and question.space == FITTED_SPACE


async def evidence_confidence(
    database: Database,
    question: Question,
    hits: Sequence[ChunkHit],
    embed: EmbedSentences | None = None,
) -> float:
    """Return the probability, 0 to 1, that the hits hold an answer to the question; 0 without hits.

    The hits are the best of all that is stored: those of some documents are judged by
    `document_confidence`. `embed` gives unit vectors of sentences; without it, or without the
    question's vector, words judge. The question's hint and `k` are not looked at.
    """
    if not hits:
        return 0.0
    return probability(await measure_evidence(database, question, hits[:JUDGED_HITS], embed))


async def measure_evidence(
    database: Database,
    question: Question,
    hits: Sequence[ChunkHit],
    embed: EmbedSentences | None = None,
) -> ConfidenceSignals:
    """Measure the hits' sentences and passages."""
    found = find_candidates([Quote.of(hit) for hit in hits])
    texts = [one.sentence.quote.text for one in found]
    names = [f"{hit.title} {hit.heading}" for hit in hits]
    asked, *terms = await weigh_texts(database, [question.query, *texts, *names])
    held: list[set[str]] = [set(words) for words in terms[len(texts) :]]
    for one, words in zip(found, terms, strict=False):
        held[one.passage].update(words)
    passage = max(coverage(asked, words) for words in held[:COVERAGE_HITS])
    signals = word_signals(question.query, asked, found, terms[: len(texts)])
    likely = sorted(range(len(found)), key=lambda number: -signals[number].strength)
    if not likely:
        return ConfidenceSignals(None, 0.0, passage)
    if embed is None or question.vector is None:
        return ConfidenceSignals(None, signals[likely[0]].coverage, passage)
    vector = np.array(question.vector, np.float32)
    for most in (FIRST_EMBEDDED, EMBEDDED_SENTENCES):
        rows = await embed_all(embed, [found[n].sentence.headed for n in likely[:most]])
        measured = [
            signals[n]._replace(cosine=float(row @ vector))
            for n, row in zip(likely, rows, strict=False)
        ]
        best = max(measured, key=lambda one: one.strength)
        judged = ConfidenceSignals(best.cosine, best.coverage, passage)
        if probability(judged) >= CLEAR_CONFIDENCE:
            break
    return judged


def probability(signals: ConfidenceSignals) -> float:
    """Return the confidence, 0 to 1."""
    model = WORDS_ONLY if signals.cosine is None else WITH_VECTOR
    value = (
        model.constant
        + model.cosine * (signals.cosine or 0.0)
        + model.sentence * signals.sentence
        + model.passage * signals.passage
    )
    return 1 / (1 + exp(-value))
