"""Every route, asked by a tenant: what others store, and whether it is there, changes no answer."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from lexichord import SyncLexichord
from lexichord.db import schema
from lexichord.errors import ConfigError
from tests.conftest import ROOT, SPACE, new_database
from tests.http.conftest import DOCUMENTS
from tests.http.server import Server
from tests.http.test_keys import (
    ANSWERED_FOR_ALL,
    ASKED,
    LACKS,
    MANAGED,
    OF_NO_DATASET,
    STORE_WRITES,
    WRITES,
    place,
)

ROLE = f"http_server_{os.getpid()}"
MISSING = 10**12
NUMBERS_OF_ALL = ("GET", "/metrics")
REFUSED = (*WRITES, *STORE_WRITES, NUMBERS_OF_ALL)
ALIKE = (*ANSWERED_FOR_ALL, *OF_NO_DATASET, ("GET", "/v1/jobs"), NUMBERS_OF_ALL)
OF_BATCHES = tuple(key for key in ASKED if "{batch_id}" in key[1])  # a tenant sends no files
DELETES = ("DELETE", "/v1/documents/{document_id:path}")
CHANGES = ("PATCH", "/v1/documents/{document_id:path}")
TIMES = re.compile(r'"[a-z_]*(ms|seconds)":(\s*[\d.]+|\{[^}]+\})|[\d.]+ ms')


@dataclass(frozen=True)
class Shared:
    """Tenants `open` and `closed` on one server, a key of each, and ids of each by their places."""

    server: Server
    owner: SyncLexichord
    keys: dict[str, str]
    ids: dict[str, dict[str, object]]


@pytest.fixture(scope="module")
def shared(embedded_dsn: str, home: Path) -> Iterator[Shared]:
    with new_database(embedded_dsn) as dsn:
        schema.prepare(dsn, schema.Choice("plain", "english", SPACE))
        with (
            psycopg.connect(dsn, autocommit=True) as connection,
            SyncLexichord(dsn=dsn, home=home) as owner,
        ):
            owner.turn_tenants_on()
            connection.execute(f"create role {ROLE} login in role lexichord_server".encode())
            try:
                keys, ids = {}, {}
                for name, document in DOCUMENTS.items():
                    owner.add_tenant(name, datasets=[name])
                    owner.ingest(documents=[document], dataset=name)
                    keys[name] = owner.create_key(name, tenant=name).secret
                    ids[name] = places(owner, name)
                write = owner.core.database.ids.write
                ids["nowhere"] = {"vector_store_id": "nowhere", "page": 1, "job_id": MISSING}
                ids["nowhere"] |= {"document_id": write("doc", MISSING), "model": "test/tiny/4"}
                ids["nowhere"] |= {"file_id": write("doc", MISSING), "batch_id": f"vsfb_{MISSING}"}
                ids["nowhere"] |= {"chunk_id": write("chunk", MISSING)}
                with Server(as_role(dsn), home) as server:
                    yield Shared(server, owner, keys, ids)
            finally:
                connection.execute(f"drop owned by {ROLE}; drop role {ROLE}".encode())


def as_role(dsn: str) -> str:
    return psycopg.conninfo.make_conninfo(dsn, user=ROLE)


def places(owner: SyncLexichord, name: str) -> dict[str, object]:
    (row,) = owner.list(datasets=[name])
    (job,) = (run for run in owner.status().runs if run.dataset == name)
    found: dict[str, object] = {"vector_store_id": name, "page": 1, "job_id": job.run_id}
    chunk = owner.show(row.document_id).chunks[0].chunk_id
    found |= {"batch_id": f"vsfb_{job.run_id}", "model": "test/tiny/4"}
    own = row.document_id
    return found | {"document_id": own, "file_id": own, "chunk_id": chunk}


def send(shared: Shared, asker: str, about: str, method: str, path: str) -> httpx.Response:
    """Ask, as one tenant, for what is another's, or is nowhere."""
    options: dict[str, Any] = ASKED[method, path]
    if "json" in options or "params" in options:
        options = json.loads(json.dumps(options).replace("closed", about))
    with shared.server.client(shared.keys[asker]) as client:
        return client.request(method, place(path, shared.ids[about]), **options)


def without_ids(shared: Shared, text: str) -> str:
    """Write an answer without what it was asked for, and without times."""
    for about, ids in shared.ids.items():
        for each in (*map(str, ids.values()), about):
            text = text.replace(each, "?") if len(each) > 3 else text
    return re.sub(r"job \d+", "job ?", TIMES.sub("0", text))


