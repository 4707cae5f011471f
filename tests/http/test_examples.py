"""Example questions of the start page: found in the background, answered, of what a caller sees."""

import httpx
import psycopg

from lexichord.types import Json
from tests.end_to_end.processes import wait_until
from tests.http.pages import between, words
from tests.http.served import Keys, serve_documents


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
SECRET_ASKS = "What is said about sale of the brewery?"  # pragma: allowlist secret


STORED = {"open": [LEASE, PUMP], "closed": [SECRET]}


def found(client: httpx.Client) -> dict[str, str]:
    """Return the questions with their addresses, once they are there."""
    wait_until(lambda: client.get("/examples").json() is not None)
    return dict(client.get("/examples").json())


def on_page(client: httpx.Client) -> list[str]:
    items = between(client.get("/").text, 'aria-labelledby="examples"', "</section>")
    return [words(item) for item in items.split("<li>")[1:]]


def test_questions_are_shown_once_they_were_answered(bare: str) -> None:
    with serve_documents(bare, STORED, record="text") as served:
        client = served.by()
        assert "data-awaited" in client.get("/").text
        shown = found(client)
        assert {*shown} == {LEASE_ASKS, PUMP_ASKS, SECRET_ASKS}
        assert {*on_page(client)} == {*shown}
        with psycopg.connect(served.dsn) as connection:
            recorded = connection.execute("select from lexichord.list_queries()").fetchall()
        assert recorded == []
        for link in shown.values():
            assert ' id="answer">Answer</h2>' in client.get(link).text


def test_they_go_with_their_document(bare: str) -> None:
    with serve_documents(bare, STORED) as served:
        client, core = served.by(), served.lexichord
        assert PUMP_ASKS in found(client)
        core.ingest(documents=[PAINTED], dataset="open")
        assert on_page(client) == []
        assert {*found(client)} == {LEASE_ASKS, "Who may paint the pump?", SECRET_ASKS}
        core.delete(["secret.md"])
        assert on_page(client) == []
        assert SECRET_ASKS not in found(client)


def test_a_key_is_shown_none_of_documents_that_it_does_not_reach(bare: str) -> None:
    keys: Keys = {"Ann": {"datasets": ["open"]}, "Bo": {}}
    with serve_documents(bare, STORED, keys) as served:
        assert {*found(served.by("Ann"))} == {LEASE_ASKS, PUMP_ASKS}
        assert {*found(served.by("Bo"))} == {LEASE_ASKS, PUMP_ASKS, SECRET_ASKS}
        assert served.by().get("/examples").status_code == 401
        calls = {call.kind for call in served.lexichord.list_calls(1000)}
    assert "query" not in calls  # nobody asked
