"""The routes of `lexichord serve` with what they take and return, from the OpenAPI document."""

import json
from collections.abc import Iterator
from typing import Any

from lexichord import Lexichord
from lexichord.serve.access import AccessPolicy
from lexichord.serve.http.app import create_http_app
from lexichord.settings import load_settings
from reference.markdown import block, code, page, table
from reference.schema import Schema, default, kind

JSON = "application/json"


def openapi() -> dict[str, Any]:
    """Return the document that a server shows at /openapi.json; no database is opened for it."""
    core = Lexichord(load_settings())
    return create_http_app(AccessPolicy(core, "127.0.0.1", (), needs_key=False)).openapi()


def markdown() -> str:
    """Return what stands below the page's beginning."""
    document = openapi()
    schemas = document["components"]["schemas"]
    parts = [document["info"]["description"], "## Routes\n", _overview(document)]
    for route, operation in _operations(document):
        parts.append(_route(route, operation))
    parts.append("## Bodies and results\n")
    for name in sorted(schemas):
        parts.append(_schema(name, schemas[name]))
    return page(*parts)


def _operations(document: Schema) -> Iterator[tuple[str, Schema]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def _overview(document: Schema) -> str:
    rows = [
        (f"[{code(route)}](#http-{operation['operationId']})", _first_line(operation))
        for route, operation in _operations(document)
    ]
    return table(("route", "what it does"), rows)


def _route(route: str, operation: Schema) -> str:
    rows = [
        (code(each["name"]), each["in"], kind(each["schema"]), _about(each))
        for each in operation.get("parameters", ())
    ]
    return page(
        f"(http-{operation['operationId']})=\n### {route}\n",
        f"{operation.get('description', '')}\n",
        table(("parameter", "in", "type", "meaning"), rows),
        _body(operation),
        _result(operation),
    )


def _body(operation: Schema) -> str:
    content = operation.get("requestBody", {}).get("content", {})
    named = [f"{kind(each['schema'])} ({media})" for media, each in content.items()]
    return f"Body: {', '.join(named)}\n" if named else ""


def _result(operation: Schema) -> str:
    replies = [(status, each) for status, each in operation["responses"].items() if status < "300"]
    named = [
        f"{status}, {kind(reply['content'][JSON]['schema'])}"
        for status, reply in replies
        if JSON in reply.get("content", {})
    ]
    return f"Reply: {'; '.join(named)}\n" if named else ""


def _schema(name: str, schema: Schema) -> str:
    needed = schema.get("required", ())
    rows = [
        (
            code(field) + (" (required)" if field in needed else ""),
            kind(each),
            default(each),
            _about(each),
        )
        for field, each in schema.get("properties", {}).items()
    ]
    examples = [
        block(json.dumps(example, indent=2, ensure_ascii=False), "json")
        for example in schema.get("examples", ())[:1]
    ]
    return page(
        f"### {name}\n",
        f"{schema.get('description', '')}\n" if schema.get("description") else "",
        table(("field", "type", "default", "meaning"), rows),
        *examples,
    )


def _about(schema: Schema) -> str:
    return str(schema.get("description", ""))


def _first_line(operation: Schema) -> str:
    return str(operation.get("description", "")).partition("\n")[0]
