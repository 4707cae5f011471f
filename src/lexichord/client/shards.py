"""Shards: other databases that hold a part of the documents."""

import asyncio

from lexichord.db import catalogue, schema, store
from lexichord.db.moves import read_moves
from lexichord.db.pool import Database
from lexichord.db.rebalance import rebalance
from lexichord.db.reembed import reembed_status
from lexichord.db.shards import NO_SHARD, Shards, check_shard_dsn
from lexichord.errors import ConfigError, NotFoundError
from lexichord.ingest.flow import background_sealing
from lexichord.types import EmbeddingSpace
from lexichord.types.base import counted
from lexichord.types.state import Rebalanced, Shard

MOST_SHARDS = 31
REEMBEDDING = (
    "a change to {space} is under way: finish it with lexichord reembed, or give it up with --drop"
)
MOVING_CONNECTIONS = 4  # to each shard: the home lends three at once


class ShardMethods:
    """The methods of `Lexichord` for the shards of its database."""

    database: Database

    async def add_shard(self, dsn: str) -> int:
        """Make an empty database a shard, prepared if need be; return its number.

        Programs that are open take it in when they are opened again. Raises ConfigError.
        """
        check_shard_dsn(dsn)
        known = await catalogue.list_shards(self.database)
        if dsn in known.values():
            raise ConfigError("the database is a shard already: see lexichord shards list")
        number = (await read_moves(self.database)).last_number + 1
        if number > MOST_SHARDS:
            raise ConfigError(
                f"{MOST_SHARDS} shards were added, and there are no more numbers: ids keep those "
                "of shards that were removed"
            )
        change = await reembed_status(self.database)
        if change is not None and change["state"] == "filling":
            raise ConfigError(REEMBEDDING.format(space=change["other_space"]))
        await asyncio.to_thread(schema.prepare, dsn, await self._alike())
        async with Database(dsn, 1) as shard:
            await catalogue.join_shards(shard, number, self.database)
            if (await catalogue.tenancy(self.database))["has_tenants"]:
                await catalogue.copy_tenants(self.database, shard)
        await catalogue.add_shard(self.database, number, dsn)
        return number

    async def list_shards(self) -> list[Shard]:
        """List the shards besides the first database, with how many documents each holds."""
        shards = await catalogue.list_shards(self.database)
        counts = await asyncio.gather(*map(_documents, shards.values()))
        return [Shard(*each, count) for each, count in zip(shards.items(), counts, strict=True)]

    async def rebalance_shards(self, *, empty: int | None = None) -> Rebalanced:
        """Move every document to the shard where its dataset and uri belong; ids stay.

        With `empty` that shard is left with none, and gets none until this is called without it.
        Others search and store meanwhile; cut off, it goes on when it is called again.
        Raises ConfigError, NotFoundError.
        """
        known = await catalogue.list_shards(self.database)
        if not known:
            raise ConfigError("the database has no shards: add one by lexichord shards add")
        if empty is not None and empty not in known:
            raise NotFoundError(NO_SHARD.format(number=empty))
        async with (
            Database(self.database.dsn, MOVING_CONNECTIONS) as home,
            Shards(home, known, MOVING_CONNECTIONS, is_partial=False) as shards,
            background_sealing(shards),
        ):
            moved = await rebalance(shards, empty)
            await store.build_indexes(shards)
            await shards.share_statistics()
        return moved

    async def remove_shard(self, number: int) -> None:
        """Take an empty shard from the list; its database stays. Raises ConfigError."""
        shards = await catalogue.list_shards(self.database)
        if number not in shards:
            raise NotFoundError(NO_SHARD.format(number=number))
        if count := await _documents(shards[number]):
            raise ConfigError(
                f"shard {number} holds {counted(count, 'document')}: move all to the others by "
                f"lexichord shards rebalance --empty {number}"
            )
        await catalogue.drop_shard(self.database, number)

    async def _alike(self) -> schema.Choice:
        """Return what a shard has to have in common with the first database."""
        row = await catalogue.configuration(self.database)
        space, by_document = EmbeddingSpace.parse(row["space"]), row["by_document"]
        return schema.Choice(row["engine"], row["text_config"], space, by_document)


async def _documents(dsn: str) -> int:
    async with Database(dsn, 1) as shard:
        return int((await catalogue.database_status(shard))["documents"])
