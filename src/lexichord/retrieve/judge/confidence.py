"""The probability that the best hits hold an answer.

Judged by the sentence that would answer, and by what the best passage holds of the question.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from math import exp

import numpy as np

from lexichord.db import catalogue
from lexichord.db.pool import Database
from lexichord.retrieve.evidence.relevance import (
    EmbedSentences,
    QuotedSentence,
    coverage,
    embed_all,
    weigh_texts,
)
from lexichord.retrieve.evidence.sentences import (
    EMBEDDED_SENTENCES,
    FITTED_SPACE,
    find_candidates,
    word_signals,
)
from lexichord.retrieve.judge.scale import MIN_SENTENCES
from lexichord.types import ChunkHit, Question
from lexichord.types.base import counted
from lexichord.types.evidence import Quote
from lexichord.types.state import Calibration, CosineScale

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


# 99 everyday questions over four kinds of documents asked of all 700, and 152 of a document by its
# name, each kind by the other three, with vectors / by words (scripts/fit_confidence.py): AUROC of
# answerable against what nothing answers .842 / .674 and, by name, .953 / .943, calibration error
# .065 / .107 and .060 / .076. Relative evidence (what others say better), fitted beside these,
# gained nothing on named documents; nor did margin, type asked for, rarest missing term and the
# passage's cosine on all.
WITH_VECTOR = Calibration(FITTED_SPACE, constant=-5.92, cosine=10.11, passage=3.23)
# The table of constants by space. Another space has what its cosines make of them, or none.
FITTED = {WITH_VECTOR.space: WITH_VECTOR}
# Mean cosines in that space of foreign questions with stored sentences, of a sentence with itself.
OWN_UNLIKE, OWN_ALIKE = 0.01, 1.0
WORDS_CONSTANT, WORDS_SENTENCE, WORDS_PASSAGE = -2.31, 2.32, 4.47
CALIBRATION_SCORES = "calibration.json"  # written by scripts/fit_confidence.py
MIN_CONFIDENCE = 0.5  # below it nothing should be answered
# Below it a document that is named is said not to say: right in 54 of 55 cases, 10 of 11 at least
# of each kind; .25: 57 of 62, 2 of 4.
MAX_DENIED_CONFIDENCE = 0.2


@cache
def own_calibration() -> Calibration:
    """Return the one that comes with the program, for the default model."""
    scores = json.loads((files(__package__) / CALIBRATION_SCORES).read_text(encoding="utf-8"))
    return replace(WITH_VECTOR, **scores)


async def find_calibration(
    database: Database, space: str | None, scale: CosineScale | None = None
) -> Calibration | None:
    """Return what judges by vectors of a space: what the user's questions gave, else the program's.

    That is its own of the space that it was fitted in, and of another what the `scale` there makes
    of it. None where there is none: coefficients of one model say nothing of another's cosines.
    """
    if space is None:
        return None
    own = None if scale is None or scale.space != space else calibration_by(scale)
    if space in FITTED:
        own = own_calibration()
    stored = await catalogue.find_calibration(database)
    if stored is None or stored.space != space:
        return own
    if own is None:
        return replace(stored, slope=max(0.0, stored.cosine / WITH_VECTOR.cosine))
    return replace(stored, slope=own.slope, offset=own.offset, unlike=own.unlike)


def calibration_by(scale: CosineScale) -> Calibration:
    """Return the program's own calibration as one of another space, by where cosines lie there.

    How sure it is of questions that were left out is not known there.
    """
    slope = (OWN_ALIKE - OWN_UNLIKE) / (scale.alike - scale.unlike)
    offset = OWN_UNLIKE - slope * scale.unlike
    constant, weight = WITH_VECTOR.constant, WITH_VECTOR.cosine
    return Calibration(
        scale.space,
        constant=constant + weight * offset,
        cosine=weight * slope,
        passage=WITH_VECTOR.passage,
        sentences=scale.sentences,
        offset=offset,
        slope=slope,
        unlike=scale.unlike,
    )


def describe_calibration(calibration: Calibration | None, space: str | None) -> str:
    """Return what judges, in words."""
    if space is None:
        return "by words: there is no embedder"
    if calibration is None:
        return (
            f"by words: {space} is not measured yet; the next query by meaning does it, where "
            f"{MIN_SENTENCES} sentences are stored"
        )
    if calibration.sentences:
        sample = counted(calibration.sentences, "sentence")
        return f"by vectors, by a sample of {sample} of what is stored"
    if calibration.fitted_at is None:
        return "by vectors, fitted on everyday questions that came with the program"
    questions = counted(len(calibration.holds) + len(calibration.lacks), "question")
    return f"by vectors, fitted on {questions} of yours on {calibration.fitted_at:%Y-%m-%d}"


async def evidence_confidence(
    database: Database,
    question: Question,
    hits: Sequence[ChunkHit],
    embed: EmbedSentences | None = None,
    named: Question | None = None,
    calibration: Calibration = WITH_VECTOR,
) -> float:
    """Return the probability, 0 to 1, that the hits hold an answer to the question; 0 without hits.

    Where documents are named the hits are theirs, the question goes without their names, and
    `named` is the one with them. `embed` gives unit vectors of sentences; without it, or without
    the question's vector, words judge. The question's hint and `k` are not looked at.
    """
    if not hits:
        return 0.0
    judged = hits[:JUDGED_HITS]
    signals = await measure_evidence(database, question, judged, embed, named, calibration)
    return probability(signals, calibration)


async def measure_evidence(
    database: Database,
    question: Question,
    hits: Sequence[ChunkHit],
    embed: EmbedSentences | None = None,
    named: Question | None = None,
    calibration: Calibration = WITH_VECTOR,
) -> ConfidenceSignals:
    """Measure the hits' sentences and passages; more sentences where the first leave a doubt."""
    found = find_candidates([Quote.of(hit) for hit in hits])
    texts = [one.sentence.quote.text for one in found]
    names = [f"{hit.title} {hit.heading}" for hit in hits]
    asked, *terms = await weigh_texts(database, [question.query, *texts, *names])
    held: list[set[str]] = [set(words) for words in terms[len(texts) :]]
    for one, words in zip(found, terms, strict=False):
        held[one.passage].update(words)
    passage = max(coverage(asked, words) for words in held[:COVERAGE_HITS])
    signals = word_signals(asked, found, terms[: len(texts)])
    likely = sorted(range(len(found)), key=lambda number: -signals[number].strength)
    if not likely:
        return ConfidenceSignals(None, 0.0, passage)
    if embed is None or question.vector is None:
        return ConfidenceSignals(None, signals[likely[0]].coverage, passage)
    for most in (FIRST_EMBEDDED, EMBEDDED_SENTENCES):
        cosines = await _cosines(question, named, embed, [found[n].sentence for n in likely[:most]])
        measured = [
            (signals[n]._replace(cosine=calibration.align(cosine)), cosine)
            for n, cosine in zip(likely, cosines, strict=False)
        ]
        best, cosine = max(measured, key=lambda pair: pair[0].strength)
        judged = ConfidenceSignals(cosine, best.coverage, passage)
        if probability(judged, calibration) >= CLEAR_CONFIDENCE:
            break
    return judged


