"""Real servers of `lexichord mcp` in processes of their own, and the official client."""

import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from mcp.client.session import ElicitationFnT
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent
from mcp_types.version import LATEST_HANDSHAKE_VERSION

from lexichord import SyncLexichord
from lexichord.serve.access import AccessPolicy
from lexichord.serve.mcp.server import create_mcp_app
from lexichord.serve.server import add_middleware
from mcp import Client, StdioServerParameters
from tests.conftest import ROOT
from tests.http.served import serving
from tests.listening import PATIENCE, port_of

COMMAND = [sys.executable, "-m", "lexichord", "mcp"]
HELLO = {
    "protocolVersion": LATEST_HANDSHAKE_VERSION,
    "clientInfo": {"name": "test", "version": "1"},
    "capabilities": {},
}


@dataclass(frozen=True)
class Place:
    """A database, and the environment in which its server runs."""

    dsn: str
    home: Path
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        variables = {"LEXICHORD_DSN": self.dsn, "LEXICHORD_HOME": str(self.home)}
        return {**os.environ, **variables, **self.settings}


@dataclass(frozen=True)
class Served:
    """A server that listens."""

    url: str


@contextmanager
def inside(place: Place) -> Iterator[Served]:
    """Answer over HTTP in this process for the length of a with statement."""
    settings: dict[str, Any] = {
        name.removeprefix("LEXICHORD_").lower(): value for name, value in place.settings.items()
    }
    with (
        SyncLexichord(dsn=place.dsn, home=place.home, **settings) as lexichord,
        serving(lexichord, create_mcp_server) as url,
    ):
        yield Served(f"{url}/mcp")


def create_mcp_server(policy: AccessPolicy) -> Any:
    """Build the application as `lexichord mcp --http` does."""
    return add_middleware(create_mcp_app(policy), policy)


@contextmanager
def served(place: Place, log: Path) -> Iterator[Served]:
    """Run `lexichord mcp --http` for the length of a with statement."""
    with log.open("w") as stream:
        process = subprocess.Popen(
            [*COMMAND, "--http", "--port", "0"],
            cwd=ROOT,
            env=place.environment,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
        )
    try:
        port = port_of(process, log.read_text)
        yield Served(f"http://127.0.0.1:{port}/mcp")
    finally:
        process.terminate()
        process.wait(PATIENCE)


@asynccontextmanager
async def over_http(
    url: str, mode: str = "auto", asked: ElicitationFnT | None = None, /, **headers: str
) -> AsyncIterator[Client]:
    """Connect with headers; underscores in their names stand for hyphens."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    async with (
        httpx2.AsyncClient(headers=sent, timeout=60) as http,
        Client(
            streamable_http_client(url, http_client=http), mode=mode, elicitation_callback=asked
        ) as client,
    ):
        yield client


@asynccontextmanager
async def over_stdio(
    place: Place, mode: str = "auto", asked: ElicitationFnT | None = None
) -> AsyncIterator[Client]:
    """Start a server and talk to it by its standard input and output."""
    command, *arguments = COMMAND
    started = StdioServerParameters(
        command=command, args=arguments, env=place.environment, cwd=str(ROOT)
    )
    connected = stdio_client(started)
    async with Client(connected, mode=mode, elicitation_callback=asked) as client:
        yield client


async def call(client: Client, tool: str, **arguments: object) -> dict[str, Any]:
    """Call a tool that succeeds."""
    reply, is_error = await _checked(client, tool, arguments)
    assert not is_error, reply
    return reply


async def refused(client: Client, tool: str, **arguments: object) -> dict[str, Any]:
    """Call a tool that fails, in the shape of all errors."""
    reply, is_error = await _checked(client, tool, arguments)
    assert is_error, reply
    assert reply.keys() >= {"error", "status"}
    assert not re.search(r"Traceback|psycopg|postgresql:|/tmp/|select \*", json.dumps(reply)), reply
    return reply


async def _checked(client: Client, tool: str, arguments: Any) -> tuple[dict[str, Any], bool]:
    """Call a tool whose result fits its schema and stands in the text as well."""
    result = await client.call_tool(tool, arguments)
    schemas = {each.name: each.output_schema for each in (await client.list_tools()).tools}
    _check_structure(result, schemas[tool])
    return read(result), bool(result.is_error)


def _check_structure(result: CallToolResult, schema: dict[str, Any] | None) -> None:
    assert schema is not None
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(result.structured_content)
    assert read(result) == result.structured_content


def read(result: CallToolResult) -> dict[str, Any]:
    """Read the JSON of a result."""
    text = result.content[0]
    assert isinstance(text, TextContent)
    return dict(json.loads(text.text))
