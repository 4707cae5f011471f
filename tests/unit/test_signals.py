"""What words say of a sentence that may answer."""

import pytest

from lexichord.retrieve.evidence.relevance import sentences_of
from lexichord.retrieve.evidence.sentences import Candidate, word_signals
from lexichord.types.evidence import Quote

TERMS = {"valve": 2.0, "set": 1.0}


@pytest.mark.parametrize(
    ("question", "words", "repeats"),
    [
        ("how do I set the valve?", {"valve", "set"}, True),
        ("how do I set the valve?", {"valve"}, True),
        ("how do I set the valve?", {"valve", "turn"}, False),
        ("is the valve set?", {"valve", "set"}, False),
    ],
)
def test_what_only_repeats_the_question_comes_last(
    question: str, words: set[str], repeats: bool
) -> None:
    text = "Turn it to the left."
    quote = Quote(text, "doc_1", "a.md", "", "", 0, len(text), None, "chunk_1", 1.0)
    (sentence,) = sentences_of(quote)
    (signals,) = word_signals(question, TERMS, [Candidate(sentence, 0)], [words])
    assert signals.repeats is repeats
    assert signals.strength < 1 or not repeats
