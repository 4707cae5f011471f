"""What no field takes, in bodies of requests: refused before a route reads them."""

from typing import Any

from fastapi import Request
from starlette.exceptions import HTTPException

from lexichord.serve.unfit import Unfit, find_unfit


class UnfitError(HTTPException):
    """A value that no field takes; `param` is where it stands, "" for the body itself."""

    def __init__(self, unfit: Unfit) -> None:
        self.param = unfit.param
        super().__init__(422, unfit.message)


class JsonRequest(Request):
    """A request whose JSON holds what can be read again."""

    async def json(self) -> Any:  # noqa: ANN401
        """Read the body. Raises UnfitError, which names the first value that cannot be."""
        value = await super().json()
        if unfit := find_unfit(await self.body(), value):
            raise UnfitError(unfit)
        return value
