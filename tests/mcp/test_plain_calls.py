"""Calls without a client of the protocol, as the pages about kbbridge show them for curl."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from lexichord import SyncLexichord
from tests.conftest import new_database
from tests.mcp.serving import Place, Served, inside, served

DATASET = "your-dataset-id"
# As they stand in "Context-Aware Retriever", part 2, to the last blank.
DISCOVER = r"""curl -s \
  -H 'Content-Type: application/json' \
  -H 'X-RETRIEVAL-ENDPOINT: https://your-dify-or-backend' \
  -H 'X-RETRIEVAL-API-KEY: $YOUR_API_KEY' \
  -H 'X-LLM-API-URL: https://api.openai.com/v1' \
  -H 'X-LLM-MODEL: gpt-4o' \
  'http://localhost:9003/mcp' \
  -d '{
    "tool": "file_discover",
    "parameters": {
      "query": "confidentiality after NDA termination at University of Michigan",
      "dataset_id": "your-dataset-id",
      "top_k_return": 10,
      "do_file_rerank": true
    }
  }'"""
START, _, _ = DISCOVER.partition("  -d '{")
ASK = (
    START
    + r"""  -d '{
    "tool": "assistant",
    "parameters": {
      "dataset_info": "[{\"id\": \"your-dataset-id\", \"source_path\": \"\"}]",
      "query": "What confidentiality obligations remain after the NDA expires or is terminated?",
      "custom_instructions": "Focus on legal clauses and preserve original wording where critical.",
      "enable_query_rewriting": true        
    }
  }'"""  # noqa: W291 - the blanks are theirs
)


@pytest.fixture(scope="module")
def keyless(corpus: str, home: Path) -> Iterator[Served]:
    """A server whose database has no keys."""
    with new_database(corpus, copy_of=corpus) as dsn:
        with SyncLexichord(dsn=dsn, home=home) as lexichord:
            lexichord.rename_dataset("agreements", DATASET)
        with inside(Place(dsn, home)) as running:
            yield running


def run(server: Served, command: str) -> dict[str, Any]:
    """Run a command line at a server that has another port; nothing else of it is changed."""
    here = command.replace("http://localhost:9003/mcp", server.url)
    shell = ["/bin/sh", "-c", f"{here} -w '\n%{{http_code}}'"]
    done = subprocess.run(shell, capture_output=True, text=True, check=True, timeout=60)
    body, _, status = done.stdout.rpartition("\n")
    assert status == "200", body
    return dict(json.loads(body))


@pytest.mark.client("kbbridge's calls by curl", "search", "answer")
@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
@pytest.mark.parametrize(("call", "member"), [(DISCOVER, "distinct_files"), (ASK, "answer")])
def test_the_calls_of_the_walk_through_are_answered(
    keyless: Served, call: str, member: str
) -> None:
    result = run(keyless, call)
    assert result["status"] == "ok"
    assert result[member]
    assert sum("X-LLM-API-URL" in line for line in result["degraded"]) == 1
    assert result["ignored"].keys() == {"X-RETRIEVAL-ENDPOINT"}


def plain(tool: str, **parameters: object) -> str:
    return json.dumps({"tool": tool, "parameters": parameters})


def nested(depth: int) -> object:
    """Give a list in a list and so on."""
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("body", "status", "details"),
    [
        ('{"tool": "nope"}', 400, "nope"),
        ('{"tool": "search", "parameters": {"query": 1}}', 400, "query"),
        ('{"tool": "search", "parameters": [1]}', 400, ""),
        (plain("file_count", filter=nested(900)), 400, "more than 32 objects or lists"),
        (plain("assistant", query="a", dataset_info=[{"id": "a"}] * 101), 400, "at most 100"),
        ('{"tool": "file_discover", "parameters": {"query": "a", "dataset_id": "no"}}', 404, "no"),
    ],
)
def test_what_is_wrong_is_said(server: Served, body: str, status: int, details: str) -> None:
    answer = httpx.post(server.url, content=body, headers={"content-type": "application/json"})
    assert answer.status_code == status, answer.text
    assert details in json.dumps(answer.json()["details"])


def test_who_does_not_wait_leaves_no_trace(place: Place, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with served(place, log) as server:
        with psycopg.connect(place.dsn) as holder:
            holder.execute("lock table lexichord_data.document in access exclusive mode")
            with pytest.raises(httpx.ReadTimeout):
                httpx.post(server.url, content=plain("file_count"), timeout=2)
        assert httpx.post(server.url, content=plain("file_count")).status_code == 200
    assert "Traceback" not in log.read_text()
