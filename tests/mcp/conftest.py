"""The sample corpus behind servers of both transports, with keys for some of it."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from lexichord import SyncLexichord
from mcp import Client
from tests.conftest import new_database
from tests.http.served import NAME
from tests.mcp.serving import Place, Served, inside, over_http


@dataclass(frozen=True)
class Keys:
    """Secrets of keys: of one for all datasets, of one for `policies` alone, of a revoked one."""

    everything: str
    policies: str
    revoked: str


@pytest.fixture(scope="session")
def place(corpus: str, home: Path) -> Iterator[Place]:
    """Datasets `agreements` and `policies`, to be read only."""
    with new_database(corpus, copy_of=corpus) as dsn:
        yield Place(dsn, home)


@pytest.fixture(scope="session")
def keys(place: Place) -> Keys:
    with SyncLexichord(dsn=place.dsn, home=place.home) as lexichord:
        revoked = lexichord.create_key("gone")
        lexichord.revoke_key(revoked.key.key_id)
        return Keys(
            lexichord.create_key("all").secret,
            lexichord.create_key("some", datasets=["policies"]).secret,
            revoked.secret,
        )


@pytest.fixture(scope="session")
def server(place: Place) -> Iterator[Served]:
    """One that needs no key."""
    with inside(place) as running:
        yield running


@pytest.fixture(scope="session")
def locked(place: Place, keys: Keys) -> Iterator[Served]:
    """One that needs a key."""
    with inside(replace(place, settings={"LEXICHORD_ALLOWED_HOSTS": NAME})) as running:
        yield running


@pytest.fixture
async def client(server: Served) -> AsyncIterator[Client]:
    """Connected without a key over HTTP."""
    # A fixture's beginning and end are different tasks, and the client must end in its own.
    connected, done = asyncio.get_running_loop().create_future(), asyncio.Event()

    async def hold() -> None:
        async with over_http(server.url) as client:
            connected.set_result(client)
            await done.wait()

    holding = asyncio.create_task(hold())
    await asyncio.wait([connected, holding], return_when=asyncio.FIRST_COMPLETED)
    yield connected.result()
    done.set()
    await holding
