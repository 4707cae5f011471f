"""Every route over the wire with every kind of key: a new one cannot be forgotten."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from fastapi.routing import iter_route_contexts

from lexichord import Lexichord, SyncLexichord
from lexichord.serve.access import LOOPBACK_NAMES, AccessPolicy
from lexichord.serve.http.app import create_http_app
from lexichord.types.ids import ID_EXAMPLE
from tests.http.conftest import Keyed

# What needs no key: probes, the description of all this.
OPEN = {
    ("GET", "/healthz"),
    ("GET", "/readyz"),
    ("GET", "/openapi.json"),
    ("HEAD", "/openapi.json"),
    ("GET", "/docs"),
    ("HEAD", "/docs"),
}
SOME_DOCUMENT = ID_EXAMPLE["doc"]  # in whose place stands one that the keys of "open" do not reach
# Of each other route, a request that makes sense. Where the path has an id it is of a document,
# chunk or job that the keys of "open" do not reach.
ASKED: dict[tuple[str, str], dict[str, Any]] = {
    ("POST", "/v1/search"): {"json": {"query": "zebra", "datasets": ["closed"]}},
    ("POST", "/v1/query"): {"json": {"query": "zebra", "datasets": ["closed"]}},
    ("POST", "/v1/files:discover"): {"json": {"query": "zebra", "datasets": ["closed"]}},
    ("GET", "/v1/datasets"): {},
    ("POST", "/v1/datasets:rename"): {"json": {"dataset": "closed", "new_name": "closed"}},
    ("DELETE", "/v1/datasets/{dataset:path}"): {},
    ("GET", "/v1/documents"): {"params": {"dataset": "closed"}},
    ("POST", "/v1/documents"): {
        "json": {"dataset": "closed", "documents": [{"uri": "new", "text": "gnu"}]}
    },
    ("POST", "/v1/documents:upload"): {
        "files": {"files": ("new.txt", b"gnu")},
        "data": {"dataset": "closed"},
    },
    ("GET", "/v1/documents:count"): {"params": {"by": "title", "dataset": "closed"}},
    ("POST", "/v1/documents:move"): {"json": {"documents": [SOME_DOCUMENT], "dataset": "closed"}},
    ("GET", "/v1/documents/{document_id:path}"): {},
    ("PATCH", "/v1/documents/{document_id:path}"): {"json": {"metadata": {"year": 2026}}},
    ("DELETE", "/v1/documents/{document_id:path}"): {},
    ("GET", "/v1/documents/{document_id}/pages/{page}.png"): {},
    ("GET", "/v1/documents/{document_id}/boxes"): {"params": {"mark": "0-1"}},
    ("GET", "/v1/documents/{document_id}/original"): {},
    ("GET", "/v1/documents/{document_id}/similar"): {},
    ("POST", "/v1/documents/{document_id}/reread"): {},
    ("GET", "/v1/chunks/{chunk_id}"): {},
    ("GET", "/v1/jobs"): {"params": {"dataset": "closed"}},
    ("GET", "/v1/jobs/{job_id}"): {},
    ("GET", "/search"): {"params": {"query": "zebra"}},
    ("POST", "/ask"): {"json": {"question": "zebra"}},
    ("POST", "/v1/vector_stores/{vector_store_id}/search"): {"json": {"query": "zebra"}},
    ("GET", "/v1/vector_stores"): {},
    ("POST", "/v1/vector_stores"): {"json": {"name": "closed"}},
    ("GET", "/v1/vector_stores/{vector_store_id}"): {},
    ("POST", "/v1/vector_stores/{vector_store_id}"): {"json": {"metadata": {"a": "b"}}},
    ("DELETE", "/v1/vector_stores/{vector_store_id}"): {},
    ("GET", "/v1/vector_stores/{vector_store_id}/files"): {},
    ("POST", "/v1/vector_stores/{vector_store_id}/files"): {"json": {"file_id": "FILE"}},
    ("GET", "/v1/vector_stores/{vector_store_id}/files/{file_id}"): {},
    ("POST", "/v1/vector_stores/{vector_store_id}/files/{file_id}"): {
        "json": {"attributes": {"kind": "closed"}}
    },
    ("DELETE", "/v1/vector_stores/{vector_store_id}/files/{file_id}"): {},
    ("GET", "/v1/vector_stores/{vector_store_id}/files/{file_id}/content"): {},
    ("POST", "/v1/vector_stores/{vector_store_id}/file_batches"): {"json": {"file_ids": ["FILE"]}},
    ("GET", "/v1/vector_stores/{vector_store_id}/file_batches/{batch_id}"): {},
    ("POST", "/v1/vector_stores/{vector_store_id}/file_batches/{batch_id}/cancel"): {},
    ("GET", "/v1/vector_stores/{vector_store_id}/file_batches/{batch_id}/files"): {},
    ("GET", "/v1/files"): {},
    ("POST", "/v1/files"): {
        "files": {"file": ("new.txt", b"gnu")},
        "data": {"purpose": "assistants"},
    },
    ("GET", "/v1/files/{file_id}"): {},
    ("GET", "/v1/files/{file_id}/content"): {},
    ("DELETE", "/v1/files/{file_id}"): {},
    ("GET", "/v1/models"): {},
    ("GET", "/v1/models/{model:path}"): {},
    ("POST", "/v1/embeddings"): {"json": {"input": "zebra", "model": "test/tiny"}},
    ("POST", "/v1/responses"): {
        "json": {
            "model": "openai/any",
            "input": "zebra",
            "tools": [{"type": "file_search", "vector_store_ids": ["closed"]}],
        }
    },
    ("GET", "/metrics"): {},
}
# With errors and a sign-in of their own: test_page.py, test_original.py,
# test_manage.py, test_find.py, test_stages.py, test_status_page.py, test_evaluation_pages.py,
# test_dify.py.
OF_DOCUMENTS = (
    "/document/{document}",
    "/document/{document}/original",
    "/document/{document}/pages/{number}.png",
)
MANAGED = (
    *("/documents", "/documents/upload", "/documents/runs/{run}", "/documents/metadata"),
    *("/documents/runs/{run}/events", "/documents/new-dataset"),
    *(
        "/documents/delete",
        "/documents/delete-dataset",
        "/documents/rename-dataset",
        "/documents/move",
    ),
    *("/documents/reread", "/documents/fetch"),
)
OF_FINDING = ("/comparison.csv", "/comparison.md", "/suggest", "/examples", "/judge", "/judged")
WATCHED = ("/stages", "/status", "/evaluations", "/evaluations/{evaluation}")
OWN_WAY = (
    *("/", *OF_DOCUMENTS, "/login", "/logout", *MANAGED, *OF_FINDING, *WATCHED),
    *("/retrieval", "/dify/retrieval"),
)
WRITES = (("POST", "/v1/documents"), ("POST", "/v1/documents:upload"), ("POST", "/v1/files"))
STORE = "/v1/vector_stores/{vector_store_id}"
STORE_WRITES = (
    ("POST", "/v1/vector_stores"),
    ("POST", STORE),
    ("DELETE", STORE),
    ("POST", f"{STORE}/files"),
    ("POST", f"{STORE}/files/{{file_id}}"),
    ("DELETE", f"{STORE}/files/{{file_id}}"),
    ("POST", f"{STORE}/file_batches"),
    ("POST", f"{STORE}/file_batches/{{batch_id}}/cancel"),
    ("DELETE", "/v1/files/{file_id}"),
    ("POST", "/v1/datasets:rename"),
    ("DELETE", "/v1/datasets/{dataset:path}"),
    ("POST", "/v1/documents:move"),
    ("POST", "/v1/documents/{document_id}/reread"),
)
# Of no dataset: a file that was only sent, and models.
OF_NO_DATASET = (
    ("POST", "/v1/files"),
    ("GET", "/v1/models"),
    ("GET", "/v1/models/{model:path}"),
    ("POST", "/v1/embeddings"),
)
ANSWERED_FOR_ALL = (  # in reach
    *(("GET", "/v1/datasets"), ("GET", "/search"), ("POST", "/ask")),
    *(("GET", "/v1/vector_stores"), ("GET", "/v1/files")),
)
# What a server cannot do that reads no PDF, keeps no file, cancels nothing, has no model, or a
# dataset of the new name.
LACKS = (
    "there is a dataset closed already",
    *("is no PDF", "it was not kept", "is not cancelled here", "no embedder"),
    "no language model is set",
)


def routes() -> list[tuple[str, str]]:
    """Give the method and path of every route that the application has."""
    app = create_http_app(AccessPolicy(Lexichord(), "127.0.0.1", LOOPBACK_NAMES, False))
    contexts = iter_route_contexts(app.routes)
    return [(method, str(each.path)) for each in contexts for method in each.methods or ()]


def send(keyed: Keyed, method: str, path: str, key: str | None) -> httpx.Response:
    ids: dict[str, object] = {"vector_store_id": "closed", "dataset": "closed", "page": 1}
    ids |= {"document_id": keyed.closed_document, "chunk_id": keyed.closed_chunk}
    ids |= {"job_id": keyed.closed_job, "model": "test/tiny/4"}
    ids |= {"file_id": keyed.closed_file, "batch_id": keyed.closed_batch}
    with keyed.server.client(key) as client:
        return client.request(method, place(path, ids), **about(method, path, keyed))


def place(path: str, ids: dict[str, object]) -> str:
    return path.replace(":path", "").format(**ids)


def about(method: str, path: str, keyed: Keyed) -> dict[str, Any]:
    """Give a route's request, with the file or document that it names."""
    options = ASKED[method, path]
    if "files" in options:
        return options
    named = json.dumps(options).replace("FILE", keyed.closed_file)
    given: dict[str, Any] = json.loads(named.replace(SOME_DOCUMENT, keyed.closed_document))
    return given


