"""Documents move between shards, and what answers over shards have to know of it.

The home counts the switches of documents from one shard to another. An answer that began and ended
at one count is of one moment, as far as moves are concerned; one that did not is made again. While
nobody moves anything that is asked once a second.

A rebalance moves them to where they belong, while others search and store. A batch is copied in one
transaction of each of the two shards. Both are committed one after the other between two marks at
the home, which answers look at. Until then the batch is where it was. Whoever stores or deletes on
one of the two waits for it.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from time import monotonic
from typing import TYPE_CHECKING, Self
from uuid import UUID, uuid4

from lexichord.db.files import sent_file
from lexichord.db.pool import Conn, Database, Row, call
from lexichord.db.store import CLIENT_UTF8, stream_chunks
from lexichord.types.state import Rebalanced

if TYPE_CHECKING:
    from lexichord.db.shards import Shards

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


LISTED_DOCUMENTS = 1000
BATCH_DOCUMENTS = 16  # that writers wait for
DURABLE = "set local synchronous_commit = on"  # what has left is nowhere else


async def rebalance(shards: "Shards", emptied: int | None) -> Rebalanced:
    """Move every document to its shard, all away from the one to be emptied."""
    mover = Mover(shards, emptied)
    async with mover.moving():
        for number in shards.numbers:
            await mover.move_from(number)
    return mover.moved


@dataclass
class Mover:
    """One rebalance, which goes on from wherever an earlier one was cut off."""

    shards: "Shards"
    emptied: int | None
    token: UUID = field(default_factory=uuid4)
    moved: Rebalanced = field(default_factory=lambda: Rebalanced(0, 0))

    @asynccontextmanager
    async def moving(self) -> AsyncIterator[None]:
        """Let everybody know that documents move while the block lasts."""
        async with announced(self.shards.home, self.token, self.emptied):
            await self.shards.check_all()
            await self.shards.settle()
            yield

    async def move_from(self, source: int) -> None:
        """Move what belongs elsewhere."""
        past = 0
        while rows := await self._list(source, past):
            parted = defaultdict[int, list[int]](list)
            for row in rows:
                parted[self.shards.place_of(row["dataset"], row["uri"])].append(row["number"])
            for target, numbers in parted.items():
                if target != source:
                    for first in range(0, len(numbers), BATCH_DOCUMENTS):
                        batch = numbers[first : first + BATCH_DOCUMENTS]
                        await self._move(source, target, batch)
            past = rows[-1]["number"]

    async def _list(self, source: int, past: int) -> Sequence[Row]:
        shard = self.shards.shard(source)
        return await shard.call("list_places", past=past, batch=LISTED_DOCUMENTS)

    async def _move(self, source: int, target: int, numbers: Sequence[int]) -> None:
        shards = self.shards
        async with shards.home.transaction() as guard:
            async with (
                shards.shard(source).transaction() as leaving,
                shards.shard(target).transaction() as arriving,
            ):
                for _, connection in sorted({source: leaving, target: arriving}.items()):
                    await connection.execute(CLIENT_UTF8)
                    await connection.execute(DURABLE)
                    await call(connection, "hold_writers")
                space = (await call(leaving, "configuration"))[0]["space"]
                chunks = [await self._carry(leaving, arriving, number, space) for number in numbers]
                await call(guard, "hold_answers", shared=False)
                marked = {"from_shard": source, "to_shard": target, "document_numbers": [*numbers]}
                await shards.home.write("begin_switch", mover=self.token, **marked)
            await shards.end_switch()
        self.moved = Rebalanced(
            self.moved.documents + sum(count is not None for count in chunks),
            self.moved.chunks + sum(count or 0 for count in chunks),
        )

    async def _carry(self, leaving: Conn, arriving: Conn, number: int, space: str) -> int | None:
        """Move a document with all that hangs on it; return its chunk count, None if it is gone."""
        document = leaving.ids.write("doc", number)
        rows = await call(leaving, "depart_document", document=document)
        if not rows:
            return None
        original = (await call(leaving, "read_original", document=document))[0]["read_original"]
        await call(arriving, "stage_chunks")
        await stream_chunks(leaving, arriving, document)
        stored = await call(arriving, "arrive_document", document=document, **rows[0], space=space)
        if stored[0]["arrive_document"] and original is not None:
            await call(arriving, "keep_original", document=document, content=original)
        await call(leaving, "delete_documents", documents=[document])
        return len(rows[0]["chunk_ids"])
