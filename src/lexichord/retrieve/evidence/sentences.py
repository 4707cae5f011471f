"""Sentences of passages, by how likely each is the one that answers a question.

As a trained reader tells, or else by a listwise linear model over words, vectors and the passage's
rank (ListNet; Cao et al., 2007).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import exp, log
from typing import NamedTuple

from lexichord.db.pool import Database
from lexichord.retrieve.evidence.relevance import (
    EmbedSentences,
    QuotedSentence,
    coverage,
    embed_all,
    sentences_of,
    weigh_texts,
)
from lexichord.types.evidence import (
    AnswerRequest,
    Place,
    Quote,
    ReadPassages,
)
from lexichord.types.questions import RightWeights

LEAST = 1e-4  # of a probability whose logarithm is taken


def holds_answer(read: ReadPassages, confidence: float) -> float:
    """Return the probability, 0 to 1, that one of the passages holds an answer.

    `confidence` is what words and vectors make of them.
    """
    weights = read.fit.confidence
    likeliest = max((passage.here for passage in read.passages), default=0.0)
    by_vectors = weights.vectors * log_odds(confidence)
    return probability_of(weights.constant + weights.here * log_odds(likeliest) + by_vectors)


def log_odds(probability: float) -> float:
    """Return the logarithm of a probability's odds, as far from either end as is told apart."""
    kept = min(max(probability, LEAST), 1 - LEAST)
    return log(kept / (1 - kept))


def probability_of(log_odds: float) -> float:
    """Return the probability whose odds have this logarithm."""
    return 1 / (1 + exp(-log_odds))


CANDIDATE_SENTENCES = 60  # of the best passages
EMBEDDED_SENTENCES = 16  # of these, the best by words; 12, 24, 60: the same first sentences
# 668 questions of nine kinds (bench/fit_reader.py), first sentence right where the weights were
# fitted to the other eight, by words, rank and cosines / without cosines: encyclopaedia .81, .78,
# Natural Questions .53, .55, contracts .55, .57, agreements .61, .61 and .53, .47, documentation
# .34, .28, articles .66, .69, papers .18, .19, policies .15.
COSINE_WEIGHT = 6.2
COVERAGE_WEIGHT = 3.4
RANK_WEIGHT = 1.9  # of 1 / (1 + the passage's number)
# Whether the first sentence is right: AUROC .79 on kinds left out, .77 by the margin to the second.
RIGHT = RightWeights(constant=1.1, evidence=0.1, share=2.0)

FITTED_SPACE = "local/all-MiniLM-L6-v2/384"
# Below it a first sentence is shown in its passage, and not claimed to answer. Of eight kinds left
# out, of right first sentences, wrong ones and those of what nothing answers, claimed are at .25
# 92, 50 and 42 %, at .3 91, 46 and 38, at .35 88, 40 and 34, at .5 79, 23 and 22.
MIN_CLAIMED_CONFIDENCE = 0.3


class Candidate(NamedTuple):
    """A sentence, and the number of its passage, the best 0."""

    sentence: QuotedSentence
    passage: int


class Signals(NamedTuple):
    """What is measured of a candidate.

    `cosine`, as one of the space of the constants, is 0 without vectors.
    """

    passage: int
    coverage: float
    cosine: float = 0.0

    @property
    def strength(self) -> float:
        """How likely it answers; differences are logarithms of odds."""
        by_rank = RANK_WEIGHT / (1 + self.passage)
        return COSINE_WEIGHT * self.cosine + COVERAGE_WEIGHT * self.coverage + by_rank


class RankedSentences(NamedTuple):
    """Sentences, best first, and how likely the first is right, 0 to 1; None if that is unknown.

    `phrase` is what of the first one answers, where a reader tells.
    """

    quotes: list[Quote]
    confidence: float | None
    phrase: Quote | None = None


