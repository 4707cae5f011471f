"""Shards: other databases that hold a part of the documents."""

import asyncio

from lexichord.db import catalogue, schema
from lexichord.db.pool import Database
from lexichord.db.shards import check_shard_dsn
from lexichord.errors import ConfigError, NotFoundError
from lexichord.types import EmbeddingSpace
from lexichord.types.state import Shard

MOST_SHARDS = 31


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
        if len(known) >= MOST_SHARDS:
            raise ConfigError(f"there are at most {MOST_SHARDS} shards besides the first database")
        if (await catalogue.tenancy(self.database))["has_tenants"]:
            raise ConfigError("tenants are on, and are not there over shards: keep to one database")
        number = max(known, default=0) + 1
        await asyncio.to_thread(schema.prepare, dsn, await self._alike())
        async with Database(dsn, 1) as shard:
            await catalogue.join_shards(shard, number, self.database)
        await catalogue.add_shard(self.database, number, dsn)
        return number

    async def list_shards(self) -> list[Shard]:
        """List the shards besides the first database, with how many documents each holds."""
        shards = await catalogue.list_shards(self.database)
        counts = await asyncio.gather(*map(_documents, shards.values()))
        return [Shard(*each, count) for each, count in zip(shards.items(), counts, strict=True)]

    async def remove_shard(self, number: int) -> None:
        """Take an empty shard from the list; its database stays. Raises ConfigError."""
        shards = await catalogue.list_shards(self.database)
        if number not in shards:
            raise NotFoundError(f"there is no shard {number}: see lexichord shards list")
        if count := await _documents(shards[number]):
            raise ConfigError(
                f"shard {number} holds {count} documents: delete them first, or copy them to "
                "another database by lexichord copy"
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
