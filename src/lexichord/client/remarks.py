"""What is said of a search that found nothing."""

import json
from collections.abc import Sequence

from lexichord.types import Json
from lexichord.types.text import one_line

VALUE_CHARS = 60  # of a stored value that is shown
TYPE_NAMES = {
    "string": "a string",
    "number": "a number",
    "boolean": "a boolean",
    "array": "an array",
    "object": "an object",
    "null": "null",
}


def mistyped_line(key: str, wanted: Sequence[str], stored: Json) -> str:
    """Say that no document has a value of a wanted type under a key, and what one has there."""
    types = " or ".join(TYPE_NAMES[each] for each in wanted)
    value = one_line(json.dumps(stored, ensure_ascii=False), VALUE_CHARS)
    there = f"there it is {TYPE_NAMES[_type(stored)]}, such as {value}"
    return f'no document in scope has {types} as "{one_line(key, VALUE_CHARS)}": {there}'


def _type(value: Json) -> str:
    if isinstance(value, bool):  # which is a number, too, in Python
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    return {str: "string", list: "array", dict: "object"}.get(type(value), "null")
