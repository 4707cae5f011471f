"""What the words of a query say in other languages than English, each by a file of its own."""

import pytest

from lexichord.retrieve.understand.cues import LANGUAGES, find_listed, load_cues
from lexichord.retrieve.understand.intent import read_intent

KINDS = {
    "de": {
        "clause_lookup": [
            "Wer zahlt die Reparaturen?",
            "Ist eine Untervermietung erlaubt?",
            "An wen sind Mitteilungen zu richten?",
        ],
        "comparison": [
            "Vergleiche den Mietvertrag mit dem Lizenzvertrag",
            "Worin unterscheiden sich die beiden Verträge?",
            "Was ist der Unterschied zwischen Miete und Pacht?",
            "Die Haftung im Mietvertrag im Vergleich zum Kaufvertrag",
        ],
        "list_all": [
            "Liste alle Fristen auf",
            "Welche Verträge enthalten ein Wettbewerbsverbot?",
            "Ich brauche eine vollständige Liste der Termine",
        ],
        "summary": [
            "Fasse die Richtlinie zusammen",
            "Worum geht es in diesem Vertrag?",
        ],
        "general": [
            "Warum gibt es diese Klausel?",
            "Wie kann ich kündigen?",
        ],
    },
    "fr": {
        "clause_lookup": [
            "Qui paie les réparations ?",
            "Est-ce que la sous-location est permise ?",
            "À qui faut-il envoyer les avis ?",
        ],
        "comparison": [
            "Compare le bail et la licence",
            "Quelle est la différence entre le bail et la licence ?",
            "En quoi les deux contrats diffèrent-ils ?",
            "Le bail par rapport à la licence",
        ],
        "list_all": [
            "Liste toutes les échéances",
            "Quels contrats ont une clause de non-concurrence ?",
            "Il me faut la liste complète des paiements",
        ],
        "summary": [
            "Résume la politique de voyage",
            "De quoi parle ce document ?",
        ],
        "general": [
            "Pourquoi cette clause existe-t-elle ?",
            "Comment puis-je résilier le contrat ?",
        ],
    },
    "es": {
        "clause_lookup": [
            "¿Quién paga las reparaciones?",
            "¿Se permite el subarriendo?",
            "¿A quién se envían los avisos?",
        ],
        "comparison": [
            "Compara el arrendamiento con la licencia",
            "¿Cuál es la diferencia entre los dos contratos?",
            "El arrendamiento frente a la licencia",
        ],
        "list_all": [
            "Lista todos los plazos",
            "¿Qué contratos tienen una cláusula de no competencia?",
            "Necesito una lista completa de los pagos",
        ],
        "summary": [
            "Resume la política de viajes",
            "¿De qué trata este documento?",
        ],
        "general": [
            "¿Por qué existe esta cláusula?",
            "¿Cómo puedo rescindir el contrato?",
        ],
    },
    "zh": {
        "clause_lookup": [
            "谁支付维修费用？",
            "是否允许转租？",
            "通知应寄给谁？",
            "第三条",
        ],
        "comparison": [
            "比较租赁合同和许可协议",
            "两份合同有什么区别？",
            "两份政策对日志的规定是否相同？",
        ],
        "list_all": [
            "列出所有期限",
            "哪些合同有竞业禁止条款？",
            "所有关于终止的条款",
        ],
        "summary": [
            "总结差旅政策",
            "这份文件讲的是什么？",
        ],
        "general": [
            "为什么有这个条款？",
            "FastAPI 中如何使用中间件？",
        ],
    },
}
QUESTIONS = [
    (language, kind, question)
    for language, kinds in KINDS.items()
    for kind, questions in kinds.items()
    for question in questions
]


@pytest.mark.parametrize(("language", "kind", "question"), QUESTIONS)
def test_kinds(language: str, kind: str, question: str) -> None:
    assert read_intent(question).kind == kind


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
