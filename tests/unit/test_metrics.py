"""Metrics by hand, by theory and by plain sets of characters."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexichord.errors import ConfigError
from lexichord.evaluate.metrics import compute_metrics, mean_of_judged, rank_documents
from lexichord.types.evaluation import EvalQuery, EvidenceSpan, Outcome, RankedPassage

WIDTH = 100  # characters of a chunk


def chunk(number: int, uri: str = "a") -> RankedPassage:
    return RankedPassage(uri, number * WIDTH, (number + 1) * WIDTH, number, 1.0)


def stretch(start: int, end: int, uri: str = "a") -> RankedPassage:
    return RankedPassage(uri, start, end, 0, 1.0)


def score(query: EvalQuery, outcome: Outcome, *ks: int) -> dict[str, float | None]:
    return {name: values[0] for name, values in compute_metrics([query], [outcome], ks).items()}


BY_CHUNKS = EvalQuery("q", "?", chunks=(("a", 1), ("a", 3), ("b", 0)))
BY_SPANS = EvalQuery("q", "?", spans=(EvidenceSpan("a", 150, 250), EvidenceSpan("b", 0, 40)))
BY_GRADES = EvalQuery("q", "?", grades={"a": 3, "b": 1, "c": 0, "d": 2})


def test_spans_by_hand() -> None:
    # 60 characters of 140, then all of the first span, then of the second a quarter.
    passages = (stretch(190, 400), stretch(100, 200), stretch(0, 10, "b"), stretch(0, 9, "c"))
    scores = score(BY_SPANS, Outcome("q", passages), 1, 2, 4)
    expected = {
        "pass@1": 0.5,
        "pass@2": 0.5,
        "pass@4": 0.5,
        "recall@4": 0.5,
        "precision@1": 1,
        "precision@4": 0.75,
        "mrr": 1,
        "ndcg@4": None,
        "map": None,
        "char_recall@1": 60 / 140,
        "char_recall@2": 100 / 140,
        "char_recall@4": 110 / 140,
        "char_precision@1": 60 / 210,
        "char_precision@2": 100 / 300,
        "char_precision@4": 110 / 319,
        "evidence@1000": 110 / 140,
        "document@1": 1,
    }
    assert {name: scores[name] for name in expected} == pytest.approx(expected)


@pytest.mark.parametrize(("held", "expected"), [(49, 0), (50, 1)])
def test_a_span_counts_where_half_of_it_is_held_together(held: int, expected: int) -> None:
    query = EvalQuery("q", "?", spans=(EvidenceSpan("a", 100, 200),))
    parts = (stretch(100, 120), stretch(110, 130), stretch(200 - held + 30, 900))
    scores = score(query, Outcome("q", parts), 2, 3)
    assert (scores["pass@2"], scores["pass@3"]) == (0, expected)


def test_an_empty_span_is_never_found() -> None:
    query = EvalQuery("q", "?", spans=(EvidenceSpan("a", 10, 10), EvidenceSpan("a", 0, 20)))
    outcome = Outcome("q", (stretch(0, 100),))
    assert score(query, outcome, 1)["pass@1"] == 0.5
    assert score(query, outcome, 1)["char_recall@1"] == 1


def test_documents_rank_as_files_then_as_passages() -> None:
    outcome = Outcome("q", (chunk(0, "b"), chunk(1, "a"), chunk(2, "c")), files=("a", "d"))
    assert rank_documents(outcome) == ["a", "d", "b", "c"]


@pytest.mark.parametrize(
    ("query", "at_1", "at_2"),
    [
        (EvalQuery("q", "?", files=("b",)), 0, 1),
        (EvalQuery("q", "?", spans=(EvidenceSpan("b", 0, 1),)), 0, 1),
        (EvalQuery("q", "?", grades={"a": 0, "z": 1}), 0, 0),
        (EvalQuery("q", "?"), None, None),
    ],
)
def test_document_at_k(query: EvalQuery, at_1: float | None, at_2: float | None) -> None:
    scores = score(query, Outcome("q", (chunk(0), chunk(1, "b"))), 2)
    assert (scores["document@1"], scores["document@2"]) == (at_1, at_2)


@pytest.mark.parametrize(
    ("answerable", "abstained", "right"),
    [(True, False, 1), (True, True, 0), (False, True, 1), (False, False, 0)],
)
def test_abstaining_is_right_where_there_is_no_answer(
    answerable: bool, abstained: bool, right: float
) -> None:
    query = EvalQuery("q", "?", answerable=answerable)
    assert score(query, Outcome("q", (), abstained=abstained), 5)["abstain"] == right


def test_the_budget_pays_for_what_is_shown_again_and_cuts_the_last() -> None:
    query = EvalQuery("q", "?", spans=(EvidenceSpan("a", 0, 2000),))
    passages = (stretch(0, 600), stretch(0, 600), stretch(600, 2000))
    scores = score(query, Outcome("q", passages), 3)
    shown = [scores[f"evidence@{budget}"] for budget in (1000, 2000, 4000)]
    assert shown == [0.3, 0.7, 1.0]


@pytest.mark.parametrize("query", [BY_CHUNKS, BY_SPANS, BY_GRADES])
def test_nothing_found_and_errors_score_nothing_where_anything_is_judged(query: EvalQuery) -> None:
    query = replace(query, entities={"TIME": ["5 years"]}, critical=("TIME",))
    empty, right = Outcome("q", ()), Outcome("q", (chunk(1),), ("a",), answer="5 years")
    error = replace(right, error="timed out")
    unjudged = {name for name, value in score(query, right, 5).items() if value is None}
    for outcome in (empty, error):
        scores = score(query, outcome, 5)
        assert {name for name, value in scores.items() if value is None} == unjudged
        ranked = {name: value for name, value in scores.items() if name != "abstain"}
        assert set(ranked.values()) <= {0.0, None}
    assert score(query, error, 5)["abstain"] == 0


def test_a_question_that_is_judged_by_nothing_scores_nothing() -> None:
    scores = score(EvalQuery("q", "?"), Outcome("q", (chunk(1),), error="gone"), 5)
    assert scores.pop("abstain") == 0
    assert set(scores.values()) == {None}


@pytest.mark.parametrize(
    ("query", "passages"),
    [
        (BY_CHUNKS, (chunk(3), chunk(0, "b"), chunk(1))),
        (BY_SPANS, (stretch(0, 40, "b"), stretch(150, 200), stretch(200, 250))),
        (BY_GRADES, (chunk(5), chunk(6, "d"), chunk(7, "b"))),
    ],
)
def test_a_perfect_run_scores_one(query: EvalQuery, passages: tuple[RankedPassage, ...]) -> None:
    query = replace(query, entities={"TIME": ["five years"], "ACTION": ["terminate"]})
    scores = score(query, Outcome("q", passages, answer="He may terminate after 5 years."), 3)
    assert set(scores.values()) <= {1.0, None}
    assert mean_of_judged(list(scores.values())) == 1


def test_the_mean_is_of_all_questions_not_of_the_last() -> None:
    """vechord 0.2.4 writes avg[k] = v, then divides: two perfect questions score .5 there."""
    queries = [EvalQuery(id, "?", chunks=(("a", 1),)) for id in ("p", "q")]
    right, wrong = (chunk(1),), (chunk(2),)
    runs = {(right, right): 1, (right, wrong): 0.5, (wrong, right): 0.5, (wrong, wrong): 0}
    for (first, last), mean in runs.items():
        metrics = compute_metrics(queries, [Outcome("p", first), Outcome("q", last)], [5])
        for name in ("pass@5", "recall@5", "ndcg@5", "mrr", "map"):
            assert mean_of_judged(metrics[name]) == mean


def test_values_are_in_the_order_of_the_questions_for_every_metric() -> None:
    queries = [replace(BY_CHUNKS, id="p"), replace(BY_SPANS, id="q"), EvalQuery("r", "?")]
    outcomes = [Outcome(query.id, (chunk(1),)) for query in queries]
    metrics = compute_metrics(queries, outcomes, [5])
    assert metrics["char_recall@5"] == [None, 50 / 140, None]
    assert metrics["pass@5"] == [1 / 3, 0.5, None]
    assert {len(values) for values in metrics.values()} == {3}
    assert compute_metrics([], [], [5]) == {}


def test_outcomes_that_are_not_of_these_questions_are_refused() -> None:
    queries = [EvalQuery("p", "?"), EvalQuery("q", "?")]
    with pytest.raises(ConfigError, match=r"1 outcomes do not fit 2 questions \(\['q'\]\)"):
        compute_metrics(queries, [Outcome("p", ())], [5])
    with pytest.raises(ConfigError, match="their order"):
        compute_metrics(queries, [Outcome("q", ()), Outcome("p", ())], [5])
    with pytest.raises(ConfigError, match="from 1: 0, 5"):
        compute_metrics(queries, [Outcome("p", ()), Outcome("q", ())], [0, 5])


files = st.sampled_from("ab")
place = st.integers(0, 40).map(lambda number: 50 * number)
places = st.lists(st.tuples(files, place, place), max_size=6)


@given(places.filter(bool), places, st.integers(1, 6))
def test_characters_agree_with_plain_sets(
    gold: list[tuple[str, int, int]], ranked: list[tuple[str, int, int]], k: int
) -> None:
    query = EvalQuery("q", "?", spans=tuple(EvidenceSpan(*each) for each in gold))
    passages = tuple(stretch(start, end, uri) for uri, start, end in ranked)
    scores = score(query, Outcome("q", passages), k)
    wanted = {(uri, place) for uri, start, end in gold for place in range(start, end)}
    shown = [(uri, place) for uri, start, end in ranked[:k] for place in range(start, end)]
    if not wanted:
        assert scores[f"char_recall@{k}"] is None
        return
    right = len(wanted.intersection(shown))
    precision = right / len(set(shown)) if shown else 0
    assert scores[f"char_recall@{k}"] == pytest.approx(right / len(wanted))
    assert scores[f"char_precision@{k}"] == pytest.approx(precision)
    shown = [(uri, place) for uri, start, end in ranked for place in range(start, end)]
    for budget in (1000, 2000, 4000):
        evidence = len(wanted.intersection(shown[:budget])) / len(wanted)
        assert scores[f"evidence@{budget}"] == pytest.approx(evidence)


numbers = st.lists(st.integers(0, 12), max_size=12)


@given(numbers.filter(bool), numbers, st.integers(1, 12))
def test_pass_at_k_is_what_the_article_computes(
    golden: list[int], ranked: list[int], k: int
) -> None:
    golden = list(dict.fromkeys(golden))
    count = 0  # VectorChord, "Optimize RAG with Contextual Retrieval in PostgreSQL", evaluate()
    for wanted in golden:
        for number in ranked[:k]:
            if number == wanted:
                count += 1
                break
    query = EvalQuery("q", "?", chunks=tuple(("a", number) for number in golden))
    scores = score(query, Outcome("q", tuple(map(chunk, ranked))), k)
    assert scores[f"pass@{k}"] == pytest.approx(count / len(golden))


@given(places, numbers, places.filter(bool), numbers)
def test_every_score_is_a_share_and_more_ranks_never_recall_less(
    ranked: list[tuple[str, int, int]],
    more: list[int],
    gold: list[tuple[str, int, int]],
    own: list[int],
) -> None:
    passages = (*(stretch(start, end, uri) for uri, start, end in ranked), *map(chunk, more))
    query = EvalQuery(
        "q",
        "?",
        spans=tuple(EvidenceSpan(*each) for each in gold),
        chunks=tuple(("a", number) for number in own),
    )
    ks = (1, 2, 5, 20)
    scores = score(query, Outcome("q", passages), *ks)
    assert all(value is None or 0 <= value <= 1 for value in scores.values())
    for name in ("pass", "recall", "char_recall", "document"):
        values = [scores[f"{name}@{k}"] or 0 for k in ks]
        assert values == sorted(values)
