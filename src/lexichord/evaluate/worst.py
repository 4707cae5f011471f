"""The report's worst questions: what is gold, and what was retrieved instead."""

from collections.abc import Sequence

from lexichord.evaluate.metrics import (
    count_shared_chars,
    grade_documents,
    mean_of_judged,
    merge_spans,
    rank_documents,
)
from lexichord.evaluate.page import (
    ReportBlock,
    ReportHeading,
    ReportList,
    ReportTable,
    drop_empty_tables,
)
from lexichord.evaluate.statistics import metric_values
from lexichord.types.base import MISSING, write_number
from lexichord.types.evaluation import (
    EvalQuery,
    EvaluationRun,
    EvidenceSpan,
    Outcome,
    RankedPassage,
)

MAX_WORST_QUESTIONS = 10
MAX_PLACES_SHOWN = 10  # passages, gold places
ANSWER_EXCERPT_CHARS = 300

type GoldItem = EvidenceSpan | tuple[str, int] | str  # characters, a chunk, a document


def explain_worst(runs: Sequence[EvaluationRun], metric: str) -> list[ReportBlock]:
    """Return the section on the questions with the lowest values."""
    best = max(runs, key=lambda run: mean_of_judged(metric_values(run, metric)) or 0.0)
    scored = enumerate(metric_values(best, metric))
    lowest = sorted((value, at) for at, value in scored if value is not None and value < 1)
    shown = lowest[:MAX_WORST_QUESTIONS]
    whose = f"by {metric} of {best.strategy}, which has the highest mean"
    intro = f"The lowest {whose}, up to {MAX_WORST_QUESTIONS}." if shown else ""
    return [
        ReportHeading("Worst questions"),
        intro or f"None is below 1 {whose}.",
        *(block for _, at in shown for block in _explain(runs, best, metric, at)),
    ]


def _explain(
    runs: Sequence[EvaluationRun], run: EvaluationRun, metric: str, at: int
) -> list[ReportBlock]:
    query, outcome = run.queries[at], run.outcomes[at]
    k = int(metric.partition("@")[2] or min(run.ks))
    gold = _list_gold(query)
    scores = ", ".join(
        f"{other.strategy} {write_number(metric_values(other, metric)[at])}" for other in runs
    )
    return [
        ReportHeading(query.text, 3),
        ReportList([f"{metric}: {scores}", *_facts(query, outcome)]),
        *drop_empty_tables(
            ReportTable(
                "What is gold, and what became of it",
                ["place", "fate"],
                [
                    [_describe_place(each), _fate(each, outcome, k)]
                    for each in gold[:MAX_PLACES_SHOWN]
                ],
            ),
            ReportTable(
                f"What {run.strategy} retrieved",
                ["rank", "file", "characters", "chunk", "score", "gold"],
                _ranking(gold, outcome),
            ),
        ),
    ]


def _facts(query: EvalQuery, outcome: Outcome) -> list[str]:
    confidence = write_number(outcome.confidence)
    expected = [f"{kind}: {', '.join(entities)}" for kind, entities in query.entities.items()]
    facts = {
        f"question {query.id}": True,
        f"hint: {query.hint}": query.hint,
        f"failed: {outcome.error}": outcome.error is not None,
        f"abstained, with confidence {confidence}": outcome.abstained,
        "nothing was found": not outcome.passages and not outcome.files,
        f"expected: {'; '.join(expected)}": expected,
        f"answered: {outcome.answer[:ANSWER_EXCERPT_CHARS]}": outcome.answer,
    }
    return [fact for fact, holds in facts.items() if holds]


def _list_gold(query: EvalQuery) -> list[GoldItem]:
    """Return the gold of the finest unit that is judged, as the metrics take it."""
    documents = [uri for uri, grade in grade_documents(query).items() if grade > 0]
    return [*(query.chunks or query.spans or documents)]


def _describe_place(gold: GoldItem) -> str:
    match gold:
        case EvidenceSpan():
            return f"{gold.file}, characters {gold.start} to {gold.end}"
        case (uri, number):
            return f"{uri}, chunk {number}"
    return str(gold)


def _uri(gold: GoldItem) -> str:
    return (
        gold if isinstance(gold, str) else gold.file if isinstance(gold, EvidenceSpan) else gold[0]
    )


def _contains_gold(passage: RankedPassage, gold: GoldItem) -> bool:
    if isinstance(gold, EvidenceSpan):
        inside = passage.start < gold.end and gold.start < passage.end
        return passage.uri == gold.file and inside
    return gold in (passage.uri, (passage.uri, passage.number))


def _fate(gold: GoldItem, outcome: Outcome, k: int) -> str:
    documents, uri = rank_documents(outcome), _uri(gold)
    ranks = [
        rank for rank, passage in enumerate(outcome.passages, 1) if _contains_gold(passage, gold)
    ]
    if isinstance(gold, str):
        ranks = [documents.index(uri) + 1] if uri in documents else []
    if ranks:
        past = f", past the first {k}" if ranks[0] > k else ""
        share = _share_held(gold, outcome, k) if isinstance(gold, EvidenceSpan) else 1.0
        part = f"; the first {k} hold {share:.0%} of it" if share < 1 else ""
        return f"found at rank {ranks[0]}{past}{part}"
    if uri in documents and uri != gold:
        return f"not found; of the documents found, its own is number {documents.index(uri) + 1}"
    return "not found" if uri == gold else "not found, nor is its document"


def _share_held(gold: EvidenceSpan, outcome: Outcome, k: int) -> float:
    held = merge_spans(
        (passage.uri, passage.start, passage.end) for passage in outcome.passages[:k]
    )
    whole = merge_spans([(gold.file, gold.start, gold.end)])
    return count_shared_chars(whole, held) / max(1, gold.end - gold.start)


def _ranking(gold: Sequence[GoldItem], outcome: Outcome) -> list[list[str]]:
    """Return the first passages and gold ones below; files where there are no passages."""
    rows = []
    for rank, passage in enumerate(outcome.passages, 1):
        right = any(_contains_gold(passage, place) for place in gold)
        if rank <= MAX_PLACES_SHOWN or right:
            place = [
                f"{passage.start} to {passage.end}",
                str(passage.number),
                write_number(passage.score),
            ]
            rows.append([str(rank), passage.uri, *place, "yes" if right else ""])
    files = [] if rows else outcome.files[:MAX_PLACES_SHOWN]
    gold_uris = {*map(_uri, gold)}
    return rows + [
        [str(rank), uri, *[MISSING] * 3, "yes" if uri in gold_uris else ""]
        for rank, uri in enumerate(files, 1)
    ]
