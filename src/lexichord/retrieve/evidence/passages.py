"""The evidence that each intent asks for: clauses, lists, summaries, comparisons."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Protocol

from lexichord.db import search
from lexichord.db.pool import Database
from lexichord.retrieve.evidence.relevance import (
    EmbedSentences,
    Matrix,
    Meaning,
    QuotedSentence,
    ScoredSentence,
    check_quotes,
    coverage,
    embed_all,
    in_document_order,
    score_sentences,
    sentences_of,
    sub_quote,
    weigh_texts,
    word_cosine,
)
from lexichord.retrieve.evidence.splitting import is_code
from lexichord.retrieve.evidence.units import Needs, apart, whole_unit
from lexichord.retrieve.values import ValueKind, find_values, values_of
from lexichord.types import ChunkHit, FileHit
from lexichord.types.evidence import (
    Cell,
    Comparison,
    Evidence,
    Quote,
    as_it_is,
)


class JoinNeighbours(Protocol):
    """The stage `join_neighbours`."""

    async def __call__(self, *, database: Database, quotes: Sequence[Quote]) -> tuple[Quote, ...]:
        """Make one passage, in the best one's place, of quotes, best first, of one place."""
        ...


# Evidence of half of the NDA questions within 1,000 / 2,000 / 4,000 characters of 30 hits, half A,
# then half B: nothing joined 55.2 / 70.2 / 84.3, 52.4 / 72.7 / 86.7; 5 places and 1,200 characters
# 56.1 / 70.1 / 84.7, 50.6 / 72.2 / 87.3; 5 and 2,000: 52.3 / 70.3 / 84.5, 48.1 / 70.6 / 87.2; all
# neighbours, 2,000: 50.6 / 68.9 / 84.0, 46.7 / 67.7 / 87.2.
MAX_RANK_GAP = 5  # places in the ranking from the best of a passage
MAX_JOINED_CHARS = 1200  # characters of a joined passage


def rank_files(hits: Iterable[ChunkHit]) -> tuple[FileHit, ...]:
    """Rank documents by the best score of their hits, then by uri; `hits` of each are counted."""
    groups: dict[str, list[ChunkHit]] = defaultdict(list)
    for hit in hits:
        groups[hit.document_id].append(hit)
    files = [_file(group) for group in groups.values()]
    return tuple(sorted(files, key=lambda file: (-file.score, file.uri)))


def _file(hits: Sequence[ChunkHit]) -> FileHit:
    one, score = hits[0], max(hit.score for hit in hits)
    place = (one.document_id, one.dataset, one.uri, one.title)
    return FileHit(*place, score, scores={"chunks": score}, hits=len(hits))


async def find_clauses(
    database: Database, hits: Sequence[ChunkHit], join: JoinNeighbours
) -> Evidence:
    """Return the hits as verbatim passages, best first, and their files ranked by the best hit.

    `join` makes one passage of those that belong together.
    """
    quotes, dropped = await check_quotes(database, [Quote.of(hit) for hit in hits])
    return Evidence(rank_files(hits), await join(database=database, quotes=quotes), dropped)


async def join_neighbours(database: Database, quotes: Sequence[Quote]) -> tuple[Quote, ...]:
    """Join quotes of whole chunks, best first, that are neighbours in one section and in rank."""
    rows = await search.chunk_places(database, [quote.chunk_id for quote in quotes])
    ranks = {quote.chunk_id: rank for rank, quote in reversed(list(enumerate(quotes)))}
    runs: list[list[Quote]] = []
    expected: tuple[str, int, int] | None = None
    for row in rows:
        quote = quotes[ranks[row["chunk_id"]]]
        here = (row["document_id"], row["section"], row["ordinal"])
        if here == expected and _fits(runs[-1], quote, ranks):
            runs[-1].append(quote)
        else:
            runs.append([quote])
        expected = (*here[:2], here[2] + 1)
    return await _read_runs(database, runs, ranks)


