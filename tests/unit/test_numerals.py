"""Numbers of list items: what is written can be read."""

import pytest

from lexichord.ingest.load.parts import letters, letters_value, roman, roman_value


def test_letters_are_read_as_they_are_written() -> None:
    assert [letters(number) for number in (1, 26, 27, 52, 53)] == ["a", "z", "aa", "zz", "aaa"]
    assert all(letters_value(letters(number)) == number for number in range(1, 200))


def test_roman_numerals_are_read_as_they_are_written() -> None:
    assert [roman(number) for number in (4, 9, 14, 40, 99, 1984)] == [
        *("iv", "ix", "xiv", "xl", "xcix", "mcmlxxxiv")
    ]
    assert all(roman_value(roman(number)) == number for number in range(1, 100))


@pytest.mark.parametrize("text", ["", "ab", "iiii", "vx", "ic", "m"])
def test_what_is_no_roman_numeral_up_to_99_is_none(text: str) -> None:
    assert roman_value(text) is None


@pytest.mark.parametrize("text", ["", "ab", "abc"])
def test_different_letters_are_no_number(text: str) -> None:
    assert letters_value(text) is None


@pytest.mark.parametrize("number", [0, -1, 4000])
def test_a_number_without_a_numeral_is_written_in_digits(number: int) -> None:
    assert roman(number) == str(number)
