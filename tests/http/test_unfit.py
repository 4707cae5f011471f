"""NaN, infinities and lone surrogates, in each field of each route: refused in words."""

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote_to_bytes, urlencode

import httpx
import pytest

from lexichord import Lexichord
from lexichord.serve.access import LOOPBACK_NAMES, AccessPolicy
from lexichord.serve.http.app import create_http_app
from tests.http.conftest import Keyed, keyed_server
from tests.http.test_guarding import JSON, LEAKS
from tests.http.test_keys import OPEN, PAGES, routes

type Schema = dict[str, Any]

SURROGATE = "\ud800"  # half a sign, which UTF-8 cannot hold
NUMBERS = ("NaN", "Infinity", "-Infinity", "1e999")  # which JSON or its readers do not know
BYTES = "%ED%A0%80"  # a lone surrogate as UTF-8 would write it, in an address or a form
TEXTS = ("NaN", "1e999", "-inf", BYTES, f"zebra {BYTES}")
OBJECTS = ('{"kind": NaN}', '{"kind": 1e999}', '{"kind": "\\ud800"}', '{"\\ud800": 1}')
HOLD_JSON = ("filter", "metadata")  # texts
DEEPEST = 5  # filters hold filters
FITTING: Schema = {"string": "zebra", "integer": 1, "number": 0.5, "boolean": True, "null": None}
OF_NAME = {"file_id": "FILE", "dataset": "closed", "knowledge_id": "closed"}


@pytest.fixture(scope="module")
def asked(bare: str, home: Path) -> Iterator[Keyed]:
    """A server whose data may be written to."""
    with keyed_server(bare, home) as asked:
        yield asked


@cache
def document() -> Schema:
    """Give the OpenAPI document, which is made of the routes themselves."""
    policy = AccessPolicy(Lexichord(), "127.0.0.1", LOOPBACK_NAMES, False)
    return create_http_app(policy).openapi()


