"""The probability that some documents hold an answer, judged beside what others say.

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
from lexichord.retrieve.evidence.relevance import split_sentences
from lexichord.types import ChunkHit, Question
from lexichord.types.reflection import Term

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
COVERAGE_HITS = 3  # of them, whose words count
# Passages beyond this outdo what else is stored; how far says nothing more.
MAX_RELATIVE_EVIDENCE = 1.3


@dataclass(frozen=True, slots=True)
class DocumentSignals:
    """The measurements behind a confidence.

    `relative` is that of `relative_evidence`, from 0, about 1 if nothing better is stored.
    `cosine` is the best hit's, None without the query's own vector. `held` is the idf-weighted
    share of the question's terms that the three best passages hold, 0 to 1.
    """

    relative: float
    cosine: float | None
    held: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """Coefficients of one calibration, the constant first."""

    relative: tuple[float, float]  # constant, relative
    subject: tuple[float, float, float]  # constant, cosine, held
    max_held: float  # what is held beyond says no more of the subject


# scripts/bench_confidence.py fits and checks these.
# AUROC / calibration error, half A, half B: with a vector .820 / .040, .839 / .064; by words alone
# .806 / .051, .822 / .042. On hypotheses not fitted on AUROC .805, .822; .792, .808.
# `max_held`, with a vector 1, .7, .4: half A .821, .820, .819; answerable code questions turned
# away 10, 4, 12 of 248. By words 1, .5, .4, .3: half A, hypotheses not fitted on .763, .780, .792,
# .806; code questions asked of the NDAs turned away 92, 112, 96, 67 of 248.
# MIN_DOCUMENT_CONFIDENCE keeps 90 % of half A's answerable pairs, with a vector and by words alone.
# Abstains on answerable sample questions 10.3 %, 10.3 %; within their own files 17 %, 14 %: these
# paraphrase (share of words held at most .28, cosine .41), where foreign subjects lie as well.
WITH_VECTOR = Calibration((-2.26, 6.21), (-8.66, 15.85, 7.0), 0.7)
WORDS_ONLY = Calibration((-2.75, 9.22), (-4.19, 0.0, 15.26), 0.4)
MIN_DOCUMENT_CONFIDENCE = 0.36  # below it nothing should be answered from the documents meant


async def document_confidence(
    database: Database, question: Question, hits: Sequence[ChunkHit]
) -> float:
    """Return the probability, 0 to 1, that the hits hold an answer to the question; 0 without hits.

    Compare with MIN_DOCUMENT_CONFIDENCE. The question's hint and `k` are not looked at.
    """
    if not hits:
        return 0.0
    best = [hit.chunk_id for hit in hits[:COVERAGE_HITS]]
    terms, relative = await asyncio.gather(
        evidence.question_coverage(database, question.query, best),
        relative_evidence(database, question, hits[:JUDGED_HITS]),
    )
    return document_probability(find_signals(hits, terms, relative, question.vector is not None))


def find_signals(
    hits: Sequence[ChunkHit], terms: Sequence[Term], relative: float, has_vector: bool
) -> DocumentSignals:
    """Return the signals of hits.

    Without the query's own vector the hits' dense scores are cosines to other passages, which say
    nothing here.
    """
    cosines = [hit.scores.dense for hit in hits[:JUDGED_HITS] if hit.scores.dense is not None]
    weight = sum(term.idf for term in terms)
    held = sum(term.idf for term in terms if term.chunks)
    return DocumentSignals(
        relative=relative,
        cosine=max(cosines, default=0.0) if has_vector else None,
        held=held / weight if weight else 0.0,
    )


def document_probability(signals: DocumentSignals) -> float:
    """Return the confidence, 0 to 1."""
    model = WORDS_ONLY if signals.cosine is None else WITH_VECTOR
    constant, slope = model.relative
    good = _logistic(constant + slope * min(signals.relative, MAX_RELATIVE_EVIDENCE))
    constant, by_cosine, by_held = model.subject
    held = min(signals.held, model.max_held)
    return good * _logistic(constant + by_cosine * (signals.cosine or 0.0) + by_held * held)


def _logistic(value: float) -> float:
    return 1 / (1 + exp(-value))
