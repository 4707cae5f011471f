"""Whether a read replica is fit to be asked now, and what answers should say of it."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

# Reasoned, not measured: a look is one short statement, and a second is what a reader notices.
LOOK_SECONDS = 1.0  # between two looks at how far it is behind
MIN_SHOWN_LAG_SECONDS = 1.0  # less is not worth telling
MAX_LAG_SECONDS = 30.0  # of more the primary is asked instead
RETRY_SECONDS = 5.0  # before one that did not answer is asked again
CONNECT_SECONDS = 2.0  # for a connection: the primary can answer as well
AWAIT_SECONDS = 1.0  # for what a caller wrote elsewhere, before the primary is asked
AWAIT_STEP_SECONDS = 0.02
GONE = "the replica does not answer: the primary was asked"
LATE = "the replica is up to {seconds:.0f} s behind: the primary was asked"
BEHIND = "the replica is up to {seconds:.0f} s behind"
MISSED = "the replica lacks what was stored last, and the primary does not answer"
ALONE = "the replica follows no primary: what was stored since it lost it is not found"


@dataclass(slots=True)
class Replica:
    """What is known of a standby, or of several that one DSN names.

    `note` is what answers should say of it; `awaited` a position in the write-ahead log that it
    has to reach before it is asked; `may_miss` says that the position of the last write could not
    be had, for the primary did not answer; times are the monotonic clock's.
    """

    note: str | None = None
    awaited: str | None = None
    may_miss: bool = False
    is_fit: bool = False
    next_look: float = 0.0

    @property
    def is_due(self) -> bool:
        """Return whether it is time to look at it."""
        return self.next_look <= monotonic()

    def await_position(self, position: str) -> None:
        """Let nothing be read there before all is there that was written up to a position."""
        self.awaited, self.may_miss, self.next_look = position, False, 0.0

    def miss(self) -> None:
        """Let answers say that what was stored last may not be there, until its position is."""
        self.may_miss, self.next_look = True, 0.0

    def lose(self) -> None:
        """Ask it nothing for a while: it did not answer."""
        self.note, self.is_fit, self.next_look = GONE, False, monotonic() + RETRY_SECONDS

    def judge(self, state: Mapping[str, Any]) -> None:
        """Take in a row of sql/replica_state.sql."""
        seconds = state["seconds"]
        self.is_fit = state["reached"] and seconds <= MAX_LAG_SECONDS
        pause = RETRY_SECONDS if self.may_miss else LOOK_SECONDS
        self.next_look = monotonic() + pause if state["reached"] else 0.0
        if state["reached"]:
            self.awaited = None
        self.note = MISSED if self.may_miss else _note(state, seconds)


@dataclass(slots=True)
class Awaited:
    """The position that what one caller reads has to hold, and who is asked therefore.

    `from_replica` is None until that is known; `note` is what its answer should say of it.
    """

    position: str
    from_replica: bool | None = None
    note: str | None = None
    waiting: asyncio.Lock = field(default_factory=asyncio.Lock)


def position_number(position: str) -> int:
    """Return the number of a position in the write-ahead log, which Postgres writes in two."""
    high, low = position.split("/")
    return (int(high, 16) << 32) + int(low, 16)


def position_text(number: int) -> str:
    """Return a position as Postgres writes it."""
    return f"{number >> 32:X}/{number & 0xFFFFFFFF:X}"


def _note(state: Mapping[str, Any], seconds: float) -> str | None:
    if seconds > MAX_LAG_SECONDS:
        return LATE.format(seconds=seconds)
    if state["is_replica"] and not state["is_following"]:
        return ALONE
    return BEHIND.format(seconds=seconds) if seconds >= MIN_SHOWN_LAG_SECONDS else None