def _fits(run: Sequence[Quote], quote: Quote, ranks: Mapping[str, int]) -> bool:
    best = min(ranks[one.chunk_id] for one in run)
    is_near = abs(ranks[quote.chunk_id] - best) <= MAX_RANK_GAP
    return is_near and quote.end - run[0].start <= MAX_JOINED_CHARS


async def _read_runs(
    database: Database, runs: Sequence[Sequence[Quote]], ranks: Mapping[str, int]
) -> tuple[Quote, ...]:
    """Read each run's text from first to last character; order runs by their best quote."""
    spans = [(run[0].document_id, run[0].start, max(q.end for q in run)) for run in runs]
    texts = await search.read_spans(database, spans)
    joined = []
    for run, (_, start, end), text in zip(runs, spans, texts, strict=True):
        best = min(run, key=lambda quote: ranks[quote.chunk_id])
        if text is not None:
            joined.append(replace(best, text=text, start=start, end=end, page=run[0].page))
    return tuple(sorted(joined, key=lambda quote: ranks[quote.chunk_id]))


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
    meaning: Meaning | None,
) -> Evidence:
    """Return every sentence of the hits that says something of `question`, files by their best hit.

    Sentences that follow each other are one quote. There is no k: whatever `hits` holds is judged.
    The only vector is the question's: the sentences that may be meant are embedded; without it
    words decide. Nearly the same text twice in a file is given once; in another file it is another
    place, and stays.
    """
    good, dropped = await check_quotes(database, [Quote.of(hit) for hit in hits])
    parts = [one for quote in good for one in sentences_of(quote)]
    cosines = {hit.chunk_id: hit.scores.dense for hit in hits if hit.scores.dense is not None}
    align = as_it_is if meaning is None else meaning.align
    meant = {name for name, cosine in cosines.items() if align(cosine) >= MIN_PASSAGE_COSINE}
    near = [one.quote.chunk_id in meant for one in parts]
    scored = await score_sentences(database, [question], parts, meaning, near)
    min_score = MIN_LIST_COVERAGE if meaning is None else MIN_LIST_SCORE
    scores = {one.sentence.quote: one.score for one in scored if one.score >= min_score}
    runs = [run for quote in good for run in _runs(quote, scores)]
    quotes = apart(whole_unit(run, good, Needs(lists=True)) for run in runs)
    listed = {quote.chunk_id for quote in quotes}
    files = rank_files(hit for hit in hits if hit.chunk_id in listed)
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


SUMMARY_SENTENCES = 8
NOVELTY_WEIGHT = 0.3  # the weight of novelty beside relevance; the paper's examples use .3 and .5
SUMMARY_CANDIDATES = (
    200  # sentences of the best hits; the work grows with the square of what is chosen
)
MIN_SENTENCE_WORDS = 4  # words of a sentence that can stand alone

type SentenceSimilarity = Callable[[int, int], float]


async def summarise(
    database: Database,
    question: str,
    hits: Sequence[ChunkHit],
    embed: EmbedSentences | None,
) -> Evidence:
    """Choose the sentences of hits that answer `question` best without saying a thing twice.

    By Maximal Marginal Relevance (Carbonell and Goldstein, 1998). Relevance is what a sentence says
    of the question, and how central it is among the hits (the centroid of Radev et al., 2004),
    which decides alone where the question names no more than the document. `embed` gives unit
    vectors of texts; without it words decide.
    """
    good, dropped = await check_quotes(database, [Quote.of(hit) for hit in hits])
    own = _candidates(good)
    relevance, likeness = await _weigh_candidates(database, question, own, embed)
    chosen = [
        replace(own[n].quote, score=relevance[n])
        for n in choose_by_mmr(relevance, likeness, SUMMARY_SENTENCES)
    ]
    return Evidence(rank_files(hits), tuple(in_document_order(chosen)), dropped)


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


async def _weigh_candidates(
    database: Database,
    question: str,
    own: Sequence[QuotedSentence],
    embed: EmbedSentences | None,
) -> tuple[list[float], SentenceSimilarity]:
    """Return the relevance of each sentence, 0 to 1, and how alike two are."""
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
    return relevance, _likeness(words, None if rows is None else rows[1:])


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


