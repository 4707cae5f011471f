"""The pages' server in a thread, and documents whose every word would act if it could."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from lexichord import Lexichord, SyncLexichord
from lexichord.guard.door import Door
from lexichord.guard.serving import guarded
from lexichord.http_api.app import make_app
from lexichord.types import Json

HOSTILE = "</mark></title><script>alert(1)</script><img src=//evil.example/x onerror=alert(1)> ‮&\"'"
MARKED = "data-hostile"  # of every hostile text, to find them by

LEASE: Json = {
    "uri": "contracts/lease.txt",
    "title": "Office Lease",
    "chunks": [
        {"content": "1. Rent\nThe rent of the zebra house is EUR 900.", "heading": "1. Rent"},
        {"content": "2. Notice\nEither zebra party gives ninety days.", "heading": "2. Notice"},
        {"content": "3. Law\nThe law of Ghent governs.", "heading": "3. Law", "page": 2},
    ],
}
LICENCE: Json = {
    "uri": "contracts/licence.txt",
    "title": "Software Licence",
    "chunks": [{"content": "1. Notice\nThe licensee gives thirty days.", "heading": "1. Notice"}],
}
TRAP: Json = {
    "uri": f'traps/{MARKED}" onmouseover="alert(1)',
    "title": f"Trap {HOSTILE}",
    "chunks": [{"content": f"A giraffe said {HOSTILE} twice.", "heading": f"§ {HOSTILE}"}],
}


def fill(dsn: str) -> None:
    """Store the documents in two datasets."""
    with SyncLexichord(dsn=dsn) as core:
        core.ingest(documents=[LEASE, LICENCE], dataset="open")
        core.ingest(documents=[TRAP], dataset="closed")


@contextmanager
def served(dsn: str, **settings: Any) -> Iterator[str]:
    """Serve a database until the with statement ends; gives the address."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port, ready, stop = listening.getsockname()[1], threading.Event(), threading.Event()

        async def run() -> None:
            async with Lexichord(dsn=dsn, **settings) as core:
                door = await Door.open(core, "127.0.0.1")
                config = uvicorn.Config(
                    guarded(make_app(door), door), log_level="warning", lifespan="on"
                )
                server = uvicorn.Server(config)
                serving = asyncio.create_task(server.serve([listening]))
                ready.set()  # who comes before it has started waits at the socket
                await asyncio.to_thread(stop.wait)
                server.should_exit = True
                await serving

        thread = threading.Thread(target=lambda: asyncio.run(run()))
        thread.start()
        try:
            assert ready.wait(30)
            yield f"http://127.0.0.1:{port}"
        finally:
            stop.set()
            thread.join()
