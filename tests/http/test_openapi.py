"""The OpenAPI document: complete, and true of what the server does."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lexichord import SyncLexichord
from tests.http.conftest import DOCUMENTS, Keyed
from tests.http.served import fill
from tests.http.server import Server
from tests.listening import PATIENCE

METHODS = ("get", "post", "patch", "delete")
PROBES = ("/healthz", "/readyz")
DIFY = ("/retrieval", "/dify/retrieval")  # whose errors are of Dify's shape: test_dify.py


@pytest.fixture(scope="session")
def document(keyed: Keyed) -> dict[str, Any]:
    schema: dict[str, Any] = keyed.by().get("/openapi.json").json()
    return schema


def operations(document: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (method, path, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]


def holds_example(document: dict[str, Any], part: Any) -> bool:
    """Tell whether a part of the document, or what it refers to, gives an example."""
    if isinstance(part, list):
        return any(holds_example(document, each) for each in part)
    if not isinstance(part, dict):
        return False
    if {"example", "examples"} & part.keys():
        return True
    if "$ref" in part:
        name = part["$ref"].rpartition("/")[2]
        return holds_example(document, document["components"]["schemas"][name])
    return any(holds_example(document, each) for each in part.values())


def test_every_operation_is_named_described_and_shown(document: dict[str, Any]) -> None:
    listed = operations(document)
    ids = [operation["operationId"] for _, _, operation in listed]
    assert len(set(ids)) == len(ids)
    for method, path, operation in listed:
        assert method in METHODS
        assert operation["summary"], path
        assert operation["description"].endswith("."), path
        assert operation["tags"], path
        shown = [operation.get(name, {}) for name in ("parameters", "requestBody", "responses")]
        assert holds_example(document, shown), path


def test_every_error_and_result_is_described(document: dict[str, Any]) -> None:
    for _, path, operation in operations(document):
        answers = operation["responses"]
        result = next(answers[status] for status in answers if status.startswith("2"))
        if path.endswith(".png"):
            assert list(result["content"]) == ["image/png"]
        elif path.endswith("/original") or path == "/v1/files/{file_id}/content":
            assert list(result["content"]) == ["application/octet-stream"]
        elif path != "/metrics":
            assert "$ref" in str(result["content"]["application/json"]), path
        if path in PROBES + DIFY:
            continue
        assert {"400", "401", "403", "404", "413", "422", "429", "503", "504"} <= answers.keys()
        for status, answer in answers.items():
            if not status.startswith("2"):
                shape = answer["content"]["application/json"]["schema"]["$ref"]
                assert shape.endswith("/ErrorBody"), (path, status)


def test_the_document_says_that_a_key_is_needed(document: dict[str, Any]) -> None:
    for _, path, operation in operations(document):
        assert bool(operation.get("security")) == (path not in PROBES), path
    (scheme,) = document["components"]["securitySchemes"].values()
    assert (scheme["type"], scheme["scheme"]) == ("http", "bearer")


# What is of the right form may still make no sense here, or not be there.
CONFIG = """
[checks.positive_data_acceptance]
expected-statuses = ["2xx", "400", "404"]

# On a busy machine, ingests under way may take all places for long.
[[operations]]
include-path-regex = "/v1/documents(:upload)?$"

[operations.checks.positive_data_acceptance]
expected-statuses = ["2xx", "400", "404", "429"]

# No schema can say how long all texts may be together.
[[operations]]
include-path-regex = "/v1/embeddings$"

[operations.checks.positive_data_acceptance]
expected-statuses = ["2xx", "400", "404", "413"]

[operations.checks.negative_data_rejection]
expected-statuses = ["400", "401", "403", "404", "413", "422", "429"]

# A store that was just made is there: what is not, is the file that the request names.
[[operations]]
include-path-regex = "/vector_stores/.*/(files|file_batches)$"

[operations.checks.ensure_resource_availability]
enabled = false

# Dify's specification has 403 for a key that is missing; the check knows 401 only.
[[operations]]
include-path-regex = "/retrieval$"

[operations.checks.missing_required_header]
enabled = false
"""


def test_schemathesis_finds_nothing(fresh: str, home: Path, tmp_path: Path) -> None:
    """All its checks, in all its phases; it writes and deletes, so on a database of its own."""
    fill(fresh, DOCUMENTS)
    with SyncLexichord(dsn=fresh, home=home) as lexichord:
        secret = lexichord.create_key("Ann", writes=True, deletes=True).secret
    (tmp_path / "schemathesis.toml").write_text(CONFIG)
    program = Path(sys.executable).with_name("schemathesis")
    how = ["-n", "5", "--workers", "2", "--generation-deterministic", "--no-color"]
    how += ["--continue-on-failure", "--request-timeout", str(PATIENCE)]
    with Server(fresh, home, allowed_hosts="search.example.com", max_requests=50) as server:
        arguments = [f"{server.url}/openapi.json", "-H", f"Authorization: Bearer {secret}"]
        done = subprocess.run(
            [program, "run", *arguments, *how], cwd=tmp_path, capture_output=True, text=True
        )
        assert "Traceback" not in server.log()
    told = "\n".join(line[:400] for line in done.stdout.splitlines())  # bodies are long
    assert done.returncode == 0, told[-20_000:]
    assert re.search(r"Tested: (\d+)", done.stdout), done.stdout
