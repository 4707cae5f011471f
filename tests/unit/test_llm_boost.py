"""Which sets of keywords are ways of their own."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from lexichord.retrieve.llm import shorten_line
from lexichord.retrieve.llm_stages import DUPLICATE_KEYWORD_SHARE, choose_diverse

SETS = st.lists(st.text(st.sampled_from("abcdef .,"), max_size=12), max_size=12)


def test_sets_of_much_the_same_words_are_left_out() -> None:
    candidates = [
        *("notice period", "Period, NOTICE!", "end date", "date of end", "", " ... ", "escrow"),
    ]
    assert choose_diverse(candidates, 9, "") == ["notice period", "end date", "escrow"]


def test_so_are_those_of_the_question() -> None:
    assert choose_diverse(
        ["who pays rent", "rent", "pays the rent", "fee"], 9, "Who pays the rent?"
    ) == ["rent", "fee"]


def test_no_more_than_wanted_are_read() -> None:
    texts = iter(["one", "two", "three", "four"])
    assert choose_diverse(texts, 2, "") == ["one", "two"]
    assert choose_diverse(["one"], 0, "") == []


@given(SETS, st.integers(0, 12), st.text(st.sampled_from("abcdef "), max_size=12))
def test_any_two_differ_and_the_first_stay(texts: list[str], most: int, taken: str) -> None:
    kept = choose_diverse(texts, most, taken)
    assert len(kept) <= most
    remaining = iter(texts)
    assert all(text in remaining for text in kept)  # in their order
    plain = [set(text.replace(".", " ").replace(",", " ").split()) for text in [*kept, taken]]
    assert all(
        len(a & b) < DUPLICATE_KEYWORD_SHARE * len(a | b)
        for a, b in combinations(plain, 2)
        if a and b
    )


@given(st.text(), st.integers(1, 50))
def test_a_line_is_one_and_short(text: str, most: int) -> None:
    line = shorten_line(text, most)
    assert len(line) <= most
    assert len(line.splitlines()) <= 1
    assert bool(line) == bool(text.strip())
    words = line.split(" ")
    assert words[:-1] == text.split()[: len(words) - 1]


def test_a_line_is_cut_between_words() -> None:
    assert shorten_line(" two\n words ", 9) == "two words"
    assert shorten_line("two words", 8) == "two"
    assert shorten_line("終" * 9, 4) == "終" * 4
