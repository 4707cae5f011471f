from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexichord.retrieve.judge.in_documents import (
    MAX_RELATIVE_EVIDENCE,
    MIN_DOCUMENT_CONFIDENCE,
    DocumentSignals,
    document_probability,
    find_signals,
)
from lexichord.types.reflection import Term
from tests.builders import scored_hit

share = st.floats(0, 1)
signals = st.builds(
    DocumentSignals, relative=st.floats(0, 50), cosine=st.none() | st.floats(-1, 1), held=share
)


def term(idf: float, *chunks: str) -> Term:
    return Term("w", ("w",), 1, 1, idf, chunks)


@given(signals)
def test_is_a_probability(signals: DocumentSignals) -> None:
    assert 0 <= document_probability(signals) <= 1


@given(signals, st.floats(0, 1))
def test_more_of_a_signal_is_never_less_confidence(signals: DocumentSignals, more: float) -> None:
    least = document_probability(signals)
    assert document_probability(replace(signals, relative=signals.relative + more)) >= least
    assert document_probability(replace(signals, held=min(1, signals.held + more))) >= least
    if signals.cosine is not None:
        assert document_probability(replace(signals, cosine=signals.cosine + more)) >= least


@pytest.mark.parametrize("cosine", [None, 0.7])
def test_full_evidence_is_above_the_border_and_none_below(cosine: float | None) -> None:
    assert document_probability(DocumentSignals(1.2, cosine, 1.0)) > MIN_DOCUMENT_CONFIDENCE
    assert (
        document_probability(DocumentSignals(0.1, None if cosine is None else 0.05, 0.0))
        < MIN_DOCUMENT_CONFIDENCE
    )


def test_beyond_the_best_that_is_stored_nothing_is_gained() -> None:
    signals = DocumentSignals(MAX_RELATIVE_EVIDENCE, 0.5, 0.5)
    assert document_probability(replace(signals, relative=9.0)) == document_probability(signals)


def test_another_subject_is_no_evidence_however_good_in_its_place() -> None:
    assert document_probability(DocumentSignals(5.0, 0.1, 0.2)) < MIN_DOCUMENT_CONFIDENCE


def test_signals_weigh_terms_by_idf() -> None:
    signals = find_signals(
        [scored_hit("a", 0.2), scored_hit("b", 0.6)], [term(3, "a"), term(1)], 0.8, has_vector=True
    )
    assert signals == DocumentSignals(0.8, 0.6, 0.75)


def test_without_the_query_s_vector_cosines_do_not_count() -> None:
    signals = find_signals([scored_hit("a", 0.9)], [term(1, "a")], 0.0, has_vector=False)
    assert signals == DocumentSignals(0.0, None, 1.0)


def test_a_question_without_terms_and_hits_without_cosine() -> None:
    assert find_signals([scored_hit("a", None)], [], 0.5, has_vector=True) == DocumentSignals(
        0.5, 0.0, 0.0
    )
