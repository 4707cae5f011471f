"""A comparison's lists: which words may name documents, by the words that part them."""

import pytest

from lexichord.retrieve.understand import find_cues, find_entities
from lexichord.retrieve.understand.aspects import cut_words, split_parts
from lexichord.retrieve.understand.linking import split_words


@pytest.mark.parametrize(
    ("query", "lists"),
    [
        (
            "how do Acme, Beta and the lease differ in price and term?",
            [["Acme", "Beta", "the lease"], ["price", "term"]],
        ),
        (
            "which has the longer notice, the MSA or the lease?",
            [["the"], ["notice", "the MSA", "the lease"]],
        ),
        (
            "Worin unterscheiden sich Kenia und Warschau bei der Verfassung?",
            [["Kenia", "Warschau"], ["der Verfassung"]],
        ),
        (
            "Orsk v. Halden, the Elm St. plan: date",
            [["Orsk v. Halden", "the Elm St"], ["plan"], ["date"]],
        ),
        (
            "sleep on night shifts vs rest in summer: sample size",
            [["sleep on night shifts", "rest in summer"], ["sample size"]],
        ),
        (
            "比较特斯拉、马丁·路德和成吉思汗的去世时间",
            [["特斯拉", "马丁·路德", "成吉思汗"], ["去世时间"]],
        ),
    ],
)
def test_lists_are_parted_by_the_words_of_the_frame(query: str, lists: list[list[str]]) -> None:
    cues = find_cues(query)
    words = cut_words(query, split_words(query, find_entities(query)), cues)
    found: dict[int, list[str]] = {}
    for part in split_parts(query, words, cues):
        text = query[words[part.first].start : words[part.last].end]
        found.setdefault(part.group, []).append(text)
    assert list(found.values()) == lists
