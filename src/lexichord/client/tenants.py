"""Tenants: who share the database and see nothing of each other."""

from collections.abc import Iterable

from lexichord.client.keys import SERVE_AS
from lexichord.db import catalogue
from lexichord.db.pool import Database
from lexichord.errors import ConfigError, NotFoundError
from lexichord.types import Tenant
from lexichord.types.options import several


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
        if not all((name, *owned, *members, *groups)):
            raise ConfigError("a tenant, its datasets, roles and principals need names")
        if groups and not members:
            raise ConfigError("principals are of roles: name the roles, too")
        is_new = await catalogue.add_tenant(
            self.database, name=name, datasets=owned, roles=members, principals=groups
        )
        await self.database.share_statistics()  # or another's ingest would, and change its scores
        return is_new

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
