"""Short texts that stand for documents."""

from tests.sql.corpus import Connection, call, put

LINES = ["w1 begins", "w2 w2 w3", "w4", "w2 w5"]


def surrogates(connection: Connection, query: str, **arguments: object) -> list[str]:
    rows = call(connection, "file_surrogates", query=query, query_vector=None, **arguments)
    return [row["surrogate"] for row in rows]


def test_the_best_chunks_in_their_order_under_the_title(connection: Connection) -> None:
    for uri in ("a", "b"):
        put(connection, uri, LINES, title=f"Title {uri}")
    texts = surrogates(connection, "w2", files=[2, 1])
    assert texts == ["Title b\nw2 w2 w3\nw2 w5", "Title a\nw2 w2 w3\nw2 w5"]
    assert surrogates(connection, "w2", files=[1], chunks=1) == ["Title a\nw2 w2 w3"]


def test_a_document_that_is_not_hit_shows_its_beginning(connection: Connection) -> None:
    put(connection, "a", LINES, title="")
    assert surrogates(connection, "w9", files=[1]) == ["\n".join(LINES)]
    assert surrogates(connection, "w9", files=[1], characters=5) == ["w1 be"]


def test_by_meaning_too(connection: Connection) -> None:
    put(connection, "a", LINES, [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], title="t")
    rows = call(
        connection, "file_surrogates", query="w9", query_vector="[0,0,1,0]", files=[1], chunks=1
    )
    assert rows[0]["surrogate"] == "t\nw4"
