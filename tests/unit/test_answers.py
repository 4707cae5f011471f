"""Written answers against what right ones say."""

from dataclasses import replace

import pytest

from lexichord.evaluate.metrics import (
    MAX_FIRST_CHARS,
    compute_metrics,
    first_sentence,
    first_source,
    holds,
)
from lexichord.types import ContextSource
from lexichord.types.evaluation import (
    EvalQuery,
    ExpectedAnswer,
    ExpectedCell,
    Outcome,
    RankedPassage,
)
from tests.builders import QUOTE

LEAVE = ExpectedAnswer("policies", "look-up", ("30 days",), ("Everybody has 30 days of leave.",))
QUERY = EvalQuery("q", "how much holiday do I get", files=("a.md",), expected=LEAVE)
RIGHT = Outcome(
    "q",
    (RankedPassage("a.md", 0, 9, 0, 1.0),),
    confidence=0.8,
    written="Everybody has 30 days of leave. [1]\nTen may be kept. [2]",
)
NAMES = ("hit_document", "first_sentence", "answer_holds", "not_wrong@0.7")


def scores(query: EvalQuery, outcome: Outcome) -> list[float | None]:
    metrics = compute_metrics([query], [outcome], [5])
    return [metrics[name][0] for name in NAMES]


@pytest.mark.parametrize(
    ("text", "part", "held"),
    [
        ("It has `30`  **DAYS**\nof leave", "30 days of leave", True),
        ("It has 130 days", "30 days", False),
        ("It has 30 daysworth", "30 days", False),
        ("黑豹队的防守只丢了 308分", "308", True),
        ("call app.add(x)", "app.add(", True),
    ],
)
def test_a_part_is_held_by_whole_words(text: str, part: str, held: bool) -> None:
    assert holds(text, part) is held


@pytest.mark.parametrize(
    ("answer", "first"),
    [
        ("One. [1]\nTwo. [2]", "One."),
        ("The lease:\n- One. [1]\n- Two. [2]", "One."),
        ("| File | law |\n| --- | --- |\n| Lease | “Irish.” [1] |", "| Lease | “Irish.”"),
        ("x" * 999, "x" * MAX_FIRST_CHARS),
    ],
)
def test_the_first_sentence(answer: str, first: str) -> None:
    assert first_sentence(answer) == first


def test_the_right_words_of_another_document_are_wrong() -> None:
    assert scores(QUERY, replace(RIGHT, source="a.md")) == [1, 1, 1, 1]
    assert scores(QUERY, replace(RIGHT, source="b.md")) == [1, 0, 1, 0]


def test_where_the_first_sentence_comes_from() -> None:
    sources = [replace(ContextSource.of(n, QUOTE), uri=uri) for n, uri in ((1, "a"), (2, "b"))]
    assert first_source("One. [2]\nTwo. [1]", sources, []) == "b"
    assert first_source("One. [3]", sources, []) is None
    quote = replace(QUOTE, text="Zero.\nOne  is here.", uri="c")
    assert first_source("One is here. (Lease › Rent)", sources, [QUOTE, quote]) == "c"
    assert first_source("", sources, [quote]) is None


def test_an_answer_that_comes_second() -> None:
    second = replace(RIGHT, written="Ten may be kept. [2]\nEverybody has 30 days of leave. [1]")
    assert scores(QUERY, second) == [1, 0, 1, 0]
    assert scores(QUERY, replace(second, confidence=0.69)) == [1, 0, 1, 1]


def test_what_nothing_answers_is_wrong_where_it_is_sure() -> None:
    unknown = EvalQuery("q", "?", answerable=False, expected=ExpectedAnswer("policies", "foreign"))
    assert scores(unknown, RIGHT) == [None, None, None, 0]
    assert scores(unknown, replace(RIGHT, abstained=True)) == [None, None, None, 1]


def test_a_search_writes_nothing_that_could_be_judged() -> None:
    found = Outcome("q", RIGHT.passages, answer="[1] Everybody has 30 days of leave.")
    assert scores(QUERY, found) == [1, None, None, None]


def test_a_list_is_judged_by_all_its_quotes() -> None:
    expected = ExpectedAnswer("p", "list", ("ember",), ("The ember.", "The lagoon."))
    query = replace(QUERY, expected=expected)
    assert scores(query, replace(RIGHT, written="P:\n- The ember. [1]"))[1:3] == [1, 0.5]


def test_a_comparison_is_judged_by_the_rows_of_its_files() -> None:
    cells = (ExpectedCell("a.md", "law", "Irish"), ExpectedCell("b.md", "law", "Scots"))
    nothing = ExpectedCell("b.md", "rent", None)
    expected = ExpectedAnswer("p", "comparison", cells=(*cells, nothing))
    query = replace(QUERY, expected=expected)
    rows = {"a.md": "Irish law", "b.md": "Scots law"}
    assert scores(query, replace(RIGHT, rows=rows)) == [1, None, 1, 1]
    swapped = {"a.md": "Scots law", "b.md": "Scots law"}
    assert scores(query, replace(RIGHT, rows=swapped)) == [1, None, 0.5, 0]
    prose = replace(RIGHT, written="One is Irish, the other Scots. [1]")
    assert scores(query, prose) == [1, None, 1, 1]


def test_sets_that_expect_nothing_have_no_such_metrics() -> None:
    metrics = compute_metrics([replace(QUERY, expected=None)], [RIGHT], [5])
    assert not set(NAMES) & metrics.keys()


def test_a_failure_is_a_zero() -> None:
    assert scores(QUERY, Outcome("q", (), error="down")) == [0, 0, 0, 0]
