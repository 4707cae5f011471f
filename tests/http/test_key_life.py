"""Keys whose time is over, that may not do a thing, or too often: the same on every surface."""

import socket
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import httpx
import psycopg
import pytest

from lexichord import SyncLexichord
from lexichord.types import ApiCall
from tests.end_to_end.processes import wait_until
from tests.http.conftest import DOCUMENTS, KEYS
from tests.http.served import Keys, Served, new_client, serve_documents, serving
from tests.http.server import finished
from tests.mcp.serving import create_mcp_server
from tests.providers.chat_servers import Prompt, chat_server

QUESTION = "zebra of words"
SEARCH = {"query": QUESTION, "mode": "keyword"}
DIFY = {"query": QUESTION, "knowledge_id": "open", "retrieval_setting": {}}
ACCEPT = {"accept": "application/json, text/event-stream"}
TOOL = {"tool": "file_lister", "parameters": {"dataset_id": "open"}}
EXPIRED = "this key expired on 2026-02-03: make a new one with lexichord keys create"


@dataclass(frozen=True)
class Doors:
    """Both servers of an application, which is asked itself, too."""

    served: Served
    mcp: str

    @property
    def lexichord(self) -> SyncLexichord:
        return self.served.lexichord

    def post(self, path: str, key: str, body: object) -> httpx.Response:
        """Send a key and a body to a path; `/mcp` is the other server's."""
        url = self.mcp if path == "/mcp" else path
        return self.served.by(key).post(url, json=body, headers={**ACCEPT, "origin": ""})

    def calls(self, key: int, amount: int) -> list[ApiCall]:
        """Wait for so many calls of a key on record."""
        wait_until(lambda: len(self.lexichord.list_calls(1000, key=key)) >= amount)
        return self.lexichord.list_calls(1000, key=key)


@pytest.fixture(scope="module")
def doors(bare: str, home: Path) -> Iterator[Doors]:
    with (
        serve_documents(bare, DOCUMENTS, {"always one": {}}, home=home) as served,
        serving(served.lexichord, create_mcp_server) as url,
    ):
        yield Doors(served, f"{url}/mcp")


def let_expire(lexichord: SyncLexichord, key: int) -> None:
    with psycopg.connect(lexichord.core.database.dsn, autocommit=True) as connection:
        statement = "update lexichord_data.api_key set expires_at = '2026-02-03' where id = %s"
        connection.execute(statement.encode(), [key])


SURFACES = [("/v1/search", SEARCH), ("/ask", {"question": QUESTION}), ("/mcp", TOOL)]


@pytest.mark.parametrize(("path", "body"), SURFACES)
def test_an_expired_key_is_told_so(doors: Doors, path: str, body: object) -> None:
    made = doors.lexichord.create_key("Ann", lasts=timedelta(days=1))
    assert doors.post(path, made.secret, body).status_code == 200
    let_expire(doors.lexichord, made.key.key_id)
    answer = doors.post(path, made.secret, body)
    assert answer.status_code == 401
    assert EXPIRED in answer.text
    assert answer.headers["www-authenticate"] == "Bearer"


def test_dify_is_told_in_its_own_form(doors: Doors) -> None:
    made = doors.lexichord.create_key("Ann", lasts=timedelta(days=1))
    let_expire(doors.lexichord, made.key.key_id)
    blind = doors.lexichord.create_key("blind", reads=False, writes=True)
    for key, line in ((made, EXPIRED), (blind, "make one without --no-read")):
        answer = doors.post("/retrieval", key.secret, DIFY)
        assert (answer.status_code, answer.json()["error_code"]) == (403, 1002)
        assert line in answer.text


@pytest.mark.parametrize(("path", "body"), [*SURFACES, ("/retrieval", DIFY)])
def test_too_many_requests_of_a_key_are_told_when_to_come_back(
    doors: Doors, path: str, body: object
) -> None:
    made = doors.lexichord.create_key("Ann", requests_per_minute=2)
    other = doors.lexichord.create_key("Bo", requests_per_minute=2)
    for _ in range(2):
        assert doors.post(path, made.secret, body).status_code == 200
    answer = doors.post(path, made.secret, body)
    assert answer.status_code == 429
    assert 50 <= int(answer.headers["retry-after"]) <= 60
    assert "this key may send 2 requests a minute" in answer.text
    assert doors.post(path, other.secret, body).status_code == 200  # nobody else's


@pytest.mark.parametrize(("path", "body"), SURFACES)
def test_a_key_that_may_not_read_is_told_so(doors: Doors, path: str, body: object) -> None:
    made = doors.lexichord.create_key("blind", reads=False, writes=True)
    answer = doors.post(path, made.secret, body)
    assert answer.status_code == 403, answer.text
    assert "the API key may only write: make one without --no-read" in answer.text
    assert "zebra of open" not in answer.text


def test_writing_and_deleting_are_apart(doors: Doors) -> None:
    writer = doors.lexichord.create_key("writer", reads=False, writes=True).secret
    deleter = doors.lexichord.create_key("deleter", reads=False, deletes=True).secret
    body = {"dataset": "made", "documents": [{"uri": "new", "text": "gnu"}]}
    answer = doors.post("/v1/documents", deleter, body)
    assert answer.status_code == 403
    assert "the API key may only delete: make one with --write" in answer.text
    accepted = doors.post("/v1/documents", writer, body)
    assert accepted.status_code == 202, accepted.text  # its job is shown to who may not read
    wait_until(lambda: doors.lexichord.count(uri_prefix="new") == 1)
    (row,) = doors.lexichord.list(uri_prefix="new")
    refused = doors.served.by(writer).delete(f"/v1/documents/{row.document_id}")
    assert refused.status_code == 403
    assert "the API key may only write: make one with --delete" in refused.text
    deleted = doors.served.by(deleter).delete(f"/v1/documents/{row.document_id}")
    assert deleted.json() == {"deleted": 1}


