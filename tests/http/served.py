"""A real server on a socket: the samples, and a few documents whose metadata differ."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any

import uvicorn

from lexichord import SyncLexichord
from lexichord.db import schema
from lexichord.serve.access import AccessPolicy
from lexichord.serve.http.app import create_http_app
from lexichord.serve.server import add_middleware
from tests.conftest import SAMPLES, new_database
from tests.end_to_end.processes import wait_until

PATIENCE = 30  # seconds

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


@dataclass(frozen=True)
class Served:
    """An address, the application behind it, and the secrets of two keys.

    `narrow` reaches the dataset library alone, `key` all.
    """

    url: str
    lexichord: SyncLexichord
    key: str
    narrow: str


@contextmanager
def samples_served(server: str, home: Path) -> Iterator[Served]:
    """Serve datasets samples, library and empty, by a new database of a server; a key is needed."""
    with new_database(server) as dsn:
        schema.prepare(dsn, schema.Choice())
        with SyncLexichord(dsn=dsn, home=home, allowed_hosts="search.example.com") as lexichord:
            lexichord.ingest([SAMPLES / "agreements", SAMPLES / "policies"], dataset="samples")
            lexichord.ingest(documents=map(_document, LIBRARY), dataset="library")
            lexichord.ingest(documents=[_document("plain")], dataset="empty")
            lexichord.delete(["plain"], datasets=["empty"])
            key = lexichord.create_key("all").secret
            narrow = lexichord.create_key("narrow", datasets=["library"]).secret
            with serving(lexichord) as url:
                yield Served(url, lexichord, key, narrow)


def _document(name: str) -> dict[str, Any]:
    content = f"The deposit of {name} is repaid within thirty days of the end of the term."
    return {"uri": name, "metadata": LIBRARY[name], "chunks": [{"content": content}]}


@contextmanager
def serving(lexichord: SyncLexichord) -> Iterator[str]:
    """Serve an open application on a free port of this machine; give the address."""
    door = lexichord.run(AccessPolicy.open(lexichord.core, "127.0.0.1"))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        app = add_middleware(create_http_app(door), door)
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False))
        serve = Thread(target=lexichord.run, args=(server.serve(sockets=[listener]),))
        serve.start()
        try:
            wait_until(lambda: server.started)
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            serve.join(PATIENCE)
            lexichord.run(door.aclose())
