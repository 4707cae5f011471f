"""The settings, from the class that reads them."""

import re
from collections.abc import Mapping

from pydantic import AliasChoices
from pydantic.fields import FieldInfo

from lexichord.settings import Settings
from reference.markdown import code, page, table
from reference.schema import Schema, default, kind


def markdown() -> str:
    """Return what stands below the page's beginning."""
    schema = Settings.model_json_schema(by_alias=False)
    schemas = {name: _whole(each, schema["$defs"]) for name, each in schema["properties"].items()}
    rows = [
        (_variables(name, field), code(name), kind(schemas[name]), default(schemas[name]))
        for name, field in Settings.model_fields.items()
    ]
    return page(
        "## All settings\n",
        table(("in the environment", "in `lexichord.toml`", "type", "default"), rows),
        "## What they mean\n",
        _with_names(" ".join((Settings.__doc__ or "").split())),
    )


def _whole(schema: Schema, named: Mapping[str, Schema]) -> Schema:
    """Return the schema with what it refers to."""
    if "$ref" not in schema:
        return schema
    return {name: each for name, each in schema.items() if name != "$ref"} | dict(
        named[schema["$ref"].rpartition("/")[2]]
    )


def _variables(name: str, field: FieldInfo) -> str:
    alias = field.validation_alias
    names = alias.choices if isinstance(alias, AliasChoices) else [f"LEXICHORD_{name.upper()}"]
    return ", ".join(code(str(each)) for each in names)


def _with_names(text: str) -> str:
    """Return the text with the names of settings as code."""
    names = "|".join(sorted(Settings.model_fields, key=len, reverse=True))
    return re.sub(rf"(?<![\w/.-])({names})(?![\w/-])", r"`\1`", text)
