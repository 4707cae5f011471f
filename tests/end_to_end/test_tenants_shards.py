"""Tenants over shards: each sees its own on all, scored as in one database, and no other's."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from lexichord import SyncLexichord
from lexichord.db import schema
from lexichord.db.session import asking_for
from lexichord.errors import ConfigError, NotFoundError
from tests.conftest import new_database
from tests.end_to_end.test_rebalance import SPACE, document, execute

SERVER, ROLE = f"web_{os.getpid()}", f"app_{os.getpid()}"
AMOUNT = 24
ALL = 500
TENANTS = {"north": range(AMOUNT), "south": range(AMOUNT, 2 * AMOUNT)}


@dataclass(frozen=True)
class Shared:
    """Two tenants in one database and over three; who owns them, and as whom a server asks."""

    one: str
    dsns: list[str]
    owner: SyncLexichord

    def answers(self, dsn: str, tenant: str) -> list[object]:
        """Return what a server gets for a tenant."""
        with SyncLexichord(dsn=as_role(dsn, SERVER)) as server, asking_for(tenant):
            asked = [
                server.search(f"own{n} common", k=ALL, depth=ALL, mode="keyword") for n in (3, 30)
            ]
            hits = [
                (hit.uri, hit.start, round(hit.score, 9)) for each in asked for hit in each.hits
            ]
            files = [
                (f.uri, round(f.score, 9))
                for f in server.files(
                    f"Title {TENANTS[tenant][7]}", k=ALL, depth=ALL, mode="keyword"
                ).files
            ]
            listed = [(row.dataset, row.uri) for row in server.list()]
            counts = server.count(), server.count_by("number"), server.datasets()
            return [sorted(hits), sorted(files), listed, counts]


def as_role(dsn: str, role: str) -> str:
    return make_conninfo(dsn, user=role)


@pytest.fixture(scope="module")
def shared(plain_dsn: str) -> Iterator[Shared]:
    """A shard was there before tenants were on, another is added to two of them."""
    with ExitStack() as stack:
        one, *dsns = [stack.enter_context(new_database(plain_dsn)) for _ in range(4)]
        for dsn in (one, dsns[0]):
            schema.prepare(dsn, schema.Choice("plain", "english", SPACE))
        admin = stack.enter_context(psycopg.connect(plain_dsn, autocommit=True))
        for role in (SERVER, ROLE):
            admin.execute(f"create role {role} login".encode())
            stack.callback(admin.execute, f"drop role {role}".encode())
        with SyncLexichord(dsn=one) as alone, SyncLexichord(dsn=dsns[0]) as home:
            home.add_shard(dsns[1])
            turn_on(alone)
        with SyncLexichord(dsn=dsns[0]) as two:
            turn_on(two)
            with asking_for("north"), pytest.raises(ConfigError, match="start this program again"):
                two.list()  # as a server that was open before tenants were on
            two.add_shard(dsns[2])
        admin.execute(
            f"grant lexichord_server to {SERVER}; grant lexichord_reader to {ROLE}".encode()
        )
        with SyncLexichord(dsn=dsns[0]) as owner:
            yield Shared(one, dsns, owner)


def turn_on(owner: SyncLexichord) -> None:
    owner.turn_tenants_on()
    owner.add_tenant("north", datasets=["north"], roles=[ROLE], principals=["us"])
    owner.add_tenant("south", datasets=["south"])
    for name, numbers in TENANTS.items():
        owner.ingest(documents=map(document, numbers), dataset=name)


def test_a_tenant_gets_from_shards_what_it_gets_from_one_database(shared: Shared) -> None:
    shared.owner.ingest(documents=map(document, range(100, 106)), dataset="north")
    shared.owner.rebalance_shards()
    with SyncLexichord(dsn=shared.one) as alone:
        alone.ingest(documents=map(document, range(100, 106)), dataset="north")
    assert all(shard.documents for shard in shared.owner.list_shards())
    for name in TENANTS:
        assert shared.answers(shared.dsns[0], name) == shared.answers(shared.one, name)


def test_without_a_tenant_nothing_is_seen(shared: Shared) -> None:
    with SyncLexichord(dsn=as_role(shared.dsns[0], SERVER)) as server:
        for tenant in (None, "nobody"):
            with asking_for(tenant):
                assert (server.list(), server.count(), server.datasets()) == ([], 0, [])
        with asking_for("north"):
            foreign = shared.owner.list(datasets=["south"])[0]
            with pytest.raises(NotFoundError):
                server.show(foreign.document_id)
            with pytest.raises(NotFoundError, match=r"no dataset 'south': take one of 'north'$"):
                server.search("common", datasets=["south"])


def test_a_shard_that_would_show_more_is_refused(shared: Shared) -> None:
    off = "update lexichord_data.configuration set has_tenants = {} returning 1"
    execute(shared.dsns[2], off.format("false"))
    with SyncLexichord(dsn=as_role(shared.dsns[0], SERVER)) as server, asking_for("north"):
        with pytest.raises(ConfigError, match="shard 2 does not hold this role to its tenant"):
            server.list()
        execute(shared.dsns[2], off.format("true"))
        assert server.list()
