"""Everyday tasks, each by the call that the names and descriptions of the tools lead to."""

import json
import re
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from mcp import Client
from tests.conftest import ROOT
from tests.mcp.serving import call

PAGE = ROOT / "docs" / "integrations" / "mcp.md"
ROW = re.compile(r"^\| (\d+\. .+?) \| (`\w+` `.+`) \| `(.+)` \|$", re.MULTILINE)
CALL = re.compile(r"`(\w+)` `(\{.*?\})`(?=, then|$)")
TASKS = ROW.findall(PAGE.read_text())


def first_id(reply: dict[str, Any]) -> str:
    first = [*reply.get("results", []), *reply.get("documents", [])][0]
    return str(first.get("id") or first["document_id"])


def test_there_are_twenty() -> None:
    assert len(TASKS) == 20


@pytest.mark.parametrize(
    ("calls", "found"), [row[1:] for row in TASKS], ids=[task for task, *_ in TASKS]
)
async def test_a_task_is_done_by_the_call_that_is_told(
    client: Client, calls: str, found: str
) -> None:
    schemas = {each.name: each.input_schema for each in (await client.list_tools()).tools}
    reply: dict[str, Any] = {}
    for tool, written in CALL.findall(calls):
        arguments = json.loads(written)
        assert arguments.keys() <= schemas[tool]["properties"].keys()  # all that is told of it
        Draft202012Validator(schemas[tool]).validate(arguments)
        if arguments.get("id") == "ID":
            arguments["id"] = first_id(reply)
        reply = await call(client, tool, **arguments)
    assert found in json.dumps(reply, ensure_ascii=False)