def test_no_route_is_forgotten_here() -> None:
    assert {each for each in routes() if each[1] not in OWN_WAY} - OPEN == {*ASKED}


@pytest.mark.parametrize(("method", "path"), ASKED)
@pytest.mark.parametrize("which", ["none", "wrong", "revoked"])
def test_nobody_comes_in_without_a_valid_key(
    keyed: Keyed, method: str, path: str, which: str
) -> None:
    key = {"none": None, "wrong": "lx_wrong", "revoked": keyed.revoked}[which]
    answer = send(keyed, method, path, key)
    assert answer.status_code == 401, answer.text
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.json()["error"]["type"] == "authentication_error"


@pytest.mark.parametrize(("method", "path"), [each for each in ASKED if each not in WRITES])
def test_a_key_for_all_reaches_all(keyed: Keyed, method: str, path: str) -> None:
    if method == "DELETE":
        pytest.skip("what is there is needed by others")
    answer = send(keyed, method, path, keyed.everything)
    lacks = any(each in answer.text for each in LACKS)
    assert answer.status_code == 200 or lacks, answer.text


@pytest.mark.parametrize(
    ("method", "path"), [each for each in ASKED if each not in ANSWERED_FOR_ALL + OF_NO_DATASET]
)
@pytest.mark.parametrize("which", ["reader", "writer"])
def test_a_key_of_another_dataset_reaches_nothing(
    keyed: Keyed, method: str, path: str, which: str
) -> None:
    answer = send(keyed, method, path, getattr(keyed, which))
    if "{" in path and STORE not in path and method == "GET":
        assert answer.status_code == 404
    assert answer.status_code in (403, 404), answer.text
    assert "zebra of closed" not in answer.text


