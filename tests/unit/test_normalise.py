import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexichord.evaluate.entities import normalise

SAME = [
    ("5 years", ["five years", "five (5) years", "5-year", "Five\nYears'", "5 (five) years"]),
    ("24 months", ["twenty-four (24) months", "twenty four months", "24 months (24 months)"]),
    ("$5,000", ["USD 5,000", "5000 dollars", "five thousand dollars ($5,000)", "US$5,000.00"]),
    ("EUR 2.5 million", ["€2.5m", "2,500,000 euros", "two million five hundred thousand euro"]),
    ("£10", ["GBP 10", "10 pounds sterling", "ten pounds"]),
    ("10%", ["ten per cent", "10 percent", "ten per cent (10%)", "10 %"]),
    ("the party's affiliates", ["the party\u2019s affiliate", "The Party affiliates"]),
    ("3,205", ["three thousand two hundred and five", "3\xa0205", "3'205"]),
]
DIFFERENT = [
    ("5 years", "15 years"),
    ("$5", "€5"),
    ("1 or 2", "12"),
    ("5.2", "52"),
    ("1, 2, 3", "1,230"),
    ("in 2024 100 people", "in 2024100 people"),
    ("twenty, 5", "205"),
]


@pytest.mark.parametrize(("text", "others"), SAME)
def test_the_same_is_written_alike(text: str, others: list[str]) -> None:
    assert {normalise(other) for other in others} == {normalise(text)}


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_what_differs_stays_different(one: str, other: str) -> None:
    assert normalise(one) != normalise(other)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("sixty (60) days' notice", "60 day notice"),
        ("5, 10 and 15 days", "5 10 and 15 day"),
        ("$10, $20 and £5", "10 usd 20 usd and 5 gbp"),
        ("5 USD, 10 USD", "5 usd 10 usd"),
        ("Section 5.2.1 of business policies", "section 5.2.1 of business policy"),
        (" \n", ""),
    ],
)
def test_how_it_is_written(text: str, written: str) -> None:
    assert normalise(text) == written


words = st.sampled_from(["five", "(5)", "$", "10,000", "%", "days'", "and", "hundred", "million"])


@given(st.text() | st.lists(words).map(" ".join))
def test_what_comes_out_are_words_with_single_spaces(text: str) -> None:
    written = normalise(text)
    assert written == " ".join(written.split())
    assert all(sign.isalnum() or sign in ". " for sign in written)


@given(st.integers(1, 999_999))
def test_numbers_and_their_words_are_the_same(number: int) -> None:
    assert normalise(_words(number)) == normalise(f"{number:,}") == str(number)


def _words(number: int) -> str:
    small = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
    small += " fifteen sixteen seventeen eighteen nineteen"
    tens = "twenty thirty forty fifty sixty seventy eighty ninety"
    for size, name in ((1000, "thousand"), (100, "hundred")):
        if number >= size:
            rest = f" and {_words(number % size)}" if number % size else ""
            return f"{_words(number // size)} {name}{rest}"
    if number < 20:
        return small.split()[number - 1]
    ones = f"-{_words(number % 10)}" if number % 10 else ""
    return tens.split()[number // 10 - 2] + ones
