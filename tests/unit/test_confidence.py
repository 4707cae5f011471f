from dataclasses import replace
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexichord.retrieve.confidence import (
    MIN_CONFIDENCE,
    ConfidenceSignals,
    find_threshold,
    own_calibration,
    probability,
)

share = st.floats(0, 1)
signals = st.builds(
    ConfidenceSignals, cosine=st.none() | st.floats(-1, 1), sentence=share, passage=share
)
scores = st.lists(share, max_size=40)


@given(signals, share)
def test_more_of_a_signal_is_never_less_confidence(signals: ConfidenceSignals, more: float) -> None:
    least = probability(signals)
    assert 0 <= least <= 1
    assert probability(replace(signals, sentence=min(1, signals.sentence + more))) >= least
    assert probability(replace(signals, passage=min(1, signals.passage + more))) >= least
    if signals.cosine is not None:
        assert probability(replace(signals, cosine=signals.cosine + more)) >= least


@pytest.mark.parametrize("cosine", [None, 0.7])
def test_full_evidence_is_above_the_border_and_none_below(cosine: float | None) -> None:
    assert probability(ConfidenceSignals(cosine, 1.0, 1.0)) > MIN_CONFIDENCE
    far = None if cosine is None else 0.05
    assert probability(ConfidenceSignals(far, 0.0, 0.0)) < MIN_CONFIDENCE


def test_a_border_counts_one_more_that_lacks_an_answer() -> None:
    assert find_threshold([0.9, 0.8, 0.7], [], 0.25) == 0.7
    assert find_threshold([0.9, 0.8, 0.7], [], 0.2) == inf
    lacks = [0.75, 0.65]
    assert find_threshold([0.9, 0.8, 0.7, 0.6], lacks, 0.34) == 0.8
    assert find_threshold([0.9, 0.8, 0.7, 0.6], lacks, 0.45) == 0.6
    assert find_threshold([], lacks, 0.9) == inf
    assert find_threshold([0.5] * 8, [0.5] * 4, 0.3) == inf


@given(scores, scores, share, share)
def test_less_risk_never_answers_more(
    holds: list[float], lacks: list[float], one: float, other: float
) -> None:
    low, high = sorted([one, other])
    assert find_threshold(holds, lacks, low) >= find_threshold(holds, lacks, high)
    border = find_threshold(holds, lacks, low)
    taken = sum(score >= border for score in holds), sum(score >= border for score in lacks)
    assert taken[1] <= low * (sum(taken) + 1)


def test_the_stored_scores_give_borders_in_order() -> None:
    own = own_calibration()
    borders = [find_threshold(own.holds, own.lacks, risk) for risk in (0.02, 0.1, 0.2, 1)]
    assert borders == sorted(borders, reverse=True)
    assert 0 < borders[2] < borders[1] < 1
    assert find_threshold(own.holds, own.lacks, 0) == inf
