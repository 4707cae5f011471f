"""Words in one or in two, as documents have them and as questions ask."""

import string

import pytest

from tests.sql.corpus import Connection, put, value

ASKED = "select tsvector_to_array(lexichord.query_lexemes(%s))"


@pytest.fixture
def tools(connection: Connection) -> Connection:
    put(connection, "a", ["The toolbox is red.", "A web hook is set.", "hook it to the web"])
    put(connection, "b", ["Away from here, another day.", "a way to the island"])
    return connection


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("tool box", {"tool", "box", "toolbox"}),
        ("the tool box is red", {"tool", "box", "toolbox", "red"}),
        ("webhook", {"webhook", "web", "hook"}),
        ("redtool", {"redtool"}),  # both are there, not side by side
        ("a way", {"way"}),
        ("the is land", {"land"}),  # a stop word begins no compound
        ("tool 3 box", {"tool", "3", "box", "tool3"}),
        ("tool", {"tool"}),
    ],
)
def test_compounds_are_asked_both_ways(tools: Connection, query: str, expected: set[str]) -> None:
    assert set(value(tools, ASKED, query)) == expected


@pytest.mark.parametrize(
    ("stored", "query", "expected"),
    [
        (["The toolbox", "The tool box"], "toolbox", {"toolbox", "tool", "box"}),
        (["The toolbox", "a toolbox", "The tool box"], "toolbox", {"toolbox"}),
        (["The toolbox", "The tool box"], "tool box", {"toolbox", "tool", "box"}),
        (["The toolbox", "The tool box", "a tool box"], "tool box", {"tool", "box"}),
        (["Log in", "a log"], "login", {"login", "log in"}),
        (["Log in", "a log"], "log in", {"log"}),
        (["Log in", "the login", "a log"], "log in", {"log", "login"}),
        (["E mail is read"], "email", {"email", "e", "mail"}),
    ],
)
def test_the_other_form_is_asked_where_it_is_as_usual(
    connection: Connection, stored: list[str], query: str, expected: set[str]
) -> None:
    put(connection, "a", stored)
    assert set(value(connection, ASKED, query)) == expected


def test_what_is_usual_is_told_by_the_scope(connection: Connection) -> None:
    put(connection, "one", ["The toolbox", "a toolbox"])
    put(connection, "two", ["The tool box"])
    asked = "select tsvector_to_array(lexichord.query_lexemes('toolbox', array[%s]))"
    assert set(value(connection, asked, 1)) == {"toolbox"}
    assert set(value(connection, asked, 2)) == {"toolbox", "tool", "box"}


@pytest.mark.parametrize(
    ("chunks", "expected"), [(30, {"tool", "box", "toolbox"}), (120, {"tool", "box"})]
)
def test_two_words_so_frequent_that_chance_puts_them_side_by_side_are_not_read(
    connection: Connection, chunks: int, expected: set[str]
) -> None:
    """Where they stood in any order, 9 and 39 of these would have them so; one has the one word."""
    put(connection, "a", ["The toolbox", *["A tool near its box"] * chunks])
    assert set(value(connection, ASKED, "tool box")) == expected


def test_a_pasted_text_is_asked_within_the_time_limit(connection: Connection) -> None:
    words = [
        first + second + "n" * 3
        for first in string.ascii_lowercase
        for second in string.ascii_lowercase
    ]
    put(connection, "a", [" ".join(words), "A notice in no tice."])
    connection.execute("analyze lexichord_data.term")
    connection.execute("set local statement_timeout = '1s'")
    asked = value(connection, ASKED, "notice " * 15_000)
    assert "notic" in asked