def test_an_ingest_that_was_accepted_is_stored_though_its_key_ends(doors: Doors) -> None:
    made = doors.lexichord.create_key("Ann", writes=True)
    documents = [{"uri": f"long/{n}", "text": f"gnu {n}\n\n" * 200} for n in range(200)]
    body = {"dataset": "long", "documents": documents}
    answer = doors.post("/v1/documents", made.secret, body)
    assert answer.status_code == 202, answer.text
    doors.lexichord.revoke_key(made.key.key_id)
    job = answer.json()
    seen = doors.served.by(made.secret).get(answer.headers["location"])
    assert seen.status_code == 401
    ended = finished(doors.served.by("always one"), job)
    assert (ended["state"], ended["inserted"]) == ("finished", 200)
    doors.lexichord.delete_dataset("long")


def test_calls_of_all_surfaces_are_on_record_without_their_words(doors: Doors) -> None:
    made = doors.lexichord.create_key("Ann", datasets=["open"])
    sent = [
        ("/v1/search", SEARCH, 200),
        ("/v1/search", {**SEARCH, "datasets": ["closed"]}, 403),
        ("/retrieval", DIFY, 200),
        ("/v1/vector_stores/open/search", {"query": QUESTION}, 200),
        ("/mcp", TOOL, 200),
        ("/v1/documents", {"dataset": "open", "documents": [{"uri": "n", "text": "gnu"}]}, 403),
    ]
    for path, body, status in sent:
        assert doors.post(path, made.secret, body).status_code == status
    calls = doors.calls(made.key.key_id, 8)
    assert {(call.kind, call.status, call.datasets) for call in calls} >= {
        ("search", 200, ("open",)),
        ("search", 403, ("closed",)),
        ("query", 200, ("open",)),
        ("passages", 200, ("open",)),
        ("list", 200, ("open",)),
        ("ingest", 403, ("open",)),
    }
    assert {call.query for call in calls} == {None}
    dsn = doors.lexichord.core.database.dsn
    with psycopg.connect(dsn) as connection:
        stored = connection.execute("select c::text from lexichord_data.api_call c").fetchall()
    assert QUESTION not in str(stored)


def test_the_page_says_that_a_key_is_over_or_used_too_much(doors: Doors) -> None:
    made = doors.lexichord.create_key("Ann", requests_per_minute=2)
    with new_client(doors.served.url, origin=doors.served.url) as browser:
        assert browser.post("/login", data={"key": made.secret}).status_code == 303
        assert browser.get("/").status_code == 200
        answer = browser.get("/")
        assert answer.status_code == 429
        assert int(answer.headers["retry-after"]) > 0
        let_expire(doors.lexichord, made.key.key_id)
        answer = browser.get("/")
        assert answer.status_code == 401
        assert "This key expired on 2026-02-03" in answer.text
        answer = browser.post("/login", data={"key": made.secret})
        assert "This key expired on 2026-02-03" in answer.text


def test_a_name_that_becomes_another_datasets_amid_a_query_is_not_read(
    bare: str, home: Path
) -> None:
    """A query may wait for a model longer than it takes to exchange two datasets' names."""
    asked: list[Prompt] = []

    def exchange(prompt: Prompt) -> Mapping[str, object]:
        if not asked:
            served.lexichord.rename_dataset("open", "former")
            served.lexichord.rename_dataset("closed", "open")
        asked.append(prompt)
        return {}

    body = {"query": QUESTION, "llm_stages": ["intent"], "answer": False}
    keys: Keys = {"narrow": {"datasets": ["open"]}}
    with (
        chat_server(exchange) as model,
        serve_documents(
            bare, DOCUMENTS, keys, home=home, llm="openai/m", llm_base_url=model.url
        ) as served,
    ):
        refused = served.by("narrow").post("/v1/query", json=body)
        assert asked
        assert (refused.status_code, "ask again" in refused.text) == (403, True)
        assert "zebra" not in refused.text.replace(QUESTION, "")
        again = served.by("narrow").post("/v1/query", json=body).json()
    assert {hit["dataset"] for hit in again["hits"]} == {"former"}


@pytest.mark.parametrize(("ends", "status"), [("the key", 401), ("the name", 403)])
def test_an_ingest_is_not_taken_for_whom_its_key_lets_in_no_more(
    bare: str, home: Path, silent: tuple[str, list[socket.socket]], ends: str, status: int
) -> None:
    """It may wait for pages, or its turn, longer than it takes to exchange two datasets' names."""
    host, held = silent
    form = {"dataset": "open", "urls": f"http://{host}/"}
    file = {"files": ("nda.txt", b"gnu", "text/plain")}
    with (
        serve_documents(bare, DOCUMENTS, KEYS, home=home, fetch_hosts=host) as served,
        ThreadPoolExecutor(1) as pool,
    ):
        lexichord, writer = served.lexichord, served.by("writer")
        sent = pool.submit(writer.post, "/v1/documents:upload", data=form, files=file)
        wait_until(lambda: len(held) > 0)
        if ends == "the key":
            (key,) = [one.key_id for one in lexichord.list_keys() if one.name == "writer"]
            lexichord.revoke_key(key)
        else:
            lexichord.rename_dataset("open", "former")
            lexichord.rename_dataset("closed", "open")
        for one in held:
            one.close()
        refused = sent.result()
        assert refused.status_code == status, refused.text
        assert lexichord.count(uri_prefix="upload://") == 0
        assert {run.state for run in lexichord.status().runs} <= {"finished", "interrupted"}
