"""How likely hits hold an answer, by words, vectors and a reader, and their order by that."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from lexichord.retrieve.evidence.clauses import find_clauses, rank_files
from lexichord.retrieve.evidence.reading import holds_answer
from lexichord.retrieve.judge.named import hold_to_named, unnamed
from lexichord.retrieve.query import QueryContext
from lexichord.retrieve.search.chunks import SearchPlan
from lexichord.types import ChunkHit
from lexichord.types.evidence import Evidence, Quote, ReadPassages
from lexichord.types.reading import ReaderFit
from lexichord.types.state import Calibration

# Of how likely a hit holds the answer, beside its sum of reciprocal ranks: as much as some sixteen
# places in one list. Of 298 questions of five kinds, all documents together, MRR of the passage
# that answers, and first hit of the right document: 0 .738, .841; .001 .776, .863; .002 .773, .862;
# .004 .777, .859; .01 .782, .851; 1 .781, .832.
READ_WEIGHT = 0.004


@dataclass(frozen=True, slots=True)
class Judged:
    """Hits and the probability, 0 to 1, that they hold an answer.

    `by` is what was fitted with what judged them, None by words alone; `clauses` are the passages
    that they make, where somebody was to read them.
    """

    hits: list[ChunkHit]
    confidence: float
    by: ReaderFit | Calibration | None
    clauses: Evidence | None


async def judge(context: QueryContext, plan: SearchPlan, hits: Sequence[ChunkHit]) -> Judged:
    """Judge hits; what a reader finds an answer in comes first, unless a reranker ordered them."""
    about, meant = plan.about, hold_to_named(plan.intent, hits)
    clauses = await find_readable(context, plan, meant)
    question = unnamed(plan.intent)
    read = None if clauses is None else await context.read(question, clauses.quotes)
    calibration = context.calibration_of(about)
    judged_by = "words" if calibration is None else "meaning"
    judged_by = judged_by if read is None else f"{judged_by} and reading"
    with context.trace.stage("confidence", about=about.query, judged_by=judged_by) as step:
        named = plan.asked if plan.intent.documents else None
        confidence = await context.judge(about, meant, named)
        confidence = confidence if read is None else holds_answer(read, confidence)
        step["made"] = confidence
        step["dropped"] = [hit.chunk_id for hit in hits if hit not in meant]
    by = calibration if read is None else read.fit
    is_reranked = any(hit.scores.rerank is not None for hit in hits)
    if clauses is None or read is None or is_reranked:
        return Judged(list(hits), confidence, by, clauses)
    ordered = order_by_reading(hits, read)
    return Judged(ordered, confidence, by, _in_order(clauses, hold_to_named(plan.intent, ordered)))


async def find_readable(
    context: QueryContext, plan: SearchPlan, hits: Sequence[ChunkHit]
) -> Evidence | None:
    """Return the passages of hits that a reader can judge.

    None where nobody reads, and where more than one thing is asked for.
    """
    if context.reader is None or not hits or not plan.intent.wants_one_thing:
        return None
    found, made_of = context.reader.passages, tuple((hit.chunk_id, hit.score) for hit in hits)
    if made_of in found:
        return found[made_of]
    with context.trace.stage("aggregate", about=plan.about.query, aspects=[]) as step:
        clauses = await find_clauses(context.database, hits, context.stages.join_neighbours)
        step["made"] = {"quotes": len(clauses.quotes)}
        step["dropped"] = list(clauses.dropped)
    found[made_of] = clauses
    return clauses


def order_by_reading(hits: Iterable[ChunkHit], read: ReadPassages) -> list[ChunkHit]:
    """Return hits by score, to which is added how likely each holds the answer."""
    held: dict[str, float] = {}
    listed = list(hits)
    for passage in read.passages:
        for hit in _inside(passage.quote, listed):
            own = (one.share for one in passage.sentences if hit.start <= one.quote.start < hit.end)
            held[hit.chunk_id] = max(held.get(hit.chunk_id, 0.0), passage.here * sum(own))
    return sorted((_with_read(hit, held) for hit in listed), key=lambda hit: -hit.score)


def _with_read(hit: ChunkHit, held: Mapping[str, float]) -> ChunkHit:
    likely = held.get(hit.chunk_id)
    if likely is None:
        return hit
    score = hit.score + READ_WEIGHT * likely
    return replace(hit, score=score, scores=replace(hit.scores, read=likely))


def _in_order(clauses: Evidence, hits: Sequence[ChunkHit]) -> Evidence:
    """Return passages in the order of their best hits, with these hits' ids and scores."""
    best = {quote: next(_inside(quote, hits), None) for quote in clauses.quotes}
    quotes = (
        quote if hit is None else replace(quote, chunk_id=hit.chunk_id, score=hit.score)
        for quote, hit in best.items()
    )
    ordered = sorted(quotes, key=lambda quote: -quote.score)
    return replace(clauses, files=rank_files(hits), quotes=tuple(ordered))


def _inside(quote: Quote, hits: Iterable[ChunkHit]) -> Iterator[ChunkHit]:
    """Yield the hits that a passage was made of."""
    for hit in hits:
        within = quote.start <= hit.start and hit.end <= quote.end
        if hit.document_id == quote.document_id and within:
            yield hit
