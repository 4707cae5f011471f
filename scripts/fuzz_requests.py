"""Requests for fuzz.py: operations of a server's OpenAPI document and MCP, with wrong values."""

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
        if random.random() < 0.15:
            method, path, content = "post", "/mcp", _spoilt(random, _mcp_call(random))
        else:
            method, path, content = _request(random, random.choice(operations), schemas)
        headers = {
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
        }
        answer = client.request(method, path, content=content, headers=headers)
        if answer.status_code >= 500 and answer.status_code not in BUSY:
            raise ValueError(f"{answer.status_code} for {method} {path} {content[:200]!r}")
        if answer.headers.get("content-type") == "application/json":
            json.loads(answer.content, parse_constant=_refuse)
        return str(answer.status_code) if answer.status_code >= 400 else None

    return run


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
TOOLS = ("file_discover", "file_search", "keyword_generate", "assistant", "search", "fetch", "none")
ARGUMENTS = ("query", "dataset_info", "resource_id", "document_name", "top_k", "limit", "filter")


def _mcp_call(random: Random) -> Any:  # noqa: ANN401
    names = (
        "query",
        "dataset_info",
        "resource_id",
        "document_name",
        "top_k",
        "limit",
        "id",
        "filter",
    )
    arguments = {name: random.choice([*UNFIT, "late"]) for name in random.sample(names, 3)}
    if random.random() < 0.5:
        return {"tool": random.choice(TOOLS), "parameters": arguments}
    method = random.choice(
        ("tools/call", "tools/list", "initialize", "resources/read", "ping", "x")
    )
    params = {"name": random.choice(TOOLS), "arguments": arguments}
    return {
        "jsonrpc": "2.0",
        "id": random.choice([1, "a", None]),
        "method": method,
        "params": params,
    }


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
