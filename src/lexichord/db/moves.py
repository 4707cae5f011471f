"""What answers over shards have to know of documents that move between them.

The home counts the switches of documents from one shard to another. An answer that began and ended
at one count is of one moment, as far as moves are concerned; one that did not is made again. While
nobody moves anything that is asked once a second.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from hashlib import blake2b
from time import monotonic
from typing import Self
from uuid import UUID

from lexichord.db.files import sent_file
from lexichord.db.pool import Conn, Database, Row, call

QUIET_SECONDS = 1.0  # that a look at the home holds, where nobody moves
LEASE_SECONDS = 1.5 * QUIET_SECONDS  # after which everybody knows that somebody moves
SWITCH_SECONDS = 1.0  # after which a switch counts as cut off
SWITCH_STEP_SECONDS = 0.005


@dataclass(frozen=True, slots=True)
class Moves:
    """What the home said, and until when nothing can have moved."""

    switches: int
    last_number: int
    numbers: tuple[int, ...]
    leaving: tuple[int, ...]
    is_moving: bool
    quiet_until: float
    from_shard: int
    to_shard: int
    documents: tuple[int, ...]  # that are just being switched

    @classmethod
    def of(cls, row: Row, asked_at: float) -> Self:
        """Take what sql/shards/shard_moves.sql gave when it was asked then."""
        return cls(
            row["switches"],
            row["last_number"],
            tuple(row["numbers"]),
            tuple(row["leaving"]),
            row["is_moving"],
            0.0 if row["is_moving"] else asked_at + QUIET_SECONDS,
            row["from_shard"] or 0,
            row["to_shard"] or 0,
            tuple(row["document_numbers"] or ()),
        )

    @property
    def is_quiet(self) -> bool:
        """Return whether nothing can have moved since."""
        return monotonic() < self.quiet_until

    def place(self, dataset: str, uri: str, home: int) -> int:
        """Return the shard on which a document belongs: the home where it was sent as a file."""
        if sent_file(dataset, uri):
            return home
        numbers = [home, *(n for n in self.numbers if n not in self.leaving)]
        return max(numbers, key=lambda number: _weight(number, dataset, uri))


def _weight(number: int, dataset: str, uri: str) -> bytes:
    """Return what a shard weighs for a document: a document belongs where the most is.

    So of n shards a new one takes a share of 1 in n, and no other document moves (rendezvous
    hashing, Thaler and Ravishankar 1998).
    """
    return blake2b(f"{number}\0{dataset}\0{uri}".encode(errors="replace"), digest_size=8).digest()


async def read_moves(home: Database | Conn) -> Moves:
    """See sql/shards/shard_moves.sql."""
    asked_at = monotonic()
    if isinstance(home, Database):
        (row,) = await home.call("shard_moves")
    else:
        (row,) = await call(home, "shard_moves")
    return Moves.of(row, asked_at)


async def await_switch(home: Database) -> Moves:
    """Return what holds when no switch is under way, or one that does not end."""
    end = monotonic() + SWITCH_SECONDS
    while True:
        moves = await read_moves(home)
        if not moves.documents or monotonic() > end:
            return moves
        await asyncio.sleep(SWITCH_STEP_SECONDS)


@asynccontextmanager
async def announced(home: Database, mover: UUID, leaving: int | None) -> AsyncIterator[None]:
    """Let all know that documents move while the block lasts; see sql/shards/start_moves.sql."""
    await home.write("start_moves", mover=mover, leaving=leaving)
    try:
        await asyncio.sleep(LEASE_SECONDS)
        yield
    finally:
        await home.write("end_moves", mover=mover)


async def end_switch(home: Database, source: Database, target: Database, moves: Moves) -> None:
    """End a switch that was cut off: what has arrived leaves, what has not stays.

    Whoever began it holds the writers of both until its transactions are over.
    """
    async with target.transaction() as arriving:
        await call(arriving, "hold_writers")
        asked = {"kind": "doc", "numbers": list(moves.documents)}
        arrived = (await call(arriving, "held_numbers", **asked))[0]["held_numbers"]
    async with source.transaction() as leaving:
        await call(leaving, "hold_writers")
        if (await read_moves(home)).switches != moves.switches:
            return  # somebody else ended it, and what had left may have come back since
        documents = [home.ids.write("doc", number) for number in arrived]
        await call(leaving, "delete_documents", documents=documents)
    await home.write("end_switch", switches=moves.switches)
