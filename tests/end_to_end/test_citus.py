"""A Citus coordinator whose workers are shards: its SQL functions answer as one database's do."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from tests.conftest import new_cluster
from tests.end_to_end.test_shards import ALL, SPACE, Stored, filled, questions, stopped

type Row = dict[str, Any]
DEPTH = {"depth": ALL, "k": ALL}


@dataclass
class Asked:
    """The same documents in one database and on a coordinator and its workers, asked in SQL."""

    stored: Stored
    one: psycopg.Connection[Row]
    many: psycopg.Connection[Row]


@pytest.fixture(scope="module")
def asked(citus_nodes: list[str]) -> Iterator[Asked]:
    with new_cluster(citus_nodes[:3]) as dsns, filled(dsns, "plain") as stored:
        options: Any = {"autocommit": True, "row_factory": dict_row}
        with (
            psycopg.connect(stored.one.core.database.dsn, **options) as one,
            psycopg.connect(dsns[0], **options) as many,
        ):
            many.execute("select lexichord.fan_out()")
            yield Asked(stored, one, many)


def ask(connection: psycopg.Connection[Row], function: str, **arguments: object) -> list[Row]:
    """Call a function by the names of its arguments."""
    named = sql.SQL(", ").join(
        sql.SQL("{} => {}").format(sql.Identifier(name), sql.Placeholder(name))
        for name in arguments
    )
    call = sql.SQL("select * from lexichord.{}({})").format(sql.Identifier(function), named)
    values = {name: Jsonb(v) if isinstance(v, dict) else v for name, v in arguments.items()}
    return connection.execute(call, values).fetchall()


def ids(connection: psycopg.Connection[Row], uris: list[str]) -> list[int]:
    """Find documents wherever they are."""
    found = ask(connection, "hybrid_search", query=" ".join(f"w{n}" for n in range(300)), **DEPTH)
    numbers = {row["uri"]: row["document_id"] for row in found}
    return [numbers[uri] for uri in uris]


SCOPES: list[Row] = [
    {},
    {"datasets": ["rest"]},
    {"datasets": ["most", "rest"], "uri_prefix": "doc/0"},
    {"filter": {"key": "number", "op": "gt", "value": 60}},
    {"documents": ["doc/003", "doc/050", "doc/099"]},
]


def scope(connection: psycopg.Connection[Row], number: int) -> Row:
    own = dict(SCOPES[number])
    if "documents" in own:
        own["documents"] = ids(connection, own["documents"])
    return own


def vector(query: str) -> str:
    random = Random(query)
    return str([random.gauss(0, 1) for _ in range(8)])


def same(asked: Asked, function: str, number: int = 0, **arguments: object) -> list[Row]:
    """Ask both in a scope, compare all but ids and ranks, and return what the coordinator answers.

    Of equal scores any may have the better rank.
    """
    one, many = (
        ask(connection, function, **arguments, **scope(connection, number))
        for connection in (asked.one, asked.many)
    )
    assert many
    for rows in zip(one, many, strict=True):
        first, second = (
            {n: row[n] for n in row if not n.endswith(("_id", "rank"))} for row in rows
        )
        assert second == {n: approximate(value) for n, value in first.items()}
    return many


def approximate(value: object) -> object:
    return pytest.approx(value, abs=1e-5) if isinstance(value, float) else value


@pytest.mark.parametrize("question", questions()[:5])
@pytest.mark.parametrize("number", range(len(SCOPES)))
def test_searches_give_what_one_database_gives(asked: Asked, question: str, number: int) -> None:
    by_vector = {"query": question, "query_vector": vector(question), "query_space": str(SPACE)}
    rows = same(asked, "hybrid_search", number, **by_vector, **DEPTH)
    assert number or {row["document_id"] >> 48 for row in rows} == {0, 1, 2}
    same(asked, "discover_files", number, **by_vector, **DEPTH)
    same(asked, "feedback_chunks", number, **by_vector, depth=ALL)


def test_a_worker_that_is_down_fails_the_search(asked: Asked) -> None:
    with stopped(asked.stored.dsns[2]):
        for _ in range(2):
            with pytest.raises(psycopg.OperationalError) as refusal:
                ask(asked.many, "hybrid_search", query="w1")
            assert "conn" in str(refusal.value)
    assert ask(asked.many, "hybrid_search", query="w1")
