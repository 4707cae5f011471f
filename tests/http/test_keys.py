"""Every route over the wire with every kind of key: a new one cannot be forgotten."""

import json
from collections.abc import Sequence
from dataclasses import fields
from time import monotonic, sleep
from typing import Any

import httpx
import pytest
from fastapi.routing import iter_route_contexts

from lexichord import Lexichord, SyncLexichord
from lexichord.serve.access import LOOPBACK_NAMES, AccessPolicy
from lexichord.serve.http.app import create_http_app
from lexichord.serve.page.form import SearchForm
from lexichord.types.base import ID_EXAMPLE
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
NEW, FILE = {"uri": "new", "text": "gnu"}, ("new.txt", b"gnu")
MAX_STORING_SECONDS = 20
ATTRIBUTES = {"attributes": {"kind": "closed"}}
TOOL = {"type": "file_search", "vector_store_ids": ["closed"]}
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
    ("POST", "/v1/documents"): {"json": {"dataset": "closed", "documents": [NEW]}},
    ("POST", "/v1/documents:upload"): {"files": {"files": FILE}, "data": {"dataset": "closed"}},
    ("GET", "/v1/documents:count"): {"params": {"by": "title", "dataset": "closed"}},
    ("POST", "/v1/documents:move"): {"json": {"documents": [SOME_DOCUMENT], "dataset": "closed"}},
    ("GET", "/v1/documents/{document_id:path}"): {},
    ("PATCH", "/v1/documents/{document_id}"): {"json": {"metadata": {"year": 2026}}},
    ("DELETE", "/v1/documents/{document_id}"): {},
    ("GET", "/v1/documents/{document_id}/pages/{page}.png"): {},
    ("GET", "/v1/documents/{document_id}/boxes"): {"params": {"mark": "0-1"}},
    ("GET", "/v1/documents/{document_id}/original"): {},
    ("GET", "/v1/documents/{document_id}/similar"): {},
    ("POST", "/v1/documents/{document_id}/reread"): {},
    ("GET", "/v1/chunks/{chunk_id}"): {},
    ("GET", "/v1/jobs"): {"params": {"dataset": "closed"}},
    ("GET", "/v1/jobs/{job_id}"): {},
    ("DELETE", "/v1/jobs/{job_id}"): {},
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
    ("POST", "/v1/vector_stores/{vector_store_id}/files/{file_id}"): {"json": ATTRIBUTES},
    ("DELETE", "/v1/vector_stores/{vector_store_id}/files/{file_id}"): {},
    ("GET", "/v1/vector_stores/{vector_store_id}/files/{file_id}/content"): {},
    ("POST", "/v1/vector_stores/{vector_store_id}/file_batches"): {"json": {"file_ids": ["FILE"]}},
    ("GET", "/v1/vector_stores/{vector_store_id}/file_batches/{batch_id}"): {},
    ("POST", "/v1/vector_stores/{vector_store_id}/file_batches/{batch_id}/cancel"): {},
    ("GET", "/v1/vector_stores/{vector_store_id}/file_batches/{batch_id}/files"): {},
    ("GET", "/v1/files"): {},
    ("POST", "/v1/files"): {"files": {"file": FILE}, "data": {"purpose": "assistants"}},
    ("GET", "/v1/files/{file_id}"): {},
    ("GET", "/v1/files/{file_id}/content"): {},
    ("DELETE", "/v1/files/{file_id}"): {},
    ("GET", "/v1/models"): {},
    ("GET", "/v1/models/{model:path}"): {},
    ("POST", "/v1/embeddings"): {"json": {"input": "zebra", "model": "test/tiny"}},
    ("POST", "/v1/responses"): {"json": {"model": "openai/any", "input": "zebra", "tools": [TOOL]}},
    ("GET", "/metrics"): {},
}
# Of each page what it reads of its address, and of each form that is sent to one its fields; they
# have errors and a sign-in of their own: test_page.py, test_original.py, test_manage.py, …
ASK = tuple(each.name for each in fields(SearchForm))
MARKS = ("part", "page", "start", "end", "also", "answer")
PAGES: dict[tuple[str, str], Sequence[str]] = {
    **{("GET", path): ASK for path in ("/comparison.csv", "/comparison.md", "/suggest", "/stages")},
    ("GET", "/"): (*ASK, "facets"),
    ("GET", "/judged"): (*ASK, "judgment"),
    ("GET", "/document/{document}"): MARKS,
    ("GET", "/document/{document}/original"): MARKS,
    ("GET", "/document/{document}/pages/{number}.png"): (),
    ("GET", "/documents"): ("dataset", "page"),
    ("GET", "/documents/runs/{run}"): (),
    ("GET", "/documents/runs/{run}/events"): (),
    **{("GET", f"/documents/{name}"): ("document",) for name in ("delete", "move", "reread")},
    ("GET", "/documents/metadata"): ("document",),
    **{("GET", f"/documents/{name}-dataset"): ("dataset",) for name in ("delete", "rename")},
    ("GET", "/evaluations"): (),
    ("GET", "/evaluations/{evaluation}"): ("by",),
    ("GET", "/status"): ("check",),
    ("GET", "/examples"): (),
    ("GET", "/login"): (),
    ("POST", "/login"): ("key", "back"),
    ("POST", "/logout"): (),
    ("POST", "/judge"): ("judgment", "query", "asked"),
    ("POST", "/documents/upload"): ("dataset", "keep"),
    ("POST", "/documents/fetch"): ("dataset", "urls"),
    ("POST", "/documents/new-dataset"): ("dataset",),
    ("POST", "/documents/delete"): ("document", "dataset"),
    ("POST", "/documents/delete-dataset"): ("dataset",),
    ("POST", "/documents/rename-dataset"): ("dataset", "new_name"),
    ("POST", "/documents/move"): ("document", "dataset"),
    ("POST", "/documents/reread"): ("document",),
    ("POST", "/documents/metadata"): ("document", "metadata", "before"),
}
DIFY = {("POST", "/retrieval"), ("POST", "/dify/retrieval")}  # test_dify.py
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


