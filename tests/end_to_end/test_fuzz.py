"""A short run of scripts/break/fuzz.py: inputs that nobody writes break nothing."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lexichord.types import Chunk
from tests.conftest import ROOT
from tests.http.server import Server
from tests.mcp.serving import Place, served

COUNT = 100


def fuzz(target: str, *options: str) -> None:
    command = [sys.executable, str(ROOT / "scripts/break/fuzz.py"), "--only", target]
    done = subprocess.run(
        [*command, "--count", str(COUNT), *options], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "; 0 broken;" in done.stdout
    assert "done" in done.stdout


def test_what_is_broken_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "scripts/break")
    import fuzz

    monkeypatch.setattr(fuzz, "split", lambda loaded: [Chunk(0, 1, "none of it")])
    arguments = argparse.Namespace(folder=ROOT / "samples", server=None, url=None, mcp=None)
    outcomes, failures = fuzz._run("texts", 0, 20, arguments)
    assert outcomes["broken"] + outcomes["refused"] == 20
    assert "is not at 0" in failures[0]
    monkeypatch.setattr(fuzz, "split", lambda loaded: os._exit(9))
    _, failures = fuzz._run("texts", 0, 3, arguments)
    assert "ended the process" in failures[0]


@pytest.mark.parametrize("target", ["files", "texts", "questions"])
def test_what_is_read(target: str) -> None:
    fuzz(target)


def test_arguments_of_sql_functions(plain_dsn: str) -> None:
    fuzz("functions", "--server", plain_dsn)


def test_requests(dsn: str, tmp_path: Path) -> None:
    with Server(dsn, tmp_path) as server:
        fuzz("requests", "--url", server.url)


def test_calls_of_tools(dsn: str, tmp_path: Path) -> None:
    with served(Place(dsn, tmp_path), tmp_path / "log") as server:
        fuzz("calls", "--mcp", server.url)
