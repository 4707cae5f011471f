"""The probability that hits hold an answer, judged beside what else the database says.

How a sentence would read that answers is learnt from the best sentence of each of the best
documents anywhere: relevance feedback (RM3; Abdul-Jaleel et al., 2004) with sentences as documents.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp

import numpy as np
from numpy.typing import NDArray

from lexichord.db import evidence
from lexichord.db.evidence import Postings
from lexichord.db.pool import Database
from lexichord.retrieve.evidence.relevance import (
    EmbedSentences,
    coverage,
    embed_all,
    split_sentences,
    weigh_texts,
)
from lexichord.retrieve.evidence.sentences import (
    EMBEDDED_SENTENCES,
    FITTED_SPACE,
    find_candidates,
    word_signals,
)
from lexichord.types import ChunkHit, Question
from lexichord.types.evidence import Quote

type Floats = NDArray[np.float64]

# Whether a document answers: ContractNLI dev, AUROC on half A with a vector / by words, .821 / .814
# as it is. With whole passages in place of sentences .798, with windows of 50 words .793, with two
# sentences .799, cut at every line and stop .808 (those from a prototype where sentences had .821).
RIVAL_DEPTH = 100  # chunks of the whole database among which the rivals are
RIVAL_DOCUMENTS = 10  # rivals; 8, 15: .821 / .805, .815 / .808
RIVAL_PASSAGES = 2  # of each; 1, 3: .816 / .809, .821 / .814
FEEDBACK_ROUNDS = 5  # 2, 3: .816 / .806, .818 / .810
FEEDBACK_DOCUMENTS = 5  # documents; 3, 4, 7: .827 / .799, .824 / .798, .819 / .814
FEEDBACK_TERMS = 30  # 20, 40: .818 / .807, .820 / .810
FEEDBACK_SHARE = 0.8  # share of what is learnt in the model; .7, .9: .817 / .813, .822 / .806
COSINE_SHARE = (
    0.2  # of the passage's cosine in ranking the sentences; .1, .3: .821 / .816, .821 / .809
)
MIN_SENTENCE_WEIGHT = 0.05  # weight of a learnt sentence; with equal weights .813 / .805
BM25_K1 = 0.9
BM25_B = 0.4  # 0, .75: .818 / .798, .816 / .811


async def relative_evidence(
    database: Database, question: Question, hits: Sequence[ChunkHit]
) -> float:
    """Compare the hits' best sentence with the best ones of the whole scope, beyond its documents.

    About 1 or more if nothing better is stored, near 0 if others say it and the hits do not, 0 if
    nothing matches the question at all.
    """
    rivals = await evidence.rival_passages(
        database, _anywhere(question), RIVAL_DOCUMENTS, RIVAL_PASSAGES
    )
    passages = [rival.content for rival in rivals] + [hit.content for hit in hits]
    cut = {passage: _sentences(passage) for passage in dict.fromkeys(passages)}
    theirs = [rival for rival in rivals for _ in cut[rival.content]]
    if not theirs:
        return 0.0
    sentences = [text for passage in passages for text in cut[passage]]
    numbers = {text: number for number, text in enumerate(dict.fromkeys(sentences))}
    terms = await evidence.weigh_terms(database, [*numbers, question.query])
    documents = [rival.document_id for rival in theirs]
    cosines = [rival.cosine for rival in theirs]
    return compare_sentences(terms, [numbers[text] for text in sentences], documents, cosines)


def _anywhere(question: Question) -> Question:
    """Return the question for all documents of its datasets: another may be another tenant's."""
    scope = replace(question.scope, documents=())
    query, vector, space = question.query, question.vector, question.space
    return Question(query, vector, space=space, scope=scope, k=RIVAL_DEPTH)


def _sentences(text: str) -> list[str]:
    return [text[start:end] for start, end, _ in split_sentences(text)]


def compare_sentences(
    terms: Sequence[Postings],
    sentences: Sequence[int],
    documents: Sequence[str],
    cosines: Sequence[float | None],
) -> float:
    """Compare the best of the last sentences with those that the first ones teach.

    Sentences are numbers of texts, whose terms are given; the text after them all is the question.
    The first sentences are rivals, each with its document and the cosine of its passage.
    """
    matches, shares = _weigh(terms, sentences)
    count = len(documents)
    rivals, own = list(sentences[:count]), list(sentences[count:])
    query = shares[-1] / (shares[-1].sum() or 1.0)
    lowest = min((cosine for cosine in cosines if cosine is not None), default=0.0)
    meaning = _scaled(np.array([lowest if cosine is None else cosine for cosine in cosines]))
    model = query
    for _ in range(FEEDBACK_ROUNDS):
        ranking = COSINE_SHARE * meaning + (1 - COSINE_SHARE) * _scaled((matches @ model)[rivals])
        best = _best(ranking, documents)
        taught = [rivals[number] for number in best]
        learnt = np.maximum(ranking[best], MIN_SENTENCE_WEIGHT) @ shares[taught]
        learnt[np.argsort(-learnt, kind="stable")[FEEDBACK_TERMS:]] = 0
        model = (1 - FEEDBACK_SHARE) * query + FEEDBACK_SHARE * learnt / (learnt.sum() or 1.0)
    good = matches @ model
    reference = float(good[taught].mean())
    return float(good[own].max(initial=0.0)) / reference if reference else 0.0


