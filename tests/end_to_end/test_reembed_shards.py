"""Another embedding model for all shards: no answer is of two spaces, cut off or not."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np
import psycopg
import pytest

from lexichord import SyncLexichord
from lexichord.db import reembed as db
from lexichord.db import schema
from lexichord.db.pool import Conn
from lexichord.errors import ConfigError, DatabaseError, EmbeddingMismatchError
from lexichord.ingest.vectors import embedding_text
from lexichord.types import EmbeddingSpace
from tests.conftest import new_database
from tests.end_to_end.hashing import OLD, SAME, Hashing, application
from tests.end_to_end.test_reembed import CHUNKS, TOLERANCE, change, dense, document, searching

AMOUNT = 30
SPACES = "select concat_ws('/', provider, model, dimension) from lexichord_data.embedding_space"


@dataclass
class Sharded:
    """The home, open, of three databases with 90 chunks in the old space."""

    lexichord: SyncLexichord
    dsns: list[str]

    def spaces(self) -> list[str]:
        """Return the spaces to which the databases are bound."""
        return [rows(dsn, SPACES)[0][0] for dsn in self.dsns]

    def assert_all_of(self, space: str, count: int) -> None:
        """Each chunk has the one vector that the space's embedder makes of it."""
        assert self.spaces() == [space] * len(self.dsns)
        embedder, stored = Hashing(space), [row for dsn in self.dsns for row in rows(dsn, CHUNKS)]
        assert len(stored) == count
        for context, content, vector, _ in stored:
            expected = embedder.vector(embedding_text(context, content))
            assert np.allclose(json.loads(vector), expected, atol=TOLERANCE), content


def rows(dsn: str, statement: str) -> list[Any]:
    with psycopg.connect(dsn) as connection:
        return connection.execute(statement.encode()).fetchall()


def store(lexichord: SyncLexichord, first: int, last: int) -> None:
    lexichord.ingest(documents=[document(number) for number in range(first, last)], context="none")


@pytest.fixture
def sharded(embedded_dsn: str) -> Iterator[Sharded]:
    with ExitStack() as stack:
        dsns = [stack.enter_context(new_database(embedded_dsn)) for _ in range(3)]
        schema.prepare(dsns[0], schema.Choice("plain", "english", EmbeddingSpace.parse(OLD)))
        with application(dsns[0]) as alone:
            assert [alone.add_shard(dsn) for dsn in dsns[1:]] == [1, 2]
            for work in (lambda: alone.reembed(SAME), alone.index_changes):  # not of one alone
                with pytest.raises(ConfigError, match="has shards since it was opened"):
                    work()
        with application(dsns[0]) as lexichord:
            store(lexichord, 0, AMOUNT)
            assert min(len(rows(dsn, CHUNKS)) for dsn in dsns) > 0
            yield Sharded(lexichord, dsns)


def test_all_change_roll_back_and_drop_while_others_search(sharded: Sharded) -> None:
    lexichord = sharded.lexichord
    with searching(sharded.dsns[0]) as tell:
        done = lexichord.reembed(SAME)
        assert (done.space, done.kept, done.embedded, done.missing) == (SAME, OLD, 90, 0)
        assert done.comparison is not None
        assert 0 < done.comparison["overlap"] < 1
        tell()
        sharded.assert_all_of(SAME, 90)
        store(lexichord, AMOUNT, AMOUNT + 3)
        back = lexichord.reembed(rollback=True)
        assert (back.space, back.kept, back.embedded, back.missing) == (OLD, SAME, 9, 0)
        tell()
        sharded.assert_all_of(OLD, 99)
        again = lexichord.reembed()
        assert (again.space, again.embedded) == (SAME, 0)
        assert lexichord.reembed(drop=True).dropped == OLD
    sharded.assert_all_of(SAME, 99)
    dense(lexichord, "w3 clause", SAME)
    assert (change(lexichord).state, change(lexichord).missing) == ("dropped", None)
    assert lexichord.doctor().problems == []
    with pytest.raises(ConfigError, match="nothing to roll back"):
        lexichord.reembed(rollback=True)


def cut_off(sharded: Sharded, monkeypatch: pytest.MonkeyPatch, **options: Any) -> None:
    """Change the space until the home commits; the others' connections are cut by then."""
    swap = db._swap
    ended = "select pg_terminate_backend(pid) from pg_stat_activity where xact_start is not null "
    ended += "and datname = current_database() and pid <> pg_backend_pid()"

    async def cut(connections: Sequence[Conn], *arguments: Any, **named: Any) -> bool:
        swapped = await swap(connections, *arguments, **named)
        assert all(rows(dsn, ended) for dsn in sharded.dsns[1:])
        return swapped

    with monkeypatch.context() as patched:
        patched.setattr(db, "_swap", cut)
        with pytest.raises(DatabaseError):
            sharded.lexichord.reembed(**options)


def test_cut_off_between_shards_it_refuses_and_goes_on(
    sharded: Sharded, monkeypatch: pytest.MonkeyPatch
) -> None:
    lexichord, home = sharded.lexichord, sharded.dsns[0]
    cut_off(sharded, monkeypatch, to=SAME)
    assert sharded.spaces() == [SAME, OLD, OLD]
    with application(home) as embedding, application(home, "none") as by_words:
        asks: list[Callable[[], Any]] = [
            lambda: embedding.search("w3 clause", mode="dense"),
            lambda: embedding.query("w3 clause", reflect=True),
            lambda: by_words.similar("doc/003"),
            lambda: by_words.search("clause"),
            lambda: store(embedding, AMOUNT, AMOUNT + 12),
        ]
        for ask in asks:
            with pytest.raises(EmbeddingMismatchError, match="a change was cut off between them"):
                ask()
        assert by_words.search("w3", mode="keyword").hits
    assert change(lexichord).state == "filling"
    (problem,) = [row for row in lexichord.doctor().problems if "cut off" in row.problem]
    assert "lexichord reembed" in problem.remedy
    with pytest.raises(ConfigError, match="a change was cut off"):
        lexichord.reembed(drop=True)
    lexichord.reembed()
    sharded.assert_all_of(SAME, 3 * lexichord.count())  # the home took what was its
