"""Documents move between shards while others search and store: each is there once, and stays."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from random import Random
from threading import Event, Thread
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from lexichord import SyncLexichord
from lexichord.db import moves, schema
from lexichord.db.pool import Conn, Row, call
from lexichord.errors import ConfigError, DatabaseError
from lexichord.types import EmbeddingSpace, Json
from tests.conftest import new_database
from tests.end_to_end.test_shards import command

SPACE = EmbeddingSpace("test", "tiny", 8)
AMOUNT = 60
STORED = "select s.name || '/' || d.uri, d.id, d.created_at, d.updated_at, d.title, d.metadata, "
STORED += "d.text, (select array_agg(c.id order by c.ordinal) from lexichord_data.chunk c "
STORED += "where c.document_id = d.id), (select jsonb_agg(to_jsonb(r) order by r.ordinal) "
STORED += "from lexichord.read_chunks(d.id) r), lexichord.read_original(d.id) "
STORED += "from lexichord_data.document d join lexichord_data.dataset s on s.id = d.dataset_id "
FAULTS = "select * from lexichord.count_faults() where amount > 0"
LEFT = "select switches, mover, documents from lexichord_data.shard_move"


def document(number: int, version: int = 0) -> Json:
    """Give a document of two chunks; both hold a word that no other has, and its version's."""
    random = Random(number)
    chunks = [
        {
            "content": f"own{number} version{version} part{part} common",
            "vector": [random.gauss(0, 1) for _ in range(8)],
        }
        for part in range(2)
    ]
    about = {"title": f"Title {number}", "metadata": {"number": number, "version": version}}
    return {"uri": f"doc/{number:03d}", "chunks": chunks, "space": str(SPACE), **about}


def execute(dsn: str, statement: str) -> list[Any]:
    with psycopg.connect(dsn) as connection:
        return connection.execute(statement.encode()).fetchall()


@dataclass
class Databases:
    """The home and two that become its shards."""

    dsns: list[str]

    def stored(self) -> dict[int, dict[str, Any]]:
        """Return what each holds, by dataset and uri."""
        return {
            number: {row[0]: row[1:] for row in execute(dsn, STORED)}
            for number, dsn in enumerate(self.dsns)
        }

    def all_stored(self) -> dict[str, Any]:
        """Return what all hold together; nothing is on two."""
        held = self.stored()
        together = {key: row for rows in held.values() for key, row in rows.items()}
        assert sum(map(len, held.values())) == len(together)
        return together


@pytest.fixture
def databases(embedded_dsn: str) -> Iterator[Databases]:
    with ExitStack() as stack:
        dsns = [stack.enter_context(new_database(embedded_dsn)) for _ in range(3)]
        schema.prepare(dsns[0], schema.Choice("plain", "english", SPACE))
        yield Databases(dsns)


def fill(dsn: str, numbers: Sequence[int] = range(AMOUNT)) -> None:
    with SyncLexichord(dsn=dsn) as lexichord:
        lexichord.ingest(documents=[document(number) for number in numbers], dataset="a")


def add_shards(databases: Databases) -> None:
    with SyncLexichord(dsn=databases.dsns[0]) as lexichord:
        for dsn in databases.dsns[1:]:
            lexichord.add_shard(dsn)


def check_answers(lexichord: SyncLexichord, numbers: Sequence[int], random: Random) -> None:
    """Every document is there once, by list, counts and both channels."""
    uris = [f"doc/{number:03d}" for number in range(AMOUNT)]
    assert [row.uri for row in lexichord.list()] == uris
    assert lexichord.count() == AMOUNT
    assert [(row.dataset, row.documents) for row in lexichord.datasets()] == [("a", AMOUNT)]
    assert sum(facet.documents for facet in lexichord.count_by("media_type")) == AMOUNT
    number = random.choice(numbers)
    for mode in ("keyword", "hybrid"):
        found = lexichord.search(f"own{number}", mode=mode, k=AMOUNT).hits
        assert len({hit.chunk_id for hit in found}) == len(found)
        assert [hit.uri for hit in found].count(uris[number]) == 2
    hits = lexichord.search("common", mode="keyword", k=4 * AMOUNT, depth=4 * AMOUNT).hits
    assert len(hits) == len({hit.chunk_id for hit in hits}) == 2 * AMOUNT
    shown = lexichord.show(hits[0].document_id)
    assert [chunk.chunk_id for chunk in shown.chunks].count(hits[0].chunk_id) == 1


