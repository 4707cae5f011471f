"""A comparison's lists: which words may name documents, by the words that part them."""

from lexichord.retrieve.understand import find_cues, find_entities
from lexichord.retrieve.understand.aspects import cut_words, split_parts
from lexichord.retrieve.understand.linking import split_words
from tests.wordings import worded


@worded("query", "lists")
def test_lists_are_parted_by_the_words_of_the_frame(query: str, lists: list[list[str]]) -> None:
    cues = find_cues(query)
    words = cut_words(query, split_words(query, find_entities(query)), cues)
    found: dict[int, list[str]] = {}
    for part in split_parts(query, words, cues):
        text = query[words[part.first].start : words[part.last].end]
        found.setdefault(part.group, []).append(text)
    assert list(found.values()) == lists
