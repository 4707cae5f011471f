"""Runs as a report: which strategy is better, by how much, and where it still fails.

All text here is plain: `page` renders and escapes it. Its worst questions are here too: what is
gold, and what was retrieved instead.
"""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from lexichord.errors import ConfigError
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
    ReportPlot,
    ReportTable,
    draw_bars,
    draw_calibration,
    draw_latency,
    draw_recall,
    draw_throughput,
    drop_empty_tables,
    to_html,
    to_markdown,
    to_plain,
)
from lexichord.evaluate.statistics import (
    IMPROVEMENT_COLUMNS,
    auroc,
    calibration_error,
    compare_entities,
    compare_metric,
    is_judged,
    judge_confidence,
    metric_values,
    reliability,
    write_difference,
    write_interval,
    write_numbers,
    write_signed,
)
from lexichord.types.base import MISSING, write_number
from lexichord.types.evaluation import (
    EvalQuery,
    EvaluationRun,
    EvidenceSpan,
    Outcome,
    RankedPassage,
)

MAX_HEADLINE_METRICS = 6
MAX_STRATEGIES_PER_TABLE = 8  # as many columns as fit a printed page
MAX_ERRORS_SHOWN = 10  # kinds of errors a strategy


def write_report(runs: Sequence[EvaluationRun], folder: Path) -> list[Path]:
    """Write `report.md` and a self-contained `report.html` into a folder; return both paths.

    The runs are over the same questions; the others are compared with the first. Plots are in the
    HTML alone; the Markdown has their numbers in its tables. Raises ConfigError if there is no run,
    if questions differ, if matplotlib is missing, or if the folder cannot be written to.
    """
    if not runs:
        raise ConfigError("there is no run to report on")
    questions = [(query.id, query.text) for query in runs[0].queries]
    if any([(query.id, query.text) for query in run.queries] != questions for run in runs):
        raise ConfigError("runs over different questions make no report: run all on one set")
    blocks = _report(_number_names(runs))
    files = {"report.md": to_markdown(blocks), "report.html": to_html(blocks)}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot write the report to '{folder}': {error}") from error
    return [folder / name for name in files]


def _number_names(runs: Sequence[EvaluationRun]) -> list[EvaluationRun]:
    """Number the names of runs of the same strategy, by their place in the report."""
    names = [to_plain(run.strategy) for run in runs]
    return [
        replace(run, strategy=name if names.count(name) == 1 else f"{name} ({number})")
        for number, (run, name) in enumerate(zip(runs, names, strict=True), 1)
    ]


def _report(runs: Sequence[EvaluationRun]) -> list[ReportBlock]:
    metrics = _choose_metrics(runs)
    return [
        ReportHeading(f"Evaluation on {runs[0].set_name}", 1),
        f"Questions: {len(runs[0].queries)}. Strategies: {len(runs)}. Metrics lie between 0 and 1, "
        "higher is better; a failed question counts 0. Intervals are of 95 %, by bootstrap over "
        f"the documents that questions are about. {MISSING}: not judged, or not measured.",
        *_quality(runs, metrics),
        *_differences(runs, metrics),
        *_improvements(runs),
        *_recall(runs),
        *_speed(runs, metrics[0]),
        *_calibration(runs),
        *_failures(runs),
        *explain_worst(runs, metrics[0]),
        *_details(runs),
    ]


def _choose_metrics(runs: Sequence[EvaluationRun]) -> list[str]:
    """Return the metrics that say most about this set, the one it is judged by first."""
    ks = sorted({k for run in runs for k in run.ks})
    rank = f"ndcg@{10 if 10 in ks else ks[0]}"
    abstain = [] if all(query.answerable for query in runs[0].queries) else ["abstain"]
    others = [
        "evidence@4000",
        "document@1",
        "entity_f1",
        "entity_llm_f1",
        "entity_recall_all",
        *abstain,
        "mrr",
    ]
    names = [*(f"pass@{k}" for k in ks[:3]), rank, *others]
    return [name for name in names if is_judged(runs, name)][:MAX_HEADLINE_METRICS] or ["abstain"]


