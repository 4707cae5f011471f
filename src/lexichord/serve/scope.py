"""What a caller may do and where, and its calls on record: what all that it may use is made of."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import wraps
from inspect import signature
from typing import Any, Concatenate, Literal, TypedDict

from lexichord.client.lexichord import Lexichord
from lexichord.db.session import asking_for
from lexichord.errors import (
    ForbiddenError,
    MissingScopeError,
    NotFoundError,
    UnknownDatasetError,
    some_names,
)
from lexichord.serve.calls import CallLog
from lexichord.serve.errors import public_status
from lexichord.types import Rights
from lexichord.types.options import several

FULL_RIGHTS = Rights()


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
