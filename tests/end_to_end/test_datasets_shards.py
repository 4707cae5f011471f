"""Datasets over shards: renamed and documents moved on all at one moment, or on none."""

from collections.abc import Iterator
from contextlib import ExitStack

import psycopg
import pytest

from lexichord import SyncLexichord
from lexichord.db import schema
from lexichord.errors import ConfigError, DatabaseError, UnknownDatasetError
from tests.conftest import new_database
from tests.end_to_end.test_rebalance import LEFT, SPACE, Databases, add_shards, document, execute
from tests.end_to_end.test_shards import stopped

AMOUNT = 20
URIS = [f"doc/{number:03d}" for number in range(AMOUNT)]


@pytest.fixture(scope="module")
def databases(plain_dsn: str) -> Iterator[Databases]:
    with ExitStack() as stack:
        dsns = [stack.enter_context(new_database(plain_dsn)) for _ in range(3)]
        schema.prepare(dsns[0], schema.Choice("plain", "english", SPACE))
        databases = Databases(dsns)
        add_shards(databases)
        yield databases


@pytest.fixture
def lexichord(databases: Databases) -> Iterator[SyncLexichord]:
    """Documents on all shards, in one dataset."""
    with SyncLexichord(dsn=databases.dsns[0]) as lexichord:
        for row in lexichord.datasets():
            lexichord.delete_dataset(row.dataset)
        lexichord.ingest(documents=map(document, range(AMOUNT)), dataset="barn")
        assert all(databases.stored().values())
        yield lexichord


def counts(lexichord: SyncLexichord) -> dict[str, int]:
    return {row.dataset: row.documents for row in lexichord.datasets() if row.documents}


def test_a_dataset_is_renamed_on_all_shards(databases: Databases, lexichord: SyncLexichord) -> None:
    key = lexichord.create_key("ann", datasets=["barn"])
    ids = {row.uri: row.document_id for row in lexichord.list()}
    lexichord.rename_dataset("barn", "byre")
    assert counts(lexichord) == {"byre": AMOUNT}
    assert {row.uri: row.document_id for row in lexichord.list(datasets=["byre"])} == ids
    assert {hit.dataset for hit in lexichord.search("common", k=50).hits} == {"byre"}
    assert [each.datasets for each in lexichord.list_keys() if each.key_id == key.key.key_id] == [
        ("byre",)
    ]
    assert lexichord.status().runs[0].dataset == "byre"
    assert {fault.amount for fault in lexichord.doctor().faults} == {0}
    assert execute(databases.dsns[0], LEFT)[0][1:] == (None, None)


def test_what_cannot_be_changes_no_shard(databases: Databases, lexichord: SyncLexichord) -> None:
    lexichord.ingest(documents=map(document, range(12, AMOUNT)), dataset="byre")
    before = databases.stored()
    with pytest.raises(ConfigError, match="there is a dataset byre already: choose another"):
        lexichord.rename_dataset("barn", "byre")
    with pytest.raises(UnknownDatasetError, match="'new': take one of 'barn', 'byre'"):
        lexichord.rename_dataset("new", "other")
    with pytest.raises(ConfigError, match=r"doc/01\d is in byre already: delete one of the two"):
        lexichord.move(URIS, "byre", ["barn"])
    down = pytest.raises(DatabaseError, match="shard 2 does not answer")
    with stopped(databases.dsns[2]), down:
        lexichord.move(URIS[:3], "new", ["barn"])
    assert databases.stored() == before


def test_killed_between_two_commits_it_goes_on(
    databases: Databases, lexichord: SyncLexichord
) -> None:
    """The mark stays, and is ended by whoever asks next; the rest is moved."""
    mark = "update lexichord_data.shard_move set mover = gen_random_uuid(), "
    mark += "switches = switches + 1, source = 0, target = 0, documents = '{-1}'"
    with psycopg.connect(databases.dsns[0]) as home, psycopg.connect(databases.dsns[2]) as shard:
        home.execute(mark.encode())
        shard.execute("select lexichord.rename_dataset('barn', 'byre')")
    found = counts(lexichord)
    assert sum(found.values()) == AMOUNT
    with pytest.raises(ConfigError, match="already: choose another name, or move the documents"):
        lexichord.rename_dataset("barn", "byre")
    assert lexichord.move(URIS, "byre") == found["barn"]
    assert counts(lexichord) == {"byre": AMOUNT}
