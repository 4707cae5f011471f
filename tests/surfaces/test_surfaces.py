"""One question, one answer: through Python, the CLI, SQL, HTTP and MCP, field by field."""

from collections.abc import Mapping
from functools import cache

import pytest

from tests.surfaces.callers import SURFACES, Answer, House, Refusal
from tests.surfaces.cases import CASES, Case

pytestmark = pytest.mark.slow

OWN_WORDS = ("SQL", "MCP")  # of a document: the one takes ids, the other also parts of names


@cache  # each is asked once: the CLI takes a second to start
def ask_everywhere(house: House, case: Case) -> Mapping[str, Answer]:
    return {name: ask(house, case) for name, ask in SURFACES.items() if name not in case.not_on}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_all_surfaces_answer_alike(house: House, case: Case) -> None:
    answers = ask_everywhere(house, case)
    assert len(answers) + len(case.not_on) == len(SURFACES)
    first = answers["Python"] if "Python" in answers else answers["HTTP"]
    if isinstance(first, Refusal):
        kinds = {name: isinstance(each, Refusal) and each.kind for name, each in answers.items()}
        assert kinds == dict.fromkeys(answers, case.outcome), answers
        return
    assert bool(first) == (case.outcome == "rows")
    for name, answer in answers.items():
        assert not isinstance(answer, Refusal), (name, answer)
        assert len(answer) == len(first), name
        for mine, theirs in zip(first, answer, strict=True):
            assert theirs == mine, name


def test_there_are_thirty_cases_and_each_surface_is_asked_most() -> None:
    assert len(CASES) >= 30
    assert len({case.name for case in CASES}) == len(CASES)
    for name in SURFACES:
        assert sum(name not in case.not_on for case in CASES) >= 20, name
    assert {case.outcome for case in CASES} >= {"rows", "nothing", "not found", "invalid"}


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case.outcome == "not found" or case.name.startswith("an operator")],
    ids=lambda case: case.name,
)
def test_what_is_wrong_is_said_in_the_same_words(house: House, case: Case) -> None:
    lines = {
        name: answer.line.partition(":")[0]
        for name, answer in ask_everywhere(house, case).items()
        if isinstance(answer, Refusal) and not (name in OWN_WORDS and "documents" in case.options)
    }
    assert len(set(lines.values())) == 1, lines


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.nearest], ids=lambda case: case.name
)
def test_the_nearest_name_comes_first(house: House, case: Case) -> None:
    for surface, answer in ask_everywhere(house, case).items():
        assert isinstance(answer, Refusal)
        choices = answer.line.partition(": take one of ")[2]
        first = choices.split(", ")[0]
        assert case.nearest in first, (surface, answer.line)
        assert choices.endswith(" more") or choices.count(", ") < 5, answer.line
