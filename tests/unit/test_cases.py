"""Entity cases: the format of the post, what is wrong with a broken file, and our own hundred."""

import json
from pathlib import Path
from typing import Any

import pytest

from lexichord.errors import ConfigError
from lexichord.evaluate.datasets import load_set
from lexichord.evaluate.entities import find_standing
from lexichord.types.evaluation import EvidenceSpan
from tests.conftest import ROOT

OWN = ROOT / "scripts/bench/contractnli_cases.json"

# The sample case of "Context-Aware Retriever", part 3, as it stands there.
SAMPLE = """
{
  "query": "Does the agreement include a non-compete clause restricting the employee from joining competitors?",
  "entities": {
    "TIME": [
      "12 months",
      "following termination",
      "after termination"
    ],
    "LOCATION": [
      "50 miles"
    ],
    "CONDITION": [
      "non-compete",
      "not engage in any business that competes"
    ]
  }
}
"""  # noqa: E501 - theirs
TEXT = "Terms.\n\nThe Employee shall, for 12\n   months, not compete within 50 miles.\n\nOther."
CASE: dict[str, Any] = {
    "id": "test_006",
    "query": "How long?",
    "clause": "The Employee shall, for 12 months, not compete within 50 miles.",
    "source_file": "nda.txt",
    "entities": {"TIME": ["12 months"], "LOCATION": ["50 miles"]},
    "critical_types": ["TIME"],
}


def lay_out(folder: Path, *cases: object, name: str = "cases.json") -> Path:
    for place in ("docs/nda.txt", "docs/lease.txt"):
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text(TEXT, encoding="utf-8")
    (folder / name).write_text(json.dumps(cases), encoding="utf-8")
    return folder


def test_a_case_is_a_question_with_its_clause_and_entities(tmp_path: Path) -> None:
    lay_out(tmp_path, CASE, json.loads(SAMPLE))
    loaded = load_set(tmp_path)
    assert {document["uri"] for document in loaded.documents} == {"docs/nda.txt", "docs/lease.txt"}
    case, sample = loaded.queries
    start, end = TEXT.index("The Employee"), TEXT.index("\n\nOther")
    assert (case.id, case.files) == ("test_006", ("docs/nda.txt",))
    assert case.spans == (EvidenceSpan("docs/nda.txt", start, end),)
    assert (case.entities["LOCATION"], case.critical) == (["50 miles"], ("TIME",))
    assert (sample.id, sample.files, sample.spans) == ("test_002", (), ())
    assert sum(map(len, sample.entities.values())) == 6


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"source_file": "none.txt"}, "none is"),
        ({"source_file": "docs/nda.txt", "clause": "Never said."}, "does not hold the clause"),
        ({"source_file": None}, "a clause needs the source_file"),
        ({"critical_types": ["MONEY"]}, "critical_types has MONEY"),
        ({"entities": {"DATE": ["1 May"]}}, "entities.DATE"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    lay_out(tmp_path, {**CASE, **changes})
    with pytest.raises(ConfigError) as refused:
        load_set(tmp_path)
    message = str(refused.value)
    assert said in message
    assert "cases.json" in message
    assert "\n" not in message


def test_two_files_of_one_name_and_two_cases_of_one_id_are_refused(tmp_path: Path) -> None:
    lay_out(tmp_path, CASE, CASE)
    with pytest.raises(ConfigError, match="test_006 is there twice"):
        load_set(tmp_path)
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "nda.txt").write_text(TEXT, encoding="utf-8")
    lay_out(tmp_path, CASE)
    with pytest.raises(ConfigError, match="several are"):
        load_set(tmp_path)


def test_our_own_hundred_name_what_stands_in_their_clauses() -> None:
    cases = json.loads(OWN.read_text(encoding="utf-8"))
    assert len(cases) == len({case["query"] for case in cases}) == 100
    for case in cases:
        assert case.keys() == CASE.keys()
        for entity in (each for some in case["entities"].values() for each in some):
            assert find_standing(case["clause"], entity.split("|")), (case["id"], entity)
