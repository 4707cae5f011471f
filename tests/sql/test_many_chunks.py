"""What only shows in a table of 50,000 chunks: lists, narrow filters, fresh and dead rows."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

import psycopg
import pytest

from lexichord.db.schema import Choice, prepare
from tests.conftest import new_database
from tests.sql.corpus import (
    SPACE,
    Connection,
    Row,
    call,
    engine_of,
    ids,
    put,
    small_segments,
    value,
)

EAST, NORTH = "[1,0,0,0]", "[0,1,0,0]"
# One document in ten lies in the east, all others in the north; w1 is in every tenth chunk.
FILL = """
    with document as (
        insert into lexichord_data.document
            (dataset_id, uri, title, media_type, sha256, recipe, text, metadata, card_length,
             analyzer_version)
        select s.id, 'bulk/' || n, 'bulk ' || n, 'text/plain', repeat('0', 64), '', '',
               jsonb_build_object('east', n <= 40), 0, lexichord.analyzer_version()
        from lexichord_data.dataset s, generate_series(1, 400) as n
        returning id, (metadata ->> 'east')::boolean::int as east
    )
    insert into lexichord_data.chunk
        (dataset_id, document_id, ordinal, char_start, char_end, content, context, lexemes,
         token_count, content_hash, embedding)
    select s.id, d.id, n, 0, 0, '', '', l, length(l), '',
           format('[%s,%s,%s,%s]', d.east + 0.7 * (random() + random() - 1),
                  1 - d.east + 0.7 * (random() + random() - 1),
                  0.7 * (random() + random() - 1), 0.7 * (random() + random() - 1))::halfvec
    from lexichord_data.dataset s, document d, generate_series(0, 124) as n,
         to_tsvector('simple', case n % 10 when 0 then 'w1 ' else '' end || 'w2 w' || 3 + n) as l
"""

INTO_ONE_DOCUMENT = """
    with document as (
        insert into lexichord_data.document
            (dataset_id, uri, title, media_type, sha256, recipe, text, metadata, card_length,
             analyzer_version)
        select s.id, 'many', 'many', 'text/plain', repeat('0', 64), '', '', '{}', 0,
               lexichord.analyzer_version()
        from lexichord_data.dataset s returning id, dataset_id
    )
    insert into lexichord_data.chunk
        (dataset_id, document_id, ordinal, char_start, char_end, content, context, lexemes,
         token_count, content_hash)
"""
# 6,000 chunks, each of 80 words in every seventh of them.
EVERY_SEVENTH = (
    INTO_ONE_DOCUMENT
    + """
    select d.dataset_id, d.id, n, 0, 0, '', '', l, lexichord.lexeme_count(l), ''
    from document d, (
        select n, to_tsvector('simple', string_agg(
            repeat('w' || w || ' ', 1 + (random() ^ 3 * 4)::int), ' ')) as l
        from generate_series(1, 6000) as n, generate_series(1, 80) as w
        where random() < 0.15 group by n) as n
"""
)
# Of both words, which most chunks hold, ten have most in all, though not of w1, the lighter one.
FREQUENT = (
    INTO_ONE_DOCUMENT
    + """
    select d.dataset_id, d.id, n, 0, 0, '', '', l, 30, ''
    from document d, generate_series(1, 12000) as n,
         to_tsvector('simple', case
             when n <= 4000 then repeat('w1 ', 10) || repeat('w3 ', 4)
             when n <= 6000 then repeat('w1 ', 10)
             when n <= 6010 then repeat('w1 ', 5) || repeat('w3 ', 12)
             when n <= 10000 then repeat('w1 ', 5) || 'w3'
             when n <= 11000 then repeat('w1 ', 5)
             else 'w2' end) as l
"""
)

# 4,000 chunks in directions without order, a document each.
SCATTERED = """
    with document as (
        insert into lexichord_data.document
            (dataset_id, uri, title, media_type, sha256, recipe, text, metadata, card_length,
             analyzer_version)
        select s.id, 'far/' || n, 'far', 'text/plain', repeat('0', 64), '', '', '{}', 0,
               lexichord.analyzer_version()
        from lexichord_data.dataset s, generate_series(1, 4000) as n returning id, dataset_id
    )
    insert into lexichord_data.chunk
        (dataset_id, document_id, ordinal, char_start, char_end, content, context, lexemes,
         token_count, content_hash, embedding)
    select d.dataset_id, d.id, 0, 0, 0, '', '', '', 0, '',
           (select array_agg(random() - 0.5) from generate_series(1, 384 + 0 * d.id))::halfvec
    from document d
