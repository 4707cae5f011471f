"""Summary: sentences chosen by relevance and novelty, verbatim, in document order.

Maximal Marginal Relevance (Carbonell and Goldstein, 1998) over the sentences of the hits. Relevance
is what a sentence says of the question, and how central it is among the hits (the centroid of
Radev et al., 2004), which decides alone where the question names no more than the document.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from lexichord.db.pool import Database
from lexichord.retrieve.evidence.relevance import (
    EmbedSentences,
    Matrix,
    QuotedSentence,
    check_quotes,
    coverage,
    embed_all,
    in_document_order,
    sentences_of,
    weigh_texts,
    word_cosine,
)
from lexichord.retrieve.evidence.splitting import is_code
from lexichord.types import ChunkHit
from lexichord.types.evidence import Evidence, Quote

SUMMARY_SENTENCES = 8
NOVELTY_WEIGHT = 0.3  # the weight of novelty beside relevance; the paper's examples use .3 and .5
SUMMARY_CANDIDATES = (
    200  # sentences of the best hits; the work grows with the square of what is chosen
)
MIN_SENTENCE_WORDS = 4  # words of a sentence that can stand alone

type SentenceSimilarity = Callable[[int, int], float]


class SentencePool(NamedTuple):
    """Sentences to choose from, the relevance of each, 0 to 1, and how alike two are."""

    quotes: Sequence[Quote]
    relevance: Sequence[float]
    likeness: SentenceSimilarity


async def summarise(
    database: Database,
    question: str,
    passages: Sequence[ChunkHit | Quote],
    embed: EmbedSentences | None = None,
    sentences: int = SUMMARY_SENTENCES,
) -> Evidence:
    """Choose the sentences that answer `question` best without saying a thing twice.

    `passages` are best first. `embed` gives unit vectors of texts; without it words decide.
    """
    whole = [Quote.of(p) if isinstance(p, ChunkHit) else p for p in passages]
    good, dropped = await check_quotes(database, whole)
    chosen = await best_sentences(database, question, good, embed, sentences)
    return Evidence((), tuple(in_document_order(chosen)), dropped)


async def best_sentences(
    database: Database,
    question: str,
    quotes: Sequence[Quote],
    embed: EmbedSentences | None = None,
    sentences: int = SUMMARY_SENTENCES,
) -> list[Quote]:
    """Return up to so many sentences of checked quotes, best first, scored by their relevance."""
    pool = await _pool(database, question, quotes, embed)
    return [
        replace(pool.quotes[n], score=pool.relevance[n])
        for n in choose_by_mmr(pool.relevance, pool.likeness, sentences)
    ]


def choose_by_mmr(
    relevance: Sequence[float], likeness: SentenceSimilarity, number: int
) -> list[int]:
    """Choose by Maximal Marginal Relevance; what has no relevance is never chosen."""
    remaining = [n for n, value in enumerate(relevance) if value > 0]
    nearest = dict.fromkeys(remaining, 0.0)  # likeness to the nearest one chosen
    chosen: list[int] = []
    while remaining and len(chosen) < number:
        best = max(
            remaining,
            key=lambda n: (1 - NOVELTY_WEIGHT) * relevance[n] - NOVELTY_WEIGHT * nearest[n],
        )
        remaining.remove(best)
        chosen.append(best)
        for n in remaining:
            nearest[n] = max(nearest[n], likeness(n, best))
    return chosen


async def _pool(
    database: Database, question: str, quotes: Sequence[Quote], embed: EmbedSentences | None
) -> SentencePool:
    own = _candidates(quotes)
    texts = [one.quote.text for one in own]
    question_terms, *terms = await weigh_texts(
        database, [question, *texts, *(one.heading for one in own)]
    )
    words, headings = terms[: len(texts)], terms[len(texts) :]
    central = _centrality(words)
    relevances = [coverage(question_terms, *pair) for pair in zip(words, headings, strict=True)]
    rows = None if embed is None else await embed_all(embed, [question, *texts])
    if rows is not None:
        relevances = _mean(relevances, rows[1:] @ rows[0])
    relevance = _mean(relevances, central) if question_terms else central
    likeness = _likeness(words, None if rows is None else rows[1:])
    return SentencePool([one.quote for one in own], relevance, likeness)


def _candidates(quotes: Sequence[Quote]) -> list[QuotedSentence]:
    """Return the sentences that can stand alone, each place once, of the best quotes first.

    Code can not.
    """
    places: dict[tuple[str, int, int], QuotedSentence] = {}
    for quote in quotes:
        for one in sentences_of(quote):
            if len(one.quote.text.split()) >= MIN_SENTENCE_WORDS and not is_code(one.quote.text):
                places.setdefault((one.quote.document_id, one.quote.start, one.quote.end), one)
    return list(places.values())[:SUMMARY_CANDIDATES]


def _centrality(words: Sequence[Mapping[str, float]]) -> list[float]:
    """Return each sentence's cosine to the sum of all."""
    centroid: dict[str, float] = {}
    for terms in words:
        for lexeme, idf in terms.items():
            centroid[lexeme] = centroid.get(lexeme, 0.0) + idf
    return [word_cosine(terms, centroid) for terms in words]


def _mean(one: Sequence[float], other: Sequence[float] | Matrix) -> list[float]:
    return [(a + max(float(b), 0.0)) / 2 for a, b in zip(one, other, strict=True)]


def _likeness(words: Sequence[Mapping[str, float]], rows: Matrix | None) -> SentenceSimilarity:
    if rows is None:
        return lambda one, other: word_cosine(words[one], words[other])
    return lambda one, other: float(rows[one] @ rows[other])
