"""What one caller takes of a server leaves searches their share, and ends when nobody waits."""

import asyncio
import os
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from lexichord.ingest.web import WEB_LIMITS
from lexichord.serve import middleware
from lexichord.serve.access import TEXT_THREADS
from lexichord.serve.http.app import TimeoutMiddleware
from lexichord.serve.limits import MAX_JOBS_OF_KEY
from lexichord.types import Json
from tests.conftest import new_database
from tests.end_to_end.processes import wait_until
from tests.http.conftest import DOCUMENTS, KEYS
from tests.http.served import Served, fill, serve
from tests.http.server import connected, request

SEARCH = {"query": "zebra"}
TEXTS = {"input": ["the deposit is repaid " * 22] * 2_000, "model": "all-MiniLM-L6-v2"}


@pytest.fixture(scope="module")
def served(corpus: str, home: Path) -> Iterator[Served]:
    """A server with few places, whose embedder is a real one."""
    with (
        new_database(corpus, copy_of=corpus) as dsn,
        serve(dsn, home=home, max_requests=4) as server,
    ):
        yield server


def drop(served: Served, path: str, body: Json, seconds: float = 1.0) -> int:
    """Ask, and leave after so long; return the status, 0 where none came."""
    with httpx.Client(base_url=served.url, timeout=seconds) as client:
        try:
            return client.post(path, json=body).status_code
        except httpx.TimeoutException:
            return 0


def test_texts_that_nobody_waits_for_are_not_embedded(served: Served) -> None:
    with ThreadPoolExecutor(8) as pool:
        statuses = [*pool.map(lambda _: drop(served, "/v1/embeddings", TEXTS), range(8))]
    assert set(statuses) <= {0, 429}
    assert 0 in statuses
    one = {"input": "rent", "model": TEXTS["model"]}
    wait_until(lambda: served.by().post("/v1/embeddings", json=one).status_code == 200)
    assert TEXT_THREADS._work_queue.empty()


