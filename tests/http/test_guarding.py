"""What a server does with requests that should not be, or take too much or too long."""

import json
import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import httpx
import psycopg
import pytest

from lexichord.serve.middleware import LimitsMiddleware
from lexichord.types.base import ID_EXAMPLE
from tests.end_to_end.processes import wait_until
from tests.http.conftest import DOCUMENTS, Keyed
from tests.http.served import NAME, Served, fill, serve, serve_documents
from tests.http.server import active, connected, request, send_raw

JSON = {"content-type": "application/json"}
SEARCH = {"query": "zebra", "mode": "keyword"}
LEAKS = re.compile(
    r"Traceback|File \"|psycopg|select |lexichord_data|postgres|/var/|/tmp/|/dev/shm|/home/|\.py\b"
)


@pytest.fixture
def stocked(fresh: str) -> str:
    """A database with two documents."""
    fill(fresh, DOCUMENTS)
    return fresh


@pytest.fixture(scope="module")
def strict(bare: str) -> Iterator[Served]:
    """A server of small limits; its requests have all the time that they need."""
    limits: Any = {"max_body": 2000, "max_requests": 2, "pool_size": 2}
    with serve_documents(bare, DOCUMENTS, **limits) as served:
        yield served


def error(answer: httpx.Response, status: int) -> dict[str, Any]:
    """Give the error of an answer, which has the one shape and tells nothing of ours."""
    assert answer.status_code == status, answer.text
    assert set(answer.json()) == {"error"}
    problem: dict[str, Any] = answer.json()["error"]
    assert set(problem) == {"type", "message", "code", "param"}
    assert not LEAKS.search(answer.text), answer.text
    return problem


DEEP = "[" * 100_000 + "]" * 100_000
NESTED = '{"and": [' * 40 + '{"kind": "open"}' + "]}" * 40


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 422),
        (b"{", 400),
        (b"null", 422),
        (b"[]", 422),
        (b'"zebra"', 422),
        (b"\xff\xfe", 400),
        (b'{"query": "\xff"}', 400),
        (b'{"query": "zebra\\u0000"}', 400),
        (b'{"query": ""}', 422),
        (b'{"query": " "}', 400),
        (b'{"query": "' + b"z" * 10_001 + b'"}', 422),
        (b'{"query": "zebra", "k": 0}', 422),
        (b'{"query": "zebra", "k": ' + b"9" * 5000 + b"}", 400),
        (b'{"query": "zebra", "k": 1001}', 422),
        (b'{"query": "zebra", "depth": 100000}', 422),
        (b'{"query": "zebra", "mode": "magic"}', 422),
        (b'{"query": "zebra", "llm": "openai/gpt-4o"}', 422),
        (b'{"query": "zebra", "\\ud800": 1}', 422),
        (b'{"query": "zebra", "datasets": "open"}', 422),
        (b'{"query": "zebra", "datasets": ["nowhere"]}', 404),
        (b'{"query": "zebra", "datasets": ["\\u0000"]}', 400),
        (b'{"query": "zebra", "documents": ["doc_vhsvemia3hqupzas"]}', 404),
        (b'{"query": "zebra", "documents": [1]}', 422),
        (b'{"query": "zebra", "documents": [' + b"9" * 30 + b"]}", 422),
        (b'{"query": "zebra", "documents": ["nda.txt"]}', 400),  # there are two
        (b'{"query": "zebra", "filter": {"kind": "\\u0000"}}', 400),
        (b'{"query": "zebra", "filter": {"nothing": 1}}', 400),
        (b'{"query": "zebra", "filter": {"and": 1}}', 400),
        (b'{"query": "zebra", "filter": %s}' % NESTED.encode(), 400),
        (b'{"query": "zebra", "filter": {"kind": %s}}' % DEEP.encode(), 400),
        (DEEP.encode(), 400),
    ],
)
def test_a_body_that_makes_no_sense_is_refused_in_one_line(
    keyed: Keyed, body: bytes, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    for path in ("/v1/search", "/v1/query", "/v1/files:discover"):
        answer = keyed.by("everything").post(path, content=body, headers=JSON)
        assert "\n" not in error(answer, status)["message"]
    assert "Traceback" not in caplog.text


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "x", ""])
def test_a_body_of_another_type_is_refused_with_what_it_should_be(keyed: Keyed, kind: str) -> None:
    headers = {"content-type": kind}
    answer = keyed.by("everything").post("/v1/search", content=b'{"query": "z"}', headers=headers)
    assert "application/json" in error(answer, 422)["message"]


