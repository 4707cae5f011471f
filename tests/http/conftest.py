"""Servers for a session: on the samples without a key, and one that needs keys."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from lexichord import SyncLexichord
from lexichord.db import schema
from tests.conftest import SPACE, new_database
from tests.end_to_end.conftest import samples
from tests.end_to_end.processes import wait_until
from tests.http.server import Server

__all__ = ["samples"]

DOCUMENTS = {
    name: {
        "uri": f"{name}/nda.txt",
        "chunks": [{"content": f"zebra of {name}", "vector": [1.0, 0.0, 0.0, 0.0]}],
        "space": str(SPACE),
        "metadata": {"kind": name},
    }
    for name in ("open", "closed")
}


@dataclass(frozen=True)
class Keyed:
    """A server that needs keys, its database with a document in two datasets, and the keys.

    `reader` and `writer` reach dataset "open" only.
    """

    server: Server
    dsn: str
    home: Path
    everything: str
    reader: str
    writer: str
    revoked: str
    closed_document: str
    closed_chunk: str
    closed_job: int
    closed_file: str
    closed_batch: str


@pytest.fixture(scope="session")
def bare(embedded_dsn: str) -> Iterator[str]:
    """A prepared, empty database of a space without an embedder."""
    with new_database(embedded_dsn) as dsn:
        schema.prepare(dsn, schema.Choice("plain", "english", SPACE))
        yield dsn


@pytest.fixture
def fresh(bare: str) -> Iterator[str]:
    """A database of one's own."""
    with new_database(bare, copy_of=bare) as dsn:
        yield dsn


@pytest.fixture(scope="session")
def sampled(samples: SyncLexichord, home: Path) -> Iterator[Server]:
    """A server of the sample corpus, for this machine alone."""
    with Server(samples.core.database.dsn, home) as server:
        yield server


@pytest.fixture
def client(sampled: Server) -> Iterator[httpx.Client]:
    """A client of the samples' server."""
    with sampled.client() as client:
        yield client


@pytest.fixture(scope="session")
def keyed(bare: str, home: Path) -> Iterator[Keyed]:
    """To be read only: whoever writes uses dataset "open" and other uris."""
    with keyed_server(bare, home) as keyed:
        yield keyed


@contextmanager
def keyed_server(bare: str, home: Path) -> Iterator[Keyed]:
    """Serve a database of one's own to those who have a key."""
    with new_database(bare, copy_of=bare) as dsn:
        with SyncLexichord(dsn=dsn, home=home) as lexichord:
            for name, document in DOCUMENTS.items():
                lexichord.ingest(documents=[document], dataset=name)
            everything = lexichord.create_key("Ann", writes=True, deletes=True).secret
            reader = lexichord.create_key("Bo", datasets=["open"]).secret
            writer = lexichord.create_key("Cy", datasets=["open"], writes=True, deletes=True).secret
            revoked = lexichord.create_key("Di", writes=True)
            lexichord.revoke_key(revoked.key.key_id)
            (row,) = lexichord.list(datasets=["closed"])
            closed = row.document_id, lexichord.show(row.document_id).chunks[0].chunk_id
            (job,) = (run for run in lexichord.status().runs if run.dataset == "closed")
        with Server(dsn, home, allowed_hosts="search.example.com") as server:
            keys = everything, reader, writer, revoked.secret
            with server.client(everything) as client:
                sent = stored_file(client, "closed")
            yield Keyed(server, dsn, home, *keys, *closed, job.run_id, *sent)


def stored_file(client: httpx.Client, dataset: str) -> tuple[str, str]:
    """Send a file and store it in a dataset as OpenAI's clients do; give its and its batch's id."""
    file = {"file": ("closed.txt", b"a closed gnu")}
    sent = client.post("/v1/files", files=file, data={"purpose": "assistants"}).json()
    path = f"/v1/vector_stores/{dataset}/file_batches"
    batch = client.post(path, json={"file_ids": [sent["id"]]}).json()
    wait_until(lambda: client.get(f"{path}/{batch['id']}").json()["status"] == "completed")
    return sent["id"], batch["id"]
