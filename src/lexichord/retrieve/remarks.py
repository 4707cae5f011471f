"""What is said of a query that could not be searched for as it is."""

import json
from collections.abc import Sequence

from lexichord.db.pool import Database
from lexichord.db.search import absent_identifiers, has_words, mistyped_conditions
from lexichord.types import Json, Question, Scope
from lexichord.types.base import one_line

NO_WORDS = (
    "nothing was searched for: the query is made of signs, or of words that say nothing alone"
)
NOT_HERE = "no text in scope holds {}: what was found is about something else"
VALUE_CHARS = 60  # of a stored value that is shown
TYPE_NAMES = {
    "string": "a string",
    "number": "a number",
    "boolean": "a boolean",
    "array": "an array",
    "object": "an object",
    "null": "null",
}


async def remarks(database: Database, question: Question, found: Sequence[object]) -> list[str]:
    """Say what of a query could not be searched for."""
    if not found:
        told = await _mistyped(database, question.scope)
        return told if told or await has_words(database, question.query) else [NO_WORDS]
    if not any(map(str.isdigit, question.query)):
        return []
    absent = await absent_identifiers(database, question)
    return [NOT_HERE.format(", ".join(absent))] if absent else []


async def _mistyped(database: Database, scope: Scope) -> list[str]:
    """Say where a filter wants another type of value than documents have."""
    if scope.filter is None:
        return []
    rows = await mistyped_conditions(database, scope)
    return [_mistyped_line(**row) for row in rows if row["stored"] is not None]


def _mistyped_line(key: str, wanted: Sequence[str], stored: Json) -> str:
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
