"""Where cosines of a space lie: stored for one space, and for the one that is changed to."""

import psycopg
import pytest
from psycopg import Connection

from tests.sql.corpus import SPACE, call, put

NEXT = "test/next/6"
FOUND = ("unlike", "alike", "sentences", "chunks", "stored")


def store(connection: Connection, space: str, unlike: float) -> None:
    measured = {"unlike": unlike, "alike": 0.9, "sentences": 8}
    call(connection, "set_cosine_scale", space=space, **measured)


def found(connection: Connection) -> list[tuple[object, ...]]:
    rows = call(connection, "find_cosine_scale")
    return [tuple(row[name] for name in FOUND) for row in rows]


def test_the_latest_is_found_with_how_much_was_stored_then_and_is_now(
    connection: Connection,
) -> None:
    assert found(connection) == []
    put(connection, "a", ["w1", "w2"])
    store(connection, SPACE, 0.1)
    store(connection, SPACE, 0.2)
    put(connection, "b", ["w3"])
    assert found(connection) == [(0.2, 0.9, 8, 2, 3)]


def test_another_space_has_one_only_when_it_is_changed_to(connection: Connection) -> None:
    store(connection, SPACE, 0.1)
    with pytest.raises(psycopg.errors.DataException, match=NEXT), connection.transaction():
        store(connection, NEXT, 0.7)
    provider, model, dimension = NEXT.split("/")
    named = {"provider": provider, "model": model, "dimension": int(dimension)}
    call(connection, "start_reembed", **named)
    store(connection, NEXT, 0.7)
    assert found(connection) == [(0.1, 0.9, 8, 0, 0)]
    call(connection, "swap_spaces")
    assert found(connection) == [(0.7, 0.9, 8, 0, 0)]
    store(connection, SPACE, 0.3)  # to which it may be rolled back


def test_what_tells_nothing_is_not_stored(connection: Connection) -> None:
    with pytest.raises(psycopg.errors.CheckViolation):
        store(connection, SPACE, 0.9)
