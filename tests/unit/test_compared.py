"""A comparison's lists: which words may name documents, by the words that part them."""

import pytest

from lexichord.retrieve.understand.compared import split_parts
from lexichord.retrieve.understand.cues import find_cues, find_entities
from lexichord.retrieve.understand.linking import split_words


@pytest.mark.parametrize(
    ("query", "lists"),
    [
        (
            "compare the governing law of the MSA and the lease",
            [["the governing law of the MSA", "the lease"]],
        ),
        (
            "how do Acme, Beta and the lease differ in price and term?",
            [["Acme", "Beta", "the lease"], ["price", "term"]],
        ),
        (
            "Oak Ltd vs Elm Ltd: fees, notice",
            [["Oak Ltd", "Elm Ltd"], ["fees", "notice"]],
        ),
        (
            "which has the longer notice, the MSA or the lease?",
            [["the"], ["notice", "the MSA", "the lease"]],
        ),
        (
            "Kenia und Victoria (Australien): Verfassung",
            [["Kenia", "Victoria (Australien"], ["Verfassung"]],
        ),
        (
            "Worin unterscheiden sich Kenia und Warschau bei der Verfassung?",
            [["Kenia", "Warschau"], ["der Verfassung"]],
        ),
    ],
)
def test_lists_are_parted_by_the_words_of_the_frame(query: str, lists: list[list[str]]) -> None:
    words = split_words(query, find_entities(query))
    found: dict[int, list[str]] = {}
    for part in split_parts(query, words, find_cues(query)):
        text = query[words[part.first].start : words[part.last].end]
        found.setdefault(part.group, []).append(text)
    assert list(found.values()) == lists
