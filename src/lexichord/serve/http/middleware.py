"""A request's work ends when its time is up, or when nobody waits for it any more."""

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lexichord.serve.errors import public_error
from lexichord.serve.http.replies import problem_reply

WITHOUT_BODY = ("GET", "HEAD", "DELETE", "OPTIONS")  # nothing that we read, at least


class Watched:
    """An ASGI application in front of another, whose work is cancelled, its SQL with it.

    What takes longer than `seconds` is answered by 504; a client that is gone, by nothing. What is
    raised and known to nobody is answered, too.
    """

    def __init__(self, app: ASGIApp, seconds: float) -> None:
        self.app, self.seconds = app, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or have it answered."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        line, is_answered = _Line(scope, receive), False

        async def told(message: Message) -> None:
            nonlocal is_answered
            is_answered = True
            await send(message)

        work = asyncio.ensure_future(self.app(scope, line.receive, told))
        error = await self._outcome(work, line)
        if error is not None and is_answered:
            raise error
        if error is not None:
            await problem_reply(public_error(error))(scope, receive, send)

    async def _outcome(self, work: asyncio.Future[None], line: "_Line") -> BaseException | None:
        """Wait for the end of the work; give what it raised, or that it took too long."""
        over = {work, line.left}
        try:
            await asyncio.wait(over, timeout=self.seconds, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                return work.exception()
            if not line.left.done():
                return TimeoutError()
            line.left.result()  # raises where what came was too much
            return None
        finally:
            for each in over:
                each.cancel()
            await asyncio.gather(*over, return_exceptions=True)


class _Line:
    """The connection to the client: once all is read of a request, it is listened to for its end.

    `left` is done when the client is gone.
    """

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self._receive, self._is_read = receive, asyncio.Event()
        if scope["method"] in WITHOUT_BODY:
            self._is_read.set()
        self.left = asyncio.ensure_future(self._listen())

    async def receive(self) -> Message:
        """Give the next part of the body, after its end the news that the client is gone."""
        if self._is_read.is_set():
            await asyncio.wait({self.left})
            return {"type": "http.disconnect"}
        message = await self._receive()
        if not message.get("more_body"):
            self._is_read.set()
        return message

    async def _listen(self) -> None:
        await self._is_read.wait()
        while (await self._receive())["type"] != "http.disconnect":
            pass