"""


# 6,000 chunks of 3 to 120 words, few of them frequent.
ALL_LENGTHS = (
    INTO_ONE_DOCUMENT
    + """
    select d.dataset_id, d.id, n, 0, 0, '', '', l, lexichord.lexeme_count(l), ''
    from document d, (
        select n, to_tsvector('simple', string_agg('w' || floor(20000 ^ random())::int, ' ')) as l
        from generate_series(1, 6000) as n, generate_series(1, 3 + n * 41 % 118) group by n) as n
"""
)


# The best of each 128 chunks that hold w1 is the last.
BEST_LAST = (
    INTO_ONE_DOCUMENT
    + """
    select d.dataset_id, d.id, n, 0, 0, '', '', l, 30, ''
    from document d, generate_series(1, 6000) as n,
         to_tsvector('simple', case when n > 1536 then 'w2' when n % 128 = 0 then 'w1 w1 w1'
                                    else 'w1' end) as l
"""
)
CALLS = """
    select pg_stat_get_xact_function_calls('lexichord.segment_chunks(integer[])'::regprocedure)
"""
TAIL_ROWS_READ = """
    select seq_tup_read + idx_tup_fetch from pg_stat_xact_user_tables
    where relid = 'lexichord_data.keyword_tail'::regclass
"""
# As if another session's deletion had come then.
DELETED_MEANWHILE = """
    alter function lexichord.keep_hidden_postings(text, float8) rename to keep_hidden_postings_now;
    create function lexichord.keep_hidden_postings(segment text, mean float8) returns void
    language plpgsql as $$
    begin
        delete from lexichord_data.chunk where ordinal = 1;
        perform lexichord.keep_hidden_postings_now(segment, mean);
    end $$
"""


def fill_library(connection: Connection, filling: str) -> None:
    """Store the same chunks each time it is called, and build the indexes in small segments."""
    connection.execute("insert into lexichord_data.dataset (name) values ('library')")
    small_segments(connection)
    connection.execute("select setseed(0.5)")
    connection.execute(filling.encode())
    call(connection, "build_indexes")


@contextmanager
def library_of(template: str, filling: str) -> Iterator[Connection]:
    with (
        new_database(template, copy_of=template) as dsn,
        psycopg.connect(dsn, autocommit=True) as connection,
    ):
        fill_library(connection, filling)
        yield connection


@pytest.fixture(scope="module")
def many(template: str) -> Iterator[Connection]:
    """400 documents of 125 chunks, indexed; nothing was vacuumed."""
    with library_of(template, FILL) as connection:
        yield connection


@pytest.fixture
def changing(many: Connection) -> Iterator[Connection]:
    with many.transaction(force_rollback=True):
        yield many


@pytest.fixture(scope="module")
def filled(template: str) -> Iterator[Connection]:
    """Two words that most of 12,000 chunks hold."""
    with library_of(template, FREQUENT) as connection:
        yield connection


@pytest.fixture
def frequent(filled: Connection) -> Iterator[Connection]:
    with filled.transaction(force_rollback=True):
        yield filled


def scores(rows: list[Row]) -> list[float]:
    return [row["score"] for row in rows]


def test_both_indexes_are_used(many: Connection) -> None:
    used = [row["used"] for row in call(many, "index_use")]
    assert used == [True, True]
    assert call(many, "outgrown_indexes") == []


def test_block_maxima_are_read_by_their_index(frequent: Connection) -> None:
    if engine_of(frequent) not in ("plain", "citus"):
        pytest.skip("this engine has no block maxima")
    plans = {row["index_name"]: row["plan"] for row in call(frequent, "index_use")}
    plan = plans["block_maximum_pkey"]
    assert plan.startswith("Index Scan using block_maximum_pkey on block_maximum")


def test_frequent_words_together(frequent: Connection) -> None:
    """Of a word that is read in part, a chunk may hold more than was read of it."""
    best = ids(call(frequent, "exact_keyword_candidates", query="w1 w3", depth=100))
    found = ids(call(frequent, "keyword_candidates", query="w1 w3", depth=100))
    assert found[:10] == best[:10]


def test_more_is_read_where_there_is_more(connection: Connection) -> None:
    """Of a million chunks a budget for 100,000 found a half of the best ten."""
    if engine_of(connection) not in ("plain", "citus"):
        pytest.skip("this engine's index has no budget of ours")
    fill_library(connection, EVERY_SEVENTH)
    proposed = (
        "select cardinality(lexichord.segment_proposals("
        "array(select number from lexichord_data.keyword_segment), %s, 100, null))"
    )
    amounts = []
    for chunks in (100_000, 1_000_000):
        connection.execute("update lexichord_data.corpus set chunk_count = %s", [chunks])
        words = " ".join(f"w{number}:1" for number in range(1, 31))
        amounts.append(value(connection, proposed, words))
    assert amounts[1] > 1.2 * amounts[0]


def test_frequent_words_of_deleted_chunks(frequent: Connection) -> None:
    """By the share of the living alone, what was read of a word could exceed what there is."""
    frequent.execute("delete from lexichord_data.chunk where ordinal % 100 < 55")
    for query in ("w1 w3", "w3 w1 w1 w1"):
        best = scores(call(frequent, "exact_keyword_candidates", query=query, depth=100))
        found = scores(call(frequent, "keyword_candidates", query=query, depth=100))
        assert found == pytest.approx(best)


def test_one_word_in_chunks_of_all_lengths(connection: Connection) -> None:
    """An engine that weighs a chunk's length otherwise ranks its long chunks too late."""
    fill_library(connection, ALL_LENGTHS)
    for number in range(1, 80, 3):
        for depth in (10, 100):
            asked = {"query": f"w{number}", "depth": depth}
            best = call(connection, "exact_keyword_candidates", **asked)
            clear = {row["chunk_id"] for row in best if row["score"] > 1.03 * best[-1]["score"]}
            assert clear <= {*ids(call(connection, "keyword_candidates", **asked))}, asked


