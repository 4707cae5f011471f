"""The list of seeded faults fits the code as it is, so that none of them is passed over."""

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FAULTS = tomllib.loads((ROOT / "scripts/break/seeded_faults.toml").read_text())["fault"]


@pytest.mark.parametrize("fault", FAULTS, ids=[each["id"] for each in FAULTS])
def test_a_fault_can_be_seeded_and_its_tests_are_there(fault: dict[str, str]) -> None:
    assert (ROOT / fault["file"]).read_text().count(fault["old"]) == 1
    assert all(any(ROOT.glob(pattern)) for pattern in fault["tests"])
