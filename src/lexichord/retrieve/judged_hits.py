"""How likely hits hold an answer, from which confidence on one is given, and about which files."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from lexichord.retrieve.confidence import MIN_CONFIDENCE, find_threshold
from lexichord.retrieve.evidence.passages import find_clauses, rank_files
from lexichord.retrieve.evidence.sentences import WORD, holds_answer, words_of
from lexichord.retrieve.stages import QueryContext, SearchPlan
from lexichord.retrieve.understand import says_something
from lexichord.retrieve.understand.linking import BRIDGE_WORDS, DEFINITE_WORDS, PLACE_PREPOSITIONS
from lexichord.types import ChunkHit, FileHit
from lexichord.types.evidence import Evidence, Quote, ReadPassages
from lexichord.types.questions import Intent, ReaderFit
from lexichord.types.state import Calibration

CALLING_WORDS = DEFINITE_WORDS - {"s"}
# What leads to a name; without it, a name may be what the question asks about: "configure CORS".
LEADING_WORDS = (
    rf"(?:\baccording )?\b(?:{'|'.join(sorted(PLACE_PREPOSITIONS))}) "
    rf"(?:(?:{'|'.join(sorted(CALLING_WORDS))}) )?"
    rf"|\b(?:{'|'.join(sorted(CALLING_WORDS))}) "
)
MIN_WORDS = 2  # that a question without names has


def filter_to_named(intent: Intent, hits: Sequence[ChunkHit]) -> list[ChunkHit]:
    """Return the hits that speak of the documents that a query names, in their order.

    These are hits from those documents, or, where there are none, from others that say the name
    themselves. All of them where none is named, and for a comparison, which has its own rows.
    """
    if not intent.documents or intent.kind == "comparison":
        return list(hits)
    if own := [hit for hit in hits if hit.document_id in intent.documents]:
        return own
    names = [words_of(part) - BRIDGE_WORDS for part in (intent.hint or "").split(", ")]
    return [hit for hit in hits if _says(hit, names)]


def named_first(intent: Intent, hits: Sequence[ChunkHit]) -> list[ChunkHit]:
    """Return hits with those from the documents that a query names before all others."""
    return sorted(hits, key=lambda hit: hit.document_id not in intent.documents)


def without_names(intent: Intent) -> str:
    """Return a question without what names its documents; as it is where too little is left.

    What a sentence of the lease says of rent is judged by "When is rent due?", not by "under the
    lease": each of its sentences is as much of the lease as any other.
    """
    rest = intent.question
    if intent.documents:
        for part in filter(None, (intent.hint or "").split(", ")):
            name = rf"{re.escape(part)}\b(?:['’]s?\b)?"
            rest = re.sub(rf"(?:{LEADING_WORDS}){name}|^{name}(?=:)", " ", rest, flags=re.I)
    rest = " ".join(rest.split()).lstrip(",;:.?! ")
    enough = len(WORD.findall(rest)) >= MIN_WORDS and says_something(rest)
    return rest if enough else intent.question


def unnamed(intent: Intent) -> str:
    """Return a question with "it" in place of "the lease", as sentences of the lease are judged."""
    question = intent.question
    if intent.documents and intent.kind == "clause_lookup":
        for part in filter(None, (intent.hint or "").split(", ")):
            called = rf"\b(?:{'|'.join(sorted(CALLING_WORDS))})\s+{re.escape(part)}\b(?!['’-])"
            question = re.sub(called, "it", question, flags=re.I)
    return question


def _says(hit: ChunkHit, names: Sequence[set[str]]) -> bool:
    said = words_of(f"{hit.title} {hit.heading} {hit.content}")
    return any(name and name <= said for name in names)


# 47 everyday questions about one document each (samples, articles, NDAs); by share, how often one
# file is said, and how often it is the right one: .4 26, 26; .5 32, 32; .55 35, 34; .6 37, 35;
# .7 39, 37; .8 42, 39. At each the right file is among those that are said in 42.
MIN_RELEVANT_SHARE = 0.5  # of the best file's score


def find_relevant(files: Sequence[FileHit], named: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the ids of the documents that are meant, best first.

    They are those that the query names, else those that score at least half of what the best does;
    none where no file stands out from the others.
    """
    if named:
        return tuple(named)
    scores = {file.document_id: file.scores.get("fused", file.score) or 0.0 for file in files}
    best = max(scores.values(), default=0.0)
    if best <= 0:
        return ()
    return tuple(name for name, score in scores.items() if score >= MIN_RELEVANT_SHARE * best)


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
    about, meant = plan.about, filter_to_named(plan.intent, hits)
    clauses = await find_readable(context, plan, meant)
    question = unnamed(plan.intent)
    read = None if clauses is None else await context.read(question, clauses.quotes)
    calibration = context.calibration_of(about)
    judged_by = "words" if calibration is None else "meaning"
    judged_by = judged_by if read is None else f"{judged_by} and reading"
    with context.trace.stage("confidence", about=about.query, judged_by=judged_by) as step:
        named = plan.asked if plan.intent.documents else None
        confidence = await context.judge(about, meant, named, read)
        confidence = confidence if read is None else holds_answer(read, confidence)
        step["made"] = confidence
        step["dropped"] = [hit.chunk_id for hit in hits if hit not in meant]
    by = calibration if read is None else read.fit
    is_reranked = any(hit.scores.rerank is not None for hit in hits)
    if clauses is None or read is None or is_reranked:
        return Judged(list(hits), confidence, by, clauses)
    ordered = order_by_reading(hits, read)
    return Judged(
        ordered, confidence, by, _in_order(clauses, filter_to_named(plan.intent, ordered))
    )


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


NO_RISK_KNOWN = (
    "risk is not heeded: it is known only of what the reader judged, or by meaning, of the default "
    "model or after lexichord calibrate, and where no document is named"
)


def abstention_threshold(context: QueryContext, plan: SearchPlan, judged: Judged) -> float:
    """Return the least confidence to answer at; a risk that is not known is not heeded.

    By words alone no threshold kept a risk on kinds of documents that it was not fitted on, and by
    a sample of what is stored it is not known what is refused wrongly.
    """
    risk = context.options.risk
    if risk is None:
        return MIN_CONFIDENCE
    if judged.by is not None and judged.by.holds and not plan.intent.documents:
        return find_threshold(judged.by.holds, judged.by.lacks, risk)
    context.trace.degrade(NO_RISK_KNOWN)
    return MIN_CONFIDENCE