async def rank_sentences(
    database: Database,
    brief: AnswerRequest,
    passages: Sequence[Quote],
    embed: EmbedSentences | None,
) -> RankedSentences:
    """Return the sentences of checked passages that may answer a brief's question.

    A quote's score is how likely it answers, as a share of the best one's: 1 for the best. What
    its reader makes of them decides, where there is one; else `embed`, which gives unit vectors of
    texts, and without it words.
    """
    question, evidence = brief.question, brief.confidence
    made = await brief.read(question, passages)
    if made is not None:
        return await _by_reading(database, question, made, evidence)
    candidates = find_candidates(passages)
    sentences = [one.sentence for one in candidates]
    texts = (f"{one.before} {one.quote.text}".strip() for one in sentences)  # with what it leans on
    asked, *terms = await weigh_texts(database, [question, *texts])
    signals = word_signals(asked, candidates, terms)
    likely = sorted(range(len(candidates)), key=lambda n: -signals[n].strength)[:EMBEDDED_SENTENCES]
    cosines = await _cosines(question, [sentences[n] for n in likely], embed)
    measured = [
        signals[n]._replace(cosine=brief.align(cosine) if embed else 0.0)
        for n, cosine in zip(likely, cosines, strict=True)
    ]
    quotes = [sentences[n].quote for n in likely]
    ranked = _ranked(quotes, [one.strength for one in measured], evidence, RIGHT)
    return ranked if embed else ranked._replace(confidence=None)


def _ranked(
    quotes: Sequence[Quote],
    strengths: Sequence[float],
    evidence: float | None,
    right: RightWeights,
) -> RankedSentences:
    """Return sentences by strength, the first one's likelihood by its share of all sentences'."""
    if not quotes:
        return RankedSentences([], None)
    best = max(strengths)
    shares = [exp(strength - best) for strength in strengths]
    scored = [replace(one, score=share) for one, share in zip(quotes, shares, strict=True)]
    scored.sort(key=lambda quote: -quote.score)
    if evidence is None:
        return RankedSentences(scored, None)
    by_evidence = right.evidence * log_odds(evidence)
    odds = right.constant + by_evidence - right.share * log(sum(shares))
    return RankedSentences(scored, probability_of(odds))


async def _by_reading(
    database: Database, question: str, read: ReadPassages, evidence: float | None
) -> RankedSentences:
    """Rank by what was read, by the question's words and by the passage's own rank."""
    listed = _once(
        (one.quote, (passage, one)) for passage in read.passages for one in passage.sentences
    )
    texts = (f"{one.head}\n{one.quote.text}".strip() for _, one in listed)
    asked, *terms = await weigh_texts(database, [question, *texts])
    weights = read.fit.sentence
    strengths = [
        weights.here * log_odds(passage.here)
        + weights.share * log(max(one.share, LEAST))
        + weights.coverage * coverage(asked, words)
        + weights.rank / (1 + passage.number)
        for (passage, one), words in zip(listed, terms, strict=True)
    ]
    ranked = _ranked([one.quote for _, one in listed], strengths, evidence, read.fit.right)
    if not listed:
        return ranked
    best = max(range(len(listed)), key=lambda n: strengths[n])
    return ranked._replace(phrase=listed[best][1].phrase)


def find_candidates(passages: Sequence[Quote]) -> list[Candidate]:
    """Return the sentences of passages, best passage first, each place once."""
    found = (
        (one.quote, Candidate(one, number))
        for number, passage in enumerate(passages)
        for one in sentences_of(passage)
        if not one.is_head
    )
    return _once(found)[:CANDIDATE_SENTENCES]


def _once[T](listed: Iterable[tuple[Quote, T]]) -> list[T]:
    """Return the first that stands at each sentence's place; signs alone are no sentence."""
    places: dict[Place, T] = {}
    for quote, one in listed:
        if any(map(str.isalnum, quote.text)):
            places.setdefault(quote.place, one)
    return list(places.values())


def word_signals(
    question: Mapping[str, float],
    candidates: Sequence[Candidate],
    terms: Sequence[Iterable[str]],
) -> list[Signals]:
    """Return what words say of candidates, whose terms are given, without cosines."""
    return [
        Signals(one.passage, coverage(question, words))
        for one, words in zip(candidates, terms, strict=True)
    ]


async def _cosines(
    question: str, sentences: Sequence[QuotedSentence], embed: EmbedSentences | None
) -> list[float]:
    """Compare each sentence, its heading before it, with the question; 0 without vectors."""
    if embed is None:
        return [0.0] * len(sentences)
    rows = await embed_all(embed, [question, *(one.headed for one in sentences)])
    return [float(row @ rows[0]) for row in rows[1:]]