WRONG = {"type": "equals", "key": "kind", "value": 1}


@pytest.mark.parametrize(
    ("path", "body", "param", "message"),
    [
        ("search", "", None, "the body is to be a JSON object"),
        ("search", {"query": "a\0b"}, None, "a text holds a NUL character"),
        ("search", {"query": "a", "filter": {"kind": "a\0b"}}, None, "holds a NUL character"),
        ("vector_stores/open/search", {"query": ""}, "query", "at least 1 character"),
        ("vector_stores/open/search", {"query": 5}, "query", "a valid string or a valid list"),
        ("vector_stores/open/search", {"query": ["a", ""]}, "query.1", "at least 1 character"),
        ("vector_stores/open/search", {"query": "a", "filters": WRONG}, "filters.type", "be 'eq'"),
        ("vector_stores/open/search", {}, "query", "Field required"),
        ("embeddings", {"model": "x", "input": []}, "input", "at least 1 item"),
        ("embeddings", {"model": "x", "input": [1, 2]}, "input.0", "a valid string"),
    ],
)
def test_the_field_that_is_wrong_is_named_as_it_was_sent(
    keyed: Keyed, path: str, body: object, param: str | None, message: str
) -> None:
    content = body if isinstance(body, str) else json.dumps(body)
    answer = keyed.by("everything").post(f"/v1/{path}", content=content, headers=JSON)
    problem = error(answer, answer.status_code)
    assert answer.status_code in (400, 422)
    assert problem["param"] == param
    assert message in problem["message"]


def part(head: bytes, content: bytes = b"x") -> bytes:
    return b"--x\r\ncontent-disposition: form-data; %s\r\n\r\n%s\r\n--x--" % (head, content)


