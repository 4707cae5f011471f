"""What asks all shards, on the one node that this database is: what it answers by itself."""

from typing import Any

import pytest
from psycopg import errors

from tests.alike import differences
from tests.sql.calls import FILTER, VECTOR
from tests.sql.corpus import SPACE, Connection, Row, call

WHOLE: dict[str, Any] = {
    **{"query": "w1 w2 w7", "terms": None, "query_vector": VECTOR, "depth": 100},
    **dict.fromkeys(("datasets", "documents", "uri_prefix", "filter", "boost")),
    **{"weights": [0.35, 0.65], "query_space": SPACE, "fusion": "zscore"},
}


@pytest.mark.parametrize(
    "own",
    [
        {},
        {"fusion": "rrf"},
        {"terms": {"w3": 2}},
        {"datasets": ["north"], "filter": FILTER},
        {"documents": [1, 2, 3, 4]},
        {"documents": [1, 1, None]},
        {"boost": {"3": 0.5}},
        {"boost": {"3": 0.5}, "documents": [3]},
        {"weights": [1.0, 0.0]},
        {"weights": [0.0, 1.0]},
        {"query_vector": None},
        {"datasets": []},
    ],
    ids=str,
)
def test_one_node_gives_what_the_database_gives(library: Connection, own: Row) -> None:
    rows = call(library, "fuse_shards", **WHOLE | own)
    assert rows or own == {"datasets": []}
    assert differences(rows, call(library, "fuse_scope", **WHOLE | own)) == []


def test_what_the_transaction_asks_next_is_refused_as_ever(library: Connection) -> None:
    assert call(library, "fuse_shards", **WHOLE | {"filter": FILTER})
    wrong = {"key": "nokey", "op": "eq", "value": 7}
    with pytest.raises(errors.InvalidParameterValue, match="nokey"), library.transaction():
        call(library, "list_documents", filter=wrong)


def test_cards_are_those_of_the_database(library: Connection) -> None:
    asked = {name: WHOLE[name] for name in ("query", "depth", *tuple(WHOLE)[4:8])}
    asked["query"] = "tale of animal7"
    cards = call(library, "gather_cards", **asked)
    own = call(library, "card_candidates", query="tale of animal7")
    assert [{**row, "room": 42} for row in own] == cards
