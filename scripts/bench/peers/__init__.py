"""Other ways to search by words and vectors, each behind the same four methods."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg import sql

from lexichord.providers import Vectors

DEPTH = 100  # candidates of each side, for all
RRF = 60  # the constant of Cormack et al. (2009), every peer's default


@dataclass(frozen=True, slots=True)
class Rows:
    """Chunks: lexichord's ids, the words to index, and vectors of shape (rows, 384)."""

    ids: Sequence[int]
    texts: Sequence[str]
    vectors: Vectors


@dataclass(frozen=True, slots=True)
class Place:
    """Where peers may store, and who takes part.

    `engines` gives each engine's server, the embedded one first; `filled` databases are asked in
    place of ones stored anew.
    """

    engines: Mapping[str, str]
    folder: Path
    filled: Sequence[str]
    peers: Sequence[str]

    @property
    def server(self) -> str:
        return next(iter(self.engines.values()))


class Peer(Protocol):
    """Opened, empty, by calling its class with a place."""

    def fill(self, rows: Rows) -> float:
        """Store rows, with all indexes, so that they can be searched; give the seconds it takes."""
        ...

    def search(self, text: str, vector: Vectors, k: int) -> Sequence[int]:
        """Give the ids of the k best rows, whose texts were fetched, too; threads share a peer."""
        ...

    def size(self) -> int:
        """Bytes on disk."""
        ...

    def close(self) -> None: ...


def new_database(server: str, name: str) -> str:
    """Make a database anew; give its DSN."""
    with psycopg.connect(server, autocommit=True) as admin:
        for statement in ("drop database if exists {} (force)", "create database {}"):
            admin.execute(sql.SQL(statement).format(sql.Identifier(name)))
    return urlunsplit(urlsplit(server)._replace(path=f"/{name}"))


def database_size(dsn: str) -> int:
    """Bytes of a database beyond those of an empty one."""
    size = "select pg_database_size(current_database()) - pg_database_size('template1')"
    with psycopg.connect(dsn, autocommit=True) as connection:
        row = connection.execute(size).fetchone()
    assert row is not None
    return int(row[0])


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def folder_size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
