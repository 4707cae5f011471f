"""A request's work ends when its time is up, or when nobody waits for it any more."""

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lexichord.serve.errors import public_error
from lexichord.serve.http.routing import error_reply

BODYLESS_METHODS = ("GET", "HEAD", "DELETE", "OPTIONS")  # nothing that we read, at least


class TimeoutMiddleware:
    """An ASGI application in front of another, whose work is cancelled, its SQL with it.

    What takes longer than `seconds` is answered by 504; a client that is gone, by nothing. An error
    that no handler knows is answered, too.
    """

    def __init__(self, app: ASGIApp, seconds: float) -> None:
        self.app, self.seconds = app, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or have it answered."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        connection, is_answered = _Connection(scope, receive), False

        async def send_noted(message: Message) -> None:
            nonlocal is_answered
            is_answered = True
            await send(message)

        work = asyncio.ensure_future(self.app(scope, connection.receive, send_noted))
        error = await self._outcome(work, connection)
        if error is not None and is_answered:
            raise error
        if error is not None:
            await error_reply(public_error(error))(scope, receive, send)

    async def _outcome(
        self, work: asyncio.Future[None], connection: "_Connection"
    ) -> BaseException | None:
        """Wait for the end of the work; return what it raised, or that it took too long."""
        awaited = {work, connection.gone}
        try:
            await asyncio.wait(awaited, timeout=self.seconds, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                return work.exception()
            if not connection.gone.done():
                return TimeoutError()
            connection.gone.result()  # raises where what came was too much
            return None
        finally:
            for future in awaited:
                future.cancel()
            await asyncio.gather(*awaited, return_exceptions=True)


class _Connection:
    """The connection to the client: once all is read of a request, it is listened to for its end.

    `gone` is done when the client is gone.
    """

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self._receive, self._is_read = receive, asyncio.Event()
        if scope["method"] in BODYLESS_METHODS:
            self._is_read.set()
        self.gone = asyncio.ensure_future(self._listen())

    async def receive(self) -> Message:
        """Return the next part of the body, after its end the news that the client is gone."""
        if self._is_read.is_set():
            await asyncio.wait({self.gone})
            return {"type": "http.disconnect"}
        message = await self._receive()
        if not message.get("more_body"):
            self._is_read.set()
        return message

    async def _listen(self) -> None:
        await self._is_read.wait()
        while (await self._receive())["type"] != "http.disconnect":
            pass
