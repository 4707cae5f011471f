"""List-all: every hit above an absolute criterion, each text once a file, grouped by file."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from lexichord.db.pool import Database
from lexichord.retrieve.evidence.clauses import rank_files
from lexichord.retrieve.evidence.relevance import (
    EmbedSentences,
    QuestionVectors,
    check_quotes,
    in_document_order,
    score_sentences,
    sentences_of,
    sub_quote,
)
from lexichord.retrieve.evidence.units import Needs, apart, whole_unit
from lexichord.types import ChunkHit
from lexichord.types.evidence import Align, Evidence, Quote, as_it_is

DUPLICATE_SHINGLE_SHARE = (
    0.9  # of the word triples of two texts that are the same: then they say the same
)
SHINGLE_WORDS = 3  # words
# A chunk is listed for its best sentence, by the criterion of a comparison. Recall / precision
# over the chunks of samples/comparisons.jsonl, each aspect a question, half A, then half B:
MIN_LIST_SCORE = 0.42  # 100 / 60, 96 / 66; .48 100 / 67, 86 / 69; .51 89 / 66, 71 / 71
# Of a passage's cosine, below which only its sentences with a word of the question are embedded: a
# fifth of them all, with 337 of the 341 that are listed (24 lists, 12,250 sentences).
MIN_PASSAGE_COSINE = 0.2
MIN_LIST_COVERAGE = 0.3  # words alone: 93 / 58, 93 / 58; .4 89 / 71, 61 / 52


async def list_all(
    database: Database,
    question: str,
    hits: Sequence[ChunkHit],
    vectors: QuestionVectors | None = None,
    embed: EmbedSentences | None = None,
    align: Align = as_it_is,
) -> Evidence:
    """Return every sentence of the hits that says something of `question`, files by their best hit.

    Sentences that follow each other are one quote. There is no k: whatever `hits` holds is judged.
    `vectors` holds the question's alone; with `embed` the sentences that may be meant are embedded,
    else words decide; `align` gives cosines of that space as those of the constants. Nearly the
    same text twice in a file is given once; in another file it is another place, and stays.
    """
    good, dropped = await check_quotes(database, [Quote.of(hit) for hit in hits])
    parts = [one for quote in good for one in sentences_of(quote)]
    cosines = {hit.chunk_id: hit.scores.dense for hit in hits if hit.scores.dense is not None}
    meant = {name for name, cosine in cosines.items() if align(cosine) >= MIN_PASSAGE_COSINE}
    near = [one.quote.chunk_id in meant for one in parts]
    scored = await score_sentences(database, [question], parts, vectors, embed, near, align)
    min_score = MIN_LIST_COVERAGE if vectors is None or embed is None else MIN_LIST_SCORE
    scores = {one.sentence.quote: one.score for one in scored if one.score >= min_score}
    runs = [run for quote in good for run in _runs(quote, scores)]
    quotes = apart(whole_unit(run, good, Needs(lists=True)) for run in runs)
    wanted = {quote.chunk_id for quote in quotes}
    files = rank_files(hit for hit in hits if hit.chunk_id in wanted)
    order = {file.document_id: n for n, file in enumerate(files)}
    by_file = sorted(remove_duplicates(quotes), key=lambda quote: order[quote.document_id])
    return Evidence(files, tuple(in_document_order(by_file)), dropped)


def _runs(quote: Quote, scores: Mapping[Quote, float]) -> Iterator[Quote]:
    """Return the stretches of a quote whose sentences were all found, with the best one's score."""
    sentences = [one.quote for one in sentences_of(quote)]
    for is_found, run in groupby(sentences, key=scores.__contains__):
        if is_found:
            one, *more = run
            end = (more or [one])[-1].end
            score = max(scores[sentence] for sentence in (one, *more))
            yield sub_quote(quote, one.start - quote.start, end - quote.start, score)


def remove_duplicates(quotes: Sequence[Quote]) -> list[Quote]:
    """Return quotes without what nearly repeats an earlier quote of the same document.

    By the Jaccard coefficient of their shingles (Broder, 1997).
    """
    kept: list[tuple[Quote, set[tuple[str, ...]]]] = []
    for quote in quotes:
        shingles = _shingles(quote.text)
        same = (other for one, other in kept if one.document_id == quote.document_id)
        if not any(_jaccard(shingles, other) >= DUPLICATE_SHINGLE_SHARE for other in same):
            kept.append((quote, shingles))
    return [quote for quote, _ in kept]


def _shingles(text: str) -> set[tuple[str, ...]]:
    words = text.casefold().split()
    count = max(1, len(words) - SHINGLE_WORDS + 1)
    return {tuple(words[n : n + SHINGLE_WORDS]) for n in range(count)}


def _jaccard(one: set[tuple[str, ...]], other: set[tuple[str, ...]]) -> float:
    return len(one & other) / len(one | other)
