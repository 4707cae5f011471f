"""What a caller may do and where, and its calls on record.

What all that a caller may use is made of. Records are written a few seconds later, many at once, so
that no call waits for its own. Whoever kills a server takes the last of them along.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import wraps
from inspect import signature
from typing import Any, Concatenate, Literal, TypedDict

from lexichord.client.lexichord import Lexichord
from lexichord.db import catalogue
from lexichord.db.session import asking_for
from lexichord.errors import (
    AccessError,
    ForbiddenError,
    LexichordError,
    MissingScopeError,
    NotFoundError,
    UnknownDatasetError,
    some_names,
)
from lexichord.serve.errors import public_status
from lexichord.serve.limits import (
    MAX_PENDING_CALLS,
    MAX_RECORD_RETRY_SECONDS,
    RECORD_SECONDS,
)
from lexichord.types import Rights
from lexichord.types.query_options import several

log = logging.getLogger("lexichord")

FULL_RIGHTS = Rights()
REACH_CHANGED = "what the API key reaches has changed meanwhile: ask again"


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


class _DatasetScope(TypedDict, total=False):
    datasets: Sequence[str]


type Deed = Literal["read", "write", "delete"]


def recorded[S: "Scoped", **P, R](
    method: Callable[Concatenate[S, P], Coroutine[Any, Any, R]],
) -> Callable[Concatenate[S, P], Coroutine[Any, Any, R]]:
    """Have a method's calls put on record, with how they end."""
    parameters = signature(method)

    @wraps(method)
    async def call(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        called_at, status = datetime.now(UTC), 200
        try:
            with asking_for(self.rights.tenant, self.rights.principals):
                return await method(self, *args, **kwargs)
        except BaseException as error:
            status = public_status(error)
            if isinstance(error, UnknownDatasetError) and self.rights.datasets is not None:
                reached = some_names(self.rights.datasets)
                raise NotFoundError(f"{error.bare}: the API key reaches {reached}") from None
            raise
        finally:
            arguments = parameters.bind(self, *args, **kwargs).arguments
            options = arguments.pop("options", {})
            self._record(method.__name__, called_at, status, {**arguments, **options})

    return call


@dataclass(frozen=True, slots=True)
class Scoped:
    """An application and the rights with which somebody uses it."""

    _client: Lexichord
    rights: Rights = FULL_RIGHTS
    _log: CallLog | None = None
    _rights_now: Callable[[], Awaitable[Rights]] | None = None

    def check_writes(self, dataset: str) -> None:
        """Raise ForbiddenError unless documents may be written into this dataset."""
        try:
            self._scope("write", [dataset])
        except ForbiddenError as error:
            self._record("ingest", datetime.now(UTC), public_status(error), {"dataset": dataset})
            raise

    def _scope(self, deed: Deed, datasets: Sequence[str] | None = None) -> _DatasetScope:
        """Return the datasets to look in: those asked for, else all in reach.

        Raises ForbiddenError where the rights do not allow the deed, or not there.
        """
        self._check(deed)
        reach = self.rights.datasets
        if datasets is None:
            return {} if reach is None else {"datasets": reach}
        datasets = [*several(datasets)]
        if reach is None or not datasets:
            return {"datasets": datasets}  # none are refused further down
        if beyond := set(datasets).difference(reach):
            named, reached = ", ".join(sorted(beyond)), some_names(reach, beyond)
            raise ForbiddenError(
                f"the API key does not reach dataset {named}: it reaches {reached}"
            )
        return {"datasets": datasets}

    async def _check_names(self) -> None:
        """Raise ForbiddenError where a name in reach may be another dataset's by now.

        A query may wait long for a model. A key that is over ends nothing that it began.
        """
        if self._rights_now is None or self.rights.datasets is None:
            return
        rights = self.rights
        with suppress(AccessError):
            rights = await self._rights_now()
        if rights.datasets != self.rights.datasets:
            raise ForbiddenError(REACH_CHANGED)

    async def _check_rights(self) -> None:
        """Raise AccessError where the key is over by now, ForbiddenError where it reaches others.

        An ingest may wait long for its turn.
        """
        if self._rights_now is not None and await self._rights_now() != self.rights:
            raise ForbiddenError(REACH_CHANGED)

    def check_all(self, *deeds: Deed) -> None:
        """Raise MissingScopeError unless the rights allow all of these deeds."""
        for deed in deeds:
            self._check(deed)

    def check_any(self, *deeds: Deed) -> None:
        """Raise MissingScopeError unless the rights allow one of these deeds."""
        may = self._may()
        if not any(may[deed] for deed in deeds):
            self._check(deeds[0])

    def _may(self) -> dict[Deed, bool]:
        rights = self.rights
        return {"read": rights.reads, "write": rights.writes, "delete": rights.deletes}

    def _check(self, deed: Deed) -> None:
        """Raise MissingScopeError unless the rights allow the deed."""
        may = self._may()
        if not may[deed]:
            allowed = " and ".join(name for name, allows in may.items() if allows)
            option = "without --no-read" if deed == "read" else f"with --{deed}"
            raise MissingScopeError(f"the API key may only {allowed}: make one {option}")

    def _record(
        self, kind: str, called_at: datetime, status: int, arguments: Mapping[str, object]
    ) -> None:
        """Put a call on record: the datasets that it names, or else those in reach."""
        if self._log is not None and self.rights.key_id is not None:
            given = {name: value for name, value in arguments.items() if value is not None}
            named = {"datasets": self.rights.datasets, **given}
            self._log.add(self.rights.key_id, called_at, kind, status, named)
