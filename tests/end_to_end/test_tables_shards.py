"""Indexed tables of any shard: their rows stay beside them, and are found among all documents."""

from collections.abc import Iterator
from contextlib import ExitStack

import psycopg
import pytest

from lexichord import SyncLexichord
from lexichord.db import schema
from lexichord.errors import ConfigError
from lexichord.types import EmbeddingSpace
from tests.conftest import new_database
from tests.end_to_end.hashing import OLD, application
from tests.end_to_end.test_rebalance import execute
from tests.end_to_end.test_reembed import document

ARTICLE = "create table {0} (id integer primary key, body text); insert into {0} values "
ARTICLE += "(1, 'the gnu of {0}'), (2, 'the lynx of {0}'); "
ARTICLE += "select lexichord.index_table('public.{0}', text => '{{body}}')"
PLACES = "select count(*) from lexichord_data.table_row r join lexichord_data.document d "
PLACES += "on d.id = r.document_id"


@pytest.fixture
def dsns(embedded_dsn: str) -> Iterator[list[str]]:
    """Three shards; the first and the last have a table each."""
    with ExitStack() as stack:
        dsns = [stack.enter_context(new_database(embedded_dsn)) for _ in range(3)]
        schema.prepare(dsns[0], schema.Choice("plain", "english", EmbeddingSpace.parse(OLD)))
        with application(dsns[0]) as alone:
            assert [alone.add_shard(dsn) for dsn in dsns[1:]] == [1, 2]
        for dsn, name in zip(dsns[::2], ("here", "there"), strict=True):
            with psycopg.connect(dsn) as connection:
                connection.execute(ARTICLE.format(name).encode())
        yield dsns


def found(lexichord: SyncLexichord, query: str) -> list[tuple[str, str]]:
    hits = lexichord.search(query, mode="keyword").hits
    return sorted((hit.dataset, hit.content) for hit in hits)


def test_tables_of_all_shards_are_kept_in_sync(dsns: list[str]) -> None:
    with application(dsns[0]) as lexichord:
        lexichord.ingest(documents=[document(number) for number in range(12)])
        assert [table.rows_waiting for table in lexichord.tables()] == [0, 0]
        lexichord.index_changes()
        tables = {table.dataset: table.rows_stored for table in lexichord.tables()}
        assert tables == {"here": 2, "there": 2}
        gnus = [("here", "the gnu of here"), ("there", "the gnu of there")]
        assert found(lexichord, "gnu") == gnus
        assert {row.documents for row in lexichord.datasets()} == {2, 12}
        for dsn in dsns[::2]:
            with psycopg.connect(dsn) as connection:
                name = "here" if dsn == dsns[0] else "there"
                connection.execute(f"update {name} set body = 'an okapi' where id = 1".encode())
        lexichord.index_changes()
        assert found(lexichord, "gnu") == []
        assert found(lexichord, "okapi") == [("here", "an okapi"), ("there", "an okapi")]
        assert lexichord.rebalance_shards().documents == 0
        assert [execute(dsn, PLACES)[0][0] for dsn in dsns] == [2, 0, 2]
        assert lexichord.doctor().problems == []
        delete = lexichord.core.database.write("delete_dataset", dataset="there")
        with pytest.raises(ConfigError, match="the dataset there is an indexed table's"):
            lexichord.run(delete)