def test_searches_have_room_beside_all_else(served: Served) -> None:
    with ThreadPoolExecutor(8) as pool:
        each = [pool.submit(drop, served, "/v1/embeddings", TEXTS, 5.0) for _ in range(8)]
        wait_until(lambda: any(one.done() for one in each))
        found = served.by().post("/v1/search", json=SEARCH)
        refused = served.by().post("/v1/embeddings", json=TEXTS)
        assert {one.result() for one in each} <= {0, 429}
    assert found.status_code == 200
    assert not found.json().get("degraded")
    assert refused.status_code == 429
    assert refused.headers["retry-after"] == "1"


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bodies have to come within a second."""
    monkeypatch.setattr(middleware, "ARRIVAL_SECONDS", 1.0)


@pytest.mark.usefixtures("hasty")
def test_strangers_hold_no_place(bare: str, home: Path) -> None:
    """Their forms come slowly, more of them than there are places."""
    form = "content-type: application/x-www-form-urlencoded", "content-length: 1000"
    with new_database(bare, copy_of=bare) as dsn, ExitStack() as stack:
        fill(dsn, DOCUMENTS)
        served = stack.enter_context(serve(dsn, KEYS, home=home, max_requests=2))
        slow = [stack.enter_context(connected(served.url)) for _ in range(6)]
        for one in slow:
            one.sendall(request("/login", b"key=", *form))
        found = served.by("reader").post("/v1/search", json=SEARCH | {"mode": "keyword"})
        assert found.status_code == 200
        for one in slow:
            assert one.recv(10_000).startswith(b"HTTP/1.1 408")


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("sent", [b"", b'{"query": "' + b"z" * 100_000])
def test_a_body_that_stops_coming_is_dropped(served: Served, sent: bytes) -> None:
    kind = "content-type: application/json", "content-length: 200000"
    with connected(served.url) as connection:
        connection.sendall(request("/v1/search", sent, *kind))
        answer = b"".join(iter(lambda: connection.recv(10_000), b""))
    assert answer.startswith(b"HTTP/1.1 408")
    assert b"the body did not come" in answer


def test_a_strangers_body_is_small(served: Served) -> None:
    answer = served.by().post("/login", data={"key": "k" * 100_000})
    assert answer.status_code == 413


@pytest.mark.parametrize(
    "filter",
    [
        {"and": [{"key": "year", "op": "eq", "value": number} for number in range(101)]},
        {f"key {number}": 1 for number in range(101)},
        {"or": [{"and": [{"year": number}, {"kind": "lease"}]} for number in range(51)]},
        {"key": "year", "op": "in", "value": [*range(10_001)]},
        {"and": [{"and": []} for _ in range(101)]},
        {"op": 0, **{f"key {number}": 1 for number in range(101)}},
    ],
)
def test_a_filter_holds_so_many_conditions(served: Served, filter: Json) -> None:
    answer = served.by().post("/v1/search", json=SEARCH | {"filter": filter})
    assert answer.status_code == 400
    assert "at most 100 conditions (LEXICHORD_MAX_CONDITIONS)" in answer.json()["error"]["message"]


def test_what_asks_is_small_and_what_is_embedded_is_counted(served: Served) -> None:
    values = {"key": "year", "op": "in", "value": [*range(100_000)]}
    answer = served.by().post("/v1/search", json=SEARCH | {"filter": values})
    assert answer.status_code == 413
    assert answer.json()["error"]["message"] == "at most 500,000 bytes"
    texts = {"input": ["z" * 10_000] * 101, "model": TEXTS["model"]}
    answer = served.by().post("/v1/embeddings", json=texts)
    assert answer.status_code == 400
    assert "at most 1,000,000 characters (LEXICHORD_MAX_TEXTS)" in answer.text
    assert served.by().post("/v1/documents", content=b" " * 5_000_001).status_code == 413
    kinds = [("content-type", kind) for kind in ("application/json", "multipart/form-data")]
    answer = served.by().post("/v1/search", content=b" " * 500_001, headers=kinds)
    assert answer.status_code == 413


async def test_what_is_sent_waits_on_the_disk() -> None:
    """Eight requests of forty files of 1 MB would take 303 MB that the allocator keeps."""
    boundary, text = b"--line", b"a" * 100_000
    head = b'Content-Disposition: form-data; name="files"; filename="a.md"\r\n\r\n'
    body = b"--" + boundary + b"\r\n" + head + text + b"\r\n--" + boundary + b"--\r\n"
    sent_as = f"multipart/form-data; boundary={boundary.decode()}".encode()
    scope = {"type": "http", "method": "POST", "headers": [(b"content-type", sent_as)]}

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    async with Request(scope, receive).form() as form:
        (file,) = form.getlist("files")
        assert isinstance(file, UploadFile)
        assert not file._in_memory
        assert await file.read() == text


def is_open(connection: socket.socket) -> bool:
    """Return whether the other side has not closed it."""
    connection.setblocking(False)
    try:
        while connection.recv(10_000):
            pass
    except BlockingIOError:
        return True
    return False


def test_searches_do_not_wait_for_pages(
    corpus: str,
    home: Path,
    silent: tuple[str, list[socket.socket]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """More than a loop has threads for; who asked for them has gone."""
    patient = replace(WEB_LIMITS, connect_seconds=60.0)
    monkeypatch.setattr("lexichord.ingest.jobs.WEB_LIMITS", patient)
    host, held = silent
    many = min(32, (os.cpu_count() or 1) + 4)
    form = f"dataset=web&urls=http://{host}/".encode()
    kind = "content-type: application/x-www-form-urlencoded", f"content-length: {len(form)}"
    with (
        new_database(corpus, copy_of=corpus) as dsn,
        serve(dsn, home=home, fetch_hosts=host) as served,
    ):
        while (asked := len(held)) < many:
            with connected(served.url) as connection:
                connection.sendall(request("/v1/documents:upload", form, *kind))
                wait_until(lambda: len(held) > asked)
        assert served.by().post("/v1/search", json=SEARCH).status_code == 200
        assert all(map(is_open, held))


def test_no_key_takes_all_places_of_ingests(
    bare: str,
    home: Path,
    silent: tuple[str, list[socket.socket]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("lexichord.serve.http.jobs.JOB_SLOT_SECONDS", 0.5)
    host, held = silent
    form = {"urls": f"http://{host}/", "dataset": "open"}
    paper = {"documents": [{"uri": "one", "text": "of the zebra"}]}
    with new_database(bare, copy_of=bare) as dsn:
        fill(dsn, DOCUMENTS)
        served = serve(dsn, KEYS, home=home, fetch_hosts=host)
        with served as reached, ThreadPoolExecutor(MAX_JOBS_OF_KEY) as pool:
            ask = reached.by("writer").post
            slow = [
                pool.submit(ask, "/v1/documents:upload", data=form) for _ in range(MAX_JOBS_OF_KEY)
            ]
            wait_until(lambda: len(held) == MAX_JOBS_OF_KEY)
            again = ask("/v1/documents:upload", data=form)
            assert again.status_code == 429
            other = reached.by("everything").post("/v1/documents", json=paper)
            assert other.status_code == 202, other.text
            for one in held:
                one.close()
            assert {one.result().status_code for one in slow} == {202}


def test_files_are_closed_after_the_answer_although_the_client_is_gone_then() -> None:
    closed = asyncio.Event()
    messages = iter(({"type": "http.request"}, {"type": "http.disconnect"}))

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body"})
        await asyncio.sleep(0.2)  # a large file is closed in a thread
        closed.set()

    async def receive() -> Message:
        return next(messages)

    async def send(message: Message) -> None:
        """Nobody listens."""

    app = TimeoutMiddleware(answer, seconds=5)
    asyncio.run(app({"type": "http", "method": "POST"}, receive, send))
    assert closed.is_set()
