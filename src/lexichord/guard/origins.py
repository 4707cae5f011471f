"""Keep off other pages: a browser sends what they ask for, with the rights of its user."""

from lexichord.errors import ForbiddenError
from lexichord.guard.limits import Asgi, Receive, Scope, Send, refuse
from lexichord.guard.public import public_error


class Origins:
    """An ASGI application in front of another: 403 for requests that pages of others make.

    A browser names the page in the header Origin wherever it is another server's, and in all that
    changes something (Fetch standard, 3.2); other programs send none. CORS alone would only
    hide the answer: an upload, as forms send it, would have been stored.
    """

    def __init__(self, app: Asgi, allowed: list[str]) -> None:
        self.app = app
        self.allowed = {origin.rstrip("/").lower() for origin in allowed}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or refuse it."""
        if scope["type"] == "http" and not self._is_welcome(dict(scope["headers"])):
            error = ForbiddenError("this page may not ask: name its origin in allowed_origins")
            await refuse(send, public_error(error))
        else:
            await self.app(scope, receive, send)

    def _is_welcome(self, headers: dict[bytes, bytes]) -> bool:
        if b"origin" not in headers:
            return True
        origin = headers[b"origin"].decode("latin-1").lower()
        own = headers.get(b"host", b"").decode("latin-1").lower()
        return origin in self.allowed or (
            bool(own) and origin in (f"http://{own}", f"https://{own}")
        )
