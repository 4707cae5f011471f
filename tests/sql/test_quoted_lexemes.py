"""Words of any signs are looked for as they are, in functions that make terms of them."""

import psycopg
import pytest

from tests.sql.corpus import Connection, put, value

STRANGE = ["it's", "a\\b", "'':1", "", "é", '"', " <-> ", "x" * 900, "\n\na\n\n\nb'\n"]


@pytest.mark.parametrize("word", STRANGE)
def test_no_word_is_a_syntax_error(fresh: Connection, word: str) -> None:
    put(fresh, "a.md", ["rent is due"])
    assert value(fresh, "select lexichord.holding_chunks(%s, 10)", word) == 0
    for pair in ((word, "rent"), ("rent", word)):
        assert value(fresh, "select lexichord.adjacent_chunks(%s, %s, 10, 1)", *pair) == 0
    made = "select tsvector_to_array(lexichord.exact_lexemes(array[%s, 'rent']))"
    assert set(value(fresh, made, word)) == {*word.split("\n"), "rent"} - {""}


def test_words_that_are_there_are_counted(fresh: Connection) -> None:
    put(fresh, "a.md", ["rent is due", "rent due"])
    assert value(fresh, "select lexichord.holding_chunks('rent', 10)") == 2
    assert value(fresh, "select lexichord.adjacent_chunks('rent', 'due', 10, 1)") == 1


@pytest.mark.parametrize("positions", ["", "a", "1,", "0", "99999", "1'"])
def test_positions_are_numbers(fresh: Connection, positions: str) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="positions must be numbers"):
        value(fresh, "select lexichord.exact_lexemes(array['a'], %s)", positions)