def test_one_word_where_chunks_are_deleted_while_a_segment_is_made(connection: Connection) -> None:
    """What the index passes over was looked for among other postings than those that it got."""
    if engine_of(connection) != "vectorchord":
        pytest.skip("this engine's index passes over nothing")
    connection.execute("insert into lexichord_data.dataset (name) values ('library')")
    small_segments(connection)
    connection.execute(BEST_LAST)
    connection.execute(DELETED_MEANWHILE)
    call(connection, "build_indexes")
    best = scores(call(connection, "exact_keyword_candidates", query="w1", depth=12))
    found = scores(call(connection, "keyword_candidates", query="w1", depth=12))
    assert found == pytest.approx(best)


def test_a_merge_reads_the_segments_once(frequent: Connection) -> None:
    """Whoever reads a table whole asks its condition of each row: so merges took an hour."""
    if value(frequent, "select to_regproc('lexichord.segment_chunks') is null"):
        pytest.skip("this engine's keyword index has no segments")
    frequent.execute("delete from lexichord_data.chunk where ordinal % 100 < 55")
    frequent.execute("set local track_functions = 'all'")
    frequent.execute("set local enable_indexscan = off")
    frequent.execute("set local enable_indexonlyscan = off")
    frequent.execute("set local enable_bitmapscan = off")
    assert value(frequent, "select lexichord.seal_keywords()")
    assert value(frequent, CALLS) == 1


def test_a_tail_is_emptied_without_a_join_with_itself(frequent: Connection) -> None:
    """An analyze while all its rows are deleted ones has the planner expect none: it took hours."""
    if value(frequent, "select to_regproc('lexichord.segment_chunks') is null"):
        pytest.skip("this engine's keyword index has no segments")
    frequent.execute("analyze lexichord_data.keyword_tail")
    with frequent.transaction():
        assert value(frequent, "select lexichord.rebuild_indexes()")
        assert value(frequent, TAIL_ROWS_READ) < 10 * 12000


def test_many_frequent_words_of_which_no_chunk_holds_all(connection: Connection) -> None:
    """Their blocks' bounds lie near each other."""
    if engine_of(connection) not in ("plain", "citus"):
        pytest.skip("this engine has no block maxima")
    fill_library(connection, EVERY_SEVENTH)
    random, found = Random(5), 0
    for _ in range(12):
        query = " ".join(f"w{number}" for number in random.sample(range(1, 81), 30))
        best = call(connection, "exact_keyword_candidates", query=query, depth=10)
        proposed = call(connection, "keyword_candidates", query=query, depth=10)
        found += len({*ids(proposed)} & {*ids(best)})
    assert found > 0.9 * 120


