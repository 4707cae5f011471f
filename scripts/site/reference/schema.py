"""What JSON Schema says of a value, in a few words."""

from collections.abc import Mapping
from typing import Any

from reference.markdown import code

type Schema = Mapping[str, Any]

WORDS = {"string": "text", "integer": "integer", "number": "number", "boolean": "true or false"}
FORMATS = {"path": "path", "password": "secret", "binary": "file", "date-time": "time"}
BOUNDS = {
    "minimum": "≥",
    "exclusiveMinimum": ">",
    "maximum": "≤",
    "exclusiveMaximum": "<",
    "minLength": "characters ≥",
    "maxLength": "characters ≤",
    "minItems": "items ≥",
    "maxItems": "items ≤",
}


def kind(schema: Schema) -> str:
    """Return a value's type with its bounds; other schemas are named, with links to them."""
    if "anyOf" in schema:
        return " or ".join(kind(each) for each in schema["anyOf"] if each.get("type") != "null")
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "enum" in schema or "const" in schema:
        return ", ".join(code(str(each)) for each in schema.get("enum", [schema.get("const")]))
    if schema.get("type") == "array":
        inner = kind(schema.get("items", {}))
        return ", ".join([f"list of {inner}" if inner else "list", *_bounds(schema)])
    word = FORMATS.get(schema.get("format", ""), WORDS.get(schema.get("type", ""), "object"))
    return ", ".join([word if schema else "anything", *_bounds(schema)])


def default(schema: Schema) -> str:
    """Return a value's default as JSON would have it; an empty text where it is null or missing."""
    value = schema.get("default")
    return (
        "" if value is None else code(str(value).lower() if value in (True, False) else f"{value}")
    )


def _bounds(schema: Schema) -> list[str]:
    return [f"{sign} {schema[name]:,}" for name, sign in BOUNDS.items() if name in schema]