def routes() -> set[tuple[str, str]]:
    """Give the method and path of every route that the application has, but HEAD of pages."""
    app = create_http_app(AccessPolicy(Lexichord(), "127.0.0.1", LOOPBACK_NAMES, False))
    contexts = iter_route_contexts(app.routes)
    found = {(method, str(each.path)) for each in contexts for method in each.methods or ()}
    return {each for each in found if each[0] != "HEAD" or each in OPEN}


def send(keyed: Keyed, method: str, path: str, key: str | None) -> httpx.Response:
    """Ask a route once what an earlier request stores is stored."""
    place = path.replace(":path", "").format(**keyed.ids)
    deadline = monotonic() + MAX_STORING_SECONDS
    while True:
        response = keyed.by(key).request(method, place, **about(method, path, keyed))
        if "is in_progress" not in response.text or monotonic() > deadline:
            return response
        sleep(0.05)


def about(method: str, path: str, keyed: Keyed) -> dict[str, Any]:
    """Give a route's request, with the file or document that it names."""
    options = ASKED[method, path]
    if "files" in options:
        return options
    named = json.dumps(options).replace("FILE", str(keyed.ids["file_id"]))
    given: dict[str, Any] = json.loads(named.replace(SOME_DOCUMENT, str(keyed.ids["document_id"])))
    return given


def test_no_route_is_forgotten_here() -> None:
    assert routes() - OPEN - DIFY - PAGES.keys() == {*ASKED}


@pytest.mark.parametrize(("method", "path"), ASKED)
def test_each_key_reaches_what_is_its(keyed: Keyed, method: str, path: str) -> None:
    for key in (None, "lx_wrong", "revoked"):
        answer = send(keyed, method, path, key)
        assert answer.status_code == 401, answer.text
        assert answer.headers["www-authenticate"] == "Bearer"
        assert answer.json()["error"]["type"] == "authentication_error"
    if (method, path) not in ANSWERED_FOR_ALL + OF_NO_DATASET:
        for key in ("reader", "writer"):
            answer = send(keyed, method, path, key)
            if "{" in path and STORE not in path and method == "GET":
                assert answer.status_code == 404
            assert answer.status_code in (403, 404), answer.text
            assert "zebra of closed" not in answer.text
    if (method, path) not in WRITES and method != "DELETE":  # what is there is needed by others
        answer = send(keyed, method, path, "everything")
        lacks = any(each in answer.text for each in LACKS)
        assert answer.status_code == 200 or lacks, answer.text


@pytest.mark.parametrize(("method", "path"), ANSWERED_FOR_ALL)
def test_a_key_of_one_dataset_sees_that_one(keyed: Keyed, method: str, path: str) -> None:
    answer = send(keyed, method, path, "reader")
    assert answer.status_code == 200
    assert "closed" not in answer.text
    everything = send(keyed, method, path, "everything")
    assert len(everything.text) > len(answer.text)  # there is more to be seen


@pytest.mark.parametrize(
    ("method", "path"), [*WRITES, *STORE_WRITES, ("DELETE", "/v1/documents/{document_id}")]
)
def test_a_key_that_reads_writes_nothing(keyed: Keyed, method: str, path: str) -> None:
    client = keyed.by("reader")
    (row,) = client.get("/v1/documents", params={"uri_prefix": "open/nda"}).json()["documents"]
    own = row["document_id"]
    ids = {
        "vector_store_id": "open",
        "dataset": "open",
        "file_id": own,
        "document_id": own,
        "batch_id": "vsfb_1",
    }
    options = about(method, path, keyed)
    if path in ("/v1/documents", "/v1/documents:upload"):
        part = "json" if path == "/v1/documents" else "data"
        options = {**options, part: {**options[part], "dataset": "open"}}
    answer = client.request(method, path.replace(":path", "").format(**ids), **options)
    assert answer.status_code == 403, answer.text
    assert answer.json()["error"]["type"] == "permission_error"
    assert client.get(f"/v1/documents/{own}").status_code == 200


def test_a_body_is_not_read_before_the_key(keyed: Keyed) -> None:
    """A stranger's body is neither parsed nor kept on the disk, whatever it is."""
    json_type = {"content-type": "application/json"}
    for path, headers in (("/v1/search", json_type), ("/v1/documents:upload", {})):
        assert keyed.by().post(path, content=b"{", headers=headers).status_code == 401


def test_a_key_may_be_revoked_while_the_server_runs(keyed: Keyed) -> None:
    with SyncLexichord(dsn=keyed.dsn) as elsewhere:
        created = elsewhere.create_key("Ed")
        assert keyed.by(created.secret).get("/v1/datasets").status_code == 200
        elsewhere.revoke_key(created.key.key_id)
        assert keyed.by(created.secret).get("/v1/datasets").status_code == 401


def test_probes_and_the_description_need_no_key(keyed: Keyed) -> None:
    for method, path in OPEN:
        assert keyed.by().request(method, path).status_code == 200
