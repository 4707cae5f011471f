"""Every route, asked by a tenant: what others store, and whether it is there, changes no answer."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from lexichord import SyncLexichord
from lexichord.errors import ConfigError
from tests.conftest import SPACE, new_database
from tests.http.conftest import DOCUMENTS, places
from tests.http.served import Served, serve
from tests.http.server import refused
from tests.http.test_keys import (
    ANSWERED_FOR_ALL,
    ASKED,
    LACKS,
    OF_NO_DATASET,
    PAGES,
    STORE_WRITES,
    WRITES,
)

ROLE = f"http_server_{os.getpid()}"
MISSING = 10**12
MANAGED = {path for _, path in PAGES if path.startswith("/documents")}
NUMBERS_OF_ALL = ("GET", "/metrics")
REFUSED = (*WRITES, *STORE_WRITES, NUMBERS_OF_ALL)
ALIKE = (*ANSWERED_FOR_ALL, *OF_NO_DATASET, ("GET", "/v1/jobs"), NUMBERS_OF_ALL)
OF_BATCHES = tuple(key for key in ASKED if "{batch_id}" in key[1])  # a tenant sends no files
CHANGES = (  # of what a key of a tenant reads alone
    *(("DELETE", "/v1/documents/{document_id}"), ("PATCH", "/v1/documents/{document_id}")),
    ("DELETE", "/v1/jobs/{job_id}"),
)
TIMES = re.compile(r'"[a-z_]*(ms|seconds)":(\s*[\d.]+|\{[^}]+\})|[\d.]+ ms')


class Shared(Served):
    """Tenants `open` and `closed` on one server, a key of each, and ids of each by their places."""

    owner: SyncLexichord
    ids: dict[str, dict[str, object]]


@pytest.fixture(scope="module")
def shared(bare: str, home: Path) -> Iterator[Shared]:
    with (
        new_database(bare, copy_of=bare) as dsn,
        psycopg.connect(dsn, autocommit=True) as connection,
        SyncLexichord(dsn=dsn, home=home) as owner,
    ):
        owner.turn_tenants_on()
        connection.execute(f"create role {ROLE} login in role lexichord_server".encode())
        try:
            keys, ids = {}, {}
            for name, documents in DOCUMENTS.items():
                owner.add_tenant(name, datasets=[name])
                owner.ingest(documents=documents, dataset=name)
                keys[name] = owner.create_key(name, tenant=name).secret
                ids[name] = places(owner, name)
                ids[name]["batch_id"] = f"vsfb_{ids[name]['job_id']}"
            write = owner.core.database.ids.write
            of_document = dict.fromkeys(
                ("document_id", "document", "file_id"), write("doc", MISSING)
            )
            ids["nowhere"] = {**ids["open"], **of_document, "vector_store_id": "nowhere"}
            ids["nowhere"] |= {"chunk_id": write("chunk", MISSING), "batch_id": f"vsfb_{MISSING}"}
            ids["nowhere"] |= dict.fromkeys(("job_id", "run"), MISSING)
            with serve(as_role(dsn), home=home) as served:
                shared = Shared(served.url, keys, served.lexichord)
                shared.owner, shared.ids = owner, ids
                yield shared
                shared.close()
        finally:
            connection.execute(f"drop owned by {ROLE}; drop role {ROLE}".encode())


def as_role(dsn: str) -> str:
    return psycopg.conninfo.make_conninfo(dsn, user=ROLE)


def send(shared: Shared, about: str, method: str, path: str) -> httpx.Response:
    """Ask, as tenant `open`, for what is of a tenant, or is nowhere."""
    options: dict[str, Any] = ASKED[method, path]
    if "json" in options or "params" in options:
        options = json.loads(json.dumps(options).replace("closed", about))
    place = path.replace(":path", "").format(**shared.ids[about])
    return shared.by("open").request(method, place, **options)


def without_ids(shared: Shared, text: str) -> str:
    """Write an answer without what it was asked for, and without times."""
    for about, ids in shared.ids.items():
        for each in (*map(str, ids.values()), about):
            text = text.replace(each, "?") if len(each) > 3 else text
    return re.sub(r"job \d+", "job ?", TIMES.sub("0", text))


@pytest.mark.parametrize(("method", "path"), ASKED)
def test_what_is_anothers_is_as_what_is_nowhere(shared: Shared, method: str, path: str) -> None:
    anothers = send(shared, "closed", method, path)
    nowhere = send(shared, "nowhere", method, path)
    assert anothers.status_code == nowhere.status_code
    assert without_ids(shared, anothers.text) == without_ids(shared, nowhere.text)
    assert "zebra of closed" not in anothers.text
    if (method, path) not in ALIKE:
        assert anothers.status_code in (403, 404), anothers.text


@pytest.mark.parametrize(
    ("method", "path"), [each for each in ASKED if each not in REFUSED + OF_BATCHES]
)
def test_what_is_its_own_is_found(shared: Shared, method: str, path: str) -> None:
    answer = send(shared, "open", method, path)
    if (method, path) in CHANGES:
        assert answer.status_code == 403
    else:
        assert answer.status_code == 200 or any(each in answer.text for each in LACKS), answer.text
        named = "zebra" in answer.text or "open" in answer.text or "nda.txt" in answer.text
        elsewhere = any(each in path for each in ("/documents", "/files", "/responses"))
        assert named or elsewhere or (method, path) in OF_NO_DATASET
    assert "closed" not in answer.text


@pytest.mark.parametrize(("method", "path"), REFUSED)
def test_what_is_of_all_or_written_is_refused(shared: Shared, method: str, path: str) -> None:
    assert send(shared, "open", method, path).status_code == 403


@pytest.mark.parametrize("path", sorted(MANAGED))
def test_pages_that_change_something_are_refused_alike(shared: Shared, path: str) -> None:
    for method, part in (("GET", "params"), ("POST", "data")):
        told = set[str]()
        for name, ids in shared.ids.items():
            options: Any = {part: {"dataset": name, "document": ids["document_id"]}}
            answer = shared.by("open").request(method, path.format(**ids), **options)
            assert answer.status_code in (403, 405), answer.text
            assert "zebra" not in answer.text
            told.add(answer.text)
        assert len(told) == 1


def test_what_others_store_changes_no_answer(shared: Shared) -> None:
    kept = [key for key in ASKED if key not in (*REFUSED, *CHANGES)]

    def answers() -> dict[str, str]:
        texts = {str(key): send(shared, "open", *key).text for key in kept}
        own = r'"request_id":"[^"]+"'
        return {key: TIMES.sub("0", re.sub(own, "", text)) for key, text in texts.items()}

    before = answers()
    stored = [
        {
            "uri": f"closed/{number}.txt",
            "chunks": [
                {"content": f"zebra zebra gnu {number} " * number, "vector": [1.0, 0.0, 0.1, 0.0]}
            ],
            "space": str(SPACE),
            "metadata": {"kind": "open", "number": number},
        }
        for number in range(1, 31)
    ]
    shared.owner.ingest(documents=stored, dataset="closed")
    after = answers()
    assert [name for name in before if before[name] != after[name]] == []
    found = shared.by("closed").post("/v1/search", json={"query": "gnu", "k": 20}).json()
    assert len(found["hits"]) == 20


def test_keys_say_whom_they_serve(shared: Shared) -> None:
    nobodys = shared.owner.create_key("nobody").secret
    answer = shared.by(nobodys).get("/v1/datasets")
    assert answer.status_code == 401
    assert "tenants are on, and this key is of none" in answer.text
    assert shared.by().get("/v1/datasets").status_code == 401  # though only this machine can come
    with pytest.raises(ConfigError, match="a tenant's key only reads"):
        shared.owner.create_key("w", tenant="open", writes=True)


def test_principals_of_a_key_open_documents(shared: Shared) -> None:
    document = {
        "uri": "open/law.txt",
        "chunks": [{"content": "okapi", "vector": [0.0, 1.0, 0.0, 0.0]}],
        "space": str(SPACE),
        "metadata": {"principals": ["legal"]},
    }
    shared.owner.ingest(documents=[document], dataset="open")
    lawyer = shared.owner.create_key("l", tenant="open", principals=["us", "legal"]).secret
    for key, sees in (("open", False), (lawyer, True)):
        hits = shared.by(key).post("/v1/search", json={"query": "okapi"}).json()["hits"]
        assert ("open/law.txt" in {hit["uri"] for hit in hits}) == sees


def test_the_owner_and_a_replica_are_refused(shared: Shared) -> None:
    dsn = shared.owner.core.database.dsn
    for command in (["serve"], ["mcp", "--http"], ["mcp"]):
        line = refused(*command, dsn=dsn)
        assert "the role of the DSN sees all of them: make a login role" in line
    assert "leave LEXICHORD_READ_DSN out" in refused("serve", dsn=as_role(dsn), read_dsn=dsn)
