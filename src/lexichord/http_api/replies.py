"""What answers look like: JSON, and errors in OpenAI's shape."""

import json
from typing import Any

from fastapi.responses import JSONResponse
from pydantic import BaseModel

from lexichord.guard.public import Problem
from lexichord.types.json import Shaped


class ErrorDetail(BaseModel):
    """What went wrong, in one line; `param` is the field that is wrong, where one is."""

    type: str
    message: str
    code: str
    param: str | None = None


class ErrorBody(BaseModel):
    """The body of every answer that is none."""

    error: ErrorDetail


ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorBody, "description": description}
    for status, description in {
        400: "Something in it makes no sense here.",
        401: "It needs an API key, and has none or a wrong one.",
        403: "The API key does not reach that far.",
        404: "That dataset, document, chunk or job is not there.",
        413: "The body is too large.",
        422: "A field is missing, unknown or of the wrong form.",
        429: "Too many requests at once; the header Retry-After says when to try again.",
        500: "It failed, by a fault of this server.",
        502: "A model's service failed.",
        503: "The database, or a model's service, cannot answer now.",
        504: "It took too long.",
    }.items()
}


class Reply(JSONResponse):
    """A body of JSON; half a character, which UTF-8 cannot hold, becomes a question mark."""

    def render(self, content: Any) -> bytes:  # noqa: ANN401
        """Write it."""
        text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode(errors="replace")


def reply(result: Shaped | dict[str, Any], status: int = 200) -> Reply:
    """Answer with a result as it is: nothing is checked or filtered a second time."""
    return Reply(result if isinstance(result, dict) else result.to_dict(), status)


def problem_reply(problem: Problem, param: str | None = None) -> Reply:
    """Answer with an error."""
    shape = problem.to_dict()
    shape["error"]["param"] = param
    headers = {"www-authenticate": "Bearer"} if problem.status == 401 else None
    return Reply(shape, problem.status, headers)
