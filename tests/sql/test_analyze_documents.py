"""What an earlier version's analyzer made is made anew, in batches, beside readers and writers."""

import psycopg
import pytest

from tests.sql.corpus import OUTDATED, Connection, call, put, value

STORED = """
select (select jsonb_agg(to_jsonb(c) - 'id' order by c.id) from lexichord_data.chunk c),
       (select jsonb_agg(jsonb_build_array(d.uri, d.card_length, d.analyzer_version) order by d.uri)
        from lexichord_data.document d),
       (select jsonb_agg(to_jsonb(c) order by c.document_id, c.lexeme)
        from lexichord_data.card_term c),
       (select jsonb_object_agg(t.lexeme, t.df) from lexichord_data.term_statistics t
        where t.df > 0)"""


@pytest.fixture
def outdated(connection: Connection) -> Connection:
    for number in range(5):
        contents = [f"The plug-in w{number}", f"v2.{number} of RULE-A00{number}", "naïve"]
        put(connection, f"{number}.md", contents, [[1, number, 0, 0]] * 3, text_config="english")
    return connection


def stored(connection: Connection) -> tuple[object, ...] | None:
    return connection.execute(STORED).fetchone()


def test_all_is_as_if_it_were_stored_now(outdated: Connection) -> None:
    expected = stored(outdated)
    outdated.execute(OUTDATED)
    assert call(outdated, "database_status")[0]["outdated_documents"] == 5
    told = {row["problem"]: row["remedy"] for row in call(outdated, "find_problems")}
    assert told["documents with the words of an earlier version: 5"] == "run lexichord reindex"
    assert call(outdated, "keyword_candidates", query="plugin") == []
    taken = [value(outdated, "select lexichord.analyze_documents(2)") for _ in range(4)]
    assert taken == [2, 2, 1, 0]
    assert stored(outdated) == expected
    assert call(outdated, "database_status")[0]["outdated_documents"] == 0
    assert {row["amount"] for row in call(outdated, "count_faults")} == {0}
    assert len(call(outdated, "keyword_candidates", query="plugin")) == 5


def test_what_is_not_analyzed_yet_is_found_by_its_words(outdated: Connection) -> None:
    outdated.execute(OUTDATED)
    value(outdated, "select lexichord.analyze_documents(2)")
    assert len(call(outdated, "keyword_candidates", query="old")) == 9
    assert len(call(outdated, "keyword_candidates", query="plugin")) == 2


def test_a_negative_number_is_refused(outdated: Connection) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="most must be at least 0"):
        call(outdated, "analyze_documents", most=-1)


def test_what_an_ingest_holds_is_left_to_it(fresh: Connection) -> None:
    for number in range(3):
        put(fresh, f"{number}.md", ["The plug-in"])
    fresh.execute(OUTDATED)
    with psycopg.connect(fresh.info.dsn, password=fresh.info.password or None) as ingest:
        put(ingest, "1.md", ["The add-on"])
        assert value(fresh, "select lexichord.analyze_documents()") == 2
        assert value(fresh, "select lexichord.analyze_documents()") == 0
        ingest.commit()
    assert call(fresh, "database_status")[0]["outdated_documents"] == 0
    assert len(call(fresh, "keyword_candidates", query="addon")) == 1
    corpus_faults = call(fresh, "count_faults")
    assert {row["amount"] for row in corpus_faults} == {0}
