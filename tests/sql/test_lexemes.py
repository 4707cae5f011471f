import pytest

from tests.sql.corpus import Connection, call, put, value


@pytest.mark.parametrize(
    ("text", "lexemes"),
    [
        ("The tenants were running", "'run':4 'tenant':2"),
        ("getUserName", "'get':1 'getusernam':4 'name':3 'user':2"),
        ("Section 5.2", "'2':4 '5':3 '5.2':2 'section':1"),
        ("w1 w1 w2", "'w1':1,2 'w2':3"),
        ("the", ""),
        ("", ""),
    ],
)
def test_words_are_stemmed_with_their_positions(
    library: Connection, text: str, lexemes: str
) -> None:
    assert value(library, "select lexichord.lexemes(%s)::text", text) == lexemes


def test_nothing_has_no_lexemes(library: Connection) -> None:
    assert value(library, "select lexichord.lexemes(null)") is None


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("user name", ["getUserName(id)"]),
        ("getusername", ["getUserName(id)"]),
        ("get_user_name", ["getUserName(id)"]),
        ("§ 5.2", ["Sections 5.2 and 6.1"]),
        ("6", ["Sections 5.2 and 6.1"]),
        ("8.9", []),
        ("running", ["He ran, they run"]),
        ("1000000", ["$1,000,000 in all"]),
        ("1,000,000", ["$1,000,000 in all"]),
        ("ecole", []),
        ("NDA", ["All NDAs bind"]),
        ("the NDAs", ["All NDAs bind"]),
        ("ÉCOLE", ["une école"]),
        ("保密", ["保密 协议"]),
    ],
)
def test_queries_meet_documents(connection: Connection, query: str, expected: list[str]) -> None:
    contents = [
        "getUserName(id)",
        "Sections 5.2 and 6.1",
        "He ran, they run",
        "$1,000,000 in all",
        "une école",
        "保密 协议",
        "All NDAs bind",
    ]
    put(connection, "z", contents)
    for _ in range(2):  # without the index, and with it
        hits = call(connection, "keyword_candidates", query=query)
        by_id = {row["chunk_id"]: row for row in call(connection, "list_chunks", document=1)}
        assert [by_id[hit["chunk_id"]]["content"] for hit in hits][: len(expected)] == expected
        assert bool(hits) is bool(expected)
        call(connection, "build_indexes")
