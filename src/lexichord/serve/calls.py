"""What API keys are used for: how often a minute, and on record.

Records are written a few seconds later, many at once, so that no call waits for its own. Whoever
kills a server takes the last of them along.
"""

import asyncio
import logging
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from math import ceil
from time import monotonic

from lexichord.client.lexichord import Lexichord
from lexichord.db import catalogue
from lexichord.errors import LexichordError, TooManyRequestsError
from lexichord.serve.limits import (
    MAX_PENDING_CALLS,
    MAX_RECORD_RETRY_SECONDS,
    RATE_WINDOW_SECONDS,
    RECORD_SECONDS,
)

log = logging.getLogger("lexichord")


class RequestRates:
    """When each key was used in the last minute; every process counts its own requests."""

    def __init__(self) -> None:
        self._times = defaultdict[int, deque[float]](deque)

    def count(self, key_id: int, most: int) -> None:
        """Count a request of a key that may send so many a minute. Raises TooManyRequestsError."""
        now, times = monotonic(), self._times[key_id]
        while times and times[0] <= now - RATE_WINDOW_SECONDS:
            times.popleft()
        if len(times) >= most:
            seconds = ceil(times[len(times) - most] + RATE_WINDOW_SECONDS - now)
            raise TooManyRequestsError(
                f"this key may send {most:,} requests a minute: try again in {seconds} s", seconds
            )
        times.append(now)


class CallLog:
    """The calls of keys that are not written yet."""

    def __init__(self, client: Lexichord) -> None:
        self._client = client
        self._pending: list[dict[str, object]] = []
        self._writer: asyncio.Task[None] | None = None
        self._ended = asyncio.Event()

    def add(
        self,
        key_id: int,
        called_at: datetime,
        kind: str,
        status: int,
        arguments: Mapping[str, object] | None = None,
    ) -> None:
        """Add a call; of its arguments the datasets are kept, and the query if the settings say."""
        arguments = arguments or {}
        query = arguments.get("query") if self._client.settings.audit == "text" else None
        call = {"key_id": key_id, "called_at": called_at.isoformat(), "kind": kind}
        call |= {"status": status, "datasets": _datasets(arguments), "query": _storable(query)}
        self._pending.append(call)
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write_on())

    async def aclose(self) -> None:
        """Write what is left."""
        self._ended.set()
        if self._writer is not None:
            await self._writer

    async def _write_on(self) -> None:
        """Write every few seconds as long as there is something, after a failure less often."""
        seconds: float = RECORD_SECONDS
        while self._pending:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._ended.wait()
            is_written = await self._write()
            seconds = RECORD_SECONDS if is_written else min(2 * seconds, MAX_RECORD_RETRY_SECONDS)
            if self._ended.is_set():
                return

    async def _write(self) -> bool:
        calls, self._pending = self._pending, []
        keep = self._client.settings.audit != "off"
        try:
            await catalogue.record_api_calls(self._client.database, calls, keep=keep)
        except LexichordError as error:
            self._pending = (calls + self._pending)[-MAX_PENDING_CALLS:]
            log.warning(
                "%s calls by API keys are not on record: %s; of the last %s it is tried again",
                *(len(calls), error, len(self._pending)),
            )
            return False
        return True


def _datasets(arguments: Mapping[str, object]) -> list[str] | None:
    """Return the datasets that a call names, None where it names none."""
    named = arguments.get("dataset") or arguments.get("datasets")
    names: Sequence[object] = [named] if isinstance(named, str) else list(named or ())  # type: ignore[call-overload]
    return [text for name in names if (text := _storable(name)) is not None] or None


def _storable(value: object) -> str | None:
    """Return a text without what no text in Postgres can hold, None for what is none."""
    if not isinstance(value, str):
        return None
    return value.encode(errors="replace").decode().replace("\0", "\ufffd")