async def _cosines(
    question: Question,
    named: Question | None,
    embed: EmbedSentences,
    sentences: Sequence[QuotedSentence],
) -> list[float]:
    """Compare sentences, their headings before them, with a question.

    Of one that names documents, which the headings may name as well, it is the larger of two
    cosines: without names under the heading, and with names, without it.
    """
    pairs = [(question.vector, [one.headed for one in sentences])]
    if named is not None and named.vector is not None:
        pairs.append((named.vector, [one.quote.text for one in sentences]))
    rows = await embed_all(embed, [text for _, texts in pairs for text in texts])
    each = rows.reshape(len(pairs), len(sentences), -1)
    vectors = np.array([vector for vector, _ in pairs], np.float32)
    return [float(cosine) for cosine in np.einsum("pnd,pd->pn", each, vectors).max(axis=0)]


def probability(signals: ConfidenceSignals, calibration: Calibration = WITH_VECTOR) -> float:
    """Return the confidence, 0 to 1."""
    if signals.cosine is None:
        by_sentence = WORDS_SENTENCE * signals.sentence
        value = WORDS_CONSTANT + by_sentence + WORDS_PASSAGE * signals.passage
    else:
        by_cosine = calibration.cosine * signals.cosine
        value = calibration.constant + by_cosine + calibration.passage * signals.passage
    return 1 / (1 + exp(-value))
