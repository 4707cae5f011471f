"""What holds for the calls of a block: how long they may take, who asks, which keys are known."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from time import monotonic

MIN_CALL_SECONDS = 5.0
# When what is asked of a database has to be done, by the monotonic clock; tasks inherit it.
_deadline: ContextVar[float | None] = ContextVar("deadline", default=None)


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Allow the calls of the block, together, so many seconds: DatabaseTimeoutError after them.

    How many is said by `QueryOptions.budget_ms`.

    Each has MIN_CALL_SECONDS, whatever is left: what models leave undone is done without them.
    """
    token = _deadline.set(monotonic() + seconds)
    try:
        yield
    finally:
        _deadline.reset(token)


@dataclass(frozen=True, slots=True)
class Asker:
    """For which tenant a server asks, and by which of its principals."""

    tenant: str
    principals: tuple[str, ...]

    def settings(self) -> dict[str, str]:
        """Return the settings by which lexichord_data.own_datasets knows it."""
        quoted = [one.replace("\\", r"\\").replace('"', r"\"") for one in self.principals]
        principals = ",".join(f'"{one}"' for one in quoted)
        return {"lexichord.tenant": self.tenant, "lexichord.principals": f"{{{principals}}}"}


_asker: ContextVar[Asker | None] = ContextVar("asker", default=None)


@contextmanager
def asking_for(tenant: str | None, principals: tuple[str, ...] = ()) -> Iterator[None]:
    """Ask in the block for this tenant, None for none; where tenants are on, that sees nothing."""
    token = _asker.set(None if tenant is None else Asker(tenant, principals))
    try:
        yield
    finally:
        _asker.reset(token)


_keys_are_known: ContextVar[bool] = ContextVar("keys_are_known", default=False)


@contextmanager
def keys_known() -> Iterator[None]:
    """Filter in the block by keys that no document of the database has: another shard's do."""
    token = _keys_are_known.set(True)
    try:
        yield
    finally:
        _keys_are_known.reset(token)


def current_asker() -> Asker | None:
    """Return for whom the block asks; None: for nobody in particular."""
    return _asker.get()


def call_settings() -> dict[str, str]:
    """Return what holds for the next call alone: how long it may take, and who asks."""
    asker, deadline = _asker.get(), _deadline.get()
    settings = {} if asker is None else asker.settings()
    if _keys_are_known.get():
        settings["lexichord.keys_are_known"] = "on"
    if deadline is not None:
        seconds = max(MIN_CALL_SECONDS, deadline - monotonic())
        settings["statement_timeout"] = str(round(1000 * seconds))
    return settings
