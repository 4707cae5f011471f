"""API keys for callers over a network: created, listed, revoked, checked."""

from collections.abc import Iterable
from datetime import timedelta
from hashlib import sha256
from hmac import compare_digest
from secrets import token_urlsafe

from lexichord.db import catalogue
from lexichord.db.pool import Database
from lexichord.errors import (
    AccessError,
    ConfigError,
    DatabaseError,
    KeyExpiredError,
    NotFoundError,
)
from lexichord.types import ApiCall, ApiKey, NewApiKey, Rights
from lexichord.types.options import several

KEY_PREFIX = "lx_"  # by which people, and scanners for leaked secrets, know what it is
KEY_BYTES = 32  # of randomness: nobody guesses, so a fast hash is enough
OVERLAP = timedelta(days=1)  # for which a renewed key stays valid
MAX_LASTS = timedelta(days=36_500)  # more is "for good"
SERVE_AS = (
    "make a login role, create role NAME login password '…' in role lexichord_server, and serve "
    "with its DSN"
)
MAX_RATE = 1_000_000  # requests a minute; no server of ours answers so many


class KeyMethods:
    """The methods of `Lexichord` for the keys of its database."""

    database: Database

    async def create_key(
        self,
        name: str,
        *,
        datasets: Iterable[str] | None = None,
        writes: bool = False,
        deletes: bool = False,
        reads: bool = True,
        lasts: timedelta | None = None,
        requests_per_minute: int | None = None,
        tenant: str | None = None,
        principals: Iterable[str] = (),
    ) -> NewApiKey:
        """Make a key that reaches these datasets, by default all, to read, write or delete.

        The datasets need not be there yet. It `lasts` so long, by default for good. One of a
        `tenant` only reads, and of documents with principals those with one of `principals`. Its
        secret is returned now and never again. Raises ConfigError, NotFoundError.
        """
        groups = list(dict.fromkeys(several(principals)))
        in_reach = None if datasets is None else tuple(dict.fromkeys(several(datasets)))
        if not name or in_reach == () or (in_reach and not all(in_reach)):
            raise ConfigError("a key needs a name, and datasets that have names, or none for all")
        if not (reads or writes or deletes):
            raise ConfigError("a key that may neither read, write nor delete opens nothing")
        _check_tenant(tenant, groups, reads_only=not (writes or deletes))
        _check_limits(lasts, requests_per_minute)
        secret = _new_secret()
        key = await catalogue.create_api_key(
            self.database,
            name=name,
            digest=_digest(secret),
            datasets=None if in_reach is None else list(in_reach),
            writes=writes,
            deletes=deletes,
            reads=reads,
            lasts=lasts,
            requests_per_minute=requests_per_minute,
            tenant=tenant,
            principals=groups,
        )
        if key is None:
            raise NotFoundError(f"there is no tenant {tenant}: lexichord tenants add {tenant}")
        return NewApiKey(key, secret)

    async def rotate_key(self, key: int, *, overlap: timedelta = OVERLAP) -> NewApiKey:
        """Make a key for the same that another one may do; both are valid for the overlap.

        The new one lasts as long as the old one was made for. Raises ConfigError, NotFoundError.
        """
        if not timedelta() <= overlap <= MAX_LASTS:
            raise ConfigError(f"the overlap is none or more, and at most {MAX_LASTS.days:,} days")
        secret = _new_secret()
        made = await catalogue.rotate_api_key(self.database, key, _digest(secret), overlap)
        if made is None:
            raise NotFoundError(
                f"there is no valid key {key} that no other renews yet: see lexichord keys list"
            )
        return NewApiKey(made, secret)

    async def list_keys(self) -> list[ApiKey]:
        """List all keys, the revoked and the expired ones too; their secrets are not known."""
        return await catalogue.list_api_keys(self.database)

    async def list_calls(self, latest: int = 20, *, key: int | None = None) -> list[ApiCall]:
        """List the latest calls by API keys on record, or by one, newest first.

        A running server writes them down every few seconds.
        """
        return await catalogue.list_api_calls(self.database, latest, key)

    async def revoke_key(self, key: int) -> None:
        """Make a key worthless, at once and for good. Raises NotFoundError."""
        if not await catalogue.revoke_api_key(self.database, key):
            raise NotFoundError(f"there is no valid key {key}: see lexichord keys list")

    async def check_key(self, secret: str) -> Rights:
        """Return what the owner of a secret may do. Raises AccessError."""
        digest = _digest(secret)
        row = await catalogue.find_api_key(self.database, digest)
        if row is None or not compare_digest(row["digest"], digest):
            raise AccessError("the API key is unknown or revoked")
        if row["expired"]:
            raise KeyExpiredError(
                f"this key expired on {row['expires_at']:%Y-%m-%d}: "
                "make a new one with lexichord keys create",
                row["key_id"],
            )
        if row["has_tenants"] and not row["is_bound"]:
            raise DatabaseError(f"tenants are on, and this server's role sees all: {SERVE_AS}")
        if row["has_tenants"] and row["tenant"] is None:
            raise AccessError(
                "tenants are on, and this key is of none: make one with lexichord keys create "
                "NAME --tenant TENANT"
            )
        return Rights(
            datasets=row["datasets"] and tuple(row["datasets"]),
            writes=row["writes"],
            key_id=row["key_id"],
            deletes=row["deletes"],
            reads=row["reads"],
            requests_per_minute=row["requests_per_minute"],
            tenant=row["tenant"],
            principals=tuple(row["principals"]),
        )


def _new_secret() -> str:
    return KEY_PREFIX + token_urlsafe(KEY_BYTES)


def _digest(secret: str) -> bytes:
    return sha256(secret.encode("utf-8", "surrogatepass")).digest()


def _check_tenant(tenant: str | None, principals: list[str], *, reads_only: bool) -> None:
    if tenant is not None and not reads_only:
        raise ConfigError(
            "a tenant's key only reads: store and delete its documents as the owner, by "
            "lexichord ingest and delete"
        )
    if principals and tenant is None:
        raise ConfigError("principals are of a tenant's keys: name the tenant")


def _check_limits(lasts: timedelta | None, requests_per_minute: int | None) -> None:
    if lasts is not None and not timedelta() < lasts <= MAX_LASTS:
        raise ConfigError(f"a key lasts more than no time, and at most {MAX_LASTS.days:,} days")
    if requests_per_minute is not None and not 0 < requests_per_minute <= MAX_RATE:
        raise ConfigError(f"requests_per_minute is 1 to {MAX_RATE:,}")
