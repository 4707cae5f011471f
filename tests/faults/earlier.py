"""A database of an earlier release, for each engine, and what an engine's server loads."""

import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

from lexichord.db.embedded import PROGRAMS
from tests.conftest import ROOT
from tests.migrations.conftest import run_statements
from tests.migrations.test_earlier_release import DUMP

PRELOADS = {"plain": "''", "textsearch": "pg_textsearch", "vectorchord": "vchord,vchord_bm25"}
DUMPS: dict[str, tuple[Path, tuple[str, ...]]] = {  # with the extensions that each needs
    "plain": (ROOT / "tests/migrations/release_13.sql", ("vector",)),
    "textsearch": (DUMP, ("vector", "pg_textsearch")),
    "vectorchord": (
        ROOT / "tests/migrations/release_18_vectorchord.sql",
        ("vector", "vchord", "vchord_bm25"),
    ),
}


def fill_earlier(engine: str) -> Callable[[str], None]:
    """Return what fills a database as an earlier release left it."""
    return partial(_fill, *DUMPS[engine])


def _fill(dump: Path, extensions: tuple[str, ...], dsn: str) -> None:
    run_statements(dsn, *(f"create extension {extension}" for extension in extensions))
    psql = [str(PROGRAMS / "psql"), "-X", "-q", "-d", dsn, "-f", str(dump)]
    subprocess.run(psql, check=True, capture_output=True)
