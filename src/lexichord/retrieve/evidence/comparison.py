"""Comparison: a table of files × aspects, each cell with its quotes, or "not found"."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from lexichord.db import evidence
from lexichord.db.pool import Database
from lexichord.retrieve.evidence.relevance import (
    EmbedSentences,
    QuestionVectors,
    ScoredSentence,
    check_quotes,
    score_sentences,
    sentences_of,
    sub_quote,
)
from lexichord.retrieve.evidence.values import ValueKind, find_values, values_of
from lexichord.types import FileHit
from lexichord.types.evidence import Align, Cell, Comparison, Evidence, Quote, as_it_is

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
    vectors: QuestionVectors | None = None,
    space: str | None = None,
    embed: EmbedSentences | None = None,
    align: Align = as_it_is,
) -> Evidence:
    """Compare what files say of aspects, in verbatim sentences.

    `vectors` are the aspects', of `space`, one each; `embed` gives vectors of sentences in the same
    space, `align` its cosines as those of the constants. Without them words decide alone. A cell
    without quotes: not found in that file; that is decided inside the file, whatever the other
    files say. `quotes` are those of all cells.
    """
    names = tuple(dict.fromkeys(aspects))
    used = None if vectors is None else [vectors[aspects.index(name)] for name in names]
    ids = [file.document_id for file in files]
    hits = await evidence.search_each(database, names, ids, used, CHUNKS_PER_CELL, space)
    parts = [one for number, hit in hits for one in sentences_of(Quote.of(hit), number)]
    good, dropped = await check_quotes(database, [one.quote for one in parts])
    kept = set(good)
    checked = [one for one in parts if one.quote in kept]
    scored = await score_sentences(database, names, checked, used, embed, align=align)
    scored = prefer_values(scored, names)
    min_score = MIN_CELL_COVERAGE if used is None or embed is None else MIN_CELL_SCORE
    passages = {hit.chunk_id: Quote.of(hit) for _, hit in hits}
    cells = tuple(
        _cell((n, f), name, scored, passages, min_score)
        for f in ids
        for n, name in enumerate(names)
    )
    quotes = tuple(dict.fromkeys(quote for cell in cells for quote in cell.quotes))
    return Evidence(tuple(files), quotes, dropped, Comparison(names, tuple(files), cells))


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
