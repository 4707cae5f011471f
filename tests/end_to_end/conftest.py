"""Homes with a server of their own: new, prepared, stocked. And the samples, with real vectors."""

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from lexichord import SyncLexichord
from lexichord.db import schema
from lexichord.db.server import stop_server
from lexichord.settings import load_settings
from tests import conftest
from tests.conftest import SAMPLES, new_database
from tests.end_to_end.client import SPACE, documents
from tests.sql.corpus import small_segments

MEMORY = Path("/dev/shm")
ROOM = 2**30  # bytes; a home takes 50 MB and some 1,400 files
STORED = 60  # documents of a stocked home: 0 to 59


# Of each engine's server the fixture.
SERVERS = {
    "plain": "embedded_dsn",
    "textsearch": "textsearch_dsn",
    "vectorchord": "vectorchord_dsn",
}

type Servers = Callable[[str], str]


@pytest.fixture
def server(request: pytest.FixtureRequest) -> Servers:
    """Give the server of an engine; where there is none, the test is skipped."""
    return lambda engine: str(request.getfixturevalue(SERVERS[engine]))


@contextmanager
def stocked(engine: str, server: str, count: int) -> Iterator[str]:
    """A database with so many documents in one dataset and one, with a key, in another."""
    with new_database(server) as dsn:
        schema.prepare(dsn, schema.Choice(engine, "english", conftest.SPACE))
        with SyncLexichord(dsn=dsn) as lexichord:
            lexichord.ingest(documents=documents(0, count))
            lexichord.ingest(documents=documents(90, 91), dataset="other")
            lexichord.create_key("reader", datasets=["other"])
        yield dsn


@contextmanager
def new_home(copy_of: Path | None = None) -> Iterator[Path]:
    """A folder with a short path: a socket's name has room for about 100 characters."""
    in_memory = MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM
    folder = Path(tempfile.mkdtemp(prefix="lxh", dir=MEMORY if in_memory else None))
    folder.chmod(0o755)
    if copy_of is not None:
        subprocess.run(["cp", "-a", f"{copy_of}/.", folder], check=True)
    try:
        yield folder
    finally:
        stop_server(load_settings(home=folder))
        shutil.rmtree(folder)


@pytest.fixture
def bare_home() -> Iterator[Path]:
    """Nothing in it yet."""
    with new_home() as home:
        yield home


@pytest.fixture(scope="session")
def _prepared() -> Iterator[Path]:
    with new_home() as home:
        with SyncLexichord(home=home, embedding=SPACE):
            pass
        yield home


@pytest.fixture(scope="session")
def _stocked(_prepared: Path) -> Iterator[Path]:
    with new_home(_prepared) as home:
        with SyncLexichord(home=home) as lexichord:
            with psycopg.connect(lexichord.core.database.dsn) as connection:
                small_segments(connection)
            lexichord.ingest(documents=documents(0, STORED))
        yield home


@pytest.fixture
def prepared_home(_prepared: Path) -> Iterator[Path]:
    """A stopped server whose database is ready and empty."""
    with new_home(_prepared) as home:
        yield home


@pytest.fixture
def stocked_home(_stocked: Path) -> Iterator[Path]:
    """A stopped server with STORED documents and their indexes."""
    with new_home(_stocked) as home:
        yield home


@pytest.fixture
def embedding_dsn(embedding_template: str) -> Iterator[str]:
    """A fresh database of the same."""
    with new_database(embedding_template, copy_of=embedding_template) as dsn:
        yield dsn


@pytest.fixture(scope="session")
def samples(embedding_template: str, home: Path) -> Iterator[SyncLexichord]:
    """The sample corpus, embedded by the real model. To be read only."""
    with (
        new_database(embedding_template, copy_of=embedding_template) as dsn,
        SyncLexichord(dsn=dsn, home=home) as lexichord,
    ):
        lexichord.ingest([SAMPLES / "agreements", SAMPLES / "policies"])
        yield lexichord


@pytest.fixture(scope="module")
def embedding(embedding_template: str, home: Path) -> Iterator[SyncLexichord]:
    """On a database of its own that the real model embeds; each test takes another dataset."""
    with (
        new_database(embedding_template, copy_of=embedding_template) as dsn,
        SyncLexichord(dsn=dsn, home=home) as lexichord,
    ):
        yield lexichord


@pytest.fixture
def plain(dsn: str, tmp_path: Path) -> Iterator[SyncLexichord]:
    """On a database of a space without an embedder."""
    with SyncLexichord(dsn=dsn, home=tmp_path / "home") as lexichord:
        yield lexichord


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty one."""
    folder = tmp_path / "files"
    folder.mkdir()
    return folder


def write(*files: Path) -> None:
    """Fill each file with a text of its own."""
    for file in files:
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"The clause of {file.name!a}.")


def names(lexichord: SyncLexichord) -> list[str]:
    return [Path(row.uri).name for row in lexichord.list()]
