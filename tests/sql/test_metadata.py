"""Metadata: filtered by together with what a document is, counted by, and changed."""

from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.sql.corpus import Connection, call, put


@pytest.fixture
def stored(connection: Connection) -> Connection:
    put(
        connection,
        "hr/leave.md",
        ["one"],
        title="Leave",
        metadata={"year": 2026, "tags": ["a", "b"]},
    )
    put(connection, "hr/pay.md", ["two"], title="Pay", metadata={"year": 2026, "tags": ["b", "b"]})
    put(connection, "law/nda.md", ["three"], title="NDA", dataset="law", metadata={"title": "Own"})
    return connection


def found(connection: Connection, filter: dict[str, Any]) -> list[str]:
    return [row["uri"] for row in call(connection, "list_documents", filter=Jsonb(filter))]


def counted(connection: Connection, key: str, **scope: Any) -> dict[str, int]:
    rows = call(connection, "count_by", key=key, **scope)
    return {str(row["value"]): row["documents_with"] for row in rows}


def test_what_a_document_is_can_be_filtered_on(stored: Connection) -> None:
    everywhere = ["hr/leave.md", "hr/pay.md", "law/nda.md"]
    cases: list[tuple[dict[str, Any], list[str]]] = [
        ({"title": "Pay"}, ["hr/pay.md"]),
        ({"key": "uri", "op": "start with", "value": "hr/"}, ["hr/leave.md", "hr/pay.md"]),
        ({"dataset": "law"}, ["law/nda.md"]),
        ({"folder": "hr", "year": 2026}, ["hr/leave.md", "hr/pay.md"]),
        ({"key": "media_type", "op": "in", "value": ["text/plain"]}, everywhere),
        ({"key": "media_type", "op": "ne", "value": "text/plain"}, []),
        ({"title": "NDA"}, []),
        ({"title": "Own"}, ["law/nda.md"]),
    ]
    for filter, uris in cases:
        assert sorted(found(stored, filter)) == uris, filter


def test_documents_are_counted_by_a_key(stored: Connection) -> None:
    assert counted(stored, "year") == {"2026": 2}
    assert list(counted(stored, "tags").items()) == [("b", 2), ("a", 1)]
    assert counted(stored, "dataset") == {"library": 2, "law": 1}
    assert counted(stored, "media_type", datasets=["law"]) == {"text/plain": 1}
    assert counted(stored, "tags", filter=Jsonb({"title": "Pay"})) == {"b": 1}
    unknown = pytest.raises(psycopg.Error, match='no document in scope has the key "colour"')
    with unknown, stored.transaction():
        counted(stored, "colour")


def test_metadata_is_changed_and_nothing_else(stored: Connection) -> None:
    (row,) = call(stored, "list_documents", filter=Jsonb({"title": "Pay"}))
    chunks = call(stored, "list_chunks", document=row["document_id"])
    changes = Jsonb({"year": 2027, "tags": None, "by": {"x": None}})
    (changed,) = call(stored, "set_metadata", document=row["document_id"], changes=changes)
    assert changed["set_metadata"] == {"year": 2027, "by": {"x": None}}
    assert found(stored, {"year": 2027}) == ["hr/pay.md"]
    assert call(stored, "list_chunks", document=row["document_id"]) == chunks
    with pytest.raises(psycopg.Error, match="there is no document 99"), stored.transaction():
        call(stored, "set_metadata", document=99, changes=Jsonb({}))
    with pytest.raises(psycopg.Error, match="is no object"), stored.transaction():
        call(stored, "set_metadata", document=row["document_id"], changes=Jsonb([1]))
