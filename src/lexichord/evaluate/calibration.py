"""Calibration of confidence: of the answers with confidence .8, 80 % should be right."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from lexichord.evaluate.metrics import compute_metrics
from lexichord.types.evaluation import EvalQuery, Outcome

CALIBRATION_BINS = 10


@dataclass(frozen=True, slots=True)
class Bin:
    """Confidences from `low` up to `high`: how many, their mean, the share that was right."""

    low: float
    high: float
    count: int
    confidence: float
    right: float


def judge_confidence(
    queries: Sequence[EvalQuery], outcomes: Sequence[Outcome]
) -> tuple[list[float], list[bool]]:
    """Return the confidences, and for each whether an answer was retrieved.

    It was if the question can be answered and, where relevant passages are judged, one of them was
    retrieved, at any rank. Outcomes without confidence, such as errors, are left out.
    """
    ranks = compute_metrics(queries, outcomes, [1]).get("mrr", [])
    judged = [
        (out.confidence, query.answerable and rank != 0)
        for query, out, rank in zip(queries, outcomes, ranks, strict=True)
        if out.confidence is not None and out.error is None
    ]
    return [confidence for confidence, _ in judged], [right for _, right in judged]


def reliability(confidences: Sequence[float], right: Sequence[bool]) -> list[Bin]:
    """Return the bins of equal width, ten from 0 to 1, that are not empty (reliability diagram)."""
    rows = sorted(zip(confidences, right, strict=True))
    return [
        _make_bin(number, list(inside))
        for number, inside in groupby(rows, lambda row: _bin_number(row[0]))
    ]


def calibration_error(bins: Sequence[Bin]) -> float | None:
    """Return the expected calibration error, the mean distance of confidence to share, 0 to 1.

    Naeini et al., "Obtaining well calibrated probabilities using Bayesian binning", 2015. None
    without confidences.
    """
    count = sum(bin_.count for bin_ in bins)
    distance = sum(bin_.count * abs(bin_.confidence - bin_.right) for bin_ in bins)
    return distance / count if count else None


def auroc(confidences: Sequence[float], right: Sequence[bool]) -> float | None:
    """Return the probability that a right answer has the higher confidence; .5 is chance.

    The area under the ROC curve, by ranks (Mann and Whitney, 1947); ties count half. None unless
    there is both right and wrong.
    """
    rows = sorted(zip(confidences, right, strict=True))
    positives = sum(right)
    negatives = len(rows) - positives
    if not positives or not negatives:
        return None
    negatives_below, wins = 0, 0.0
    for _, tied in groupby(rows, lambda row: row[0]):
        labels = [label for _, label in tied]
        tied_negatives = labels.count(False)
        wins += (len(labels) - tied_negatives) * (negatives_below + tied_negatives / 2)
        negatives_below += tied_negatives
    return wins / (positives * negatives)


def _bin_number(confidence: float) -> int:
    return min(int(confidence * CALIBRATION_BINS), CALIBRATION_BINS - 1)


def _make_bin(number: int, rows: Sequence[tuple[float, bool]]) -> Bin:
    mean = sum(confidence for confidence, _ in rows) / len(rows)
    share = sum(right for _, right in rows) / len(rows)
    return Bin(number / CALIBRATION_BINS, (number + 1) / CALIBRATION_BINS, len(rows), mean, share)