@pytest.mark.parametrize(("method", "path"), ASKED)
def test_what_is_anothers_is_as_what_is_nowhere(shared: Shared, method: str, path: str) -> None:
    anothers = send(shared, "open", "closed", method, path)
    nowhere = send(shared, "open", "nowhere", method, path)
    assert anothers.status_code == nowhere.status_code
    assert without_ids(shared, anothers.text) == without_ids(shared, nowhere.text)
    assert "zebra of closed" not in anothers.text
    if (method, path) not in ALIKE:
        assert anothers.status_code in (403, 404), anothers.text


@pytest.mark.parametrize(
    ("method", "path"), [each for each in ASKED if each not in REFUSED + OF_BATCHES]
)
def test_what_is_its_own_is_found(shared: Shared, method: str, path: str) -> None:
    answer = send(shared, "open", "open", method, path)
    if (method, path) in (DELETES, CHANGES):
        assert answer.status_code == 403
    else:
        assert answer.status_code == 200 or any(each in answer.text for each in LACKS), answer.text
        named = "zebra" in answer.text or "open" in answer.text or "nda.txt" in answer.text
        elsewhere = any(each in path for each in ("/documents", "/files", "/responses"))
        assert named or elsewhere or (method, path) in OF_NO_DATASET
    assert "closed" not in answer.text


@pytest.mark.parametrize(("method", "path"), REFUSED)
def test_what_is_of_all_or_written_is_refused(shared: Shared, method: str, path: str) -> None:
    assert send(shared, "open", "open", method, path).status_code == 403


@pytest.mark.parametrize("path", MANAGED)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_pages_that_change_something_are_refused_alike(
    shared: Shared, method: str, path: str
) -> None:
    told = set[str]()
    with shared.server.client(shared.keys["open"]) as client:
        origin = {"origin": shared.server.url}
        for name, ids in shared.ids.items():
            asked = {"dataset": name, "document": str(ids["document_id"])}
            options: dict[str, Any] = {"params" if method == "GET" else "data": asked}
            place = path.format(run=ids["job_id"])
            answer = client.request(method, place, headers=origin, **options)
            assert answer.status_code in (403, 405), answer.text
            assert "zebra" not in answer.text
            told.add(answer.text)
    assert len(told) == 1


def test_what_others_store_changes_no_answer(shared: Shared) -> None:
    def answers() -> dict[str, str]:
        return {
            f"{method} {path}": TIMES.sub(
                "0", re.sub(r'"request_id":"[^"]+"', "", send(shared, "open", "open", *key).text)
            )
            for key in ASKED
            if key not in (*REFUSED, DELETES, CHANGES)
            for method, path in [key]
        }

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
    with shared.server.client(shared.keys["closed"]) as client:
        found = client.post("/v1/search", json={"query": "gnu", "k": 20}).json()
    assert len(found["hits"]) == 20


def test_keys_say_whom_they_serve(shared: Shared) -> None:
    nobodys = shared.owner.create_key("nobody").secret
    with shared.server.client(nobodys) as client:
        answer = client.get("/v1/datasets")
        assert answer.status_code == 401
        assert "tenants are on, and this key is of none" in answer.text
    with shared.server.client() as client:
        assert client.get("/v1/datasets").status_code == 401  # though only this machine can come
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
    for key, sees in ((shared.keys["open"], False), (lawyer, True)):
        with shared.server.client(key) as client:
            hits = client.post("/v1/search", json={"query": "okapi"}).json()["hits"]
            assert ("open/law.txt" in {hit["uri"] for hit in hits}) == sees


@pytest.mark.parametrize("command", [["serve"], ["mcp", "--http"], ["mcp"]])
def test_the_owner_is_refused(shared: Shared, command: list[str]) -> None:
    refused = serve(command, LEXICHORD_DSN=shared.owner.core.database.dsn)
    assert "the role of the DSN sees all of them: make a login role" in refused


def test_a_replica_is_refused(shared: Shared) -> None:
    dsn = shared.owner.core.database.dsn
    refused = serve(["serve"], LEXICHORD_DSN=as_role(dsn), LEXICHORD_READ_DSN=dsn)
    assert "leave LEXICHORD_READ_DSN out" in refused


def serve(command: list[str], **environment: str) -> str:
    """Give what a server that does not start writes."""
    result = subprocess.run(
        [sys.executable, "-m", "lexichord", *command],
        cwd=ROOT,
        env=os.environ | {"COLUMNS": "400"} | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert result.returncode != 0
    return result.stderr