def _quality(runs: Sequence[EvaluationRun], metrics: Sequence[str]) -> list[ReportBlock]:
    means = {metric: [compare_metric(run, None, metric) for run in runs] for metric in metrics}
    rows = [
        [run.strategy, *(write_interval(means[metric][at]) for metric in metrics)]
        for at, run in enumerate(runs)
    ]
    return [
        ReportHeading("Quality"),
        ReportPlot(
            "Bars: means by strategy. Lines: their intervals.",
            draw_bars(_labels(runs), means),
        ),
        ReportTable("Means by strategy, and their intervals", ["strategy", *metrics], rows),
    ]


def _differences(runs: Sequence[EvaluationRun], metrics: Sequence[str]) -> list[ReportBlock]:
    first, *others = runs
    if not others:
        return []
    rows = [
        [
            run.strategy,
            *(write_difference(compare_metric(run, first, metric)) for metric in metrics),
        ]
        for run in others
    ]
    return [
        ReportHeading(f"Compared with {first.strategy}"),
        ReportList([_summarise_difference(run, first, metrics[0]) for run in others]),
        ReportTable(
            f"Difference to {first.strategy} over the same questions, and its interval",
            ["strategy", *metrics],
            rows,
        ),
        "Noise: the interval holds 0, or hardly anything differs. Of so many intervals, one in "
        "twenty leaves out 0 by chance.",
    ]


def _improvements(runs: Sequence[EvaluationRun]) -> list[ReportBlock]:
    """Tabulate the entities that answers name, the first strategy beside each other."""
    first, *others = runs
    if not any(query.entities for query in first.queries):
        return []
    tables = [
        ReportTable(
            f"Expected entities in answers, micro-averaged: {run.strategy} and {first.strategy}",
            ["metric", first.strategy, run.strategy, *IMPROVEMENT_COLUMNS],
            [row.cells() for row in compare_entities(first, run)],
        )
        for run in others
    ]
    return [ReportHeading("Entities"), *drop_empty_tables(*tables)] if tables else []


def _summarise_difference(run: EvaluationRun, first: EvaluationRun, metric: str) -> str:
    change = compare_metric(run, first, metric)
    if change is None:
        return f"{run.strategy} cannot be compared with {first.strategy} by {metric}."
    by = f"by {metric}: {write_signed(change)}."
    if change.is_noise:
        return f"{run.strategy} and {first.strategy} do not differ beyond noise {by}"
    return (
        f"{run.strategy} is {'better' if change.mean > 0 else 'worse'} than {first.strategy} {by}"
    )


def _recall(runs: Sequence[EvaluationRun]) -> list[ReportBlock]:
    ks = sorted({k for run in runs for k in run.ks})
    curves = [[mean_of_judged(metric_values(run, f"recall@{k}")) for k in ks] for run in runs]
    if len(ks) < 2 or not any(is_judged(runs, f"recall@{k}") for k in ks):
        return []
    plot = draw_recall(_labels(runs), ks, curves)
    return [
        ReportHeading("Recall against k"),
        ReportPlot("Mean recall among the first k; numbers stand under “All metrics”.", plot),
    ]


def _speed(runs: Sequence[EvaluationRun], metric: str) -> list[ReportBlock]:
    clients = sorted({number for run in runs for number in run.qps})
    latencies = [_latency(run) for run in runs]
    rows = [
        [
            run.strategy,
            *write_numbers(latency or (None, None), 1),
            *write_numbers(map(run.qps.get, clients), 1),
        ]
        for run, latency in zip(runs, latencies, strict=True)
    ]
    header = ["strategy", "p50, ms", "p95, ms", *(f"queries/s at {n}" for n in clients)]
    blocks: list[ReportBlock] = [ReportHeading("Speed")]
    means = [mean_of_judged(metric_values(run, metric)) for run in runs]
    if any(latencies):
        svg = draw_latency(_labels(runs), latencies, means, metric)
        blocks.append(ReportPlot(f"Latency against {metric}: up and left is better.", svg))
    if clients:
        svg = draw_throughput(_labels(runs), [run.qps for run in runs])
        blocks.append(ReportPlot("Queries per second by number of clients.", svg))
    return [
        *blocks,
        ReportTable(
            "Latency of questions that did not fail; queries/s at 1 or more clients", header, rows
        ),
    ]


