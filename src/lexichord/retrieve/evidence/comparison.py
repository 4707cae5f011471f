"""Comparison: a table of files × aspects, each cell with its quotes, or "not found"."""

from collections.abc import Iterable, Sequence
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
)
from lexichord.retrieve.evidence.values import values_of
from lexichord.types import FileHit
from lexichord.types.evidence import Cell, Comparison, Evidence, Quote

# Chosen on half A of samples/comparisons.jsonl (42 cells); half B has 39. Share of right cells,
# scripts/bench_comparison.py:
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


async def compare(
    database: Database,
    aspects: Sequence[str],
    files: Sequence[FileHit],
    vectors: QuestionVectors | None = None,
    space: str | None = None,
    embed: EmbedSentences | None = None,
) -> Evidence:
    """Compare what files say of aspects, in verbatim sentences.

    `vectors` are the aspects', of `space`, one each; `embed` gives vectors of sentences in the same
    space. Without them words decide alone. A cell without quotes: not found in that file; that is
    decided inside the file, whatever the other files say. `quotes` are those of all cells.
    """
    names = tuple(dict.fromkeys(aspects))
    used = None if vectors is None else [vectors[aspects.index(name)] for name in names]
    ids = [file.document_id for file in files]
    hits = await evidence.search_each(database, names, ids, used, CHUNKS_PER_CELL, space)
    parts = [one for number, hit in hits for one in sentences_of(Quote.of(hit), number)]
    good, dropped = await check_quotes(database, [one.quote for one in parts])
    kept = set(good)
    checked = [one for one in parts if one.quote in kept]
    scored = await score_sentences(database, names, checked, used, embed)
    min_score = MIN_CELL_COVERAGE if used is None or embed is None else MIN_CELL_SCORE
    cells = tuple(_cell(f, n, names[n], scored, min_score) for f in ids for n in range(len(names)))
    quotes = tuple(dict.fromkeys(quote for cell in cells for quote in cell.quotes))
    return Evidence(tuple(files), quotes, dropped, Comparison(names, tuple(files), cells))


def _cell(
    document: str, number: int, aspect: str, scored: Iterable[ScoredSentence], min_score: float
) -> Cell:
    """Return the best sentences of a document for an aspect, of those that meet the criterion."""
    place = (number, document)
    own = [s for s in scored if (s.sentence.question, s.sentence.quote.document_id) == place]
    best = _distinct(sorted(own, key=lambda s: (-s.rank, s.sentence.quote.start)))[:MAX_CELL_QUOTES]
    good = [
        s for s in best if s.score >= min_score and s.rank >= MIN_CELL_SCORE_SHARE * best[0].rank
    ]
    quotes = tuple(replace(s.sentence.quote, score=s.score) for s in good)
    return Cell(
        document, aspect, quotes, values_of(quotes), max((s.score for s in best), default=0.0)
    )


def _distinct(scored: Iterable[ScoredSentence]) -> list[ScoredSentence]:
    """Return the first of the sentences with the same text."""
    first: dict[str, ScoredSentence] = {}
    for one in scored:
        first.setdefault(one.sentence.quote.text, one)
    return list(first.values())
