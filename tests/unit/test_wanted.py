"""What a question wants by its words, and which sentences hold such a thing."""

import pytest

from lexichord.retrieve.evidence.wanted import SENTENCE_TYPES, holds_wanted, wanted_type

QUESTIONS = {
    "how long must the keys be kept after somebody leaves?": "duration",
    "what is the notice period": "duration",
    "How many days' notice do I have to give?": "duration",
    "when is the rent due?": "date",
    "in which year did the ferry sink": "date",
    "how much does a replacement badge cost": "amount",
    "what's the penalty for paying late": "amount",
    "how many parking spaces are there": "number",
    "who signs off the budget": "person",
    "to whom do I report a lost laptop?": "person",
    "where are the backups stored": "place",
    "why was the bridge closed": "reason",
    "how do i turn off the alarm": "how-to",
    "can I bring my dog to the office?": "yes/no",
    "what is a bill of lading": "definition",
    "what does force majeure mean?": "definition",
    "turbine maintenance": None,
    "tell me about the pilots' strike": None,
}
HOLDING = {
    "duration": "Keys are kept for ninety (90) days.",
    "date": "It fell on 3 March 1921.",
    "amount": "A badge costs EUR 15.",
    "number": "There are forty spaces.",
    "person": "Every invoice is approved by Marta Lind.",
    "place": "Copies are kept in Oslo.",
    "reason": "It was closed because the deck had cracked.",
    "how-to": "Press the red button twice.",
    "yes/no": "Dogs may not enter the building.",
    "definition": "A bill of lading is a receipt for goods.",
}
PLAIN = "the weather was pleasant and everybody seemed glad"


@pytest.mark.parametrize("question", QUESTIONS)
def test_wanted_type(question: str) -> None:
    assert wanted_type(question) == QUESTIONS[question]


@pytest.mark.parametrize("wanted", SENTENCE_TYPES)
def test_a_sentence_holds_it_or_not(wanted: str) -> None:
    assert holds_wanted(wanted, HOLDING[wanted])  # type: ignore[arg-type]
    assert not holds_wanted(wanted, PLAIN)  # type: ignore[arg-type]
