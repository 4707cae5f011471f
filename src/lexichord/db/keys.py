"""API keys: of each secret, the database sees and holds the SHA-256 only."""

from collections.abc import Sequence

from lexichord.db.pool import Database, Row
from lexichord.types import ApiKey


async def create_api_key(
    database: Database, name: str, digest: bytes, datasets: Sequence[str] | None, writes: bool
) -> ApiKey:
    """See sql/create_api_key.sql."""
    listed = None if datasets is None else list(datasets)
    (row,) = await database.call(
        "create_api_key", name=name, digest=digest, datasets=listed, writes=writes
    )
    return _key(row)


async def list_api_keys(database: Database) -> list[ApiKey]:
    """See sql/list_api_keys.sql."""
    return [_key(row) for row in await database.call("list_api_keys")]


async def revoke_api_key(database: Database, key: int) -> bool:
    """See sql/revoke_api_key.sql."""
    (row,) = await database.call("revoke_api_key", key=key)
    return bool(row["revoke_api_key"])


async def find_api_key(database: Database, digest: bytes) -> Row | None:
    """See sql/find_api_key.sql."""
    rows = await database.call("find_api_key", digest=digest)
    return rows[0] if rows else None


def _key(row: Row) -> ApiKey:
    datasets = row["datasets"]
    return ApiKey(**{**row, "datasets": None if datasets is None else tuple(datasets)})
