"""Conditions of a filter whose value is of another type than what documents have there."""

from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.sql.corpus import Connection, call, put

METADATA: dict[str, dict[str, Any]] = {
    "d1": {"year": 2024, "tags": ["a"]},
    "d2": {"year": 2025, "mixed": "x"},
    "d3": {"mixed": 1},
}


@pytest.fixture
def filed(fresh: Connection) -> Connection:
    for uri, metadata in METADATA.items():
        put(fresh, uri, ["w1"], metadata=metadata)
    return fresh


def told(connection: Connection, wanted: Any, **scope: Any) -> dict[str, tuple[list[str], Any]]:
    rows = call(connection, "mistyped_conditions", filter=Jsonb(wanted), **scope)
    return {row["key"]: (row["wanted"], row["stored"]) for row in rows}


@pytest.mark.parametrize(
    ("wanted", "types"),
    [
        ({"year": 2024}, {}),
        ({"year": 1999}, {}),
        ({"year": "2024"}, {"year": ["string"]}),
        ({"year": "2024", "tags": "a", "mixed": 2}, {"year": ["string"], "tags": ["string"]}),
        ({"key": "year", "op": ">", "value": "2023"}, {"year": ["string"]}),
        ({"key": "year", "op": "in", "value": ["2024", 2024]}, {}),
        ({"key": "year", "op": "in", "value": ["2024", None]}, {"year": ["null", "string"]}),
        ({"key": "year", "op": "in", "value": []}, {}),
        ({"key": "year", "op": "start with", "value": "20"}, {"year": ["string"]}),
        ({"key": "tags", "op": "contains", "value": "a"}, {}),
        ({"key": "year", "op": "contains", "value": "2"}, {"year": ["array", "string"]}),
        ({"key": "year", "op": "ne", "value": "2024"}, {}),
        ({"key": "year", "op": "empty"}, {}),
        ({"or": [{"mixed": "y"}, {"and": [{"year": [2024]}]}]}, {"year": ["array"]}),
        ({"title": "none"}, {}),
        ({}, {}),
    ],
)
def test_what_no_document_can_fulfil_is_told(
    filed: Connection, wanted: Any, types: dict[str, list[str]]
) -> None:
    found = told(filed, wanted)
    assert {key: one for key, (one, _) in found.items()} == types
    for key, (_, stored) in found.items():
        assert stored in [metadata.get(key) for metadata in METADATA.values()]


def test_only_what_is_in_scope_counts(filed: Connection) -> None:
    (third,) = [row["document_id"] for row in call(filed, "list_documents") if row["uri"] == "d3"]
    assert told(filed, {"mixed": "x"}, uri_prefix="d3") == {"mixed": (["string"], 1)}
    assert told(filed, {"year": 2024}, documents=[third]) == {"year": (["number"], None)}
    assert told(filed, {"mixed": "x"}) == {}