# Chosen on half A of samples/comparisons.jsonl (42 cells); half B has 39. Share of right cells,
# scripts/bench/comparison.py:
CHUNKS_PER_CELL = 4  # of each file for each aspect; their sentences are compared
MAX_CELL_QUOTES = (
    2  # of a cell at most: 1, 2, 3 gave 92.9, 95.2, 95.2 on A and 84.6, 92.3, 94.9 on B
)
# Of the best sentence's rank, what a further one needs. 0 to .95 gave the same on A, with 1.62 (0),
# 1.31 (.7) and 1.07 (.95) quotes a cell: what is dropped is mostly about something else.
MIN_CELL_SCORE_SHARE = 0.7
# .42 to .48 gave the same on A, 95.2: the lowest, as a weak quote does less harm than a clause that
# is said to be missing. B: .42 92.3, .45 87.2, .48 84.6.
MIN_CELL_SCORE = 0.42
# Without vectors the words alone decide: .2 to .5 gave 85.7 on A, .1 83.3. B: .2 82.1, .3 79.5.
MIN_CELL_COVERAGE = 0.2
# What a value of the aspect's kind adds. Without it "the notice periods of the lease and the
# licence" had a cell without a period; of its cells as many are right without it.
VALUE_WORDS: Mapping[ValueKind, re.Pattern[str]] = {
    "duration": re.compile(r"\b(?:periods?|term|duration|notice|how long)\b", re.I),
    "date": re.compile(r"\b(?:dates?|when)\b", re.I),
}
VALUE_RANK, VALUE_SCORE = 0.3, 0.12
MIN_VALUED_SCORE = 0.3  # of a sentence that gets it: others are about something else
MAX_QUOTED_CELL_CHARS = 500  # of sentences that follow each other, in one quote


async def compare(
    database: Database,
    aspects: Sequence[str],
    files: Sequence[FileHit],
    meaning: Meaning | None,
) -> Evidence:
    """Compare what files say of aspects, in verbatim sentences.

    The vectors are the aspects', one each; without them words decide alone. A cell without quotes:
    not found in that file; that is decided inside the file, whatever the other files say. `quotes`
    are those of all cells.
    """
    names = tuple(dict.fromkeys(aspects))
    if meaning is not None:
        vectors = [meaning.vectors[aspects.index(name)] for name in names]
        meaning = meaning._replace(vectors=vectors)
    ids = [file.document_id for file in files]
    own = (None, None) if meaning is None else (meaning.vectors, meaning.space)
    told = tell_apart(names)
    hits = await search.search_each(database, told, ids, own[0], CHUNKS_PER_CELL, own[1])
    split = (sentences_of(Quote.of(hit), number) for number, hit in hits)
    parts = [one for sentences in split for one in sentences if not one.is_head]
    good, dropped = await check_quotes(database, [one.quote for one in parts])
    kept = set(good)
    checked = [one for one in parts if one.quote in kept]
    scored = prefer_values(await score_sentences(database, told, checked, meaning), names)
    min_score = MIN_CELL_COVERAGE if meaning is None else MIN_CELL_SCORE
    passages = {hit.chunk_id: Quote.of(hit) for _, hit in hits}
    cells = tuple(
        _cell((n, f), name, scored, passages, min_score)
        for f in ids
        for n, name in enumerate(names)
    )
    quotes = tuple(dict.fromkeys(quote for cell in cells for quote in cell.quotes))
    return Evidence(tuple(files), quotes, dropped, Comparison(names, tuple(files), cells))


def tell_apart(aspects: Sequence[str]) -> Sequence[str]:
    """Return the words of each aspect that not all have: of "grep -i" and "grep -v" the options.

    What all have tells no sentence about one from those about another. All of them where one has
    nothing else.
    """
    listed = [aspect.split() for aspect in aspects]
    each = [{word.casefold() for word in words} for words in listed]
    shared = set.intersection(*each) if len(each) > 1 else set()
    if any(shared.issuperset(words) for words in each):
        return aspects
    return [" ".join(word for word in words if word.casefold() not in shared) for words in listed]


