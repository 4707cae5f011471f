from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexichord.retrieve.judge.confidence import (
    MAX_RELATIVE_EVIDENCE,
    MIN_CONFIDENCE,
    ConfidenceSignals,
    find_signals,
    probability,
)
from lexichord.types.reflection import Term
from tests.builders import scored_hit

share = st.floats(0, 1)
signals = st.builds(
    ConfidenceSignals, relative=st.floats(0, 50), cosine=st.none() | st.floats(-1, 1), held=share
)


def term(idf: float, *chunks: str) -> Term:
    return Term("w", ("w",), 1, 1, idf, chunks)


@given(signals)
def test_is_a_probability(signals: ConfidenceSignals) -> None:
    assert 0 <= probability(signals) <= 1


@given(signals, st.floats(0, 1))
def test_more_of_a_signal_is_never_less_confidence(signals: ConfidenceSignals, more: float) -> None:
    least = probability(signals)
    assert probability(replace(signals, relative=signals.relative + more)) >= least
    assert probability(replace(signals, held=min(1, signals.held + more))) >= least
    if signals.cosine is not None:
        assert probability(replace(signals, cosine=signals.cosine + more)) >= least


@pytest.mark.parametrize("cosine", [None, 0.7])
def test_full_evidence_is_above_the_border_and_none_below(cosine: float | None) -> None:
    assert probability(ConfidenceSignals(1.2, cosine, 1.0)) > MIN_CONFIDENCE
    assert (
        probability(ConfidenceSignals(0.1, None if cosine is None else 0.05, 0.0)) < MIN_CONFIDENCE
    )


def test_beyond_the_best_that_is_stored_nothing_is_gained() -> None:
    signals = ConfidenceSignals(MAX_RELATIVE_EVIDENCE, 0.5, 0.5)
    assert probability(replace(signals, relative=9.0)) == probability(signals)


def test_another_subject_is_no_evidence_however_good_in_its_place() -> None:
    assert probability(ConfidenceSignals(5.0, 0.1, 0.2)) < MIN_CONFIDENCE


def test_signals_weigh_terms_by_idf() -> None:
    signals = find_signals(
        [scored_hit("a", 0.2), scored_hit("b", 0.6)], [term(3, "a"), term(1)], 0.8, has_vector=True
    )
    assert signals == ConfidenceSignals(0.8, 0.6, 0.75)


def test_without_the_query_s_vector_cosines_do_not_count() -> None:
    signals = find_signals([scored_hit("a", 0.9)], [term(1, "a")], 0.0, has_vector=False)
    assert signals == ConfidenceSignals(0.0, None, 1.0)


def test_a_question_without_terms_and_hits_without_cosine() -> None:
    assert find_signals([scored_hit("a", None)], [], 0.5, has_vector=True) == ConfidenceSignals(
        0.5, 0.0, 0.0
    )
