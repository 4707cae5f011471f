"""What the words of a query say in other languages than English, each by a file of its own."""

import pytest

from lexichord.retrieve.understand.cues import LANGUAGES, find_listed, load_cues
from lexichord.retrieve.understand.intent import read_intent


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_file_has_every_kind(language: str) -> None:
    kinds = [kind for kind, _, _ in load_cues(language).kinds]
    assert kinds == ["comparison", "list_all", "summary", "general", "clause_lookup"]


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "Wer zahlt die Miete und wann endet der Vertrag?",
            ("Wer zahlt die Miete", "wann endet der Vertrag?"),
        ),
        (
            "¿Quién paga la renta y cuándo termina el contrato?",
            ("¿Quién paga la renta", "cuándo termina el contrato?"),
        ),
        ("谁支付租金，合同何时终止？", ("谁支付租金", "合同何时终止？")),
        ("Wer zahlt Miete und Strom?", ()),
    ],
)
def test_sub_questions(question: str, parts: tuple[str, ...]) -> None:
    assert read_intent(question).sub_questions == parts


@pytest.mark.parametrize(
    ("question", "listed"),
    [
        ("Liste alle Klauseln über Kündigung auf", "Kündigung auf"),
        ("Liste toutes les clauses sur la résiliation", "résiliation"),
        ("Lista todas las cláusulas sobre la rescisión", "rescisión"),
        ("列出所有关于终止的条款", "终止的条款"),
    ],
)
def test_what_is_listed(question: str, listed: str) -> None:
    assert listed in find_listed(question)
    assert len(find_listed(question)) < len(question) - 3


@pytest.mark.parametrize(
    ("question", "entities"),
    [
        ("Wie lange ist die Kündigungsfrist der Mieter?", ()),
        ("Was regelt der Vertrag mit Sundermoor Brackenlow GmbH?", ("Sundermoor Brackenlow GmbH",)),
        ("¿Qué dice el contrato con Pellstrand?", ("Pellstrand",)),
    ],
)
def test_names(question: str, entities: tuple[str, ...]) -> None:
    assert read_intent(question).entities == entities
