"""Clause lookup: files ranked by their chunks, hits as quotes, neighbours joined again."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal, Protocol

from lexichord.db import evidence
from lexichord.db.pool import Database
from lexichord.retrieve.evidence.relevance import check_quotes
from lexichord.types import ChunkHit, FileHit
from lexichord.types.evidence import Evidence, Quote

FileScore = Literal["max", "mean", "sum"]


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


def rank_files(hits: Iterable[ChunkHit], by: FileScore = "max") -> tuple[FileHit, ...]:
    """Rank documents by the scores of their hits, then by uri; `hits` of each are counted."""
    groups: dict[str, list[ChunkHit]] = defaultdict(list)
    for hit in hits:
        groups[hit.document_id].append(hit)
    files = [_file(group, by) for group in groups.values()]
    return tuple(sorted(files, key=lambda file: (-file.score, file.uri)))


def _file(hits: Sequence[ChunkHit], by: FileScore) -> FileHit:
    scores = [hit.score for hit in hits]
    score = {"max": max(scores), "sum": sum(scores), "mean": sum(scores) / len(scores)}[by]
    one = hits[0]
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
    rows = await evidence.chunk_places(database, [quote.chunk_id for quote in quotes])
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
    texts = await evidence.read_spans(database, spans)
    joined = []
    for run, (_, start, end), text in zip(runs, spans, texts, strict=True):
        best = min(run, key=lambda quote: ranks[quote.chunk_id])
        if text is not None:
            joined.append(replace(best, text=text, start=start, end=end, page=run[0].page))
    return tuple(sorted(joined, key=lambda quote: ranks[quote.chunk_id]))
