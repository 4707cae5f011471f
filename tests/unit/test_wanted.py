"""What a question wants by its words, and which sentences hold such a thing."""

import pytest

from lexichord.retrieve.evidence.wanted import (
    WantedType,
    counted_things,
    holds_wanted,
    load_wanted,
    opens_with_term,
    wanted_type,
    without_asking,
)
from lexichord.retrieve.understand.cues import LANGUAGES, named_words

QUESTIONS = {
    "how long must the keys be kept after somebody leaves?": "duration",
    "when is the rent due?": "date",
    "when does the insurance start": "start",
    "how much does a replacement badge cost": "price",
    "What is the term for a bird that sleeps standing on one leg in the water?": None,
    "how many parking spaces are there": "number",
    "who signs off the budget": "person",
    "where are the backups stored": "place",
    "why was the bridge closed": "reason",
    "what do I do if the alarm goes off": "duty",
    "with the new panel, what does the red key do": None,
    "how do i turn off the alarm": "how-to",
    "please upload a photo of the meter": "how-to",
    "lost my badge, will the porter let me in": "yes/no",
    "When you leave, does the badge stop working?": "yes/no",
    "If I quit, who pays the rest?": "person",
    "how early must a taxi be ordered": "duration",
    "set menu": None,
    "upload limits of the portal": None,
    "can I bring my dog to the office?": "yes/no",
    "what is a bill of lading": "definition",
    "what does force majeure mean?": "definition",
}
HOLDING = {
    "duration": "Keys are kept for ninety (90) days.",
    "start": "Cover is given from 3 March 2021.",
    "end": "The pass expires on 3 March 2021.",
    "date": "It fell on 3 March 1921.",
    "price": "A badge costs EUR 15.",
    "amount": "A third of it, 33 %, lies there.",
    "number": "There are forty spaces.",
    "person": "Every invoice is approved by Marta Lind.",
    "place": "Copies are kept in Oslo.",
    "reason": "It was closed because the deck had cracked.",
    "duty": "Any loss shall be reported to the warden.",
    "how-to": "Press the red button twice.",
    "yes/no": "Dogs may not enter the building.",
    "definition": "A bill of lading is a receipt for goods.",
}
PLAIN = "the weather was pleasant and everybody seemed glad"


@pytest.mark.parametrize("question", QUESTIONS)
def test_wanted_type(question: str) -> None:
    assert wanted_type(question) == QUESTIONS[question]


@pytest.mark.parametrize(
    ("wanted", "sentence", "held"),
    [
        ("amount", "3. Ask the porter.", False),
        ("duration", "A 15-20 minute walk.", True),
        ("duration", "HeartbeatTimeout: 1000 * time.Millisecond", True),
        ("number", "See https://x.example/2009 and #6871, as in Figure 3.", False),
        ("date", "It applies after 1000 blocks.", False),
        ("price", "The Building is open from 07:00 to 20:00.", False),
        ("date", "It was built in 1921.", True),
        ("date", "Two weeks before the term begins.", True),
        ("date", "It is payable on the first day of January and July.", True),
        ("date", "Reports are sent monthly.", True),
        ("how-to", "First of all, please write to us.", True),
    ],
)
def test_what_holds_it(wanted: WantedType, sentence: str, held: bool) -> None:
    assert holds_wanted(wanted, sentence) is held


@pytest.mark.parametrize("wanted", load_wanted("en"))
def test_a_sentence_holds_it_or_not(wanted: str) -> None:
    assert holds_wanted(wanted, HOLDING[wanted])  # type: ignore[arg-type]
    assert not holds_wanted(wanted, PLAIN)  # type: ignore[arg-type]


IN_OTHER_LANGUAGES = [
    ("Wann ist die Miete fällig?", "date", "Die Miete ist am ersten Werktag im Januar fällig."),
    ("Wie lange gilt die Karte?", "duration", "Die Karte gilt für drei Monate."),
    ("Darf ich meinen Hund mitbringen?", "yes/no", "Hunde sind im Gebäude nicht erlaubt."),
    ("Wie kann ich den Alarm ausschalten?", "how-to", "Dann drücken und `stopp` eingeben."),
    ("Qui approuve le budget ?", "person", "Chaque facture est lue par Marta Lind."),
    ("Pourquoi le pont est-il fermé ?", "reason", "Le pont est fermé parce que le tablier cède."),
    ("¿Quién aprueba el presupuesto?", "person", "Cada factura es aprobada por Marta Lind."),
    ("¿Cuándo vence el alquiler?", "end", "El alquiler vence el 1 de enero de 2024."),
    ("这座桥是什么时候建成的？", "date", "这座桥建于1921年。"),
    ("钥匙要保存多久？", "duration", "钥匙保存九十天。"),
    ("备份存放在哪里？", "place", "备份存放在上海。"),
]


@pytest.mark.parametrize(("question", "wanted", "sentence"), IN_OTHER_LANGUAGES)
def test_other_languages_have_files_of_their_own(
    question: str, wanted: WantedType, sentence: str
) -> None:
    assert wanted_type(question) == wanted
    assert holds_wanted(wanted, sentence)


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_language_tells_the_common_types(language: str) -> None:
    common = {"duration", "date", "amount", "person", "place", "yes/no", "definition", "how-to"}
    assert load_wanted(language).keys() >= common
    assert named_words(language)["asking"]


@pytest.mark.parametrize(
    ("question", "counted"),
    [
        ("How many sick days do I get at Aldersund?", "sick"),
        ("how many lynxes live in the park", "lynxes"),
        ("How many people, at most, have died?", ""),
        ("how many of them are new?", ""),
        ("Wie viele Luchse leben im Park?", ""),
    ],
)
def test_what_is_counted(question: str, counted: str) -> None:
    assert counted_things(question) == counted


@pytest.mark.parametrize(
    ("question", "sentence", "opens"),
    [
        ("whats a lock gate", 'A "lock gate" is a door that holds water back.', True),
        ("what are lock gates?", "Lock gate means a door in a canal.", True),
        ("what is a lock gate", "Of each lock the gate is a door.", False),
        ("what is a lock gate", "The lock gate of Veldhoven is painted green.", False),
        ("Was ist ein Frachtbrief?", "Der Frachtbrief ist eine Urkunde.", True),
        ("¿Qué es un conocimiento?", "El conocimiento es un recibo.", True),
        ("Qu'est-ce qu'un connaissement ?", "Le connaissement est un reçu.", True),
    ],
)
def test_a_definition_opens_with_its_term(question: str, sentence: str, opens: bool) -> None:
    assert opens_with_term(question, sentence) == opens


@pytest.mark.parametrize(
    ("question", "left"),
    [
        ("how many days of leave a year", "days of leave a year"),
        ("In which year did the ferry sink?", "In did the ferry sink?"),
        ("法国的人口是多少", "法国的人口"),
        ("how much?", "how much?"),
    ],
)
def test_the_words_that_only_ask_for_a_type_are_left_out(question: str, left: str) -> None:
    assert " ".join(without_asking(question).split()) == left
