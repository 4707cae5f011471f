"""0017: what is stored is analyzed anew where it holds a run of characters without blanks."""

import pytest

from lexichord.db.schema import Choice, prepare
from tests.migrations.conftest import ANOTHER_VERSION, connect, stored
from tests.sql.corpus import call, put, value

CONTENTS = ["甲方应当保密协议内容", "nothing here", "สวัสดี API第3条, the NDAs", "개인정보는 보호"]
# Stands for the analyzer of before, which took a run as one word.
BEFORE = """
alter function lexichord.keyword_text(text) rename to keyword_text_of_now;
create function lexichord.keyword_text(input text) returns text language sql immutable strict
set search_path = pg_catalog, pg_temp as $$
    select case when octet_length(input) > length(input)
                then lower(regexp_replace(input, '[^[:alnum:]]+', ' ', 'g'))
                else lexichord.keyword_text_of_now(input) end
$$"""


def store(dsn: str, indexed: bool) -> None:
    with connect(dsn) as connection:
        put(connection, "a/保密协议.md", CONTENTS, [[1, 0, 0, 0]] * 4, title="保密协议 of Acme")
        if indexed:
            call(connection, "build_indexes")


def contents(dsn: str, query: str) -> list[str]:
    with connect(dsn) as connection:
        hits = call(connection, "hybrid_search", query=query, weights=[0.0, 1.0])
    return [hit["content"] for hit in hits]


@pytest.mark.parametrize("indexed", [True, False])
def test_runs_become_pairs_in_all_that_is_stored(dsn: str, choice: Choice, indexed: bool) -> None:
    store(dsn, indexed)
    expected = stored(dsn)
    with connect(dsn) as connection:
        connection.execute(BEFORE)
    store(dsn, indexed)
    assert all(now != then for now, then in zip(stored(dsn), expected, strict=True))
    assert contents(dsn, "保密") == []
    with connect(dsn) as connection:
        connection.execute("delete from lexichord_data.migration where number = 17")
        connection.execute(ANOTHER_VERSION)
    prepare(dsn, choice)
    assert stored(dsn) == expected
    assert contents(dsn, "保密") == [CONTENTS[0]]
    assert contents(dsn, "สวัส") == [CONTENTS[2]]
    with connect(dsn) as connection:
        assert call(connection, "card_candidates", query="密协")[0]["document_id"] == 1
        assert call(connection, "find_problems") == []
        assert value(connection, "select count(*) from lexichord_data.keyword") == 4
