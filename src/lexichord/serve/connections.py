"""Connections over which requests come: who begins none, or does not end its head, is hung up on.

So is who has waited longest where too many wait.

uvicorn waits for a head without an end, and once an answer is sent, for the rest of a body.
"""

import asyncio
from weakref import WeakKeyDictionary

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from lexichord.serve.limits import (
    ARRIVAL_SECONDS,
    KEEP_ALIVE_SECONDS,
    MAX_WAITING_CONNECTIONS,
)

# Of each server those on which no request is being answered, the longest waiting first.
_waiting = WeakKeyDictionary[ServerState, dict["TimedProtocol", None]]()


class TimedProtocol(H11Protocol):
    """A connection that is closed where no request's head is whole within seconds.

    They run from its opening, later from a head's first byte. What is left of a body after its
    answer has the time of an idle connection, which else is uvicorn's to close. While a request is
    answered its body is the application's to wait for.
    """

    _deadline: asyncio.TimerHandle | None = None
    _seconds: float | None = None  # to the deadline, when it was set

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection, and wait for a request."""
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Take what came, and wait for the rest of a head where no request is being answered."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        super().connection_lost(exc)
        self._forget()

    def _watch(self) -> None:
        if self.cycle is not None and not self.cycle.response_complete:
            self._forget()
            return
        seconds = ARRIVAL_SECONDS if self._has_begun() else KEEP_ALIVE_SECONDS
        if seconds != self._seconds and not self.transport.is_closing():
            self._forget()
            self._seconds = seconds
            self._deadline = self.loop.call_later(seconds, self.transport.abort)
            waiting = _waiting.setdefault(self.server_state, {})
            waiting[self] = None
            if len(waiting) > MAX_WAITING_CONNECTIONS:
                longest = next(iter(waiting))
                longest._forget()
                longest.transport.abort()

    def _has_begun(self) -> bool:
        """Return whether it is a head that is waited for, not the rest of a body answered."""
        if self.cycle is None:
            return True
        return self.conn.their_state is h11.IDLE and self.conn.trailing_data[0] != b""

    def _forget(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline, self._seconds = None, None
            _waiting[self.server_state].pop(self)
