"""Documents move to the shards where they belong, while others search and store.

A batch is copied in one transaction of each of the two shards. Both are committed one after the
other between two marks at the home, which answers look at: see `db/moves.py`. Until then the
batch is where it was. Whoever stores or deletes on one of the two waits for it.
"""

from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from uuid import UUID, uuid4

from lexichord.db.moves import announced
from lexichord.db.pool import Conn, Row, call
from lexichord.db.shards import Shards
from lexichord.db.store import CLIENT_UTF8, stream_chunks
from lexichord.types.state import Rebalanced

LISTED_DOCUMENTS = 1000
BATCH_DOCUMENTS = 16  # that writers wait for
DURABLE = "set local synchronous_commit = on"  # what has left is nowhere else


async def rebalance(shards: Shards, emptied: int | None) -> Rebalanced:
    """Move every document to its shard, all away from the one to be emptied."""
    mover = Mover(shards, emptied)
    async with mover.moving():
        for number in shards.numbers:
            await mover.move_from(number)
    return mover.moved


@dataclass
class Mover:
    """One rebalance, which goes on from wherever an earlier one was cut off."""

    shards: Shards
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
