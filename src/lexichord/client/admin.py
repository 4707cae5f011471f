"""What whoever runs a database does with it: keys and tenants, and how it is.

API keys are for callers over a network. Tenants share the database and see nothing of each other.
The state says what a database holds, whether it is sound, and what to do if not.
"""

import asyncio
from collections.abc import Iterable, Sequence
from datetime import timedelta
from hashlib import sha256
from hmac import compare_digest
from secrets import token_urlsafe

from lexichord.db import catalogue, reembed, store, tables
from lexichord.db.pool import Database
from lexichord.errors import (
    AccessError,
    ConfigError,
    DatabaseError,
    KeyExpiredError,
    NotFoundError,
)
from lexichord.providers import Embedder
from lexichord.retrieve.cache import QueryCache
from lexichord.types import (
    ApiCall,
    ApiKey,
    NewApiKey,
    Rights,
    StoredDataset,
    Tenant,
)
from lexichord.types.base import check_name
from lexichord.types.query_options import several
from lexichord.types.state import (
    ExtensionFault,
    Fault,
    Health,
    IndexedTable,
    IndexUse,
    IngestRun,
    Problem,
    SpaceChange,
    Status,
    Version,
)

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
        check_name("a key", name)
        if in_reach == ():
            raise ConfigError(
                "a key that reaches no dataset opens nothing: name some, or all by None"
            )
        for dataset in in_reach or ():
            check_name("each dataset", dataset)
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


class TenantMethods:
    """The methods of `Lexichord` for the tenants of its database."""

    database: Database

    async def turn_tenants_on(self) -> None:
        """Show from here on to all but the owner what is of their tenant alone, for good.

        Raises ConfigError where an indexed table has row-level security of its own.
        """
        await catalogue.turn_tenants_on(self.database)

    async def add_tenant(
        self,
        name: str,
        *,
        datasets: Iterable[str] = (),
        roles: Iterable[str] = (),
        principals: Iterable[str] = (),
    ) -> bool:
        """Add a tenant, or datasets and SQL roles to one; return whether it is a new one.

        The roles see of documents with principals those with one of `principals`. Raises
        ConfigError.
        """
        owned, members, groups = (
            list(dict.fromkeys(several(each))) for each in (datasets, roles, principals)
        )
        for each in (name, *owned, *members, *groups):
            check_name("a tenant, each dataset, role and principal", each)
        if groups and not members:
            raise ConfigError("principals are of roles: name the roles, too")
        return await catalogue.add_tenant(
            self.database, name=name, datasets=owned, roles=members, principals=groups
        )

    async def list_tenants(self) -> list[Tenant]:
        """List the tenants, with their datasets and roles."""
        return await catalogue.list_tenants(self.database)

    async def drop_tenant(self, name: str) -> None:
        """Forget a tenant, and revoke its keys: its datasets are the owner's alone to see.

        Raises NotFoundError.
        """
        if not await catalogue.drop_tenant(self.database, name):
            raise NotFoundError(f"there is no tenant {name}: see lexichord tenants list")

    async def check_serving(self, *, as_itself: bool = False) -> bool:
        """Return whether tenants are on. Raises ConfigError where this role may not serve them.

        `as_itself`: whom it serves is the tenant of the role, not one that a key names.
        """
        row = await catalogue.tenancy(self.database)
        if row["has_tenants"] and not (row["is_bound"] and (as_itself or row["serves"])):
            why = "is not in lexichord_server" if row["is_bound"] else "sees all of them"
            raise ConfigError(f"tenants are on, and the role of the DSN {why}: {SERVE_AS}")
        if row["has_tenants"] and self.database.replica is not None:
            raise ConfigError(
                "tenants are on, and a replica may be behind with whose is what: leave "
                "LEXICHORD_READ_DSN out"
            )
        return bool(row["has_tenants"])


BUSY_SECONDS = 0.2  # until documents that an ingest holds are looked at again
STATUS_RUNS = 5  # the latest ingests that status shows


class StatusMethods:
    """The methods of `Lexichord` that return the state of its database."""

    database: Database
    embedder: Embedder | None
    space: str
    degraded: list[str]
    cache: QueryCache

    async def ping(self) -> None:
        """Raise DatabaseError unless the database answers."""
        await catalogue.configuration(self.database)

    async def datasets(self) -> list[StoredDataset]:
        """List the datasets by name, with how many documents and chunks each holds."""
        return [StoredDataset(**row) for row in await catalogue.list_datasets(self.database)]

    async def tables(self) -> list[IndexedTable]:
        """List the indexed tables: rows stored, rows that wait, rows that could not be stored."""
        return [IndexedTable(**row) for row in await tables.list_indexed_tables(self.database)]

    async def status(self) -> Status:
        """Return what the database is and holds, and how the latest five ingests went."""
        from lexichord.retrieve.confidence import describe_calibration, find_calibration

        change = await reembed.reembed_status(self.database)
        degraded, space = list(self.degraded), self.space if self.embedder else None
        scale = await catalogue.find_cosine_scale(self.database) or self.cache.scales.find(
            self.space
        )
        calibration = await find_calibration(self.database, space, scale)
        return Status(
            **await catalogue.database_status(self.database),
            embedder=str(self.embedder.space) if self.embedder else None,
            confidence=describe_calibration(calibration, space),
            by_dataset=await self.datasets(),
            runs=await self._runs(degraded),
            reembed=SpaceChange(**change) if change else None,
            degraded=degraded,
        )

    async def doctor(self) -> Health:
        """Return all that `status` does, whether the indexes are used, and what is wrong."""
        from lexichord.db.postmaster import Machine, advise

        status = await self.status()
        return Health(
            **{name: getattr(status, name) for name in Status.__slots__},
            server=[Version(**row) for row in await catalogue.server_versions(self.database)],
            extension_faults=[
                ExtensionFault(**row)
                for row in await catalogue.extension_faults(self.database, status.engine)
            ],
            indexes=await self._index_use(),
            faults=[Fault(**row) for row in await catalogue.count_faults(self.database)],
            advice=advise(await catalogue.server_facts(self.database), Machine.here()),
            problems=[Problem(**row) for row in await catalogue.find_problems(self.database)],
        )

    async def reindex(self) -> Sequence[IndexUse]:
        """Build both indexes anew for the tables' size by now; return whether they are used.

        Words that an earlier version indexed are made anew first, some documents at a time. Writers
        wait while the indexes are built, and where pgvector has the vector index also searches.
        """
        while (taken := await store.analyze_documents(self.database)) or (
            await catalogue.database_status(self.database)
        )["outdated_documents"]:
            if not taken:
                await asyncio.sleep(BUSY_SECONDS)
        await store.rebuild_indexes(self.database)
        return await self._index_use()

    async def _runs(self, degraded: list[str]) -> list[IngestRun]:
        """List the latest ingests, none for a role that may not see them: lexichord_reader."""
        try:
            rows = await catalogue.list_runs(self.database, STATUS_RUNS)
        except DatabaseError as error:
            degraded.append(f"the latest ingests are not shown: {error}")
            return []
        return [IngestRun(**row) for row in rows]

    async def _index_use(self) -> list[IndexUse]:
        return [IndexUse(**row) for row in await catalogue.index_use(self.database)]
