"""API keys for those who ask over a network: made, listed, revoked, checked."""

from collections.abc import Iterable
from hashlib import sha256
from hmac import compare_digest
from secrets import token_urlsafe

from lexichord.db import catalogue
from lexichord.db.pool import Database
from lexichord.errors import AccessError, ConfigError, NotFoundError
from lexichord.types import ApiKey, NewApiKey, Rights
from lexichord.types.options import no_single_text

PREFIX = "lx_"  # by which people, and scanners for leaked secrets, know what it is
BYTES = 32  # of randomness: nobody guesses, so a fast hash is enough


class InKeys:
    """What gives keys to its database."""

    database: Database

    async def create_key(
        self, name: str, *, datasets: Iterable[str] | None = None, writes: bool = False
    ) -> NewApiKey:
        """Make a key that reaches these datasets, by default all, to read or also to write.

        The datasets need not be there yet. Its secret is given now and never again.
        Raises ConfigError.
        """
        no_single_text(datasets=datasets)
        reached = None if datasets is None else tuple(dict.fromkeys(datasets))
        if not name or reached == () or (reached and not all(reached)):
            raise ConfigError("a key needs a name, and datasets that have names, or none for all")
        secret = PREFIX + token_urlsafe(BYTES)
        key = await catalogue.create_api_key(self.database, name, _digest(secret), reached, writes)
        return NewApiKey(key, secret)

    async def list_keys(self) -> list[ApiKey]:
        """List all keys, the revoked ones too; their secrets are not known."""
        return await catalogue.list_api_keys(self.database)

    async def revoke_key(self, key: int) -> None:
        """Make a key worthless, at once and for good. Raises NotFoundError."""
        if not await catalogue.revoke_api_key(self.database, key):
            raise NotFoundError(f"there is no valid key {key}: see lexichord keys list")

    async def check_key(self, secret: str) -> Rights:
        """Give what the owner of a secret may do. Raises AccessError."""
        digest = _digest(secret)
        row = await catalogue.find_api_key(self.database, digest)
        if row is None or not compare_digest(row["digest"], digest):
            raise AccessError("the API key is unknown or revoked")
        datasets = row["datasets"]
        return Rights(datasets and tuple(datasets), row["writes"], row["key_id"])


def _digest(secret: str) -> bytes:
    return sha256(secret.encode("utf-8", "surrogatepass")).digest()
