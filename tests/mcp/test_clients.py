"""Clients of other makers: the TypeScript SDK and the inspector's command line.

Node is needed; their packages are fetched once, as tests/mcp/node/package-lock.json names them.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from mcp_types.version import LATEST_HANDSHAKE_VERSION, LATEST_MODERN_VERSION

from tests.mcp.serving import COMMAND, Place, Served

FOLDER = Path(__file__).parent / "node"
SECONDS = 240


def run(*command: str | Path, place: Place | None = None) -> subprocess.CompletedProcess[str]:
    environment = os.environ if place is None else place.environment
    return subprocess.run(
        [*command],
        cwd=FOLDER,
        env={**environment, "NO_PROXY": "127.0.0.1"},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


@pytest.fixture(scope="module")
def packages() -> Path:
    """The folder of node's packages."""
    if shutil.which("npm") is None:
        pytest.skip("no npm")
    installed = FOLDER / "node_modules"
    if not installed.is_dir():
        done = run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
        if done.returncode:
            pytest.skip(f"npm could not install: {done.stderr[-200:]}")
    return installed


@pytest.mark.client("MCP, TypeScript", "search", "k", "filters", "answer", "async")
@pytest.mark.parametrize(  # each of one with each of the other: test_protocol.py
    ("transport", "asked_for", "spoken"),
    [
        ("stdio", "legacy", LATEST_HANDSHAKE_VERSION),
        ("http", LATEST_MODERN_VERSION, LATEST_MODERN_VERSION),
    ],
)
def test_the_typescript_sdk(
    packages: Path, place: Place, server: Served, transport: str, asked_for: str, spoken: str
) -> None:
    target = COMMAND if transport == "stdio" else [server.url]
    done = run("node", "ask.mjs", asked_for, *target, place=place)
    assert done.returncode == 0, done.stderr
    reply = json.loads(done.stdout)
    assert reply["version"] == spoken
    assert {"assistant", "retriever", "search", "fetch"} <= set(reply["tools"])
    assert reply["resources"] == ["datasets://all"]
    assert "citation_requirements" in reply["prompts"]
    assert reply["text"] in reply["whole"]
    assert reply["wrong"]["isError"]
    assert "no such id" in reply["wrong"]["details"]
    (hit,) = reply["narrowed"]["result"]
    assert hit["document_name"] == "data-retention-policy.md"
    assert "18 months" in reply["answered"]["answer"]
    assert reply["asked"] == ["There is no dataset 'POLIC'. Which one is meant?"]
    assert {hit["dataset"] for hit in reply["chosen"]["result"]} == {"policies"}


def inspected(packages: Path, server: Served, *arguments: str) -> Any:
    inspector = packages / "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
    options = ("--cli", server.url, "--transport", "http", *arguments)
    done = run("node", inspector, *options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_inspector(packages: Path, server: Served) -> None:
    call = ("--method", "tools/call", "--tool-name", "file_count", "--tool-arg")
    counted = inspected(packages, server, *call, "dataset_id=policies")
    assert counted["structuredContent"]["file_count"] > 0
    read = ("--method", "resources/read", "--uri", "datasets://all")
    listed = inspected(packages, server, *read)["contents"][0]["text"]
    assert {row["dataset"] for row in json.loads(listed)} == {"agreements", "policies"}
