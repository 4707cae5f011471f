from typing import Any

import pytest

from tests.sql.corpus import Connection, Row, call, put

LINES = ["Intro.", "Terms one.", "Térms 🎉 two.", "Notes.", "Fees.", "Notes again."]
HEADINGS = ["", "Terms", "Terms", "Notes", "Fees", "Notes"]
TEXT = "\n".join(LINES)


@pytest.fixture
def chunks(connection: Connection) -> list[int]:
    """Ids that start at 3, so that none is its ordinal."""
    put(connection, "other", ["Terms of another.", "More."], headings=["Terms", "Terms"])
    put(connection, "a/b.md", LINES, headings=HEADINGS, title="The title")
    return [row["chunk_id"] for row in call(connection, "list_chunks", document=2)]


def expand(connection: Connection, chunk: int, **arguments: Any) -> Row:
    rows = call(connection, "expand_context", chunk_ids=[chunk], **arguments)
    assert len(rows) == 1
    assert rows[0]["content"] == TEXT[rows[0]["char_start"] : rows[0]["char_end"]]
    return rows[0]


def test_one_neighbour_on_each_side_unless_told(connection: Connection, chunks: list[int]) -> None:
    row = expand(connection, chunks[2])
    assert row == {
        "chunk_id": chunks[2],
        "document_id": 2,
        "uri": "a/b.md",
        "title": "The title",
        "heading": "Terms",
        "char_start": 7,
        "char_end": 37,
        "content": "Terms one.\nTérms 🎉 two.\nNotes.",
    }


def test_neighbours_end_with_the_document(connection: Connection, chunks: list[int]) -> None:
    for ordinal, neighbours, first, last in [
        *((0, 0, 0, 0), (0, 1, 0, 1), (5, 1, 4, 5), (3, 2, 1, 5), (3, 99, 0, 5)),
        *((2, 2**31 - 1, 0, 5), (2, -1, 2, 2), (2, None, 2, 2)),
    ]:
        row = expand(connection, chunks[ordinal], neighbours=neighbours)
        assert row["content"] == "\n".join(LINES[first : last + 1])


def test_a_whole_section_ends_where_the_heading_changes(
    connection: Connection, chunks: list[int]
) -> None:
    """There are two sections `Notes`: one does not stretch to the other."""
    for ordinal, neighbours, first, last in [
        *((1, 0, 1, 2), (2, 0, 1, 2), (2, 1, 1, 3), (0, 0, 0, 0), (3, 0, 3, 3), (5, 0, 5, 5)),
    ]:
        row = expand(connection, chunks[ordinal], neighbours=neighbours, whole_section=True)
        assert row["content"] == "\n".join(LINES[first : last + 1])


def test_chunks_without_a_heading_are_no_section(connection: Connection) -> None:
    put(connection, "z", ["One.", "Two."])
    rows = call(connection, "expand_context", chunk_ids=[2], neighbours=0, whole_section=True)
    assert [row["content"] for row in rows] == ["Two."]


def test_chunks_come_in_the_order_given_unknown_ones_are_left_out(
    connection: Connection, chunks: list[int]
) -> None:
    wanted = [chunks[4], 1, 999, chunks[0]]
    rows = call(connection, "expand_context", chunk_ids=wanted, neighbours=0)
    assert [row["chunk_id"] for row in rows] == [chunks[4], 1, chunks[0]]
    assert [row["uri"] for row in rows] == ["a/b.md", "other", "a/b.md"]
    assert call(connection, "expand_context", chunk_ids=[]) == []
