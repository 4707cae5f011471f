"""NaN, infinities and lone surrogates, in each argument of each tool: refused by its name."""

import json
import re
import select
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from mcp_types import CLIENT_CAPABILITIES_META_KEY, CLIENT_INFO_META_KEY, PROTOCOL_VERSION_META_KEY
from mcp_types.version import LATEST_HANDSHAKE_VERSION, LATEST_MODERN_VERSION

from tests.http.served import new_client
from tests.http.test_unfit import SURROGATE, spoilt_object, written
from tests.listening import PATIENCE
from tests.mcp.serving import COMMAND, HELLO, Place, Served, over_http

TYPES = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
META = {
    PROTOCOL_VERSION_META_KEY: LATEST_MODERN_VERSION,
    CLIENT_INFO_META_KEY: {"name": "test", "version": "1"},
    CLIENT_CAPABILITIES_META_KEY: {},
}
REASON = r"(lone surrogate|infinite numbers|more than 32 objects or lists inside)"
QUERY = f'"{json.dumps(SURROGATE)[1:-1]} zebra"'
# Of the tool `retriever`: arguments, and the field that is named.
ARGUMENTS = [
    (f'{{"query": {QUERY}}}', "query"),
    ('{"query": "zebra", "score_threshold": NaN}', "score_threshold"),
    ('{"query": "zebra", "weights": -Infinity}', "weights"),
    ('{"query": "zebra", "timeout_seconds": 1e999}', "timeout_seconds"),
    (
        f'{{"query": "zebra", "filter": {{"key": "a", "op": "eq", "value": {QUERY}}}}}',
        "filter.value",
    ),
    ('{"query": "zebra", "filter": {"key": "a", "op": "gt", "value": NaN}}', "filter.value"),
    (f'{{"query": "zebra", {QUERY}: 1}}', ""),
    (f'{{"query": "zebra", "top_k": {"9" * 5000}}}', "top_k"),
    *((f'{{"query": "zebra", "filter": {"[" * deep}{"]" * deep}}}', "") for deep in (40, 300, 600)),
]


def message(method: str, params: str, *, modern: bool = False) -> str:
    """Write a message of the protocol; `params` is JSON, or nearly."""
    if modern:
        params = f'{{"_meta": {json.dumps(META)}, {params[1:]}'
    return f'{{"jsonrpc": "2.0", "id": 7, "method": "{method}", "params": {params}}}'


def call(arguments: str, tool: str = "retriever", *, modern: bool = False) -> str:
    return message("tools/call", f'{{"name": "{tool}", "arguments": {arguments}}}', modern=modern)


def post(server: Served, sent: str | bytes, **headers: str) -> dict[str, Any]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    with new_client(server.url) as client:
        answer = client.post(server.url, content=sent, headers={**TYPES, **named})
    assert answer.status_code < 500, (sent, answer.text)
    lines = [line[6:] for line in answer.text.splitlines() if line.startswith("data: ")]
    return dict(json.loads((lines or [answer.text])[-1]))


def details(reply: dict[str, Any]) -> str:
    """Give what a tool's answer says; it has the shape of all errors."""
    result = reply["result"]
    assert result["isError"], result
    shape = result["structuredContent"]
    assert json.loads(result["content"][0]["text"]) == shape
    assert (shape["error"], shape["type"]) == ("Invalid request", "invalid_request_error")
    return str(shape["details"])


class Standard:
    """A server that is talked to by lines."""

    def __init__(self, place: Place) -> None:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen(COMMAND, env=place.environment, **pipes)  # type: ignore[call-overload]

    def ask(self, sent: str) -> dict[str, Any]:
        self.process.stdin.write(sent.encode() + b"\n")
        self.process.stdin.flush()
        ready, *_ = select.select([self.process.stdout], [], [], PATIENCE)
        assert ready, f"never answered: {sent}"
        return dict(json.loads(self.process.stdout.readline()))


@pytest.fixture
def standard(place: Place) -> Iterator[Standard]:
    started = Standard(place)
    yield started
    started.process.stdin.close()
    assert started.process.wait(PATIENCE) == 0
    started.process.stdout.close()


def named(line: str, field: str) -> None:
    assert re.search(f"^{re.escape(field)}: .*{REASON}" if field else f"^[^:]*{REASON}", line), line


@pytest.mark.parametrize(("arguments", "field"), ARGUMENTS)
def test_each_way_of_asking_names_them(server: Served, arguments: str, field: str) -> None:
    plain = post(server, f'{{"tool": "retriever", "parameters": {arguments}}}')
    named(plain["details"], field)
    named(details(post(server, call(arguments))), field)
    headers = {"mcp_protocol_version": LATEST_MODERN_VERSION, "mcp_method": "tools/call"}
    sent = call(arguments, modern=True)
    named(details(post(server, sent, **headers, mcp_name="retriever")), field)


def test_standard_input_names_them(standard: Standard) -> None:
    said = standard.ask(message("initialize", json.dumps(HELLO)))
    assert said["result"]["protocolVersion"] == LATEST_HANDSHAKE_VERSION
    for arguments, field in ARGUMENTS:
        named(details(standard.ask(call(arguments))), field)
    well = standard.ask(call('{"query": "NaN \\ud83e\\udd93 1e999"}'))
    assert not well["result"]["isError"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32-be"])
def test_no_encoding_hides_them(server: Served, encoding: str) -> None:
    sent = json.dumps({"tool": "search", "parameters": {"query": SURROGATE}}, ensure_ascii=False)
    named(post(server, sent.encode(encoding, "surrogatepass"))["details"], "query")


@pytest.mark.parametrize(
    ("method", "params", "field"),
    [
        ("resources/read", f'{{"uri": {QUERY}}}', "uri"),
        ("prompts/get", f'{{"name": "x", "arguments": {{"query": {QUERY}}}}}', "query"),
        (
            "completion/complete",
            f'{{"argument": {{"name": "a", "value": {QUERY}}}}}',
            "argument.value",
        ),
        ("ping", f'{{"x": {QUERY}}}', "x"),
        ("tools/call", f'{{"name": {QUERY}}}', "name"),
    ],
)
def test_other_requests_name_them(server: Served, method: str, params: str, field: str) -> None:
    reply = post(server, message(method, params))
    named(details(reply) if method == "tools/call" else reply["error"]["message"], field)


async def test_no_argument_of_a_tool_takes_them(server: Served) -> None:
    async with over_http(server.url) as client:
        tools = (await client.list_tools()).tools
    tried = 0
    for tool in tools:
        for arguments in dict.fromkeys(map(written, spoilt_object(tool.input_schema, 0))):
            line = details(post(server, call(arguments, tool.name)))
            assert re.search(REASON, line), (tool.name, arguments, line)
            tried += 1
    assert tried > 100
