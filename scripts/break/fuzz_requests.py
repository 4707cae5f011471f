"""Requests for fuzz.py, with wrong values: operations of an OpenAPI document, tools of MCP."""

import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import httpx

METHODS = ("get", "post", "patch", "delete", "put")
UNFIT: list[Any] = [
    *("", "a", "\0", "\ud800", "é" * 3000, "doc_aaaaaaaaaaaaaaaa", "../../etc/passwd", "%00"),
    *(
        0,
        -1,
        1,
        2**31,
        2**63,
        10**40,
        1e308,
        0.5,
        True,
        False,
        None,
        [],
        {},
        [[]],
        {"a": {"b": []}},
    ),
    *({"a": {"b": []}}, ["a", None, 1], {"key": "a", "operator": "eq", "value": 1}, {"$ref": "#"}),
]
RAW_UNFIT = (b"NaN", b"-Infinity", b"1e999", b'"\\ud800"', b"[" * 2000, b"{", b"\xff", b"null", b"")
BUSY = (503, 504)  # too many at once, or out of time: said, not broken
HEADERS = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
TIMEOUT_SECONDS = 60.0

type Operation = tuple[str, str, dict[str, Any]]


def requests(url: str) -> Callable[[Random], str | None]:
    """Return what sends one random request to a server. It raises ValueError for an answer of 500,
    or one that is no JSON where JSON was promised.
    """
    client = httpx.Client(base_url=url, timeout=TIMEOUT_SECONDS)
    document = client.get("/openapi.json").json()
    schemas = document["components"]["schemas"]
    operations = [
        (method, path, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if method in METHODS
    ]

    def run(random: Random) -> str | None:
        method, path, content = _request(random, random.choice(operations), schemas)
        answer = client.request(method, path, content=content, headers=HEADERS)
        return _status(answer, f"{method} {path} {content[:200]!r}")

    return run


def calls(url: str) -> Callable[[Random], str | None]:
    """Return what sends one random message to a server of MCP: mostly a call of one of its tools.

    It raises ValueError as `requests` does, and for an error that blames the server.
    """
    client = httpx.Client(timeout=TIMEOUT_SECONDS)
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    listed = _told(client.post(url, json=asked, headers=HEADERS))["result"]["tools"]
    tools = {tool["name"]: tool["inputSchema"] for tool in listed}

    def run(random: Random) -> str | None:
        content = _spoilt(random, _call(random, tools))
        answer = client.post(url, content=content, headers=HEADERS)
        refused = _status(answer, f"{content[:500]!r}")
        told = _told(answer) if answer.content else {}
        result = told.get("result", told) if "jsonrpc" in told else told
        shape = result.get("structuredContent", result)
        if BLAMES_SERVER & {told.get("error") and _code(told), shape.get("type")}:
            raise ValueError(f"{answer.text[:200]} for {content[:500]!r}")
        return refused or ("error" if result.get("isError") else None)

    return run


def _code(told: Any) -> Any:  # noqa: ANN401
    error = told["error"]
    return error.get("code") if isinstance(error, dict) else None


def _told(answer: httpx.Response) -> Any:  # noqa: ANN401
    """Return the JSON of an answer, or of the last event of one that is a stream."""
    lines = [line[6:] for line in answer.text.splitlines() if line.startswith("data: ")]
    return json.loads((lines or [answer.text])[-1], parse_constant=_refuse)


def _status(answer: httpx.Response, what: str) -> str | None:
    """Return the status of an answer that refuses."""
    if answer.status_code >= 500 and answer.status_code not in BUSY:
        raise ValueError(f"{answer.status_code} for {what}")
    if answer.content and answer.headers.get("content-type") == "application/json":
        json.loads(answer.content, parse_constant=_refuse)
    return str(answer.status_code) if answer.status_code >= 400 else None


def _refuse(constant: str) -> None:
    raise ValueError(f"an answer holds {constant}, which is not valid JSON")


def _request(random: Random, operation: Operation, schemas: Any) -> tuple[str, str, bytes]:  # noqa: ANN401
    method, path, about = operation
    for parameter in about.get("parameters", ()):
        value = str(random.choice(UNFIT))
        if parameter["in"] == "path":
            path = path.replace(f"{{{parameter['name']}}}", _quoted(value) or "x")
        elif parameter["in"] == "query" and random.random() < 0.6:
            path += f"{'&' if '?' in path else '?'}{parameter['name']}={_quoted(value)}"
    content = about.get("requestBody", {}).get("content", {}).get("application/json", {})
    return method, path, _spoilt(random, _body(random, content.get("schema", {}), schemas, 0))


def _quoted(value: str) -> str:
    return httpx.QueryParams({"": value.encode("utf-8", "replace").decode()}).__str__()[1:]


def _body(random: Random, schema: Any, schemas: Any, depth: int) -> Any:  # noqa: ANN401
    """Return a value for a schema, often a fitting one."""
    while "$ref" in schema:
        schema = schemas[schema["$ref"].rpartition("/")[2]]
    if depth > 6 or random.random() < 0.15:
        return random.choice(UNFIT)
    for name in ("anyOf", "oneOf", "allOf"):
        if name in schema:
            return _body(random, random.choice(schema[name]), schemas, depth + 1)
    if "enum" in schema:
        return random.choice(schema["enum"])
    if "properties" in schema:
        return {
            name: _body(random, inner, schemas, depth + 1)
            for name, inner in schema["properties"].items()
            if name in schema.get("required", ()) or random.random() < 0.4
        }
    if schema.get("type") == "array":
        return [
            _body(random, schema["items"], schemas, depth + 1) for _ in range(random.randrange(4))
        ]
    fitting = schema.get("examples") or FITTING.get(schema.get("type", ""), UNFIT)
    return random.choice(fitting)


FITTING: dict[str, list[Any]] = {
    "string": ["late delivery", "What is late?", "a", "default", "doc/1", "hybrid", ""],
    "integer": [0, 1, 2, 10, 100, 10**9, -1],
    "number": [0, 0.5, 1, 1.5, -1, 1e9],
    "boolean": [True, False],
}
METHODS_OF_MCP = ("tools/list", "initialize", "resources/read", "prompts/get", "ping", "x")
MEMBERS = ("name", "uri", "arguments", "argument", "ref", "cursor", "_meta", "protocolVersion")
BLAMES_SERVER = {-32603, "server_error", "database_error"}  # a code of the protocol, types of ours


def _call(random: Random, tools: dict[str, Any]) -> Any:  # noqa: ANN401
    """Return a message, often a fitting one: a tool's call in one of both forms, or another."""
    name, schema = random.choice([*tools.items()])
    arguments = _body(random, schema, {}, 0)
    if random.random() < 0.3:
        return {"tool": name, "parameters": arguments}
    message = {"jsonrpc": "2.0", "id": random.choice([1, "a", *UNFIT])}
    if random.random() < 0.8:
        return {**message, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    params = {member: random.choice([*UNFIT, name]) for member in random.sample(MEMBERS, 3)}
    return {**message, "method": random.choice(METHODS_OF_MCP), "params": params}


def _spoilt(random: Random, body: Any) -> bytes:  # noqa: ANN401
    """Write JSON, now and then with what JSON does not know put into it."""
    content = json.dumps(body).encode()
    if random.random() < 0.2:
        places = list(_value_places(content)) or [len(content)]
        place = random.choice(places)
        content = content[:place] + random.choice(RAW_UNFIT) + content[place:]
    return content


def _value_places(content: bytes) -> Iterator[int]:
    return (place for place, byte in enumerate(content) if byte in b":[,{")