def prefer_values(scored: Sequence[ScoredSentence], aspects: Sequence[str]) -> list[ScoredSentence]:
    """Raise the sentences that hold a value of the kind that their aspect is of."""
    kinds = [
        next((kind for kind, asked in VALUE_WORDS.items() if asked.search(aspect)), None)
        for aspect in aspects
    ]
    return [_raised(one, kinds[one.sentence.question]) for one in scored]


def _raised(one: ScoredSentence, kind: ValueKind | None) -> ScoredSentence:
    if kind is None or all(value.kind != kind for value in find_values(one.sentence.quote.text)):
        return one
    score = one.score + (VALUE_SCORE if one.score >= MIN_VALUED_SCORE else 0)
    return one._replace(rank=one.rank + VALUE_RANK, score=score)


def _cell(
    place: tuple[int, str],
    aspect: str,
    scored: Iterable[ScoredSentence],
    passages: Mapping[str, Quote],
    min_score: float,
) -> Cell:
    """Return the best sentences of a place, an aspect's number and a document, of those that
    meet the criterion; what stands together is one quote."""
    own = [s for s in scored if (s.sentence.question, s.sentence.quote.document_id) == place]
    best = _distinct(sorted(own, key=lambda s: (-s.rank, s.sentence.quote.start)))
    good = [
        replace(s.sentence.quote, score=s.score)
        for s in best
        if s.score >= min_score and s.rank >= MIN_CELL_SCORE_SHARE * best[0].rank
    ]
    quotes = tuple(_with_neighbours(good, passages)[:MAX_CELL_QUOTES])
    score = max((s.score for s in best[:MAX_CELL_QUOTES]), default=0.0)
    return Cell(place[1], aspect, quotes, values_of(quotes), score)


def _with_neighbours(quotes: Iterable[Quote], passages: Mapping[str, Quote]) -> list[Quote]:
    """Return quotes, best first, each as one with those that stand right before and after it."""
    runs: list[Quote] = []
    for one in quotes:
        passage = passages[one.chunk_id]
        joined = ((n, _joined(run, one, passage)) for n, run in enumerate(runs))
        near = next(((n, run) for n, run in joined if run is not None), None)
        if near is None:
            runs.append(one)
        else:
            runs[near[0]] = near[1]
    return runs


def _joined(run: Quote, one: Quote, passage: Quote) -> Quote | None:
    """Return both as one quote; None where something stands between, or it would be too long."""
    first, last = sorted([run, one], key=lambda quote: quote.start)
    between = passage.text[first.end - passage.start : last.start - passage.start]
    if first.chunk_id != last.chunk_id or first.end > last.start or between.strip():
        return None
    if last.end - first.start > MAX_QUOTED_CELL_CHARS:
        return None
    return sub_quote(passage, first.start - passage.start, last.end - passage.start, run.score)


def _distinct(scored: Iterable[ScoredSentence]) -> list[ScoredSentence]:
    """Return the first of the sentences with the same text."""
    first: dict[str, ScoredSentence] = {}
    for one in scored:
        first.setdefault(one.sentence.quote.text, one)
    return list(first.values())


async def aggregate_evidence(
    database: Database,
    kind: str,
    question: str,
    hits: Sequence[ChunkHit],
    *,
    aspects: Sequence[str] = (),
    files: Sequence[FileHit] = (),
    meaning: Meaning | None = None,
    join: JoinNeighbours = join_neighbours,
) -> Evidence:
    """Return the evidence that an intent of this kind asks for.

    Of a comparison `files` are the rows, `aspects` the columns; without aspects the question is the
    only one, without files it is a clause lookup. `meaning` has the vectors of the aspects, or of
    the question alone: better choices, more time. `join` makes passages of a clause lookup's
    quotes.
    """
    if kind == "comparison" and files:
        columns = list(aspects) or [question]
        return await compare(database, columns, files, meaning)
    if kind == "list_all":
        return await list_all(database, question, hits, meaning)
    if kind == "summary":
        return await summarise(database, question, hits, meaning and meaning.embed)
    return await find_clauses(database, hits, join)
