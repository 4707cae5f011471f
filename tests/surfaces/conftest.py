"""A database that all surfaces serve, with callers who may see all, a part, or nothing."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest

from lexichord import SyncLexichord
from tests.conftest import new_database
from tests.http.served import NAME, serving
from tests.mcp.serving import create_mcp_server
from tests.surfaces.callers import House
from tests.surfaces.cases import Caller

NOTES = [
    {
        "uri": f"handbook/{name}.md",
        "title": f"Note {name}",
        "metadata": {"year": year, "kind": "note" if year else "draft"},
        "chunks": [
            {"content": f"{text} Support logs are kept for {months} months.", "heading": "Logs"},
            {"content": f"Note {name} says nothing else of customers.", "page": 2},
        ],
    }
    for name, year, months, text in (
        ("a", 2024, 3, "Of customers."),
        ("b", 2024, 6, "Of suppliers, with a § and «quotes»."),
        ("c", 2025, 9, "Of all others; '); drop table chunk; --"),
    )
]


@contextmanager
def _roles(dsn: str) -> Iterator[Mapping[Caller, str]]:
    """Give the database's address for a login role that reads, and for one that has no rights."""
    reader, nobody = f"reads{os.getpid()}", f"nothing{os.getpid()}"
    with psycopg.connect(dsn, autocommit=True) as owner:
        owner.execute(f"create role {reader} login in role lexichord_reader".encode())
        owner.execute(f"create role {nobody} login".encode())
        try:
            yield {"all": _as(dsn, reader), "nobody": _as(dsn, nobody)}
        finally:
            owner.execute(f"drop role {reader}, {nobody}".encode())


def _as(dsn: str, role: str) -> str:
    parts = urlsplit(dsn)
    return urlunsplit(parts._replace(netloc=f"{role}@{parts.netloc.rpartition('@')[2]}"))


@pytest.fixture(scope="session")
def house(corpus: str, home: Path) -> Iterator[House]:
    with (
        new_database(corpus, copy_of=corpus) as dsn,
        _roles(dsn) as roles,
        SyncLexichord(dsn=dsn, home=home, allowed_hosts=NAME) as lexichord,
    ):
        lexichord.ingest(documents=NOTES, dataset="notes")
        revoked = lexichord.create_key("Bo")
        lexichord.revoke_key(revoked.key.key_id)
        keys: dict[Caller, str | None] = {
            "all": lexichord.create_key("Ann").secret,
            "policies": lexichord.create_key("Cy", datasets=["policies"]).secret,
            "revoked": revoked.secret,
            "nobody": None,
        }
        with serving(lexichord) as http, serving(lexichord, create_mcp_server) as mcp:
            yield House(lexichord, http, f"{mcp}/mcp", keys, roles)