def test_documents_move_to_shards_with_all_that_they_are(databases: Databases) -> None:
    home = databases.dsns[0]
    fill(home)
    with SyncLexichord(dsn=home) as lexichord:
        with pytest.raises(ConfigError, match="has no shards: add one"):
            lexichord.rebalance_shards()
        (first,) = lexichord.search("own7", k=1).hits
    add_shards(databases)
    before = databases.all_stored()
    moved = command(home, "rebalance")
    assert moved["chunks"] == 2 * moved["documents"] > AMOUNT
    assert databases.all_stored() == before
    assert min(len(rows) for rows in databases.stored().values()) > AMOUNT / 6
    assert [execute(dsn, FAULTS) for dsn in databases.dsns] == [[], [], []]
    assert command(home, "rebalance") == {"documents": 0, "chunks": 0}
    with SyncLexichord(dsn=home) as lexichord:
        check_answers(lexichord, range(AMOUNT), Random(0))
        assert lexichord.search("own7", k=1).hits[0].chunk_id == first.chunk_id
        assert len(lexichord.similar(first.document_id).files) == 10
        assert lexichord.expand(first.chunk_id)
        assert lexichord.set_metadata(first.document_id, {"n": 1})["n"] == 1
        report = lexichord.ingest(documents=[document(7)], dataset="a")
        assert report.skipped + report.replaced == 1
        assert lexichord.delete([row.document_id for row in lexichord.list()]) == AMOUNT


@contextmanager
def others_at_work(home: str, failures: list[BaseException]) -> Iterator[Event]:
    """Search, and store and change documents, until the block ends; versions only grow."""
    stop = Event()

    def keep(work: Any) -> None:
        try:
            with SyncLexichord(dsn=home) as lexichord:
                random = Random(work.__name__)
                while not stop.is_set():
                    work(lexichord, random)
        except BaseException as error:
            failures.append(error)

    def read(lexichord: SyncLexichord, random: Random) -> None:
        check_answers(lexichord, range(AMOUNT // 2), random)

    threads = [Thread(target=keep, args=(work,)) for work in (read, Writer().write)]
    for thread in threads:
        thread.start()
    try:
        yield stop
    finally:
        stop.set()
        for thread in threads:
            thread.join()


class Writer:
    """Stores later versions of the second half, and what was stored is found at once."""

    version = 0
    __name__ = "write"

    def write(self, lexichord: SyncLexichord, random: Random) -> None:
        self.version += 1
        number = random.randrange(AMOUNT // 2, AMOUNT)
        report = lexichord.ingest(documents=[document(number, self.version)], dataset="a")
        assert (report.inserted, report.replaced) == (0, 1)
        (row,) = [row for row in lexichord.list() if row.metadata["number"] == number]
        assert row.metadata["version"] == self.version
        changed = lexichord.set_metadata(row.document_id, {"seen": self.version})
        assert changed["seen"] == changed["version"] == self.version


def test_others_search_and_store_while_documents_move(
    databases: Databases, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moves, "BATCH_DOCUMENTS", 4)  # for more switches
    home = databases.dsns[0]
    fill(home)
    add_shards(databases)
    failures: list[BaseException] = []
    with others_at_work(home, failures):
        for arguments in ((), ("--empty", "1")):
            assert command(home, "rebalance", *arguments)["documents"]
    assert not failures, failures
    assert len(databases.all_stored()) == AMOUNT
    assert [execute(dsn, FAULTS) for dsn in databases.dsns] == [[], [], []]


def move_until_cut(home: str, name: object) -> None:
    """Move documents until the connection to the database of this name is cut amid a switch."""
    ended = "select pg_terminate_backend(l.pid) from pg_locks l join pg_stat_activity a using (pid)"
    ended += f" where a.datname = '{name}' and l.locktype = 'advisory' and l.mode = 'ExclusiveLock'"

    async def cut(connection: Conn, function: str, **arguments: object) -> list[Row]:
        if function == "hold_answers":  # the last before the mark; of the home this is not held yet
            assert execute(home, ended)
        return await call(connection, function, **arguments)

    with SyncLexichord(dsn=home) as lexichord, pytest.MonkeyPatch.context() as patched:
        patched.setattr(moves, "call", cut)
        with pytest.raises(DatabaseError):
            lexichord.rebalance_shards()


def share(home: str, first: str) -> None:
    """Store the documents, and add a shard that has none of them yet."""
    fill(home)
    with SyncLexichord(dsn=home) as lexichord:
        assert lexichord.add_shard(first) == 1


@pytest.mark.parametrize("cut_off", ["source", "target"])
def test_a_switch_that_is_cut_off_is_ended_by_who_asks_next(
    databases: Databases, cut_off: str
) -> None:
    """One of the two transactions is committed, and the other is not; or neither is."""
    home, first = databases.dsns[:2]
    share(home, first)
    before = execute(home, STORED)
    move_until_cut(home, conninfo_to_dict(home if cut_off == "source" else first)["dbname"])
    with SyncLexichord(dsn=home) as lexichord:
        (state,) = execute(home, LEFT)
        assert all(state[1:])
        held = [len(execute(dsn, STORED)) for dsn in (home, first)]
        assert held == ([AMOUNT, len(state[2])] if cut_off == "source" else [AMOUNT, 0])
        check_answers(lexichord, range(AMOUNT), Random(0))
        assert execute(home, LEFT)[0][2] is None
        lexichord.rebalance_shards()
        check_answers(lexichord, range(AMOUNT), Random(0))
    assert execute(home, LEFT)[0][1:] == (None, None)
    assert sorted(execute(home, STORED) + execute(first, STORED)) == sorted(before)
