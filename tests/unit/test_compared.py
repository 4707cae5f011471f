"""A comparison's lists: which words may name documents, by the words that part them."""

import pytest

from lexichord.retrieve.understand.compared import cut_words, split_parts
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
        (
            "维多利亚州和肯尼亚在政党和铁路轨距上有什么不同？",
            [["维多利亚州", "肯尼亚"], ["政党", "铁路轨距"]],
        ),
        (
            "对比V&A博物馆和中华人民共和国\uff1a建筑师",
            [["V&A博物馆", "中华人民共和国"], ["建筑师"]],
        ),
        (
            "关于委员会，苏格兰议会和欧盟法这两篇各说了什么？",
            [["委员会"], ["苏格兰议会", "欧盟法"]],
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
