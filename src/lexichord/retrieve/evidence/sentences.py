"""Sentences of passages, by how likely each is the one that answers a question.

A listwise linear model over signals that any kind of document has (ListNet; Cao et al., 2007).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import exp
from typing import NamedTuple

from lexichord.db.pool import Database
from lexichord.retrieve.evidence.reading import log_odds
from lexichord.retrieve.evidence.relevance import (
    EmbedSentences,
    QuotedSentence,
    coverage,
    embed_all,
    sentences_of,
    weigh_texts,
)
from lexichord.retrieve.evidence.wanted import (
    VALUE_TYPES,
    holds_wanted,
    opens_with_term,
    wanted_type,
)
from lexichord.retrieve.understand.cues import tell_language
from lexichord.types.evidence import (
    Align,
    Quote,
    ReadPassage,
    ReadQuotes,
    ReadSentence,
    as_it_is,
    read_nothing,
)

CANDIDATE_SENTENCES = 60  # of the best passages
EMBEDDED_SENTENCES = 16  # of these, the best by words; 12, 24, 60: the same first sentences
# 150 everyday questions over four kinds of documents (`scripts/everyday.py`), first sentence right
# where the weights were fitted to the other three kinds, against cosine and coverage alone: product
# documentation 27 -> 34 %, samples 59 -> 46, articles 66 -> 71, NDAs 32 -> 56, all 46 -> 51. Of no
# use beside these: words of the heading, of sentences around, of passage and title, the length,
# the place in the passage, code, a question mark.
COSINE_WEIGHT = 8.0
SENTENCE_COVERAGE_WEIGHT = 2.0
RANK_WEIGHT = 2.0  # of 1 / (1 + the passage's number)
WANTED_WEIGHT = 2.0
# Of what says nothing that the question does not say, a heading or a link in most cases.
REPETITION_COST = 4.0
# First sentence right, 229 questions: of "X is …" where X is asked for 3 more and none less, at any
# weight from 1 to 5; of what is in another language than the question 1 more, from 1.5 to 5.
DEFINITION_WEIGHT = 3.0
FOREIGN_COST = 3.0

# Beside the log odds of the reader; first sentence right on three kinds that it was not trained on,
# 120 questions each: encyclopaedia .833 -> .875, policies .158 -> .192, contracts .392 -> .458. Any
# coverage from 6 to 12 and rank from 2 to 4 is within a point; cosines beside these add one.
READ_COVERAGE_WEIGHT = 8.0
READ_RANK_WEIGHT = 4.0  # of 1 / (1 + the passage's number)

# Whether the first sentence is right, 335 questions, near misses among them, each kind by the other
# three: AUROC .791, calibration error .052, one near miss at .7 or more. By the sentence's own
# cosine, coverage, type and margin .760, .066; with these and the evidence's confidence .787, .037;
# by margin and confidence alone .792, .056.
FITTED_SPACE = "local/all-MiniLM-L6-v2/384"
RIGHT_CONSTANT = -3.54
RIGHT_BY_COVERAGE = 1.06
RIGHT_BY_MARGIN = 0.79  # of strength, before the second
RIGHT_BY_EVIDENCE = 3.14  # by the confidence that the evidence holds an answer
MAX_MARGIN = 3.0
# Of a question for an amount, a number, a date or a duration whose first sentence holds none: 1 of
# 7 right, of those that hold one 36 of 53 (five kinds, 229 questions).
RIGHT_WITHOUT_VALUE = -2.5
# Below it a first sentence is shown in its passage, and not claimed to answer. Of 259 questions
# that are not refused, and 38 near misses, each kind by the other three: at .3 243 are claimed,
# 69 % of these right, 56 % of the others, 13 near misses claimed; at .35 234, 71, 36, 11; at .4
# 221, 72, 45, 9; at .45 202, 74, 46, 6.
MIN_CLAIMED_CONFIDENCE = 0.35


class Candidate(NamedTuple):
    """A sentence, and the number of its passage, the best 0."""

    sentence: QuotedSentence
    passage: int


class Signals(NamedTuple):
    """What is measured of a candidate.

    `held` is whether it holds something of the type wanted, None where no type is told; `repeats`
    whether it has no word beside the question's, which answers nothing but by yes or no; `defines`
    whether it says what the term asked for is; `foreign` whether it is surely in another language
    than the question. `cosine`, as one of the space of the constants, is 0 without vectors.
    """

    passage: int
    coverage: float
    held: bool | None
    repeats: bool = False
    defines: bool = False
    foreign: bool = False
    cosine: float = 0.0

    @property
    def strength(self) -> float:
        """How likely it answers; differences are logarithms of odds."""
        return (
            COSINE_WEIGHT * self.cosine
            + SENTENCE_COVERAGE_WEIGHT * self.coverage
            + RANK_WEIGHT / (1 + self.passage)
            + WANTED_WEIGHT * (self.held or 0)
            + DEFINITION_WEIGHT * self.defines
            - REPETITION_COST * self.repeats
            - FOREIGN_COST * self.foreign
        )


class RankedSentences(NamedTuple):
    """Sentences, best first, and how likely the first is right, 0 to 1; None if that is unknown.

    `phrase` is what of the first one answers, where a reader tells.
    """

    quotes: list[Quote]
    confidence: float | None
    phrase: Quote | None = None


async def rank_sentences(
    database: Database,
    question: str,
    passages: Sequence[Quote],
    embed: EmbedSentences | None = None,
    evidence: float | None = None,
    align: Align = as_it_is,
    read: ReadQuotes = read_nothing,
) -> RankedSentences:
    """Return the sentences of checked passages that may answer.

    A quote's score is how likely it answers, as a share of the best one's: 1 for the best. What
    was `read` decides, where it is; else `embed`, which gives unit vectors of texts,
    and without it words. `align` gives their cosines as those of the constants. `evidence` is the
    confidence that the passages hold an answer.
    """
    if passages_read := await read(question, passages):
        return await _by_reading(database, question, passages_read)
    candidates = find_candidates(passages)
    signals = await _by_words(database, question, candidates)
    likely = sorted(range(len(candidates)), key=lambda n: -signals[n].strength)[:EMBEDDED_SENTENCES]
    if not likely:
        return RankedSentences([], None)
    cosines = await _cosines(question, [candidates[n].sentence for n in likely], embed)
    measured = {
        n: signals[n]._replace(cosine=align(cosine) if embed else 0.0)
        for n, cosine in zip(likely, cosines, strict=True)
    }
    order = sorted(likely, key=lambda n: -measured[n].strength)
    best = measured[order[0]].strength
    quotes = [
        replace(candidates[n].sentence.quote, score=exp(measured[n].strength - best)) for n in order
    ]
    if embed is None or evidence is None:
        return RankedSentences(quotes, None)
    wants_value = wanted_type(question) in VALUE_TYPES
    best_two = [measured[n] for n in order[:2]]
    return RankedSentences(quotes, _probability(best_two, evidence, wants_value))


async def _by_reading(
    database: Database, question: str, passages: Sequence[ReadPassage]
) -> RankedSentences:
    """Rank by what was read, by the question's words and by the passage's own rank."""
    places: dict[tuple[object, int, int], tuple[int, ReadSentence]] = {}
    for number, passage in enumerate(passages):
        for one in passage.sentences:
            place = one.quote.document_id, one.quote.start, one.quote.end
            places.setdefault(place, (number, one))
    read = list(places.values())
    asked, *terms = await weigh_texts(database, [question, *(one.quote.text for _, one in read)])
    strengths = [
        log_odds(one.score)
        + READ_COVERAGE_WEIGHT * coverage(asked, words)
        + READ_RANK_WEIGHT / (1 + number)
        for (number, one), words in zip(read, terms, strict=True)
    ]
    order = sorted(range(len(read)), key=lambda n: -strengths[n])
    if not order:
        return RankedSentences([], None)
    best = strengths[order[0]]
    quotes = [replace(read[n][1].quote, score=exp(strengths[n] - best)) for n in order]
    first = read[order[0]][1]
    return RankedSentences(quotes, first.score, first.phrase)


def _probability(best: Sequence[Signals], evidence: float, wants_value: bool) -> float:
    """Return how likely the first of the best two is right."""
    one = best[0]
    margin = min(one.strength - best[1].strength, MAX_MARGIN) if best[1:] else MAX_MARGIN
    value = (
        RIGHT_CONSTANT
        + RIGHT_BY_COVERAGE * one.coverage
        + RIGHT_BY_MARGIN * margin
        + RIGHT_BY_EVIDENCE * evidence
        + RIGHT_WITHOUT_VALUE * (wants_value and not one.held)
    )
    return 1 / (1 + exp(-value))


def find_candidates(passages: Sequence[Quote]) -> list[Candidate]:
    """Return the sentences of passages, best passage first, each place once."""
    places: dict[tuple[object, int, int], Candidate] = {}
    for number, passage in enumerate(passages):
        for one in sentences_of(passage):
            if any(map(str.isalnum, one.quote.text)):
                key = (one.quote.document_id, one.quote.start, one.quote.end)
                places.setdefault(key, Candidate(one, number))
    return list(places.values())[:CANDIDATE_SENTENCES]


async def _by_words(
    database: Database, question: str, candidates: Sequence[Candidate]
) -> list[Signals]:
    leaning = [f"{one.sentence.before} {one.sentence.quote.text}".strip() for one in candidates]
    question_terms, *terms = await weigh_texts(database, [question, *leaning])
    return word_signals(question, question_terms, candidates, terms)


def word_signals(
    question: str,
    question_terms: Mapping[str, float],
    candidates: Sequence[Candidate],
    terms: Sequence[Iterable[str]],
) -> list[Signals]:
    """Return what words say of candidates, whose terms are given, without cosines."""
    wanted, language = wanted_type(question), tell_language(question)
    return [
        Signals(
            one.passage,
            coverage(question_terms, words),
            None if wanted is None else holds_wanted(wanted, text),
            wanted != "yes/no" and question_terms.keys() >= set(words),
            wanted == "definition" and opens_with_term(question, text),
            language is not None and tell_language(text) not in (language, None),
        )
        for one, words in zip(candidates, terms, strict=True)
        for text in [one.sentence.quote.text]
    ]


async def _cosines(
    question: str, sentences: Sequence[QuotedSentence], embed: EmbedSentences | None
) -> list[float]:
    """Compare each sentence, its heading before it, with the question; 0 without vectors."""
    if embed is None:
        return [0.0] * len(sentences)
    rows = await embed_all(embed, [question, *(one.headed for one in sentences)])
    return [float(row @ rows[0]) for row in rows[1:]]
