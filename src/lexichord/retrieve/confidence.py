"""The probability that the best hits hold an answer, and from which one on an answer is given.

It is judged by the sentence that would answer, and by what the best passage holds of the question.

Where the cosines of a space lie is found without labels, from a sample of what is stored.
Unanswerable by construction: questions of everyday life asked of sentences that are stored.
Answerable by construction: such a sentence asked as a question, and itself. What any model makes of
the two are the two points that lead from its cosines to those that the constants were fitted on.

The threshold is by default MIN_CONFIDENCE. One by risk is a conformal one: over calibration scores
of questions that the confidence was not fitted on, by kind of document, the share of what is
answered without evidence stays below the risk (Bates et al., "Distribution-free, risk-controlling
prediction sets", 2021).
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from math import exp, inf

import numpy as np

from lexichord.db import catalogue
from lexichord.db.pool import Database
from lexichord.errors import DatabaseError
from lexichord.providers import Embedder
from lexichord.retrieve.cache import KnownScales
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
    Candidate,
    find_candidates,
    word_signals,
)
from lexichord.types import ChunkHit, Question, Response
from lexichord.types.base import counted
from lexichord.types.evidence import Quote, ReadPassages
from lexichord.types.state import Calibration, CosineScale
from lexichord.work import in_thread

FOREIGN_QUESTIONS = (
    "How do I bake bread without yeast?",
    "Which river flows through the capital of Hungary?",
    "How long does it take to learn to swim?",
    "What time does the museum close on Sundays?",
    "Who painted the ceiling of the chapel?",
    "How often should I water a cactus?",
    "What is the best way to remove a wine stain from a carpet?",
    "Why do cats purr?",
    "When was the first bicycle built?",
    "How many players are there in a volleyball team?",
    "Where can I hire a boat for an afternoon?",
    "What does the word serendipity mean?",
)
# Of 120 sentences, six kinds of documents and four models: so many move the logarithm of odds by a
# standard deviation of .05, 30 by .08, 15 by .12, 8 by .17 and at most .6 in 19 of 20 samples, 4 by
# .25 and 1.0. Sentences asked of one another, in the place of these questions, tell a collection of
# one subject from none: of contracts, policies and code too much is refused then.
SAMPLE_SENTENCES = 60
MIN_SENTENCES = 8
MIN_RANGE = 0.02  # of cosines, below which a model tells nothing; e5-small-v2 has .21, the least
OUTGROWN = 4  # times as many chunks as when it was measured


async def ensure_scale(
    database: Database, embedder: Embedder, known: KnownScales
) -> CosineScale | None:
    """Return the scale of an embedder's space, measured where it is not yet, or is outgrown.

    None of the space that the constants were fitted in, which needs none, and where too little is
    stored. Raises DatabaseError, ProviderError.
    """
    found = await read_scale(database, embedder, known)
    if needs_none(embedder) or known.is_measured(str(embedder.space)):
        return found
    if found is not None and found.measured_at and not is_outgrown(found):
        return found
    return await renew_scale(database, embedder, known)


async def read_scale(
    database: Database, embedder: Embedder, known: KnownScales
) -> CosineScale | None:
    """Return the scale of an embedder's space that was measured, outgrown or not; else None."""
    if needs_none(embedder):
        return None
    space = str(embedder.space)
    stored = await catalogue.find_cosine_scale(database)
    return known.find(space) or (stored if stored and stored.space == space else None)


def needs_none(embedder: Embedder) -> bool:
    """Return whether the constants were fitted on this model's cosines."""
    return str(embedder.space) == FITTED_SPACE


def is_outgrown(scale: CosineScale) -> bool:
    """Return whether so much more is stored by now that it is to be measured anew."""
    return scale.stored >= OUTGROWN * max(1, scale.chunks)


async def renew_scale(
    database: Database, embedder: Embedder, known: KnownScales
) -> CosineScale | None:
    """Measure the scale of an embedder's space, the database's or the one that it changes to.

    It is stored, or kept in `known` by who may not store it, as is that there is none. None as
    `ensure_scale` says.
    """
    if needs_none(embedder):
        return None
    sentences = await catalogue.sample_sentences(database, SAMPLE_SENTENCES)
    if len(sentences) < MIN_SENTENCES:
        return None
    scale = await in_thread(measure_scale, embedder, sentences)
    if scale is None:
        known.keep(str(embedder.space), None)
        return None
    try:
        await catalogue.set_cosine_scale(database, scale)
    except DatabaseError:
        known.keep(scale.space, scale)
    return scale


def measure_scale(embedder: Embedder, sentences: Sequence[str]) -> CosineScale | None:
    """Measure where a model's cosines lie; None of one that finds nothing alike.

    Raises ProviderError.
    """
    count = len(FOREIGN_QUESTIONS)
    stored = np.nan_to_num(embedder.embed(list(sentences), "document"))
    questions = np.nan_to_num(embedder.embed([*FOREIGN_QUESTIONS, *sentences[:count]], "query"))
    unlike = float((questions[:count] @ stored.T).mean())
    alike = float(np.einsum("nd,nd->n", questions[count:], stored[:count]).mean())
    if alike - unlike < MIN_RANGE:
        return None
    return CosineScale(str(embedder.space), unlike, alike, len(sentences))