def test_a_wide_scope_loses_nothing_that_is_near(embedded_dsn: str) -> None:
    """In 384 dimensions an index of HNSW that looked at 100 chunks missed 15 in 100."""
    with new_database(embedded_dsn) as dsn:
        prepare(dsn, Choice("plain"))
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute("insert into lexichord_data.dataset (name) values ('library')")
            connection.execute("select setseed(0.5)")
            connection.execute(SCATTERED)
            call(connection, "build_indexes")
            documents = value(connection, "select array_agg(id) from lexichord_data.document")
            scope = documents[:-10]
            rows = connection.execute(
                "select embedding::text from lexichord_data.chunk order by random() limit 12"
            ).fetchall()
            found = 0
            for (vector,) in rows:
                asked = {"query_vector": vector, "depth": 10, "documents": scope}
                best = ids(call(connection, "exact_dense_candidates", **asked))
                found += len({*best} & {*ids(call(connection, "dense_candidates", **asked))})
            assert found > 0.93 * 120, found  # the index is built a little differently each time


def test_lists_come_with_the_size(many: Connection) -> None:
    if engine_of(many) != "vectorchord":
        pytest.skip("this engine's index has no lists")
    settings = many.execute("select probes, lists from lexichord_data.dense_probes()").fetchone()
    assert settings == ("50", "100")


@pytest.mark.parametrize("query", ["w1", "w2", "w1 w50"])
def test_every_chunk_of_the_depth_is_there(many: Connection, query: str) -> None:
    for depth in (100, 3000):
        candidates = call(many, "keyword_candidates", query=query, depth=depth)
        assert len({*ids(candidates)}) == depth
        exact = call(many, "exact_keyword_candidates", query=query, depth=depth)
        assert scores(candidates) == pytest.approx(scores(exact), rel=2e-3)


def test_a_filter_that_keeps_one_chunk(changing: Connection) -> None:
    put(changing, "one", ["w2 w9"], [[0, 0, 1, 0]], metadata={"kind": "only"})
    for function in ("hybrid_search", "discover_files"):
        hits = call(
            changing,
            function,
            query="w2",
            query_vector=EAST,
            query_space=SPACE,
            filter={"kind": "only"},
        )
        assert [row["uri"] for row in hits] == ["one"]


def test_a_scope_far_from_the_question_still_fills_the_depth(many: Connection) -> None:
    """No list that a question in the north probes first holds a chunk of the east."""
    east = ids(call(many, "list_documents", filter={"east": True}), "document_id")
    assert len(east) == 40
    for depth in (100, 4000):
        candidates = call(many, "dense_candidates", query_vector=NORTH, depth=depth, documents=east)
        exact = call(
            many, "exact_dense_candidates", query_vector=NORTH, depth=depth, documents=east
        )
        assert len(candidates) == depth
        assert scores(candidates) == pytest.approx(scores(exact), abs=2e-3)


def test_depths_beyond_what_the_indexes_hand_out_at_once(many: Connection) -> None:
    dense = call(many, "dense_candidates", query_vector=NORTH, depth=50000)
    keyword = call(many, "keyword_candidates", query="w2", depth=50000)
    assert len({*ids(dense)}) == len({*ids(keyword)}) == 50000


def test_a_filtered_search_right_after_inserts(changing: Connection) -> None:
    """Of fresh chunks more match than the depth, and none of them is in scope."""
    for number in range(2):
        put(changing, f"fresh{number}", ["w1"] * 1000, [[1, 0, 0, 0]] * 1000)
    documents = ids(call(changing, "list_documents", uri_prefix="bulk/"), "document_id")[:200]
    candidates = call(changing, "keyword_candidates", query="w1", documents=documents)
    assert len(candidates) == 100
    assert {row["document_id"] for row in candidates} <= {*documents}
    candidates = call(changing, "dense_candidates", query_vector=EAST, documents=documents)
    assert len(candidates) == 100
    assert {row["document_id"] for row in candidates} <= {*documents}
    fresh = ids(call(changing, "list_documents", uri_prefix="fresh"), "document_id")
    for function, query in (
        ("keyword_candidates", {"query": "w1"}),
        ("dense_candidates", {"query_vector": EAST}),
    ):
        best = ids(call(changing, function, **query), "document_id")
        assert sum(each in fresh for each in best) >= 95  # what is new is found at once


