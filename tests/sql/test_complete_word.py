"""Words, phrases and headings that begin as typed, of a scope alone."""

import re

import pytest
from psycopg import Connection

from tests.sql.corpus import call, put, value

RENT = "The rental agreement ends. A rental agreement is long."


def completed(connection: Connection, beginning: str, **scope: object) -> dict[str, list[str]]:
    kinds: dict[str, list[str]] = {"heading": [], "word": [], "phrase": []}
    for row in call(connection, "complete_word", beginning=beginning, **scope):
        kinds[row["kind"]].append(row["completion"])
    return kinds


def test_headings_words_and_phrases_begin_as_typed(connection: Connection) -> None:
    headings = ["1. Rental terms – Parental leave", "Law › Costs of rentals"]
    put(connection, "a", [RENT, f"{RENT} He rents it."], headings=headings)
    assert completed(connection, "rent") == {
        "heading": ["1. Rental terms", "Costs of rentals"],
        "word": ["rental", "rents"],
        "phrase": ["rental agreement"],
    }
    assert completed(connection, "RENTAL")["word"] == []
    assert completed(connection, "rental")["phrase"] == ["rental agreement"]


def test_a_word_that_is_longer_than_its_lexeme_is_completed(connection: Connection) -> None:
    put(connection, "a", ["Agreements in writing."], text_config="pg_catalog.english")
    assert completed(connection, "agreeme")["word"] == ["agreements"]


@pytest.mark.parametrize("beginning", ["caf\u00e9", "cafe\u0301", "\uff23af\u00e9"])
def test_a_word_is_completed_however_it_is_typed(connection: Connection, beginning: str) -> None:
    put(connection, "a", ["Cafe\u0301s, ca\ufb00eine."], headings=["\uff23af\u00e9s of Rome"])
    found = completed(connection, beginning)
    assert found == {"heading": ["\uff23af\u00e9s of Rome"], "word": ["caf\u00e9s"], "phrase": []}
    assert completed(connection, "caff")["word"] == ["caffeine"]


def test_nothing_is_told_of_other_documents(connection: Connection) -> None:
    put(connection, "a", ["The brook is near."], headings=["Brooks"], dataset="north")
    for number in range(3):
        text = ["The brotherhood of brothers: they meet."]
        put(connection, f"b{number}", text, headings=["Brothers"], dataset="south")
    everywhere = {"heading": ["Brothers", "Brooks"], "word": ["brotherhood", "brothers", "brook"]}
    assert completed(connection, "bro") == everywhere | {"phrase": []}
    north = {"heading": ["Brooks"], "word": ["brook"], "phrase": []}
    assert completed(connection, "bro", datasets=["north"]) == north
    assert completed(connection, "bro", uri_prefix="a") == north
    assert completed(connection, "bro", documents=[1]) == north


def test_words_of_deleted_documents_complete_nothing_nor_take_a_place(
    connection: Connection,
) -> None:
    text = " ".join(f"wand{letter} ends" for letter in "abcdefghij")
    for number in range(3):
        put(connection, f"gone{number}", [text, text], headings=["Wands"] * 2)
    put(connection, "here", ["A wandz is near."], headings=["Wandering"])
    assert "wanda ends" in completed(connection, "wand")["phrase"]
    for number in range(3):
        (row,) = call(connection, "find_documents", reference=f"gone{number}")
        call(connection, "delete_documents", documents=[row["document_id"]])
    alone = {"heading": ["Wandering"], "word": ["wandz"], "phrase": []}
    assert completed(connection, "wand", most=1) == alone
    call(connection, "fold_statistics")
    assert completed(connection, "wand", most=1) == alone


def test_what_is_no_beginning_of_a_word_completes_nothing(connection: Connection) -> None:
    put(connection, "a", ["a.b (c) %x _y"])
    for beginning in ("", " ", "(", ".*", "a.b", "%", "_", "x" * 61, "\\"):
        assert call(connection, "complete_word", beginning=beginning) == []


def test_each_kind_has_so_many_at_most(connection: Connection) -> None:
    put(connection, "a", [" ".join(f"wand{letter}" for letter in "abcdefghij")])
    assert len(completed(connection, "wand")["word"]) == 8
    assert len(completed(connection, "wand", most=3)["word"]) == 3


def test_a_word_is_completed_through_the_vocabulary_s_index(connection: Connection) -> None:
    body = value(connection, "select prosrc from pg_proc where proname = 'complete_word'")
    statement = re.search(r"\((select t\.lexeme.*?limit most)\)", body, re.DOTALL)[1]  # type: ignore[index]
    statement = re.sub(r"\btyped\b", "'x12'", statement).replace("limit most", "limit 8")
    with connection.transaction(force_rollback=True):
        connection.execute("set local search_path = lexichord_data")
        connection.execute("insert into term (lexeme) select 'x' || generate_series(1, 20000)")
        connection.execute("analyze term")
        plan = "\n".join(row[0] for row in connection.execute(f"explain {statement}".encode()))
    assert re.search(r"(?:on|using) term_lexeme_key\b", plan), plan
    assert "Seq Scan on term " not in plan
