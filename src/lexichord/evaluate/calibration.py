"""Whether confidence can be believed: of what it calls 80 % sure, 80 % must be right."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from lexichord.evaluate.metrics import evaluate
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
    """Give the confidences, and whether there was an answer in what was found.

    It was if the question can be answered and, where it is judged what answers, anything of that
    was found, at any rank. Outcomes without confidence, as errors are, are left out.
    """
    ranks = evaluate(queries, outcomes, [1]).get("mrr", [])
    judged = [
        (out.confidence, query.answerable and rank != 0)
        for query, out, rank in zip(queries, outcomes, ranks, strict=True)
        if out.confidence is not None and out.error is None
    ]
    return [confidence for confidence, _ in judged], [right for _, right in judged]


def reliability(confidences: Sequence[float], right: Sequence[bool]) -> list[Bin]:
    """Give the bins of equal width, ten from 0 to 1, that are not empty (a reliability diagram)."""
    rows = sorted(zip(confidences, right, strict=True))
    return [
        _make_bin(number, list(inside))
        for number, inside in groupby(rows, lambda row: _bin_number(row[0]))
    ]


def calibration_error(bins: Sequence[Bin]) -> float | None:
    """Give the expected calibration error, the mean distance of confidence to share, 0 to 1.

    Naeini et al., "Obtaining well calibrated probabilities using Bayesian binning", 2015. None
    without confidences.
    """
    count = sum(each.count for each in bins)
    away = sum(each.count * abs(each.confidence - each.right) for each in bins)
    return away / count if count else None


def auroc(confidences: Sequence[float], right: Sequence[bool]) -> float | None:
    """Give the probability that something right has the higher confidence, .5 being chance.

    The area under the ROC curve, by ranks (Mann and Whitney, 1947); ties count half. None unless
    there is both right and wrong.
    """
    rows = sorted(zip(confidences, right, strict=True))
    yes = sum(right)
    no = len(rows) - yes
    if not yes or not no:
        return None
    below, won = 0, 0.0
    for _, tied in groupby(rows, lambda row: row[0]):
        answers = [answer for _, answer in tied]
        wrong = answers.count(False)
        won += (len(answers) - wrong) * (below + wrong / 2)
        below += wrong
    return won / (yes * no)


def _bin_number(confidence: float) -> int:
    return min(int(confidence * CALIBRATION_BINS), CALIBRATION_BINS - 1)


def _make_bin(number: int, rows: Sequence[tuple[float, bool]]) -> Bin:
    mean = sum(confidence for confidence, _ in rows) / len(rows)
    share = sum(right for _, right in rows) / len(rows)
    return Bin(number / CALIBRATION_BINS, (number + 1) / CALIBRATION_BINS, len(rows), mean, share)