@pytest.mark.parametrize(("method", "path"), ANSWERED_FOR_ALL)
def test_a_key_of_one_dataset_sees_that_one(keyed: Keyed, method: str, path: str) -> None:
    answer = send(keyed, method, path, keyed.reader)
    assert answer.status_code == 200
    assert "closed" not in answer.text
    everything = send(keyed, method, path, keyed.everything)
    assert len(everything.text) > len(answer.text)  # there is more to be seen


@pytest.mark.parametrize(
    ("method", "path"), [*WRITES, ("DELETE", "/v1/documents/{document_id:path}")]
)
def test_a_key_that_reads_writes_nothing(keyed: Keyed, method: str, path: str) -> None:
    requests = {
        "/v1/documents": {"json": {"dataset": "open", "documents": [{"uri": "n", "text": "gnu"}]}},
        "/v1/documents:upload": {
            "files": {"files": ("new.txt", b"gnu")},
            "data": {"dataset": "open"},
        },
        "/v1/files": ASKED["POST", "/v1/files"],
    }
    with keyed.server.client(keyed.reader) as client:
        (row,) = client.get("/v1/documents", params={"uri_prefix": "open/nda"}).json()["documents"]
        address = place(path, {"document_id": row["document_id"]})
        answer = client.request(method, address, **requests.get(path, {}))  # type: ignore[arg-type]
        assert answer.status_code == 403, answer.text
        assert answer.json()["error"]["type"] == "permission_error"
        assert client.get(f"/v1/documents/{row['document_id']}").status_code == 200


@pytest.mark.parametrize(("method", "path"), STORE_WRITES)
def test_a_key_that_reads_changes_no_store(keyed: Keyed, method: str, path: str) -> None:
    with keyed.server.client(keyed.reader) as client:
        (row,) = client.get("/v1/documents", params={"uri_prefix": "open/nda"}).json()["documents"]
        ids: dict[str, object] = {"vector_store_id": "open", "dataset": "open"}
        ids["file_id"] = row["document_id"]
        ids |= {"document_id": row["document_id"]}
        options = about(method, path, keyed)
        answer = client.request(method, place(path, {**ids, "batch_id": "vsfb_1"}), **options)
        assert answer.status_code == 403, answer.text
        assert answer.json()["error"]["type"] == "permission_error"
        assert client.get(f"/v1/documents/{row['document_id']}").status_code == 200


def test_a_body_is_not_read_before_the_key(keyed: Keyed) -> None:
    """A stranger's body is neither parsed nor kept on the disk, whatever it is."""
    with keyed.server.client() as client:
        sent = client.post("/v1/search", content=b"{", headers={"content-type": "application/json"})
        assert sent.status_code == 401
        assert client.post("/v1/documents:upload", content=b"no form").status_code == 401


def test_a_key_may_be_revoked_while_the_server_runs(keyed: Keyed) -> None:
    with SyncLexichord(dsn=keyed.dsn, home=keyed.home) as lexichord:
        created = lexichord.create_key("Ed")
        with keyed.server.client(created.secret) as client:
            assert client.get("/v1/datasets").status_code == 200
            lexichord.revoke_key(created.key.key_id)
            assert client.get("/v1/datasets").status_code == 401


def test_numbers_are_for_keys_that_reach_all(keyed: Keyed) -> None:
    assert send(keyed, "GET", "/metrics", keyed.reader).status_code == 403


@pytest.fixture
def stranger(keyed: Keyed) -> Iterator[httpx.Client]:
    with keyed.server.client() as client:
        yield client


def test_probes_and_the_description_need_no_key(stranger: httpx.Client) -> None:
    for method, path in OPEN:
        assert stranger.request(method, path).status_code == 200
