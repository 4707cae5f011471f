"""Example questions of the start page: found in the background, answered, of what a caller sees."""

import time
from collections.abc import Iterator
from typing import Any

import httpx
import psycopg
import pytest

from lexichord import SyncLexichord
from lexichord.db import schema
from lexichord.types import Json
from tests.conftest import SPACE, new_database
from tests.http.served_page import served
from tests.http.test_page import Elements

PATIENCE = 60  # seconds


def document(uri: str, title: str, heading: str, content: str) -> Json:
    chunks = [{"content": f"{heading}\n{content}", "heading": heading}]
    return {"uri": uri, "title": title, "metadata": {"language": "en"}, "chunks": chunks}


KEYS = "The return of keys is due on the last day of the lease."
LEASE = document("lease.md", "2.3", "1. Return of keys", KEYS)
OPENED = "Only the engineer of the harbour may open the pump."
PUMP = document("pump.md", "scan_0042", "Who may open the pump?", OPENED)
SALE = "The sale of the brewery is planned for May."
SECRET = document("secret.md", "x1", "Sale of the brewery", SALE)
PAINTED = document(
    "pump.md", "scan_0042", "Who may paint the pump?", OPENED.replace("open", "paint")
)
LEASE_ASKS, PUMP_ASKS = "What is said about return of keys?", "Who may open the pump?"
SECRET_ASKS = "What is said about sale of the brewery?"


@pytest.fixture
def filled(embedded_dsn: str) -> Iterator[str]:
    with new_database(embedded_dsn) as dsn:
        schema.prepare(dsn, schema.Choice("plain", "english", SPACE))
        with SyncLexichord(dsn=dsn) as core:
            core.ingest(documents=[LEASE, PUMP], dataset="open")
            core.ingest(documents=[SECRET], dataset="closed")
        yield dsn


def found(client: httpx.Client) -> dict[str, str]:
    """Return the questions with their addresses, once they are there."""
    until = time.monotonic() + PATIENCE
    while (shown := client.get("/examples").json()) is None and time.monotonic() < until:
        time.sleep(0.1)
    return dict(shown)


def on_page(client: httpx.Client) -> list[str]:
    section = client.get("/").text.partition('aria-labelledby="examples"')[2]
    items = section.partition("</section>")[0].split("<li>")[1:]
    return [" ".join(Elements(item).text.split()) for item in items]


def test_questions_are_shown_once_they_were_answered(filled: str) -> None:
    with served(filled, record="text") as address, httpx.Client(base_url=address) as client:
        first = client.get("/").text
        assert "data-awaited" in first
        shown = found(client)
        assert {*shown} == {LEASE_ASKS, PUMP_ASKS, SECRET_ASKS}
        assert {*on_page(client)} == {*shown}
        with psycopg.connect(filled) as connection:
            recorded = connection.execute("select from lexichord.list_queries()").fetchall()
        assert recorded == []
        for link in shown.values():
            assert ' id="answer">Answer</h2>' in client.get(link, timeout=60).text


def test_they_go_with_their_document(filled: str) -> None:
    with served(filled) as address, httpx.Client(base_url=address) as client:
        assert PUMP_ASKS in found(client)
        with SyncLexichord(dsn=filled) as core:
            core.ingest(documents=[PAINTED], dataset="open")
        assert on_page(client) == []
        assert {*found(client)} == {LEASE_ASKS, "Who may paint the pump?", SECRET_ASKS}
        with SyncLexichord(dsn=filled) as core:
            core.delete(["secret.md"])
        assert on_page(client) == []
        assert SECRET_ASKS not in found(client)


def test_a_key_is_shown_none_of_documents_that_it_does_not_reach(filled: str) -> None:
    with SyncLexichord(dsn=filled) as core:
        keys = [core.create_key("Ann", datasets=["open"]), core.create_key("Bo")]
    with served(filled, allowed_hosts="search.example.com") as address:
        shown: list[Any] = []
        for key in keys:
            headers = {"authorization": f"Bearer {key.secret}"}
            with httpx.Client(base_url=address, headers=headers) as client:
                shown.append({*found(client)})
        assert shown == [{LEASE_ASKS, PUMP_ASKS}, {LEASE_ASKS, PUMP_ASKS, SECRET_ASKS}]
        assert httpx.get(f"{address}/examples").status_code == 401
    with SyncLexichord(dsn=filled) as core:
        calls = {call.kind for call in core.list_calls(1000)}
    assert "query" not in calls  # nobody asked
