"""Servers in this process, on real sockets: the application, as `lexichord serve` builds it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from threading import Thread
from typing import Any

import httpx
import uvicorn

from lexichord import SyncLexichord
from lexichord.serve.access import AccessPolicy
from lexichord.serve.http.app import create_http_server
from lexichord.serve.server import TimedProtocol, open_listeners
from lexichord.types import Json
from tests.conftest import new_database
from tests.end_to_end.processes import wait_until
from tests.listening import PATIENCE

NAME = "search.example.com"  # with a name of its own, a server needs keys

type Keys = Mapping[str, Mapping[str, Any]]
type Documents = Mapping[str, Sequence[Json]]  # by dataset

LIBRARY: dict[str, dict[str, Any]] = {
    "lease-2019": {
        "kind": "lease",
        "year": 2019,
        "edition": "3",
        "tags": ["office", "london"],
        "signed": "2019-03-01",
        "seconds": 1_551_398_400,
        "open": True,
    },
    "lease-2024": {
        "kind": "lease",
        "year": 2024,
        "edition": "10",
        "tags": ["shop"],
        "signed": "2024-06-30",
        "seconds": 1_719_705_600,
        "open": False,
    },
    "nda-2021": {"kind": "nda", "year": 2021, "tags": [], "signed": "2021-01-15", "note": None},
    "plain": {},
}


def new_client(url: str, key: str | None = None, **headers: str) -> httpx.Client:
    """Return a client that sends a key, if one is given."""
    if key:
        headers["authorization"] = f"Bearer {key}"
    # To read the authorities' certificates takes longer than a test.
    return httpx.Client(base_url=url, headers=headers, timeout=PATIENCE, verify=False)


class Reached:
    """A server at an address, with the secrets of keys by name."""

    def __init__(self, url: str, keys: Mapping[str, str]) -> None:
        self.url, self.keys = url, keys
        self._clients: dict[str | None, httpx.Client] = {}

    def by(self, key: str | None = None) -> httpx.Client:
        """Return the one client of a key, by its name or as it is, whose forms are the server's."""
        if key not in self._clients:
            secret = self.keys.get(key or "", key)
            self._clients[key] = new_client(self.url, secret, origin=self.url)
        return self._clients[key]

    def close(self) -> None:
        """Close the clients."""
        for client in self._clients.values():
            client.close()


class Served(Reached):
    """The application is the server's own."""

    def __init__(self, url: str, keys: Mapping[str, str], lexichord: SyncLexichord) -> None:
        super().__init__(url, keys)
        self.lexichord = lexichord

    @property
    def dsn(self) -> str:
        return self.lexichord.core.database.dsn


@contextmanager
def serve(dsn: str, keys: Keys | None = None, **settings: Any) -> Iterator[Served]:
    """Serve a database for the length of a with statement; where keys are named, one is needed."""
    if keys:
        settings = {"allowed_hosts": NAME, **settings}
    with SyncLexichord(dsn=dsn, **settings) as lexichord:
        secrets = {
            name: lexichord.create_key(name, **rights).secret
            for name, rights in (keys or {}).items()
        }
        with serving(lexichord) as url:
            served = Served(url, secrets, lexichord)
            try:
                yield served
            finally:
                served.close()


@contextmanager
def serve_documents(
    template: str, documents: Documents, keys: Keys | None = None, **settings: Any
) -> Iterator[Served]:
    """Serve a copy of a database with documents, by dataset."""
    with new_database(template, copy_of=template) as dsn:
        fill(dsn, documents)
        with serve(dsn, keys, **settings) as served:
            yield served


def fill(dsn: str, documents: Documents) -> None:
    """Store documents by dataset."""
    with SyncLexichord(dsn=dsn) as lexichord:
        for dataset, each in documents.items():
            lexichord.ingest(documents=each, dataset=dataset)


@contextmanager
def serve_samples(corpus: str, home: Any) -> Iterator[Served]:
    """Serve the samples, a dataset `library` whose metadata differ, and an empty one.

    A key is needed: `narrow` reaches the library alone, `all` everything.
    """
    with new_database(corpus, copy_of=corpus) as dsn:
        with SyncLexichord(dsn=dsn, home=home) as lexichord:
            lexichord.ingest(documents=map(_document, LIBRARY), dataset="library")
            lexichord.ingest(documents=[_document("plain")], dataset="empty")
            lexichord.delete(["plain"], datasets=["empty"])
        keys = {"all": {}, "narrow": {"datasets": ["library"]}}
        with serve(dsn, keys, home=home) as served:
            yield served


def _document(name: str) -> dict[str, Any]:
    content = f"The deposit of {name} is repaid within thirty days of the end of the term."
    return {"uri": name, "metadata": LIBRARY[name], "chunks": [{"content": content}]}


@contextmanager
def serving(
    lexichord: SyncLexichord, build: Callable[[AccessPolicy], Any] = create_http_server
) -> Iterator[str]:
    """Serve an open application on a free port of this machine; give the address."""
    door = lexichord.run(AccessPolicy.open(lexichord.core, "127.0.0.1"))
    with ExitStack() as stack:
        stack.callback(lambda: lexichord.run(door.aclose()))
        listeners = stack.enter_context(open_listeners("127.0.0.1", 0))
        config = uvicorn.Config(build(door), http=TimedProtocol, log_config=None, access_log=False)
        server = uvicorn.Server(config)
        serve = Thread(target=lexichord.run, args=(server.serve(sockets=listeners),))
        serve.start()
        try:
            wait_until(lambda: server.started)
            yield f"http://127.0.0.1:{listeners[0].getsockname()[1]}"
        finally:
            server.should_exit = True
            serve.join(PATIENCE)
