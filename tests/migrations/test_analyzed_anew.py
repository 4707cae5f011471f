"""0007 and 0017: all is analyzed anew where an analyzer of before parted it otherwise."""

from dataclasses import dataclass

import pytest

from lexichord.db.schema import Choice, prepare
from tests.migrations.conftest import ANOTHER_VERSION, connect, stored
from tests.sql.corpus import Connection, call, put, value

BEFORE = """
alter function lexichord.{step}(text) rename to {step}_of_now;
create function lexichord.{step}(input text) returns text language sql immutable strict
set search_path = pg_catalog, pg_temp as $$ select {made} $$"""


@dataclass(frozen=True)
class Analyzer:
    """One of before: what it made of a text, and what is found once its migration has run."""

    migration: int
    step: str
    made: str
    uri: str
    title: str
    contents: tuple[str, ...]
    found: dict[str, int]
    card: str


ACRONYMS = Analyzer(  # it parted NDAs as an identifier
    migration=7,
    step="keyword_text",
    made="lexichord.keyword_text_of_now(regexp_replace(input, "
    r"'([[:upper:]])([[:upper:]]s)(?![[:alnum:]_])', '\1 \2', 'g'))",
    uri="a/SDKs.md",
    title="On NDAs",
    contents=("The NDAs bind", "nothing here", "userIDs of PDFs"),
    found={"NDA": 0, "NDAs": 0, "PDF": 2},
    card="SDK",
)
CHARACTERS = Analyzer(  # it took a run of characters without blanks as one word
    migration=17,
    step="split_runs",
    made="input",
    uri="a/保密协议.md",
    title="保密协议 of Acme",
    contents=("甲方应当保密协议内容", "nothing here", "สวัสดี API第3条, the NDAs", "개인정보는 보호"),
    found={"保密": 0, "สวัส": 2},
    card="密协",
)


def store(dsn: str, analyzer: Analyzer, indexed: bool) -> None:
    with connect(dsn) as connection:
        contents = analyzer.contents
        put(
            connection, analyzer.uri, contents, [[1, 0, 0, 0]] * len(contents), title=analyzer.title
        )
        if indexed:
            call(connection, "build_indexes")


def found(connection: Connection, query: str) -> list[str]:
    hits = call(connection, "hybrid_search", query=query, weights=[0.0, 1.0])
    return [hit["content"] for hit in hits]


@pytest.mark.parametrize("indexed", [True, False])
@pytest.mark.parametrize("analyzer", [ACRONYMS, CHARACTERS], ids=["acronyms", "characters"])
def test_all_that_is_stored_is_analyzed_anew(
    dsn: str, choice: Choice, analyzer: Analyzer, indexed: bool
) -> None:
    store(dsn, analyzer, indexed)
    expected = stored(dsn)
    with connect(dsn) as connection:
        connection.execute(BEFORE.format(step=analyzer.step, made=analyzer.made))
    store(dsn, analyzer, indexed)
    assert all(now != then for now, then in zip(stored(dsn), expected, strict=True))
    first = next(iter(analyzer.found))
    with connect(dsn) as connection:
        assert found(connection, first) == []
        undo = "delete from lexichord_data.migration where number = %s"
        connection.execute(undo, [analyzer.migration])
        connection.execute(ANOTHER_VERSION)
    prepare(dsn, choice)
    with connect(dsn) as connection:
        connection.execute("update lexichord_data.document set analyzer_version = 1")
        assert value(connection, "select lexichord.analyze_documents()") == 1
    assert stored(dsn) == expected
    with connect(dsn) as connection:
        for query, number in analyzer.found.items():
            assert found(connection, query) == [analyzer.contents[number]]
        assert call(connection, "card_candidates", query=analyzer.card)[0]["document_id"] == 1
        assert call(connection, "find_problems") == []
        keywords = value(connection, "select count(*) from lexichord_data.keyword")
        assert keywords == len(analyzer.contents)
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