JUDGED_HITS = 10  # hits that are judged
COVERAGE_HITS = 5  # of them, among which the passage is that holds most of the question's terms
FIRST_EMBEDDED = 4  # sentences, the best by words; the others only where these leave a doubt
CLEAR_CONFIDENCE = 0.8  # above it there is none
# Sentences where a reader reads: so many that it finds likeliest, so many that are best by words.
# Of 154 questions of five kinds, 22 near misses, what reader and vectors make of 4 sentences and
# where these leave a doubt 16 / of 2 and 2 / of 1 and 1: AUROC .904, .898, .905, answerable refused
# .097, .088, .097, near misses refused .64, .64, .68; 8.4, 3.3, 1.7 are embedded. With 1 and 1
# confidence is lower in the mean (.704, .699, .688): of 239 questions of kinds left out 12.1 % were
# refused, of those with up to 16 9.6 %. Two by the reader alone: .926, .133, .86.
EMBEDDED_BESIDE_READER = 2


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
# name, each kind by the other three, with vectors / by words (bench/fit_confidence.py): AUROC of
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
CALIBRATION_SCORES = "calibration.json"  # written by scripts/bench/fit_confidence.py
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
    read: ReadPassages | None = None,
) -> float:
    """Return the probability, 0 to 1, that the hits hold an answer to the question; 0 without hits.

    Where documents are named the hits are theirs, the question goes without their names, and
    `named` is the one with them. `embed` gives unit vectors of sentences, of fewer where a reader
    `read` them; without it, or without the question's vector, words judge. The question's hint and
    `k` are not looked at.
    """
    if not hits:
        return 0.0
    judged = hits[:JUDGED_HITS]
    signals = await measure_evidence(database, question, judged, embed, named, calibration, read)
    return probability(signals, calibration)


async def measure_evidence(
    database: Database,
    question: Question,
    hits: Sequence[ChunkHit],
    embed: EmbedSentences | None = None,
    named: Question | None = None,
    calibration: Calibration = WITH_VECTOR,
    read: ReadPassages | None = None,
) -> ConfidenceSignals:
    """Measure the hits' sentences and passages; more sentences where the first leave a doubt."""
    found = find_candidates([Quote.of(hit) for hit in hits])
    texts = [one.sentence.quote.text for one in found]
    names = [f"{hit.title} {hit.heading}" for hit in hits]
    asked, *terms = await weigh_texts(database, [question.query, *texts, *names], sought=1)
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
    for numbers in _embedded(found, likely, read):
        cosines = await _cosines(question, named, embed, [found[n].sentence for n in numbers])
        measured = [
            (signals[n]._replace(cosine=calibration.align(cosine)), cosine)
            for n, cosine in zip(numbers, cosines, strict=True)
        ]
        best, cosine = max(measured, key=lambda pair: pair[0].strength)
        judged = ConfidenceSignals(cosine, best.coverage, passage)
        if probability(judged, calibration) >= CLEAR_CONFIDENCE:
            break
    return judged


def _embedded(
    found: Sequence[Candidate], likely: Sequence[int], read: ReadPassages | None
) -> list[Sequence[int]]:
    """Return the numbers of the sentences to embed, `likely` by words; the next where in doubt."""
    if read is None:
        return [likely[:FIRST_EMBEDDED], likely[:EMBEDDED_SENTENCES]]
    shares = {
        one.quote.place: passage.here * one.share
        for passage in read.passages
        for one in passage.sentences
    }
    read_best = sorted(likely, key=lambda n: -shares.get(found[n].sentence.quote.place, 0.0))
    most = EMBEDDED_BESIDE_READER
    return [[*dict.fromkeys([*read_best[:most], *likely[:most]])]]


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


def find_threshold(holds: Iterable[float], lacks: Iterable[float], risk: float) -> float:
    """Return the lowest score from which on at most the share `risk` lacks an answer.

    `holds` are the scores of questions whose evidence holds one, `lacks` those of others; one more
    of these is counted, as the question to come may be one. Infinity where there is none.
    """
    threshold, wrong = inf, 0
    judged = sorted([*((one, 0) for one in holds), *((one, 1) for one in lacks)], reverse=True)
    below = [*(score for score, _ in judged[1:]), -inf]
    for number, ((score, lacking), after) in enumerate(zip(judged, below, strict=False), start=1):
        wrong += lacking
        if score != after and (wrong + 1) / (number + 1) <= risk:
            threshold = score
    return threshold


# scripts/bench/hit_confidence.py fits and checks these: code questions and every second LegalBench
# question, raw and with a hint, each also asked of the other corpus; documents of half A.
# On half B (7,290 hits) with a vector / by words alone: calibration error .015 / .012, log loss
# .216 / .237, AUROC .88 / .84. A term in the hit's cosine: log loss .215, in its fused score .215;
# fitted by words alone .236. A logistic function of confidence and rank, not their product: .221.
# score >= .1 keeps 2.8 to 3.5 hits a question with 78 to 81 % of the answering ones, >= .3 1.2 to
# 1.8 with 57 to 62 %, >= .5 .6 to .9 with 36 to 50 %; of 132 foreign questions 71, 89, 95 % keep
# none (by words alone 19, 44, 58 %).
RANK_DECAY, RANK_EXPONENT = 0.38, 2.24


def hit_confidences(response: Response) -> list[float]:
    """Return for each hit of a response the probability, 0 to 1, that it holds an answer.

    The same scale with a reranker, whose own scores differ from model to model: it changes the
    order and, through what it puts first, the confidence. Measured on questions for one thing; of
    a list or a comparison, where many hits hold a part, it is too low.
    """
    ranks = range(1, 1 + len(response.hits))
    return [hit_confidence(response.confidence, rank) for rank in ranks]


def hit_confidence(confidence: float, rank: int) -> float:
    """Return the probability of one hit, by the response's confidence and its rank, from 1."""
    decay: float = RANK_DECAY * rank**RANK_EXPONENT
    return confidence / (1 + decay)


def chunk_confidences(response: Response) -> dict[str, float]:
    """Return the same by the id of the chunk."""
    ids = (hit.chunk_id for hit in response.hits)
    return dict(zip(ids, hit_confidences(response), strict=True))
