"""0007: what is stored is analyzed anew where it holds an acronym's plural."""

import pytest

from lexichord.db.schema import Choice, prepare
from tests.migrations.conftest import connect, stored
from tests.sql.corpus import Connection, call, put, value

CONTENTS = ["The NDAs bind", "nothing here", "userIDs of PDFs"]
# Stands for the analyzer of before: it parts NDAs as an identifier.
BEFORE = """
alter function lexichord.keyword_text(text) rename to keyword_text_of_now;
create function lexichord.keyword_text(input text) returns text language sql immutable strict
set search_path = pg_catalog, pg_temp as $$
    select lexichord.keyword_text_of_now(
        regexp_replace(input, '([[:upper:]])([[:upper:]]s)(?![[:alnum:]_])', '\\1 \\2', 'g'))
$$"""
AFTER = """
drop function lexichord.keyword_text(text);
alter function lexichord.keyword_text_of_now(text) rename to keyword_text;
select lexichord.grant_reader()"""


def store(dsn: str, indexed: bool) -> None:
    with connect(dsn) as connection:
        put(connection, "a/SDKs.md", CONTENTS, [[1, 0, 0, 0]] * 3, title="On NDAs")
        if indexed:
            call(connection, "build_indexes")


def uris(connection: Connection, query: str) -> list[str]:
    hits = call(connection, "hybrid_search", query=query, weights=[0.0, 1.0])
    return [hit["content"] for hit in hits]


@pytest.mark.parametrize("indexed", [True, False])
def test_plurals_become_the_acronym_in_all_that_is_stored(
    dsn: str, choice: Choice, indexed: bool
) -> None:
    store(dsn, indexed)
    expected = stored(dsn)
    with connect(dsn) as connection:
        connection.execute(BEFORE)
    store(dsn, indexed)
    assert all(now != then for now, then in zip(stored(dsn), expected, strict=True))
    with connect(dsn) as connection:
        assert uris(connection, "NDA") == []
        connection.execute("delete from lexichord_data.migration where number = 7")
    prepare(dsn, choice)
    with connect(dsn) as connection:
        connection.execute(AFTER)
    assert stored(dsn) == expected
    with connect(dsn) as connection:
        assert uris(connection, "NDA") == uris(connection, "NDAs") == [CONTENTS[0]]
        assert uris(connection, "PDF") == [CONTENTS[2]]
        assert call(connection, "card_candidates", query="SDK")[0]["document_id"] == 1
        assert call(connection, "find_problems") == []
        if indexed:
            assert call(connection, "index_use")[0]["plan"] is not None


def test_a_database_without_plurals_keeps_its_indexes(dsn: str, choice: Choice) -> None:
    indexes = "select array_agg(indexrelid order by indexrelid) from pg_index"
    with connect(dsn) as connection:
        put(connection, "a", ["w1"], [[1, 0, 0, 0]])
        call(connection, "build_indexes")
        before = value(connection, indexes)
        connection.execute("delete from lexichord_data.migration where number = 7")
        prepare(dsn, choice)
        assert value(connection, indexes) == before
