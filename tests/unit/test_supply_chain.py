"""What scripts/check and scripts/sbom say of secrets, known vulnerabilities and what is in."""

import importlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

PROGRAMS = Path(sys.executable).parent
NOWHERE = {"HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": ""}
PINNED = re.compile(r"^([\w.-]+)==", re.MULTILINE)


def run(*command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    path = f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        [str(each) for each in command],
        cwd=ROOT,
        env={**os.environ, "PATH": path, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


SECRETS = {
    "settings.py": 'password = "{}"'.format("Tr0ub4dor" + "&3"),
    "notes.md": "-----BEGIN RSA " + "PRIVATE KEY-----",
    ".env": "AWS_ACCESS_KEY_ID=" + "AKIA" + "IOSFODNN7EXAMPLQ",
}


def test_a_secret_that_nobody_knew_of_stops_the_gate(tmp_path: Path) -> None:
    files, known = [tmp_path / name for name in SECRETS], tmp_path / "known"
    shutil.copy(ROOT / ".secrets.baseline", known)
    scan = (PROGRAMS / "detect-secrets-hook", "--no-verify", "--baseline", known)
    for file in files:
        file.write_text("nothing = 1\n")
    assert run(*scan, *files).returncode == 0
    for name, written in SECRETS.items():
        (tmp_path / name).write_text(f"{written}\n")
    found = run(*scan, *files)
    assert found.returncode == 1
    assert [name for name in SECRETS if str(tmp_path / name) not in found.stdout] == []


def test_where_nothing_can_be_looked_up_one_line_says_so(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    lock.write_text(f"numpy==2.0.0 --hash=sha256:{'0' * 64}\n")
    done = run(sys.executable, "scripts/audit.py", lock, **NOWHERE)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("pip-audit: nothing was looked up: ")
    assert done.stdout.count("\n") == 1


@pytest.fixture
def audit(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(ROOT / "scripts")
    return importlib.import_module("audit")


def test_a_known_vulnerability_stops_the_gate(
    audit: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the words of pip-audit's documented output."""
    sound = {"name": "sound", "version": "1.0", "vulns": []}
    skipped = {"name": "flask", "skip_reason": "Dependency not found on PyPI"}
    assert audit._report([sound]) == 0
    assert capsys.readouterr().out == ""
    assert audit._report([sound, skipped]) == 0
    assert capsys.readouterr().out == (
        "pip-audit: 1 of 2 packages were not looked up: PyPI is away\n"
    )
    found = {"id": "PYSEC-2019-179", "fix_versions": ["1.0", "2.0"], "aliases": []}
    assert audit._report([sound, {"name": "flask", "version": "0.5", "vulns": [found]}]) == 1
    assert capsys.readouterr().out == "pip-audit: flask 0.5: PYSEC-2019-179, mended in 1.0, 2.0\n"


def test_the_bill_of_materials_names_what_is_locked(tmp_path: Path) -> None:
    file = tmp_path / "sbom.json"
    done = run(ROOT / "scripts/sbom", file)
    assert (done.returncode, done.stdout) == (0, f"{file}\n"), done.stderr
    bill = json.loads(file.read_text())
    assert bill["bomFormat"] == "CycloneDX"
    assert bill["metadata"]["component"]["name"] == "lexichord"
    locked = PINNED.findall((ROOT / "requirements.lock").read_text())
    assert len(locked) > 100
    assert {each["name"] for each in bill["components"]} == set(locked)
