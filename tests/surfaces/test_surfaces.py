"""One question, one answer: through Python, the CLI, SQL, HTTP and MCP, field by field."""

from collections.abc import Mapping

import pytest

from tests.surfaces.callers import SURFACES, House, Refusal
from tests.surfaces.cases import CASES, Case

OWN_WORDS = ("SQL", "MCP")  # of a document: the one takes ids, the other also parts of names


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_all_surfaces_answer_alike(house: House, case: Case) -> None:
    answers = {name: ask(house, case) for name, ask in SURFACES.items() if name not in case.not_on}
    assert len(answers) + len(case.not_on) == len(SURFACES)
    first = answers["Python"] if "Python" in answers else answers["HTTP"]
    if isinstance(first, Refusal):
        kinds = {name: isinstance(each, Refusal) and each.kind for name, each in answers.items()}
        assert kinds == dict.fromkeys(answers, case.outcome), answers
        check_words(
            case, {name: each.line for name, each in answers.items() if isinstance(each, Refusal)}
        )
        return
    assert bool(first) == (case.outcome == "rows")
    for name, answer in answers.items():
        assert not isinstance(answer, Refusal), (name, answer)
        assert len(answer) == len(first), name
        for mine, theirs in zip(first, answer, strict=True):
            assert theirs == mine, name


def check_words(case: Case, lines: Mapping[str, str]) -> None:
    """What is wrong is said in the same words, and the nearest name first."""
    if case.outcome == "not found" or case.name.startswith("an operator"):
        own = OWN_WORDS if "documents" in case.options else ()
        said = {line.partition(":")[0] for name, line in lines.items() if name not in own}
        assert len(said) == 1, said
    for surface, line in lines.items() if case.nearest else ():
        choices = line.partition(": take one of ")[2]
        assert case.nearest in choices.split(", ")[0], (surface, line)
        assert choices.endswith(" more") or choices.count(", ") < 5, line


def test_there_are_thirty_cases_and_each_surface_is_asked_most() -> None:
    assert len(CASES) >= 30
    assert len({case.name for case in CASES}) == len(CASES)
    for name in SURFACES:
        assert sum(name not in case.not_on for case in CASES) >= 20, name
    assert {case.outcome for case in CASES} >= {"rows", "nothing", "not found", "invalid"}
