"""Questions by kind: which are asked, and what is printed and kept of each."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lexichord.errors import ConfigError
from lexichord.evaluate.kinds import choose, tables, write_records
from lexichord.evaluate.metrics import compute_metrics
from lexichord.types.evaluation import (
    EvalQuery,
    EvalSet,
    EvaluationRun,
    EvidenceSpan,
    ExpectedAnswer,
    Outcome,
    RankedPassage,
)


def question(kind: str, number: int, sort: str = "look-up") -> EvalQuery:
    """A question whose right answer is "number"."""
    name = f"{kind}-{number}"
    if sort in ("near-miss", "foreign"):
        return EvalQuery(name, "?", answerable=False, expected=ExpectedAnswer(kind, sort))
    spans = (EvidenceSpan(f"{name}.md", 0, 9),)
    expected = ExpectedAnswer(kind, sort, (str(number),), (f"It is {number}.",))
    return EvalQuery(name, "?", spans=spans, expected=expected)


def answer(query: EvalQuery, written: str, confidence: float, abstained: bool = False) -> Outcome:
    passages = (RankedPassage(f"{query.id}.md", 0, 9, 0, 1.0),)
    return Outcome(
        query.id,
        passages,
        written="" if abstained else written,
        confidence=confidence,
        abstained=abstained,
    )


def run_of(
    queries: Sequence[EvalQuery], outcomes: Sequence[Outcome], name: str = "pipeline"
) -> EvaluationRun:
    metrics = compute_metrics(queries, outcomes, [5])
    now = datetime.now(UTC)
    return EvaluationRun(
        None, "set", name, {}, (5,), tuple(queries), tuple(outcomes), metrics, {}, now
    )


LEASES = [question("leases", number) for number in range(4)]
CODE = [question("code", 7), question("code", 8, "near-miss"), question("code", 9, "foreign")]
QUERIES = [*LEASES, *CODE]
OUTCOMES = [
    answer(LEASES[0], "It is 0. [1]", 0.9),
    answer(LEASES[1], "It is 1. [1]", 0.9),
    answer(LEASES[2], "Nobody knows. [1]\nIt is 2. [2]", 0.9),
    answer(LEASES[3], "", 0.1, abstained=True),
    answer(CODE[0], "It is 7. [1]", 0.5),
    answer(CODE[1], "It is 8. [1]", 0.8),
    answer(CODE[2], "", 0.0, abstained=True),
]
RUN = run_of(QUERIES, OUTCOMES)


def rows(table: list[list[str]]) -> dict[str, list[str]]:
    """The cells by name, without their intervals."""
    return {line[0]: [cell.split(" (")[0] for cell in line[1:]] for line in table}


def test_only_the_chosen_kinds_are_asked() -> None:
    eval_set = EvalSet("set", [{"uri": "a"}], tuple(QUERIES))
    chosen = choose(eval_set, ["code"], None)
    assert (chosen.queries, chosen.documents) == (tuple(CODE), [{"uri": "a"}])
    assert [query.id for query in choose(eval_set, None, 2).queries] == [
        *("leases-0", "leases-2"),
        *("code-7", "code-8"),
    ]
    assert choose(eval_set, ["leases"], 9).queries == tuple(LEASES)


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ConfigError, match="no questions of kind 'deeds': leases, code"):
        choose(EvalSet("set", [], tuple(QUERIES)), ["leases", "deeds"], None)


def test_the_tables_by_hand() -> None:
    found, answered, near, foreign, sure = map(rows, tables([RUN], "kind"))
    assert found["answerable"] == ["", "questions", "evidence@4000", "first hit's document"]
    assert found["leases"] == ["pipeline", "4", "100.0", "100.0"]
    assert answered["leases"] == ["pipeline", "4", "50.0", "75.0", "25.0", "25.0"]
    assert answered["code"] == ["pipeline", "1", "100.0", "100.0", "0.0", "0.0"]
    assert answered["all"] == ["pipeline", "5", "60.0", "80.0", "20.0", "20.0"]
    assert near.keys() == {"near-miss", "code", "all"}
    assert near["code"] == ["pipeline", "1", "0.0", "100.0"]
    assert foreign["code"] == ["pipeline", "1", "100.0", "0.0"]
    assert sure["code"] == ["pipeline", "3", "43.3", "0.0"]  # .5 of 1, .8 of 0, .0 of 0
    assert sure["leases"] == ["pipeline", "4", "20.0", "–"]  # 3 × .9 against 2 of 3, .1 of 0
    line = next(line for line in tables([RUN], "kind")[1] if line[0] == "leases")
    assert line[3] == "50.0 (0–100)"  # over documents
    by_type = rows(tables([RUN], "type")[1])
    assert by_type.keys() == {"answerable", "look-up", "all"}


def test_a_search_stands_in_the_first_table_only() -> None:
    silent = [Outcome(out.query_id, out.passages) for out in OUTCOMES]
    found, _, *others = tables([run_of(QUERIES, silent, "hybrid"), RUN], "kind")
    assert [line[1] for line in found if line[0] == "code"] == ["hybrid", "pipeline"]
    assert {line[1] for table in others for line in table[1:]} == {"pipeline"}


def test_the_differences_are_of_pairs() -> None:
    elsewhere = (RankedPassage("other.md", 0, 9, 0, 1.0),)
    worse = [replace(outcome, passages=elsewhere) for outcome in OUTCOMES[:1]]
    search = run_of(QUERIES, [*worse, *OUTCOMES[1:]], "hybrid")
    table = rows(tables([search, RUN], "kind")[1])
    assert table["leases"] == ["pipeline - hybrid", "4", "+25.0", "+25.0"]
    assert table["code"] == ["pipeline - hybrid", "1", "+0.0", "+0.0"]
    assert table["all"] == ["pipeline - hybrid", "5", "+20.0", "+20.0"]
    assert tables([search, RUN], "kind")[1][1][3] == "+25.0 (+0 to +75)"


def test_records_say_what_came_of_each_question(tmp_path: Path) -> None:
    write_records([RUN], tmp_path / "records.jsonl")
    lines = (tmp_path / "records.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    assert [record["id"] for record in records] == [query.id for query in QUERIES]
    assert [record["right"] for record in records] == [True, True, *[False] * 2, True, *[False] * 2]
    assert records[2]["first_sentence"] == "Nobody knows."
    assert (records[0]["first_hit"], records[5]["type"]) == ("leases-0.md", "near-miss")
    assert records[0]["metrics"]["not_wrong@0.7"] == 1


def test_records_need_a_folder(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot write the records"):
        write_records([RUN], tmp_path / "nowhere" / "records.jsonl")


def test_a_question_without_a_kind_stands_in_a_row_of_its_own() -> None:
    plain = replace(LEASES[0], expected=None)
    found, *others = map(rows, tables([run_of([plain], [OUTCOMES[0]])], "kind"))
    assert len(others) == 2  # no near miss, nothing foreign
    assert found[""] == ["pipeline", "1", "100.0", "–"]
