"""Servers in this process for a session: of the samples without a key, and one that needs keys."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread

import httpx
import pytest

from lexichord import SyncLexichord
from tests.conftest import SPACE, new_database
from tests.end_to_end.processes import wait_until
from tests.http.served import Keys, Served, fill, serve, serve_samples

DOCUMENTS = {
    name: [
        {
            "uri": f"{name}/nda.txt",
            "chunks": [{"content": f"zebra of {name}", "vector": [1.0, 0.0, 0.0, 0.0]}],
            "space": str(SPACE),
            "metadata": {"kind": name},
        }
    ]
    for name in ("open", "closed")
}
KEYS: Keys = {
    "everything": {"writes": True, "deletes": True},
    "reader": {"datasets": ["open"]},
    "writer": {"datasets": ["open"], "writes": True, "deletes": True},
    "revoked": {"writes": True},
}


class Keyed(Served):
    """A document in each of two datasets, keys, and ids of what those of "open" do not reach."""

    ids: dict[str, object]


@pytest.fixture(scope="session")
def sampled(corpus: str, home: Path) -> Iterator[Served]:
    """A server of the sample corpus, for this machine alone. To be read only."""
    with new_database(corpus, copy_of=corpus) as dsn, serve(dsn, home=home) as served:
        yield served


@pytest.fixture(scope="session")
def library(corpus: str, home: Path) -> Iterator[Served]:
    """A server of the samples and of documents with metadata, that needs a key. Read only."""
    with serve_samples(corpus, home) as served:
        yield served


@pytest.fixture
def samples(sampled: Served) -> SyncLexichord:
    """The application that serves the samples."""
    return sampled.lexichord


@pytest.fixture
def client(sampled: Served) -> httpx.Client:
    """A client of the samples' server."""
    return sampled.by()


@pytest.fixture(scope="session")
def keyed(bare: str, home: Path) -> Iterator[Keyed]:
    """To be read only: whoever writes uses dataset "open" and other uris."""
    with keyed_server(bare, home) as keyed:
        yield keyed


@contextmanager
def keyed_server(bare: str, home: Path) -> Iterator[Keyed]:
    """Serve a database of one's own to those who have a key."""
    with new_database(bare, copy_of=bare) as dsn:
        fill(dsn, DOCUMENTS)
        with serve(dsn, KEYS, home=home) as served:
            keyed = Keyed(served.url, served.keys, served.lexichord)
            (key,) = (one for one in served.lexichord.list_keys() if one.name == "revoked")
            served.lexichord.revoke_key(key.key_id)
            keyed.ids = {
                **places(served.lexichord, "closed"),
                **stored_file(served.by("everything")),
            }
            yield keyed
            keyed.close()


def places(lexichord: SyncLexichord, dataset: str) -> dict[str, object]:
    """Return what stands in the addresses of a dataset, of its document, chunk and job."""
    (row,) = lexichord.list(datasets=[dataset])
    (job,) = (run for run in lexichord.status().runs if run.dataset == dataset)
    of_document = dict.fromkeys(("document_id", "document", "file_id"), row.document_id)
    return {
        **{"vector_store_id": dataset, "dataset": dataset, "page": 1, "number": 1, "evaluation": 1},
        **{"model": "test/tiny/4", "job_id": job.run_id, "run": job.run_id},
        **{"chunk_id": lexichord.show(row.document_id).chunks[0].chunk_id, **of_document},
    }


def stored_file(client: httpx.Client) -> dict[str, object]:
    """Send a file and store it in "closed" as OpenAI's clients do; give its and its batch's id."""
    file = {"file": ("closed.txt", b"a closed gnu")}
    sent = client.post("/v1/files", files=file, data={"purpose": "assistants"}).json()
    path = "/v1/vector_stores/closed/file_batches"
    batch = client.post(path, json={"file_ids": [sent["id"]]}).json()
    wait_until(lambda: client.get(f"{path}/{batch['id']}").json()["status"] == "completed")
    return {"file_id": sent["id"], "batch_id": batch["id"]}


@pytest.fixture
def silent() -> Iterator[tuple[str, list[socket.socket]]]:
    """The address of a server that takes connections and says nothing, and what it holds."""
    held: list[socket.socket] = []

    def hold(listening: socket.socket) -> None:
        with suppress(OSError):
            while True:
                held.append(listening.accept()[0])

    with socket.create_server(("127.0.0.1", 0)) as listening:
        holding = Thread(target=hold, args=[listening])
        holding.start()
        yield f"127.0.0.1:{listening.getsockname()[1]}", held
        listening.shutdown(socket.SHUT_RDWR)
        holding.join()
    for one in held:
        one.close()
