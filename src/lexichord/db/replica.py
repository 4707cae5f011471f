"""Whether a read replica is fit to be asked now, and what answers should say of it."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

type Address = tuple[str, str, int]  # host, its number, port

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
LOST = "what was stored up to the position that was named is lost: the primary does not have it"
ALONE = "the replica follows no primary: what was stored since it lost it is not found"


@dataclass(slots=True)
class Replica:
    """What is known of a standby.

    `note` is what answers should say of it; `awaited` a position in the write-ahead log that it
    has to reach before it is asked; `may_miss` says that the position of the last write could not
    be had, for the primary did not answer; `answered` is when it last did. Times are the monotonic
    clock's.
    """

    note: str | None = None
    awaited: str | None = None
    may_miss: bool = False
    is_fit: bool = False
    next_look: float = 0.0
    answered: float = 0.0

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

    def judge(self, state: Mapping[str, Any]) -> None:
        """Take in a row of sql/operation/replica_state.sql."""
        seconds = state["seconds"]
        self.is_fit = state["reached"] and seconds <= MAX_LAG_SECONDS
        pause = RETRY_SECONDS if self.may_miss else LOOK_SECONDS
        self.next_look = monotonic() + pause if state["reached"] else 0.0
        if state["reached"]:
            self.awaited = None
        self.note = MISSED if self.may_miss else _note(state, seconds)


@dataclass(slots=True)
class Replicas:
    """The standbys that one DSN names, one or several, by address: each is as far as it is.

    `position` is that of the last write that could be had, for those which are met later.
    """

    known: dict[Address, Replica] = field(default_factory=dict)
    position: str | None = None
    lost_until: float = 0.0

    @property
    def is_lost(self) -> bool:
        """Return whether none is to be asked for a while."""
        return monotonic() < self.lost_until

    def at(self, address: Address) -> Replica:
        """Return what is known of the one to which a connection leads."""
        return self.known.setdefault(address, Replica(awaited=self.position))

    def lose(self) -> None:
        """Ask none for a while: one did not answer, and where another is, is to be found out."""
        self.lost_until = monotonic() + RETRY_SECONDS
        self.known.clear()

    def await_position(self, position: str) -> None:
        """Have each asked only when it is there."""
        self.position = position
        for replica in self.known.values():
            replica.await_position(position)

    def notes(self) -> list[str]:
        """Return what answers should say of those that gave the latest ones."""
        if self.is_lost:
            return [GONE]
        latest = max((one.answered for one in self.known.values()), default=0.0)
        asked = (one for one in self.known.values() if one.answered >= latest - LOOK_SECONDS)
        return list(dict.fromkeys(one.note for one in asked if one.note))


@dataclass(slots=True)
class Awaited:
    """The position that what one caller reads has to hold, and who is asked therefore.

    `reached` are the standbys that are known to be there; `from_primary` says that one was not in
    time; `note` is what the answer should say of it.
    """

    position: str
    reached: set[Address] = field(default_factory=set)
    from_primary: bool = False
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