def _latency(run: EvaluationRun) -> tuple[float, float] | None:
    """Return p50 and p95 in milliseconds, None if no question was timed."""
    timed = [out.milliseconds for out in run.outcomes if out.error is None and out.milliseconds > 0]
    if not timed:
        return None
    p50, p95 = np.percentile(timed, [50, 95])
    return float(p50), float(p95)


def _calibration(runs: Sequence[EvaluationRun]) -> list[ReportBlock]:
    judged = [(run, *judge_confidence(run.queries, run.outcomes)) for run in runs]
    judged = [row for row in judged if row[1]]
    if not judged:
        return []
    bins = [reliability(confidences, right) for _, confidences, right in judged]
    rows = [
        [
            run.strategy,
            str(len(right)),
            *write_numbers((calibration_error(row), auroc(confidences, right))),
        ]
        for (run, confidences, right), row in zip(judged, bins, strict=True)
    ]
    svg = draw_calibration([run.strategy for run, _, _ in judged], bins)
    return [
        ReportHeading("Calibration"),
        ReportPlot(
            "Confidence against the share that was right; on the line both are the same.", svg
        ),
        ReportTable(
            "Whether confidence can be believed: error 0 is best; AUROC 1 is best, .5 is chance",
            ["strategy", "questions", "calibration error", "AUROC"],
            rows,
        ),
    ]


def _failures(runs: Sequence[EvaluationRun]) -> list[ReportBlock]:
    errors = [Counter(out.error for out in run.outcomes if out.error is not None) for run in runs]
    counts = [
        [run.strategy, str(count.total()), str(sum(out.abstained for out in run.outcomes))]
        for run, count in zip(runs, errors, strict=True)
    ]
    frequent = [
        [run.strategy, str(times), error]
        for run, count in zip(runs, errors, strict=True)
        for error, times in count.most_common(MAX_ERRORS_SHOWN)
    ]
    return [
        ReportHeading("Failures"),
        ReportTable(
            "Questions that failed or were not answered",
            ["strategy", "failed", "abstained"],
            counts,
        ),
        *drop_empty_tables(
            ReportTable("The most frequent errors", ["strategy", "questions", "error"], frequent)
        ),
    ]


def _details(runs: Sequence[EvaluationRun]) -> list[ReportBlock]:
    names = list(dict.fromkeys(name for run in runs for name in run.metrics))
    judged = [name for name in names if is_judged(runs, name)]
    details = [
        [
            run.strategy,
            MISSING if run.id is None else str(run.id),
            f"{run.started_at:%Y-%m-%d %H:%M}",
            json.dumps(dict(run.settings), ensure_ascii=False, default=str, sort_keys=True),
        ]
        for run in runs
    ]
    return [
        ReportHeading("All metrics"),
        *(
            _means(runs[start : start + MAX_STRATEGIES_PER_TABLE], judged)
            for start in range(0, len(runs), MAX_STRATEGIES_PER_TABLE)
        ),
        ReportHeading("Runs"),
        ReportTable("How the runs were made", ["strategy", "run", "started", "settings"], details),
    ]


def _means(runs: Sequence[EvaluationRun], metrics: Sequence[str]) -> ReportTable:
    rows = [
        [name, *(write_number(mean_of_judged(metric_values(run, name))) for run in runs)]
        for name in metrics
    ]
    return ReportTable("Means of all metrics", ["metric", *_labels(runs)], rows)


def _labels(runs: Sequence[EvaluationRun]) -> list[str]:
    return [run.strategy for run in runs]


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
