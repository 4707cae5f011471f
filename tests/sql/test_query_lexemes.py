"""A question is analyzed under the text configurations of the documents in scope."""

import re

import pytest

from tests.sql.corpus import Connection, call, put, value

GERMAN = "Die Kündigungsfristen der Mieter betragen drei Monate"
ENGLISH = "The notices of the tenants were given in writing, the die was cast"
CHINESE = "甲方应当保密, the end"
READ_WHOLE = "select pg_stat_get_xact_tuples_returned('lexichord_data.term'::regclass)"
LEXEMES = "select lexichord.query_lexemes(%s, %s)::text"


@pytest.fixture
def mixed(connection: Connection) -> Connection:
    """Store a document in each language: 1 German, 2 English by the database's own, 3 Chinese."""
    put(connection, "de", [GERMAN], title="Mietverträge", text_config="german")
    put(connection, "en", [ENGLISH], title="Leases")
    put(connection, "zh", [CHINESE], text_config="pg_catalog.simple")
    return connection


def test_one_configuration_is_the_databases(connection: Connection) -> None:
    put(connection, "en", [ENGLISH])
    assert value(connection, "select lexichord.text_configs()::text[]") == ["english"]
    assert value(connection, LEXEMES, "the notices", None) == "'notic':2"


@pytest.mark.parametrize(
    ("documents", "expected"),
    [
        (None, {"german", "english", "simple"}),
        ([1], {"german"}),
        ([2], {"english"}),
        ([1, 2], {"german", "english"}),
        ([], {"english"}),
        (list(range(1, 2000)), {"german", "english", "simple"}),
    ],
)
def test_the_configurations_in_scope(
    mixed: Connection, documents: list[int] | None, expected: set[str]
) -> None:
    found = value(mixed, "select lexichord.text_configs(%s)::text[]", documents)
    assert set(found) == expected
    assert len(found) == len(expected)


@pytest.mark.parametrize(
    ("query", "documents", "expected"),
    [
        ("die Fristen der Mieter", [1], "'frist':2 'miet':4"),
        ("die Fristen der Mieter", [1, 2], "'frist':1 'fristen':1 'miet':1 'mieter':1"),
        ("were the tenants given notices", [1, 2], "'giv':1 'given':1 'notic':1 'tenant':1"),
        ("tenants tenants", [2], "'tenant':1,2"),
        ("保密", None, "'保密':1"),
        ("5.2.1", [1, 2], "'1':1 '2':1 '5':1 '5.2.1':2,3"),
        ("the", None, ""),
        ("", None, ""),
    ],
)
def test_lexemes_are_united_without_stop_words_of_the_questions_language(
    mixed: Connection, query: str, documents: list[int] | None, expected: str
) -> None:
    assert value(mixed, LEXEMES, query, documents) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("welche Frist haben die Mieter", [GERMAN]),
        ("Kündigungsfrist", [GERMAN]),
        ("what notice does the tenant give", [ENGLISH]),
        ("保密", [CHINESE]),
        ("is it the end", [CHINESE]),
    ],
)
def test_questions_meet_documents_of_each_language(
    mixed: Connection, query: str, expected: list[str]
) -> None:
    hits = call(mixed, "hybrid_search", query=query, weights=[0.0, 1.0])
    assert [hit["content"] for hit in hits] == expected


def test_cards_links_and_words_follow(mixed: Connection) -> None:
    assert call(mixed, "card_candidates", query="Mietvertrag")[0]["document_id"] == 1
    links = call(mixed, "link_documents", words=["die", "Mietvertrag"])
    assert [(link["document_id"], link["word"], link["in_title"]) for link in links] == [
        (1, 2, True)
    ]
    terms = call(mixed, "question_coverage", question="Was sind Fristen der Mieter?", chunk_ids=[1])
    assert {term["lexeme"]: term["chunks"] for term in terms} == {"frist": [], "miet": [1]}
    weighed = call(mixed, "weigh_terms", texts=["welche Monate sind das", "drei Monate"])
    assert {term["lexeme"] for term in weighed} == {"drei", "monat"}


def test_a_stop_word_of_another_language_names_a_document(mixed: Connection) -> None:
    """ "War" is "was" in German, and not in an English question."""
    put(mixed, "war.md", ["Words of no weight."], title="The War of the Kiln")
    put(mixed, "krieg.md", ["Er war da."], title="Wer war da", text_config="german")
    words = ["What", "did", "the", "War", "of", "the", "Kiln", "cost"]
    links = call(mixed, "link_documents", words=words)
    assert {row["word"] for row in links if row["uri"] == "war.md"} == {4, 7}


@pytest.mark.parametrize("query", ["was kosten die Öfen und Küsten", "what do the ovens cost"])
def test_few_words_do_not_read_all_terms(mixed: Connection, query: str) -> None:
    words = [f"kiln{number} oven{number} rent{number}" for number in range(4000)]
    put(mixed, "many", [" ".join(words[n : n + 200]) for n in range(0, len(words), 200)])
    with mixed.transaction():
        mixed.execute("analyze lexichord_data.term")
        before = value(mixed, READ_WHOLE)
        value(mixed, LEXEMES, query, None)
        call(mixed, "link_documents", words=query.split())
        assert value(mixed, READ_WHOLE) == before


def test_words_are_weighed_as_each_text_has_them(mixed: Connection) -> None:
    texts = [
        "the notices of",
        "Fris-\nten, notices -",
        "given\r\nNotices",
        "保密协议, naïve",
        "",
        "-i -I",
    ]
    lexemes = [
        value(mixed, "select lexichord.word_lexemes(%s, 'english')::text", text) for text in texts
    ]
    rows = call(mixed, "weigh_terms", texts=texts)
    for number, own in enumerate(lexemes, start=1):
        found = {row["lexeme"] for row in rows if number in row["text_numbers"]}
        assert {name for name in found if name[0] != "-"} == set(re.findall(r"'(\S+)':", own))
    assert {row["lexeme"] for row in rows if 6 in row["text_numbers"]} >= {"-i", "-I"}
    sought = call(mixed, "weigh_terms", texts=texts, sought=1)
    assert sought == [row for row in rows if row["lexeme"] == "notic"] != []


def test_a_replaced_document_has_its_new_configuration(mixed: Connection) -> None:
    put(mixed, "de", [ENGLISH], text_config="english")
    assert value(mixed, "select text_config from lexichord_data.document where uri = 'de'") == (
        "english"
    )
    assert call(mixed, "read_document", document=1)[0]["text_config"] == "english"
