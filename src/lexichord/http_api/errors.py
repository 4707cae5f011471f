"""Every error as JSON in OpenAI's shape: {error: {type, message, code, param}}."""

import asyncio
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lexichord.errors import LexichordError
from lexichord.guard.public import Problem, public_error


def handle_errors(app: FastAPI) -> None:
    """Register what answers where a route raises."""
    app.add_exception_handler(LexichordError, _ours)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _of_http)
    app.add_exception_handler(Exception, _ours)


class Deadline:
    """An ASGI application in front of another: 504 for what takes longer than `seconds`."""

    def __init__(self, app: ASGIApp, seconds: float) -> None:
        self.app, self.seconds = app, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or say that it took too long."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = False

        async def told(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            async with asyncio.timeout(self.seconds):
                await self.app(scope, receive, told)
        except TimeoutError as error:
            if started:
                raise
            await _answer(public_error(error))(scope, receive, send)


async def _ours(_: Request, error: Exception) -> JSONResponse:
    return _answer(public_error(error))


async def _invalid(_: Request, error: Exception) -> JSONResponse:
    """Name the first thing that is wrong; what was sent is not repeated."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    param = ".".join(str(part) for part in first["loc"][1:]) or None
    message = f"{param}: {first['msg']}" if param else first["msg"]
    return _answer(Problem(422, "invalid_request_error", message), param)


async def _of_http(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    kind = "not_found_error" if error.status_code == 404 else "invalid_request_error"
    answer = _answer(Problem(error.status_code, kind, str(error.detail)))
    answer.headers.update(error.headers or {})
    return answer


def _answer(problem: Problem, param: str | None = None) -> JSONResponse:
    shape: dict[str, Any] = problem.to_dict()
    shape["error"]["param"] = param
    headers = {"www-authenticate": "Bearer"} if problem.status == 401 else None
    return JSONResponse(shape, problem.status, headers)
