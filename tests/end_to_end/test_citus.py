"""A Citus coordinator whose workers are shards: its SQL functions answer as one database's do."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row

from tests.conftest import new_cluster
from tests.end_to_end.test_shards import ALL, SPACE, Stored, filled, questions, stopped
from tests.sql.corpus import call

type Row = dict[str, Any]
WITHIN: list[Row] = [
    {},
    {"datasets": ["most", "rest"], "uri_prefix": "doc/0"},
    {"filter": {"key": "number", "op": "gt", "value": 60}},
]


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


def shown(row: Row) -> Row:
    """Give all but ids and ranks: of equal scores any may have the better one."""
    return {name: value for name, value in row.items() if not name.endswith(("_id", "rank"))}


def approximate(value: object) -> object:
    return pytest.approx(value, abs=1e-5) if isinstance(value, float) else value


@pytest.mark.parametrize("within", WITHIN, ids=str)
@pytest.mark.parametrize("function", ["hybrid_search", "discover_files", "feedback_chunks"])
def test_searches_give_what_one_database_gives(asked: Asked, function: str, within: Row) -> None:
    for question in questions()[:5]:
        random = Random(question)
        vector = str([random.gauss(0, 1) for _ in range(8)])
        options: Row = {"query": question, "query_vector": vector, "query_space": str(SPACE)}
        options |= within | {"depth": ALL} | ({} if function == "feedback_chunks" else {"k": ALL})
        one, many = (call(each, function, **options) for each in (asked.one, asked.many))
        assert many
        for first, second in zip(one, many, strict=True):
            wanted = {name: approximate(value) for name, value in shown(first).items()}
            assert shown(second) == wanted
        assert len({row["document_id"] >> 48 for row in many}) > 1


def test_a_worker_that_is_down_fails_the_search(asked: Asked) -> None:
    with stopped(asked.stored.dsns[2]), pytest.raises(psycopg.OperationalError, match="conn"):
        call(asked.many, "hybrid_search", query="w1")
    assert call(asked.many, "hybrid_search", query="w1")