def _weigh(terms: Sequence[Postings], sentences: Sequence[int]) -> tuple[Floats, Floats]:
    """Return BM25's part of each lexeme in each text without idf, and its share x idf.

    A row a text, the question's the last; a column a lexeme of the sentences. Lexemes that weigh
    the same are learnt in the order of the columns: those that the best rivals hold first.
    """
    question_number = 1 + max(sentences)
    held = sorted(
        (term for term in terms if term.texts != [question_number]), key=lambda one: min(one.texts)
    )
    rows = np.array([number for term in held for number in term.texts], np.intp)
    columns = np.repeat(np.arange(len(held)), [len(term.texts) for term in held])
    counts = np.array([number for term in held for number in term.frequencies], np.float64)
    idf = np.array([term.idf for term in held])
    length = np.maximum(np.bincount(rows, counts, question_number + 1), 1)
    relative = length[rows] / length[list(sentences)].mean()
    matches, shares = np.zeros((2, question_number + 1, len(held)))
    matches[rows, columns] = (
        counts * (BM25_K1 + 1) / (counts + BM25_K1 * (1 - BM25_B + BM25_B * relative))
    )
    shares[rows, columns] = counts / length[rows] * idf[columns]
    return matches, shares


def _scaled(scores: Floats) -> Floats:
    return (scores - scores.mean()) / (scores.std() or 1.0)


def _best(ranking: Floats, documents: Sequence[str]) -> list[int]:
    """Return the best sentence of each of the best documents."""
    first: dict[str, int] = {}
    for number in np.argsort(-ranking, kind="stable").tolist():
        first.setdefault(documents[number], number)
    return list(first.values())[:FEEDBACK_DOCUMENTS]


JUDGED_HITS = 10  # hits that are judged
COVERAGE_HITS = 5  # of them, among which the passage is that holds most of the question's terms
# Passages beyond this outdo what else is stored; how far says nothing more.
MAX_RELATIVE_EVIDENCE = 1.3
FIRST_EMBEDDED = 4  # sentences, the best by words; the others only where these leave a doubt
CLEAR_CONFIDENCE = 0.8  # above it there is none


@dataclass(frozen=True, slots=True)
class ConfidenceSignals:
    """The measurements behind a confidence, each of the question.

    `cosine` is that of the sentence that would answer, None where words alone judge. `sentence` and
    `passage` are the idf-weighted shares of the question's terms that this sentence and the best
    passage, its title and heading with it, hold, 0 to 1. `relative` is that of `relative_evidence`,
    None where nothing is stored beyond what was searched.
    """

    cosine: float | None
    sentence: float
    passage: float
    relative: float | None = None


@dataclass(frozen=True, slots=True)
class Calibration:
    """Coefficients of one calibration."""

    constant: float
    cosine: float
    sentence: float
    passage: float
    relative: tuple[float, float]  # constant, relative


WITH_VECTOR = Calibration(-5.48, 9.65, 0.0, 3.45, (-2.26, 6.21))
WORDS_ONLY = Calibration(-2.03, 0.0, 1.58, 4.65, (-2.75, 9.22))
MIN_CONFIDENCE = 0.6  # below it nothing should be answered


def is_fitted(question: Question) -> bool:
    """Return whether the vectors that a question is searched by are those that were fitted on."""
    return question.vector is not None and question.space == FITTED_SPACE


async def evidence_confidence(
    database: Database,
    question: Question,
    hits: Sequence[ChunkHit],
    embed: EmbedSentences | None = None,
    *,
    is_narrow: bool = False,
) -> float:
    """Return the probability, 0 to 1, that the hits hold an answer to the question; 0 without hits.

    Compare with MIN_CONFIDENCE. `embed` gives unit vectors of sentences; without it, or without the
    question's vector, words judge. In a narrow scope others may say it and the hits not. The
    question's hint and `k` are not looked at.
    """
    if not hits:
        return 0.0
    judged = hits[:JUDGED_HITS]
    signals, relative = await asyncio.gather(
        measure_evidence(database, question, judged, embed),
        relative_evidence(database, question, judged) if is_narrow else _nothing(),
    )
    return probability(replace(signals, relative=relative))


async def _nothing() -> None:
    return None


async def measure_evidence(
    database: Database,
    question: Question,
    hits: Sequence[ChunkHit],
    embed: EmbedSentences | None = None,
) -> ConfidenceSignals:
    """Measure the hits' sentences and passages; `relative` is left open."""
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
    there = _logistic(
        model.constant
        + model.cosine * (signals.cosine or 0.0)
        + model.sentence * signals.sentence
        + model.passage * signals.passage
    )
    if signals.relative is None:
        return there
    constant, slope = model.relative
    return there * _logistic(constant + slope * min(signals.relative, MAX_RELATIVE_EVIDENCE))


def _logistic(value: float) -> float:
    return 1 / (1 + exp(-value))
