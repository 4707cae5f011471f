from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexichord.evaluate.statistics import (
    Bin,
    auroc,
    calibration_error,
    judge_confidence,
    reliability,
)
from lexichord.types.evaluation import EvalQuery, Outcome, RankedPassage

CONFIDENCES = [0.05, 0.15, 0.11, 0.95, 1.0, 0.9]
RIGHT = [False, True, False, True, True, False]
rows = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=40)


def test_bins_by_hand() -> None:
    bins = reliability(CONFIDENCES, RIGHT)
    assert [each.count for each in bins] == [1, 2, 3]
    assert bins[0] == Bin(0.0, 0.1, 1, 0.05, 0.0)
    assert (bins[1].confidence, bins[1].right) == pytest.approx((0.13, 0.5))
    assert (bins[2].confidence, bins[2].right) == pytest.approx((0.95, 2 / 3))


def test_calibration_error_by_hand() -> None:
    expected = (0.05 + 2 * abs(0.13 - 0.5) + 3 * abs(0.95 - 2 / 3)) / 6
    assert calibration_error(reliability(CONFIDENCES, RIGHT)) == pytest.approx(expected)
    assert calibration_error([]) is None


def test_auroc_by_hand() -> None:
    # right .15 .95 1, wrong .05 .11 .9: of nine pairs only (.15, .9) is the wrong way round
    assert auroc(CONFIDENCES, RIGHT) == pytest.approx(8 / 9)
    assert auroc([0.5, 0.5], [True, False]) == 0.5
    assert auroc([0.1, 0.9], [True, False]) == 0
    assert auroc([0.1, 0.9], [True, True]) is None


@given(rows)
def test_auroc_is_the_share_of_pairs_in_order(outcomes: list[tuple[float, bool]]) -> None:
    yes = [confidence for confidence, right in outcomes if right]
    no = [confidence for confidence, right in outcomes if not right]
    pairs = [(a > b) + (a == b) / 2 for a, b in product(yes, no)]
    expected = sum(pairs) / len(pairs) if pairs else None
    assert auroc(*map(list, zip(*outcomes, strict=True))) == pytest.approx(expected)


@given(rows)
def test_bins_hold_everything_once_and_in_their_range(outcomes: list[tuple[float, bool]]) -> None:
    bins = reliability(*map(list, zip(*outcomes, strict=True)))
    assert sum(each.count for each in bins) == len(outcomes)
    assert all(each.low - 1e-9 <= each.confidence <= each.high + 1e-9 for each in bins)
    assert 0 <= (calibration_error(bins) or 0) <= 1


def test_confidence_is_right_where_something_that_answers_was_found() -> None:
    golden, hit, miss = (
        (("a", 1),),
        (RankedPassage("a", 0, 9, 1, 1.0),),
        (RankedPassage("a", 9, 20, 2, 1.0),),
    )
    cases = [
        (EvalQuery("found", "?", chunks=golden), Outcome("found", hit, confidence=0.9)),
        (EvalQuery("missed", "?", chunks=golden), Outcome("missed", miss, confidence=0.8)),
        (EvalQuery("unjudged", "?"), Outcome("unjudged", miss, confidence=0.7)),
        (EvalQuery("no", "?", answerable=False), Outcome("no", hit, confidence=0.6)),
        (EvalQuery("silent", "?", chunks=golden), Outcome("silent", hit)),
        (EvalQuery("failed", "?"), Outcome("failed", (), confidence=0.5, error="gone")),
    ]
    queries, outcomes = [query for query, _ in cases], [outcome for _, outcome in cases]
    expected = ([0.9, 0.8, 0.7, 0.6], [True, False, True, False])
    assert judge_confidence(queries, outcomes) == expected
    assert judge_confidence([], []) == ([], [])
