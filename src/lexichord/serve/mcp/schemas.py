"""Schemas of tools as they are published.

An agent's model reads all of them before each question, so they say what is needed and no more:
what few need, what every result says, bounds of texts and defaults that are nothing are left out.
What is sent is checked by the functions' own types.
"""

from typing import Any

type Schema = dict[str, Any]

UNPUBLISHED: Schema = {"unpublished": True}  # a field's json_schema_extra
OF_ALL_RESULTS = {"status", "message", "timeout_seconds", "suggestions", "degraded", "ignored"}
LEFT_OUT = {"title", "additionalProperties", "minLength", "maxLength", "maxItems"}
LEFT_OUT_OF_RESULTS = LEFT_OUT | {"default", "required"}
NULL = {"type": "null"}


def input_schema(schema: Schema) -> Schema:
    """Return the schema of a tool's arguments, in short; null for what is left out is taken."""
    short = _short(schema, is_result=False)
    for field in short["properties"].values():
        if not field.get("default", True):
            del field["default"]
    return short


def output_schema(schema: Schema) -> Schema:
    """Return the schema of a tool's result, in short; an error's fits it, too."""
    short = _short(schema, is_result=True)
    short["properties"] = {
        name: field for name, field in short["properties"].items() if name not in OF_ALL_RESULTS
    }
    short.pop("description", None)
    return short


def _short(schema: Schema, is_result: bool) -> Schema:
    left_out = LEFT_OUT_OF_RESULTS if is_result else LEFT_OUT
    short = {name: value for name, value in schema.items() if name not in left_out}
    if "anyOf" in short:
        short = _one_type(short, is_result)
    if "properties" in short:
        fields = short["properties"].items()
        shorter = {name: _short(field, is_result) for name, field in fields}
        short["properties"] = {
            name: field for name, field in shorter.items() if "unpublished" not in field
        }
    if "items" in short:
        short["items"] = _names(short["items"]) if is_result else _short(short["items"], False)
    return short


def _names(schema: Schema) -> Schema:
    """Return what the members of a list hold, by name alone."""
    fields = schema.get("properties", {}).items()
    names: Schema = {name: {} for name, field in fields if "unpublished" not in field}
    return {"type": schema.get("type", "object")} | ({"properties": names} if names else {})


def _one_type(schema: Schema, is_result: bool) -> Schema:
    """Put a type in the place of a choice between it and null."""
    kinds = [_short(kind, is_result) for kind in schema.pop("anyOf") if kind != NULL]
    if len(kinds) > 1:
        return {"anyOf": kinds, **schema}
    (kind,) = kinds
    return {**kind, **schema, **({"type": [kind["type"], "null"]} if is_result else {})}
