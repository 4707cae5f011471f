"""What a server refuses at once: bodies too large, and more requests than it can answer."""

from lexichord.serve.middleware import Asgi, Message, Receive, Scope, Send, header, refuse

# Characters of a question. A model that embeds reads some 1,000 of them, a long passage to compare
# has a few thousand, and the keyword search takes a word more for each.
LONGEST = 10_000
LONGEST_IN_ADDRESS = 4_000  # a character has up to 12 there, and a request's head at most 65,536
RETRY_AFTER = 1  # seconds; a search takes some 30 ms
ALWAYS = ("/healthz", "/readyz", "/metrics")  # who is asked too much is still alive


class TooLargeError(Exception):
    """A body went on after its limit."""


class Limits:
    """An ASGI application in front of another: 413 for large bodies, 429 for too many requests."""

    def __init__(self, app: Asgi, max_body: int, max_requests: int) -> None:
        self.app, self.max_body, self.max_requests = app, max_body, max_requests
        self.running = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it."""
        if scope["type"] != "http" or scope["path"] in ALWAYS:
            await self.app(scope, receive, send)
        elif _length(scope) > self.max_body:
            await self._too_large(send)
        elif self.running >= self.max_requests:
            told = "too many requests at once: try again"
            await refuse(send, 429, "rate_limit_error", told, RETRY_AFTER)
        else:
            await self._counted(scope, receive, send)

    async def _counted(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.running += 1
        try:
            await self._measured(scope, receive, send)
        finally:
            self.running -= 1

    async def _measured(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count what is received: a body sent in pieces has no length beforehand.

        An application takes the error for one of its own and answers; that answer is not sent.
        """
        seen, started, is_over = 0, False, False

        async def measured() -> Message:
            nonlocal seen, is_over
            message = await receive()
            seen += len(message.get("body", b""))
            is_over = is_over or seen > self.max_body
            if is_over:
                raise TooLargeError
            return message

        async def told(message: Message) -> None:
            nonlocal started
            if started or not is_over:
                started = True
                await send(message)

        try:
            await self.app(scope, measured, told)
        except TooLargeError:
            if started:
                raise
        if is_over and not started:
            await self._too_large(send)

    async def _too_large(self, send: Send) -> None:
        await refuse(send, 413, "request_too_large", f"at most {self.max_body:,} bytes")


def _length(scope: Scope) -> int:
    text = header(scope, "content-length")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else 0
