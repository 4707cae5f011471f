"""The guard against slower code: what it compares, and what it says."""

import importlib
import json
import sys
from types import ModuleType

import pytest

from tests.conftest import ROOT

SCRIPTS = ROOT / "scripts/bench"
LAST = {"search": 2.0, "query": 10.0}


@pytest.fixture
def guard(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    for name in ("ratios", "stages", "common"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return importlib.import_module("ratios")


def test_what_got_slower_is_named_in_a_line(guard: ModuleType) -> None:
    assert guard.worse(LAST, {"search": 2.0 * guard.TOLERANCE, "query": 1.0}) == []
    (line,) = guard.worse(LAST, {"search": 1.0, "query": 10.1 * guard.TOLERANCE})
    assert line.startswith("query got slower: ")
    assert " times a search, 10.0 at the last run" in line


def test_what_is_not_measured_any_more_is_named(guard: ModuleType) -> None:
    (line,) = guard.worse(LAST, {"search": 2.0})
    assert line.startswith("query got slower: not measured")
    assert guard.worse(LAST, LAST | {"new": 99.0}) == []


def test_the_last_run_has_all_that_is_measured(guard: ModuleType) -> None:
    last = json.loads(guard.LAST.read_text())
    assert last.keys() == guard.BESIDE.keys()
    assert all(ratio > 0 for ratio in last.values())
