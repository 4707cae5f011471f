"""break/soak_http.py for some seconds: nothing is lost, and nothing is there that was deleted."""

import re
import subprocess
import sys

from tests.conftest import ROOT


def test_clients_side_by_side_lose_nothing(embedded_dsn: str) -> None:
    program = [sys.executable, str(ROOT / "scripts/break/soak_http.py"), "--server", embedded_dsn]
    how = ["--minutes", "0.3", "--clients", "4", "--stored", "2", "--seed", "3"]
    done = subprocess.run([*program, *how], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    counted = dict(re.findall(r"'(\w+ ok)': (\d+)", done.stdout))
    assert {"store ok", "search ok", "query ok"} <= counted.keys()
    assert "\n0 problems" in done.stdout
