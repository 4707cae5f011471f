"""What is wrong with a request's fields, in one line; bodies are read without what none takes."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from lexichord.errors import plain_reason
from lexichord.serve.errors import InvalidValue, find_invalid_value

NO_OBJECT = "the body is to be a JSON object, and the content-type application/json"
WRONG_TYPE = "Input should be "  # how pydantic begins to say which


class InvalidField(NamedTuple):
    """The field that is wrong, "" where it is the body itself, what is, and HTTP's status."""

    param: str
    reason: str
    status: int = 422  # what the schema forbids

    @property
    def message(self) -> str:
        """Both in one line."""
        return f"{self.param}: {self.reason}" if self.param else self.reason


def find_invalid(error: RequestValidationError) -> InvalidField:
    """Return the first thing that is wrong; what was sent is not repeated."""
    errors = error.errors()
    first = errors[0]
    if first["type"] == "json_invalid" and first["loc"][0] == "body":
        reason, place = first["ctx"]["error"], first["loc"][1]
        return InvalidField("", f"the body is not valid JSON: {reason}, at character {place}", 400)
    if first["loc"] == ("body",) and first["type"] in ("model_attributes_type", "missing"):
        return InvalidField("", NO_OBJECT)
    places = [_place(one, error.body) for one in errors]
    below = [place for place in places if place[: len(places[0])] == places[0]]
    param = max(below, key=len)
    at_it = [one for one, place in zip(errors, places, strict=True) if place == param]
    status = 400 if first["type"] == "value_error" else 422
    return InvalidField(".".join(param), _reason(at_it), status)


def _place(error: dict[str, Any], body: object) -> tuple[str, ...]:
    """Return the path to what is wrong, without the names of the alternatives of a type in it."""
    source, *path = error["loc"]
    if source != "body":
        return tuple(map(str, path))
    kept, value = [], body
    for number, part in enumerate(path):
        is_missing = error["type"] == "missing" and number == len(path) - 1
        if is_missing or _holds(value, part):
            kept.append(str(part))
            value = None if is_missing else value[part]  # type: ignore[index]
    return tuple(kept)


def _holds(value: object, part: str | int) -> bool:
    if isinstance(value, list):
        return isinstance(part, int) and part < len(value)
    return isinstance(value, Mapping) and part in value


def _reason(errors: Sequence[dict[str, Any]]) -> str:
    """Say what is wrong with one value: of a type that fits, else all types that it may have."""
    fitting = [one for one in errors if not one["type"].endswith("_type")]
    if not fitting:
        types = dict.fromkeys(one["msg"].removeprefix(WRONG_TYPE) for one in errors)
        return WRONG_TYPE + " or ".join(types)
    if fitting[0]["type"] == "extra_forbidden":
        return "there is no such field here"
    return plain_reason(fitting[0]["msg"])


class InvalidValueError(HTTPException):
    """A value that no field takes; `param` is where it stands, "" for the body itself."""

    def __init__(self, found: InvalidValue) -> None:
        self.param = found.param
        super().__init__(422, found.message)


class JsonRequest(Request):
    """A request whose JSON holds what can be read again."""

    async def json(self) -> Any:  # noqa: ANN401
        """Read the body. Raises InvalidValueError, which names the first value that cannot be."""
        value = await super().json()
        if found := find_invalid_value(await self.body(), value):
            raise InvalidValueError(found)
        return value