def resolved(schema: Schema) -> Schema:
    while "$ref" in schema:
        schema = document()["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema


def alternatives(schema: Schema) -> list[Schema]:
    schema = resolved(schema)
    ways = [way for name in ("anyOf", "oneOf") for way in schema.get(name, ())]
    return [one for way in ways for one in alternatives(way)] or [schema]


def fitting(schema: Schema) -> Any:
    """Give a value that a schema takes, of objects what has to be there."""
    schema, *_ = alternatives(schema)
    for name in ("const", "default"):
        if name in schema:
            return schema[name]
    if values := schema.get("enum") or schema.get("examples"):
        return values[0]
    if schema.get("type") == "array":
        return [fitting(schema["items"])]
    if schema.get("type") == "object":
        names = schema.get("required", ())
        return {name: OF_NAME.get(name) or fitting(schema["properties"][name]) for name in names}
    return FITTING.get(schema.get("type", "string"), "zebra")


def spoilt(schema: Schema, depth: int = 0) -> Iterator[Any]:
    """Give values of a schema, each with one thing that is unfit; a number stands in a tuple."""
    for way in alternatives(schema) if depth < DEEPEST else ():
        if way.get("type") == "array":
            yield from ([value] for value in spoilt(way["items"], depth + 1))
        elif way.get("type") == "object":
            yield from spoilt_object(way, depth + 1)
        else:
            yield from ((number,) for number in NUMBERS)
            yield from (SURROGATE, f"zebra {SURROGATE}")


def spoilt_object(schema: Schema, depth: int) -> Iterator[Schema]:
    kept, free = fitting(schema), schema.get("additionalProperties", False)
    for name, inner in schema.get("properties", {}).items():
        yield from ({**kept, name: value} for value in spoilt(inner, depth))
    if free is not False:
        inner = {} if free is True else free
        yield from ({**kept, "kind": value} for value in spoilt(inner, depth))
        yield {**kept, f"kind{SURROGATE}": fitting(inner)}


def written(value: Any) -> str:
    """Write JSON, what is in tuples as it is."""
    if isinstance(value, tuple):
        return str(value[0])
    if isinstance(value, list):
        return f"[{', '.join(map(written, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{json.dumps(k)}: {written(v)}' for k, v in value.items())}}}"
    return json.dumps(value)


def address(asked: Keyed, path: str, **others: object) -> str:
    return path.replace(":path", "").format(**{**asked.ids, **others})


def held(answer: httpx.Response, what: object) -> None:
    """Make sure that an answer is none of a server that broke, and tells nothing of ours."""
    assert answer.status_code < 500, (what, answer.text)
    if answer.headers.get("content-type") == "application/json":
        assert not LEAKS.search(answer.text), (what, answer.text)


def refused(answer: httpx.Response, what: object) -> str:
    """Give the message of an answer that refuses, in the shape of its route."""
    assert answer.status_code in (400, 422), (what, answer.status_code, answer.text)
    held(answer, what)
    body = answer.json()
    message: str = body["error_msg"] if "error_msg" in body else body["error"]["message"]
    return message


def operations(kind: str) -> list[tuple[str, str, Schema]]:
    """Give method and path of the operations that take a body of a kind, with its schema."""
    return [
        (method.upper(), path, about["requestBody"]["content"][kind]["schema"])
        for path, methods in document()["paths"].items()
        for method, about in methods.items()
        if kind in about.get("requestBody", {}).get("content", {})
    ]


def parameters() -> Iterator[tuple[str, str, Schema, dict[str, Any]]]:
    """Give each parameter, with its operation and what else that needs in the address."""
    for path, methods in document()["paths"].items():
        for method, about in methods.items():
            listed = about.get("parameters", ())
            needed = {
                each["name"]: fitting(each["schema"])
                for each in listed
                if each["in"] == "query" and each["required"]
            }
            yield from ((method.upper(), path, each, needed) for each in listed)


def test_no_route_is_forgotten_here() -> None:
    described = {(m.upper(), path) for path, ms in document()["paths"].items() for m in ms}
    other = {(method, path.replace(":path", "")) for method, path in {*routes()} - OPEN}
    assert other - described == {*PAGES}


@pytest.mark.parametrize(("method", "path", "schema"), operations("application/json"))
def test_no_field_of_a_body_takes_them(
    asked: Keyed, method: str, path: str, schema: Schema
) -> None:
    bodies = dict.fromkeys(map(written, spoilt(schema)))
    assert len(bodies) > 5
    for body in bodies:
        sent = body.replace("FILE", str(asked.ids["file_id"]))
        client = asked.by("everything")
        answer = client.request(method, address(asked, path), content=sent, headers=JSON)
        message = refused(answer, body)
        assert re.search("lone surrogate|infinite number", message), (body, message)


@pytest.mark.parametrize(
    "body", ['{"query": "NaN 🦓", "dense_share": 1e-999}', r'{"query": "Infinity \ud83e\udd93"}']
)
def test_what_only_looks_so_is_taken(asked: Keyed, body: str) -> None:
    answer = asked.by("everything").post("/v1/search", content=body, headers=JSON)
    assert answer.status_code == 200


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32-be"])
def test_no_encoding_of_a_body_takes_them(asked: Keyed, encoding: str) -> None:
    for body, field in (
        (json.dumps({"query": "\ud800"}, ensure_ascii=False), "query"),
        (json.dumps({"query": "\udfff\ud800"}, ensure_ascii=False), "query"),
        ('{"query": "zebra", "dense_share": NaN}', "dense_share"),
    ):
        sent = body.encode(encoding, "surrogatepass")
        answer = asked.by("everything").post("/v1/search", content=sent, headers=JSON)
        assert answer.json()["error"]["param"] == field, answer.text


def test_no_parameter_breaks_of_them(asked: Keyed) -> None:
    tried = 0
    for method, path, parameter, needed in parameters():
        name = parameter["name"]
        types = {way.get("type") for way in alternatives(parameter["schema"])}
        takes_texts = "string" in types or "array" in types
        for text in OBJECTS if name in HOLD_JSON else TEXTS:
            quoted = quote(text, safe="%")
            in_path = {name: quoted} if parameter["in"] == "path" else {}
            query = urlencode({**needed, **({} if in_path else {name: "VALUE"})}, doseq=True)
            url = f"{address(asked, path, **in_path)}?{query.replace('VALUE', quoted)}"
            answer = asked.by("everything").request(method, url)
            held(answer, (method, url))
            if not takes_texts or name in HOLD_JSON:
                refused(answer, (method, url))
            tried += 1
    assert tried > 200


@pytest.mark.parametrize(("method", "path", "schema"), operations("multipart/form-data"))
def test_no_field_of_a_form_breaks_of_them(
    asked: Keyed, method: str, path: str, schema: Schema
) -> None:
    names = [*resolved(schema)["properties"]]
    assert names
    for name in names:
        for text in (*TEXTS, *OBJECTS):
            raw = unquote_to_bytes(text)
            parts = {name: (None, raw), "file" if "file" in names else "files": ("a.txt", b"x")}
            if name in ("file", "files"):
                parts = {name: (text, raw)}
            answer = asked.by("everything").request(method, path, files=parts)
            held(answer, (path, name, text))
            if name in HOLD_JSON:
                refused(answer, (path, name, text))


@pytest.mark.parametrize(("method", "path"), PAGES)
def test_no_page_breaks_of_them(
    asked: Keyed, method: str, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    client, form = asked.by("everything"), {"content-type": "application/x-www-form-urlencoded"}
    for text in (*TEXTS, OBJECTS[0], OBJECTS[2]):
        quoted = quote(text, safe="%")
        for name in re.findall(r"{(\w+)}", path):
            held(client.request(method, address(asked, path, **{name: quoted})), (path, text))
        for name in PAGES[method, path]:
            pairs, url = f"{name}={quoted}", address(asked, path)
            if method == "GET":
                held(client.get(f"{url}?{pairs}"), (path, pairs))
            else:
                held(client.post(url, content=pairs, headers=form), (path, pairs))
    assert "Traceback" not in caplog.text
