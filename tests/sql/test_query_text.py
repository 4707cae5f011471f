"""Whatever is typed is only searched for."""

from typing import Any

import psycopg
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.sql.corpus import SPACE, Connection, call, put, value

NASTY = [
    "'",
    "''; drop table lexichord_data.chunk; --",
    '"',
    "\\",
    "\\'",
    "E'\\x41'",
    "$1 $2",
    "$$ $q$ $query$ $statement$",
    "%s %L %I %% % {} {0}",
    "-- comment",
    "/* comment",
    ";",
    "w1:* & !w2 | <->",
    "<@> <=> <&>",
    "(((",
    "\u0301\u200b\u202e",
    "ß İ \u0131 ﬁ Ⅻ ½ ²",
    "保密協議。 機密情報",
    "👩‍👩‍👧 🎉",
    "w1" * 3000,
    "w1 " * 3000,
]
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
spiced = st.lists(st.sampled_from(NASTY[:-2]) | texts, max_size=4).map(" w1 ".join)
SEARCHES: list[tuple[str, dict[str, Any]]] = [
    ("hybrid_search", {"query_vector": "[1,0,0,0]", "query_space": SPACE}),
    ("hybrid_search", {}),
    ("discover_files", {}),
]


@pytest.mark.parametrize(("function", "arguments"), SEARCHES)
@settings(max_examples=40)
@given(query=spiced | texts)
@example(query=NASTY[-1])
@example(query=NASTY[-2])
def test_no_text_is_an_error_but_the_empty_one(
    library: Connection, function: str, arguments: dict[str, Any], query: str
) -> None:
    """The connection is read-only: whatever wrote something would fail."""
    message, rows = None, None
    try:
        rows = call(library, function, query=query, **arguments)
    except psycopg.errors.InvalidParameterValue as error:
        message = error.diag.message_primary
    if message or not query.strip(" \t\r\n"):
        assert message == "the query is empty"
        assert not any(character.isalnum() for character in query)
    else:
        assert rows or "w1" not in query.split()


@settings(max_examples=40)
@given(text=spiced | texts)
def test_no_text_is_an_error_in_a_scope_or_an_analyzer(library: Connection, text: str) -> None:
    call(library, "list_documents", uri_prefix=text)
    call(library, "find_documents", reference=text)
    call(library, "lexemes", input=text)
    call(library, "list_documents", filter={"key": "kind", "op": "contains", "value": text})
    with pytest.raises(psycopg.errors.NoDataFound, match="there is no dataset"):
        call(library, "list_documents", datasets=[text])


def test_no_text_has_an_effect(connection: Connection) -> None:
    put(connection, "a", ["w1 w2", "w3"], [[1, 0, 0, 0], [0, 1, 0, 0]], title="w1")
    call(connection, "build_indexes")
    before = contents(connection)
    for text in NASTY:
        call(connection, "hybrid_search", query=text)
        call(connection, "discover_files", query=text)
    assert contents(connection) == before


def contents(connection: Connection) -> list[str]:
    tables = connection.execute(
        "select tablename from pg_tables where schemaname = 'lexichord_data' order by 1"
    ).fetchall()
    return [
        value(connection, f"select md5(coalesce(string_agg(t::text, '|'), '')) from ({rows}) t")
        for (table,) in tables
        for rows in [f"select * from lexichord_data.{table} as r order by r::text"]
    ]


def test_nasty_text_can_be_stored_and_found(connection: Connection) -> None:
    for text in NASTY:
        put(connection, text, [f"{text} w1", text], title=text, dataset=text, metadata={text: text})
    for text in NASTY:
        hit = call(connection, "hybrid_search", query="w1", datasets=[text], filter={text: text})[0]
        assert (hit["uri"], hit["title"], hit["content"]) == (text, text, f"{text} w1")
        assert call(connection, "find_documents", reference=text)[0]["uri"] == text


def test_a_session_that_reads_backslashes_as_escapes_finds_the_same(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("set standard_conforming_strings = off")  # before anything is compiled
        put(connection, "a/lease.txt", ["The rent of API_3.1 is due."], [[1, 0, 0, 0]])
        hits = call(connection, "hybrid_search", query="rent of API_3.1", weights=[0.0, 1.0])
        assert [hit["content"] for hit in hits] == ["The rent of API_3.1 is due."]
        assert len(call(connection, "link_documents", words=["lease"])) == 1