@pytest.mark.parametrize(
    "body",
    [
        b"no form at all",
        part(b'name="files"; filename="a\x07.txt"'),
        part(b'name="files"; filename="a\0b.txt"'),
        part(b'name="files"; filename=""'),
        part(b'name="files"'),
        part(b'name="dataset"', b"\xff\0"),
        b"--x\r\n",
        b"",
    ],
)
def test_a_form_that_makes_no_sense_is_refused(
    keyed: Keyed, body: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    headers = {"content-type": "multipart/form-data; boundary=x"}
    answer = keyed.by("everything").post("/v1/documents:upload", content=body, headers=headers)
    assert error(answer, answer.status_code)
    assert answer.status_code in (400, 422)
    assert "Traceback" not in caplog.text


@pytest.mark.parametrize(
    "path",
    [
        *("/v1/documents/1", "/v1/documents/nothing", "/v1/documents/doc_1", "/v1/chunks/-1"),
        f"/v1/documents/{ID_EXAMPLE['doc'].upper()}",
        f"/v1/documents/{ID_EXAMPLE['chunk']}",
        f"/v1/chunks/{ID_EXAMPLE['doc']}",
    ],
)
def test_what_is_no_id_is_not_there(keyed: Keyed, path: str) -> None:
    error(keyed.by("everything").get(path), 404)
    error(keyed.by("everything").get("/v1/jobs/0"), 422)


def test_what_is_not_there_is_said_as_json(keyed: Keyed) -> None:
    client = keyed.by("everything")
    unknown = [f"/v1/documents/{ID_EXAMPLE['doc']}", f"/v1/chunks/{ID_EXAMPLE['chunk']}"]
    for path in (*unknown, "/v1/jobs/99999", "/nowhere"):
        assert error(client.get(path), 404)["type"] == "not_found_error"
    assert "/docs" in error(client.get("/nowhere"), 404)["message"]
    assert error(client.put("/v1/search"), 405)["message"] == "PUT is not taken here, but POST"
    error(client.get("/v1/documents", params={"datasets": "open"}), 422)  # it is "dataset"


def test_a_length_that_lies_ends_the_connection(strict: Served) -> None:
    body = b'{"query": "zebra", "mode": "keyword"}'
    kind = "content-type: application/json"
    for length in ("-1", "x", "1e3", "12, 13"):
        answer = send_raw(strict.url, request("/v1/search", body, f"content-length: {length}"))
        assert answer.startswith(b"HTTP/1.1 400")
    shorter = request("/v1/search", body, kind, "content-length: 10")
    assert send_raw(strict.url, shorter).startswith(b"HTTP/1.1 400")
    chunked = (kind, "content-length: 5", "transfer-encoding: chunked")
    smuggled = request("/v1/search", b"0\r\n\r\n", *chunked)
    assert not send_raw(strict.url, smuggled).startswith(b"HTTP/1.1 200")
    assert strict.by().post("/v1/search", json=SEARCH).status_code == 200


def test_a_large_body_is_refused_whether_it_says_so_or_not(
    strict: Served, caplog: pytest.LogCaptureFixture
) -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(3):
            yield b" " * 1000  # each by itself too small to be refused
            time.sleep(0.2)

    client = strict.by()
    problem = error(client.post("/v1/search", content=b" " * 2001, headers=JSON), 413)
    assert "2,000 bytes" in problem["message"]
    error(client.post("/v1/search", content=pieces(), headers=JSON), 413)
    with locked(strict.dsn):  # else the answer may come before the body, which no GET reads
        error(client.request("GET", "/v1/datasets", content=pieces()), 413)
    error(client.post("/v1/documents:upload", files={"files": ("a.txt", b"x" * 3000)}), 413)
    assert client.post("/v1/search", json=SEARCH).status_code == 200
    assert "Traceback" not in caplog.text


async def test_pieces_of_a_body_are_measured_together() -> None:
    pieces = iter([{"type": "http.request", "body": b"x" * 8, "more_body": True}] * 2)
    sent: list[Any] = []

    async def receive() -> Any:
        return next(pieces)

    async def send(message: Any) -> None:
        sent.append(message)

    async def read(_: Any, receive: Any, __: Any) -> None:
        while await receive():
            pass

    scope = {"type": "http", "method": "POST", "path": "/v1/search", "headers": []}
    await LimitsMiddleware(read, max_body=15, max_json=15, max_requests=1)(scope, receive, send)
    assert sent[0]["status"] == 413


@contextmanager
def locked(dsn: str) -> Iterator[None]:
    """Hold back all that reads chunks, as long as a with statement lasts."""
    with psycopg.connect(dsn) as connection:
        connection.execute("lock table lexichord_data.chunk in access exclusive mode")
        yield


def test_what_takes_too_long_is_cut_off_with_its_sql(stocked: str) -> None:
    with serve(stocked, request_timeout=2.5, pool_size=2) as served:
        client = served.by()
        # A server's first search is slow: later ones take a hundredth of the limit.
        wait_until(lambda: client.post("/v1/search", json=SEARCH).status_code == 200)
        with locked(stocked):
            for path in ("/v1/search", "/v1/query", "/v1/files:discover"):
                assert error(client.post(path, json=SEARCH), 504)["type"] == "timeout_error"
            wait_until(lambda: active(stocked) == [])
        for _ in range(5):  # both connections of the pool serve on
            assert client.post("/v1/search", json=SEARCH).status_code == 200
        with psycopg.connect(stocked) as connection:
            ((open_ones,),) = connection.execute(
                "select count(*) from pg_stat_activity where application_name = 'lexichord' "
                "and datname = current_database()"
            ).fetchall()
    assert open_ones <= 2


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_client_that_leaves_takes_its_sql_with_it(
    stocked: str, method: str, caplog: pytest.LogCaptureFixture
) -> None:
    with serve(stocked, pool_size=1) as served:
        with locked(stocked):
            body = b'{"query": "zebra"}' if method == "POST" else b""
            path = "/v1/search" if method == "POST" else "/search?query=zebra"
            kind = "content-type: application/json", f"content-length: {len(body)}"
            with connected(served.url) as connection:
                connection.sendall(request(path, body, *kind, method=method))
                wait_until(lambda: active(stocked) != [])
            wait_until(lambda: active(stocked) == [])
        # The only connection is back.
        assert served.by().post("/v1/search", json=SEARCH).status_code == 200
        assert "Traceback" not in caplog.text


def test_a_connection_serves_on_after_a_body_that_was_not_read(keyed: Keyed) -> None:
    head = b"POST /v1/search HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 1000\r\n\r\n"
    with connected(keyed.url) as connection:
        for _ in range(2):
            connection.sendall(head)
            time.sleep(0.1)
            connection.sendall(b" " * 1000)
            time.sleep(0.1)
            assert connection.recv(10_000).startswith(b"HTTP/1.1 401")


def test_one_request_too_many_is_told_to_come_again(strict: Served) -> None:
    client = strict.by()

    def ask(_: int) -> int:
        return client.post("/v1/search", json=SEARCH).status_code

    with ThreadPoolExecutor(2) as pool:
        with locked(strict.dsn):
            statuses = pool.map(ask, range(2))
            wait_until(lambda: len(active(strict.dsn)) == 2)
            refused = client.post("/v1/search", json=SEARCH)
            assert error(refused, 429)["type"] == "rate_limit_error"
            assert refused.headers["retry-after"] == "1"
            for path in ("/healthz", "/metrics"):
                assert client.get(path).status_code == 200
        assert [*statuses] == [200, 200]


def test_a_name_that_is_not_ours_gets_nothing(strict: Served, keyed: Keyed) -> None:
    for name in ("evil.example", "127.0.0.1.evil.example", "", "[::1", "a b"):
        error(strict.by().get("/healthz", headers={"host": name}), 400)
    for name in ("localhost", "LOCALHOST:80", "127.0.0.1", "[::1]:80"):
        assert strict.by().get("/healthz", headers={"host": name}).status_code == 200
    assert keyed.by().get("/healthz", headers={"host": NAME}).status_code == 200
    assert keyed.by().get("/healthz", headers={"host": "example.com"}).status_code == 400


def test_a_page_elsewhere_writes_nothing_here(strict: Served) -> None:
    """A browser sends its forms and files here without asking first; it says whose they are."""
    sent = {"files": ("a.txt", b"planted")}
    for origin in ("https://evil.example", "null", f"{strict.url}1"):
        headers = {"origin": origin}
        answer = strict.by().post("/v1/documents:upload", files=sent, headers=headers)
        assert error(answer, 403)["type"] == "permission_error"
    own = {"origin": strict.url}
    assert strict.by().post("/v1/search", json=SEARCH, headers=own).status_code == 200


def test_a_page_that_is_allowed_may_ask_and_no_other(stocked: str) -> None:
    page, other = "https://app.example", "https://evil.example"
    preflight = {
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type",
    }
    with serve(stocked, allowed_origins=page) as served:
        client = served.by()
        for answer in (
            client.options("/v1/search", headers={"origin": page, **preflight}),
            client.post("/v1/search", json=SEARCH, headers={"origin": page}),
            client.get("/v1/documents/999", headers={"origin": page}),  # errors are read, too
        ):
            assert answer.status_code in (200, 404)
            assert answer.headers["access-control-allow-origin"] == page
        refused = client.options("/v1/search", headers={"origin": other, **preflight})
        assert refused.status_code == 400
        assert "access-control-allow-origin" not in refused.headers
        error(client.post("/v1/search", json=SEARCH, headers={"origin": other}), 403)


def test_a_database_that_fails_is_told_without_a_word_of_it(
    stocked: str, caplog: pytest.LogCaptureFixture
) -> None:
    cut = (
        "select pg_terminate_backend(pid) from pg_stat_activity "
        "where application_name = 'lexichord' and datname = current_database()"
    )
    with serve(stocked, pool_size=2) as served, psycopg.connect(stocked, autocommit=True) as admin:
        client = served.by()
        assert client.get("/readyz").json() == {"status": "ready"}
        admin.execute("alter table lexichord_data.chunk rename to chunk_hidden")
        failed = error(client.post("/v1/search", json=SEARCH), 503)
        assert failed["type"] == "database_error"
        log_id = failed["message"].partition("(log ")[2].rstrip(")")
        assert f"{log_id}: " in caplog.text
        assert "chunk" in caplog.text
        admin.execute("alter table lexichord_data.chunk_hidden rename to chunk")
        for _ in range(3):
            admin.execute(cut)
            answer = client.post("/v1/search", json=SEARCH)
            assert answer.status_code in (200, 503), answer.text
            assert not LEAKS.search(answer.text)
        time.sleep(0.5)
        assert client.post("/v1/search", json=SEARCH).status_code == 200


def test_what_a_server_without_a_model_lacks_is_told_without_a_path(stocked: str) -> None:
    with serve(stocked, model_dir="/srv/secret/models") as served:
        dense = served.by().post("/v1/search", json={"query": "zebra", "mode": "dense"})
        assert error(dense, 400)["message"].startswith("mode dense needs an embedder")
        assert served.by().post("/v1/search", json={"query": "zebra"}).json()["degraded"]
