"""What the words of a query say in other languages than English, each by a file of its own."""

import pytest

from lexichord.retrieve.understand.cues import LANGUAGES, find_listed, load_cues
from lexichord.retrieve.understand.intent import read_intent

KINDS = {
    "de": {
        "clause_lookup": [
            "Wer zahlt die Reparaturen?",
            "Wie lange ist die Kündigungsfrist?",
            "Ist eine Untervermietung erlaubt?",
            "Laut Mietvertrag: darf ich einen Hund halten?",
            "Ich möchte wissen, wann der Vertrag endet",
            "Innerhalb welcher Frist muss gezahlt werden",
            "Kündigungsfrist?",
            "An wen sind Mitteilungen zu richten?",
        ],
        "comparison": [
            "Vergleiche den Mietvertrag mit dem Lizenzvertrag",
            "Worin unterscheiden sich die beiden Verträge?",
            "Was ist der Unterschied zwischen Miete und Pacht?",
            "Welcher Vertrag hat die längere Frist?",
            "Ist die Haftung im Mietvertrag höher als im Kaufvertrag?",
            "Die Haftung im Mietvertrag im Vergleich zum Kaufvertrag",
            "Mietvertrag und Kaufvertrag im Vergleich: Haftung",
        ],
        "list_all": [
            "Liste alle Fristen auf",
            "Nenne mir bitte sämtliche Parteien",
            "Welche Verträge enthalten ein Wettbewerbsverbot?",
            "Ich brauche eine vollständige Liste der Termine",
            "alles über Kündigungen",
        ],
        "summary": [
            "Fasse die Richtlinie zusammen",
            "Kannst du mir eine Zusammenfassung geben?",
            "Worum geht es in diesem Vertrag?",
            "Was sind die wichtigsten Punkte?",
        ],
        "general": [
            "Warum gibt es diese Klausel?",
            "Wie kann ich kündigen?",
            "Erkläre die Haftung",
            "Sollte ich unterschreiben?",
        ],
    },
    "fr": {
        "clause_lookup": [
            "Qui paie les réparations ?",
            "Quelle est la durée du préavis ?",
            "Est-ce que la sous-location est permise ?",
            "Selon le bail, peut-on avoir un chien ?",
            "Je voudrais savoir quand le contrat se termine",
            "À qui faut-il envoyer les avis ?",
            "Combien de jours avant la fin ?",
        ],
        "comparison": [
            "Compare le bail et la licence",
            "Mettez en parallèle le bail et la licence",
            "Quelle est la différence entre le bail et la licence ?",
            "En quoi les deux contrats diffèrent-ils ?",
            "Lequel des deux contrats a le délai le plus long ?",
            "Le bail par rapport à la licence",
            "Le bail et la licence en comparaison",
        ],
        "list_all": [
            "Liste toutes les échéances",
            "Donne-moi tous les noms des parties",
            "Quels contrats ont une clause de non-concurrence ?",
            "Il me faut la liste complète des paiements",
            "tout sur la résiliation",
        ],
        "summary": [
            "Résume la politique de voyage",
            "Fais-moi un court résumé du contrat",
            "De quoi parle ce document ?",
            "Quels sont les points clés ?",
        ],
        "general": [
            "Pourquoi cette clause existe-t-elle ?",
            "Comment puis-je résilier le contrat ?",
            "Explique la responsabilité",
            "Est-il conseillé de signer ?",
        ],
    },
    "es": {
        "clause_lookup": [
            "¿Quién paga las reparaciones?",
            "¿Cuál es el plazo de preaviso?",
            "¿Se permite el subarriendo?",
            "Según el contrato, ¿puede el inquilino tener un perro?",
            "Quisiera saber cuándo termina el contrato",
            "¿A quién se envían los avisos?",
            "¿Cuántos días antes del vencimiento?",
        ],
        "comparison": [
            "Compara el arrendamiento con la licencia",
            "¿Cuál es la diferencia entre los dos contratos?",
            "¿En qué se diferencian las dos políticas?",
            "¿Cuál de los dos contratos tiene el plazo mayor?",
            "El arrendamiento frente a la licencia",
            "El arrendamiento y la licencia en comparación: plazos",
        ],
        "list_all": [
            "Lista todos los plazos",
            "Dame todos los nombres de las partes",
            "¿Qué contratos tienen una cláusula de no competencia?",
            "Necesito una lista completa de los pagos",
            "todo sobre la rescisión",
        ],
        "summary": [
            "Resume la política de viajes",
            "Hazme un breve resumen del contrato",
            "¿De qué trata este documento?",
            "¿Cuáles son los puntos clave?",
        ],
        "general": [
            "¿Por qué existe esta cláusula?",
            "¿Cómo puedo rescindir el contrato?",
            "Explica la responsabilidad",
            "¿Es recomendable firmar?",
        ],
    },
    "zh": {
        "clause_lookup": [
            "谁支付维修费用？",
            "通知期限是多久？",
            "是否允许转租？",
            "根据租赁合同，租客可以养狗吗？",
            "请问合同何时终止",
            "通知应寄给谁？",
            "第三条",
        ],
        "comparison": [
            "比较租赁合同和许可协议",
            "两份合同有什么区别？",
            "哪份合同的期限更长？",
            "两份政策对日志的规定是否相同？",
            "租赁合同与许可协议的差异",
        ],
        "list_all": [
            "列出所有期限",
            "请找出所有当事人",
            "哪些合同有竞业禁止条款？",
            "合同里的付款日期都有哪些？",
            "所有关于终止的条款",
        ],
        "summary": [
            "总结差旅政策",
            "请概括这份合同",
            "这份文件讲的是什么？",
            "用三句话介绍该政策",
        ],
        "general": [
            "为什么有这个条款？",
            "FastAPI 中如何使用中间件？",
            "解释责任限制",
            "我应该签字吗？",
        ],
    },
}
QUESTIONS = [
    (language, kind, question)
    for language, kinds in KINDS.items()
    for kind, questions in kinds.items()
    for question in questions
]


def test_each_language_has_its_questions() -> None:
    assert {"en", *KINDS} == set(LANGUAGES)
    assert all(sum(map(len, kinds.values())) >= 15 for kinds in KINDS.values())


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
            "Qui paie le loyer et quand finit le bail ?",
            ("Qui paie le loyer", "quand finit le bail ?"),
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
        ("Que dit le contrat avec Pellstrand ?", ("Pellstrand",)),
        ("¿Qué dice el contrato con Pellstrand?", ("Pellstrand",)),
    ],
)
def test_names(question: str, entities: tuple[str, ...]) -> None:
    assert read_intent(question).entities == entities
