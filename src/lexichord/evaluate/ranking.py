"""Measures of a ranking, from gains: what each rank holds, best first, 0 if it is of no use.

Where only relevant and not relevant are told apart, gains are 1 and 0. trec_eval's definitions
(NIST, https://github.com/usnistgov/trec_eval): ranks that a short ranking does not fill gain
nothing, and the gain in nDCG is the grade itself. All results lie between 0 and 1.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from math import log2


def find_gains[T: Hashable](found: Iterable[T], grades: Mapping[T, int]) -> list[int]:
    """Give each rank's gain: the grade of what was found there; found again it gains nothing."""
    left = dict(grades)
    return [max(0, left.pop(item, 0)) for item in found]


def find_ideal[T: Hashable](grades: Mapping[T, int]) -> list[int]:
    """Give the gains of the best ranking there can be: all that is relevant, and only that."""
    return sorted((grade for grade in grades.values() if grade > 0), reverse=True)


def recall(gains: Sequence[int], relevant: int, k: int) -> float:
    """Give the share of what is relevant, `relevant` in number, that is among the first k."""
    return _count(gains[:k]) / relevant


def precision(gains: Sequence[int], k: int) -> float:
    """Give the share of the first k that is relevant; of k, too, if fewer were found."""
    return _count(gains[:k]) / k


def reciprocal_rank(gains: Sequence[int]) -> float:
    """Give 1 / rank of the first that is relevant, 0 without one; its mean is the MRR."""
    return next((1 / rank for rank, gain in enumerate(gains, 1) if gain), 0.0)


def average_precision(gains: Sequence[int], relevant: int) -> float:
    """Give the mean, over all that is relevant, of the precision at its rank; 0 if not found.

    Its mean over queries is the MAP.
    """
    hits = [rank for rank, gain in enumerate(gains, 1) if gain]
    return sum(found / rank for found, rank in enumerate(hits, 1)) / relevant


def ndcg(gains: Sequence[int], ideal: Sequence[int], k: int) -> float:
    """Give the discounted cumulative gain at k over that of the ideal ranking.

    Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", 2002, with the
    discount 1 / log2(rank + 1).
    """
    return _dcg(gains[:k]) / _dcg(ideal[:k])


def _count(gains: Sequence[int]) -> int:
    return sum(gain > 0 for gain in gains)


def _dcg(gains: Sequence[int]) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, 1))
