"""What words say of a sentence that may answer."""

import pytest

from lexichord.retrieve.evidence.relevance import sentences_of
from lexichord.retrieve.evidence.sentences import Candidate, Signals, word_signals
from lexichord.types.evidence import Quote

TERMS = {"valve": 2.0, "set": 1.0}


@pytest.mark.parametrize(
    ("question", "words", "repeats"),
    [
        ("how do I set the valve?", {"valve", "set"}, True),
        ("how do I set the valve?", {"valve", "turn"}, False),
        ("is the valve set?", {"valve", "set"}, False),
    ],
)
def test_what_only_repeats_the_question_comes_last(
    question: str, words: set[str], repeats: bool
) -> None:
    signals = signals_of(question, "Turn it to the left.", words)
    assert signals.repeats is repeats
    assert signals.strength < 1 or not repeats


def signals_of(question: str, text: str, words: set[str]) -> Signals:
    quote = Quote(text, "doc_1", "a.md", "", "", 0, len(text), None, "chunk_1", 1.0)
    (sentence,) = sentences_of(quote)
    (signals,) = word_signals(question, TERMS, [Candidate(sentence, 0)], [words])
    return signals


def test_a_definition_comes_before_what_else_speaks_of_the_term() -> None:
    said = "Other names for the set valve are listed below."
    speaks = signals_of("what is a set valve", said, {"set", "names"})
    defines = signals_of("what is a set valve", "A set valve is another tap.", {"set", "tap"})
    plain = signals_of("what does a set valve cost", "A set valve is a tap.", {"set", "tap"})
    assert defines.strength > speaks.strength
    assert (defines.defines, speaks.defines, plain.defines) == (True, False, False)


@pytest.mark.parametrize(
    ("question", "sentence", "foreign"),
    [
        ("how do I set the valve?", "El ventil se gira y la presión baja en el tubo.", True),
        ("how do I set the valve?", "Turn it to the left and wait for the drop.", False),
        ("¿Cómo se ajusta la válvula de la bomba?", "Turn it to the left with the key.", True),
        ("valve", "El ventil se gira y la presión baja en el tubo.", False),
    ],
)
def test_what_is_in_another_language_than_the_question(
    question: str, sentence: str, foreign: bool
) -> None:
    assert signals_of(question, sentence, {"valve", "x"}).foreign is foreign
