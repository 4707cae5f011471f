"""Every error as JSON in OpenAI's shape: {error: {type, message, code, param}}."""

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from lexichord.errors import LexichordError
from lexichord.guard.public import Problem, public_error
from lexichord.http_api.replies import Reply, problem_reply

KINDS = {404: "not_found_error", 429: "rate_limit_error"}  # of HTTP's own errors


def handle_errors(app: FastAPI) -> None:
    """Register what answers where a route raises; `Watched` answers for all else."""
    app.add_exception_handler(LexichordError, _ours)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _of_http)


async def _ours(_: Request, error: Exception) -> Reply:
    return problem_reply(public_error(error))


async def _invalid(_: Request, error: Exception) -> Reply:
    """Name the first thing that is wrong; what was sent is not repeated."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    if first["type"] == "json_invalid" and first["loc"][0] == "body":
        said = f"the body is no JSON: {first['ctx']['error']}, at character {first['loc'][1]}"
        return problem_reply(Problem(400, "invalid_request_error", said))
    if first["type"] == "model_attributes_type" and first["loc"] == ("body",):
        said = "the body is to be a JSON object, and the content-type application/json"
        return problem_reply(Problem(422, "invalid_request_error", said))
    param = ".".join(str(part) for part in first["loc"][1:]) or None
    said = first["msg"].removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        said = "there is no such field here"
    message = f"{param}: {said}" if param else said
    status = 400 if first["type"] == "value_error" else 422  # 422 is for what the schema forbids
    return problem_reply(Problem(status, "invalid_request_error", message), param)


async def _of_http(request: Request, error: Exception) -> Reply:
    assert isinstance(error, HTTPException)
    kind = KINDS.get(error.status_code, "invalid_request_error")
    answer = problem_reply(Problem(error.status_code, kind, str(error.detail)))
    answer.headers.update(error.headers or {})
    if error.status_code == 405:  # of several routes of one path, only the first was asked
        methods = request.app.openapi()["paths"].get(request.scope["route"].path)
        answer.headers["allow"] = ", ".join(methods or ()).upper() or answer.headers["allow"]
    return answer
