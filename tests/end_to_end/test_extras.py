"""What is installed without extras works, and each part with what its own extra brings."""

import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.conftest import ROOT, SAMPLES, new_database

# Every program that is started with it finds only what the test lets it.
ABSENT = """
import os, sys

class Absent:
    names = frozenset(os.environ["ABSENT"].split())

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
"""
PARTS = [
    ("azure", "adlfs"),
    ("embedded", "lexichord.db.embedded"),
    ("files", "lexichord.ingest.load.pdf"),
    ("gcs", "gcsfs"),
    ("haystack", "lexichord.haystack"),
    ("langchain", "lexichord.langchain"),
    ("llamaindex", "lexichord.llama_index"),
    ("llm", "lexichord.dspy"),
    ("local", "lexichord.providers.embed.local"),
    ("mcp", "lexichord.serve.mcp.server"),
    ("s3", "s3fs"),
    ("server", "lexichord.serve.http.app"),
    ("sftp", "sshfs"),
]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def _lines_of(distribution: str) -> list[str]:
    try:
        return metadata.requires(distribution) or []
    except metadata.PackageNotFoundError:  # it is for another platform
        return []


def required(name: str, extra: str) -> Iterator[tuple[str, str]]:
    """Yield what a distribution needs with an extra, or without any: names, each with an extra."""
    if name == "lexichord":
        lines = PROJECT["optional-dependencies"][extra] if extra else PROJECT["dependencies"]
    else:
        lines = _lines_of(name)
    for requirement in map(Requirement, lines):
        if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
            for each in ("", *requirement.extras):
                yield canonicalize_name(requirement.name), each


@cache
def modules() -> dict[str, set[str]]:
    """Return the distributions of each module on this machine."""
    found = metadata.packages_distributions().items()
    return {module: {canonicalize_name(owner) for owner in owners} for module, owners in found}


def absent(*extras: str) -> str:
    """Return the modules that are on this machine, and not where such extras were installed."""
    known: set[tuple[str, str]] = set()
    waiting = [("lexichord", extra) for extra in ("", *extras)]
    while waiting:
        pair = waiting.pop()
        if pair not in known:
            known.add(pair)
            waiting += required(*pair)
    there = {name for name, _ in known}
    return " ".join(module for module, owners in modules().items() if not there & owners)


def run(folder: Path, extras: tuple[str, ...], *arguments: str) -> str:
    """Run Python where only lexichord with such extras is installed; return what it printed."""
    (folder / "sitecustomize.py").write_text(ABSENT)
    path = os.pathsep.join([str(folder), str(ROOT / "src")])
    environment = {**os.environ, "ABSENT": absent(*extras), "PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_without_extras_a_server_of_one_s_own_is_filled_and_asked(
    embedded_dsn: str, tmp_path: Path
) -> None:
    def lexichord(*arguments: str) -> str:
        return run(tmp_path, (), "-m", "lexichord", *arguments, "--dsn", dsn)

    with new_database(embedded_dsn) as dsn:
        lexichord("init")
        assert lexichord("ingest", str(SAMPLES / "policies")).startswith("4 inserted")
        assert "Travel" in lexichord("search", "travel", "-k", "1")
        assert "documents: 4" in lexichord("status")


@pytest.mark.parametrize(("extra", "module"), PARTS)
def test_a_part_needs_no_more_than_its_extra_brings(
    extra: str, module: str, tmp_path: Path
) -> None:
    run(tmp_path, (extra,), "-c", f"import lexichord.client.sync, {module}")


def test_a_driver_that_is_missing_is_named_with_its_extra(tmp_path: Path) -> None:
    asking = """
from lexichord.errors import ConfigError
from lexichord.ingest.remote import driver_class
for scheme in ("s3", "gs", "az", "sftp", "memory"):
    try:
        driver_class(scheme)
    except ConfigError as error:
        print(error)
"""
    assert run(tmp_path, (), "-c", asking).splitlines() == [
        "s3:// needs s3fs: pip install 'lexichord[s3]'",
        "gs:// needs gcsfs: pip install 'lexichord[gcs]'",
        "az:// needs adlfs: pip install 'lexichord[azure]'",
        "sftp:// needs sshfs: pip install 'lexichord[sftp]'",
        "memory:// needs fsspec: pip install fsspec and what reads memory://",
    ]