def test_impacts_that_are_made_anew_are_sealed_anew(changing: Connection) -> None:
    """Else a block could score more than its bound, and be passed over."""
    if engine_of(changing) == "textsearch":
        pytest.skip("this engine's keyword index has no segments")
    segments = "select array_agg(xmin::text) from lexichord_data.keyword_segment"
    before = value(changing, segments)
    changing.execute("update lexichord_data.corpus set average_length = 0.8 * average_length")
    call(changing, "build_indexes")
    assert not {*value(changing, segments)} & {*before}


def test_impacts_are_made_anew_before_there_are_segments(connection: Connection) -> None:
    """A load began with a short text: at its end all impacts and segments were made once more."""
    small_segments(connection)
    put(connection, "short", ["w1"])
    for number in range(3):
        put(connection, f"long {number}", ["w1 w2 w3 w4 w5 w6 w7 w8"] * 50)
    for _ in range(2):
        call(connection, "seal_keywords")
    average = value(connection, "select average_length from lexichord_data.corpus")
    assert average == pytest.approx(8, rel=0.1)
    if engine_of(connection) != "textsearch":
        segments = "select count(*) from lexichord_data.keyword_segment where not superseded"
        assert value(connection, segments) == 1
        assert not value(connection, "select lexichord.refresh_impacts()")


def test_rows_that_were_never_vacuumed(changing: Connection) -> None:
    """The best 1,200 chunks are dead."""
    put(changing, "best", ["w1"] * 1200, [[1, 0, 0, 0]] * 1200)
    call(changing, "build_indexes")
    best = ids(call(changing, "list_documents", uri_prefix="best"), "document_id")
    call(changing, "delete_documents", documents=best)
    wide = ids(call(changing, "list_documents"), "document_id")
    for scope in (None, wide):
        for function, query in (
            ("keyword_candidates", {"query": "w1"}),
            ("dense_candidates", {"query_vector": EAST}),
        ):
            hits = call(changing, function, documents=scope, **query)
            assert len({*ids(hits)}) == 100
            assert best[0] not in {row["document_id"] for row in hits}


def test_settings_from_outside_do_not_reach_the_indexes(changing: Connection) -> None:
    expected = [
        call(changing, "dense_candidates", query_vector=EAST),
        call(changing, "keyword_candidates", query="w1"),
    ]
    known = {name for (name,) in changing.execute("select name from pg_settings")}
    for name, setting in {
        "vchordrq.probes": "3,7",  # of an index with two levels of lists: an error here
        "vchordrq.max_scan_tuples": "1",
        "vchordrq.enable_scan": "off",
        "bm25_catalog.bm25_limit": "1",
        "bm25_catalog.enable_index": "off",
        "hnsw.max_scan_tuples": "1",
        "plan_cache_mode": "force_generic_plan",
    }.items():
        if name in known:
            changing.execute(f"set local {name} = '{setting}'".encode())
    assert call(changing, "dense_candidates", query_vector=EAST) == expected[0]
    assert call(changing, "keyword_candidates", query="w1") == expected[1]
    assert all(row["used"] for row in call(changing, "index_use"))


def test_a_load_is_followed_by_a_build(changing: Connection) -> None:
    assert value(changing, "select lexichord.build_indexes()") is False
    if engine_of(changing) == "textsearch":
        pytest.skip("this engine's indexes outgrow nothing")
    changing.execute(
        "insert into lexichord_data.keyword_tail select id from lexichord_data.chunk limit 5500"
    )
    assert [row["index_name"] for row in call(changing, "outgrown_indexes")] == ["keyword"]
    (problem,) = [row["problem"] for row in call(changing, "find_problems")]
    assert re.fullmatch(r"index keyword holds \d+ chunks that no segment holds yet", problem)
    assert value(changing, "select lexichord.build_indexes()") is True
    assert call(changing, "find_problems") == []


def test_building_both_anew_changes_no_answer(changing: Connection) -> None:
    def best_scores() -> list[list[float]]:
        return [
            scores(call(changing, "dense_candidates", query_vector=EAST)),
            scores(call(changing, "keyword_candidates", query="w1 w50")),
        ]

    before = best_scores()
    assert value(changing, "select lexichord.rebuild_indexes()") is True
    assert [pytest.approx(each, rel=0.05) for each in best_scores()] == before
    assert call(changing, "find_problems") == []
