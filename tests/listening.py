"""Servers in processes of their own, on ports that they choose."""

import re
import subprocess
import time
from collections.abc import Callable
from typing import Any

PATIENCE = 120  # seconds: what is started on a busy machine takes long


def port_of(process: subprocess.Popen[Any], log: Callable[[], str]) -> int:
    """Wait until a server started with `--port 0` says where it listens; give the port."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        if match := re.search(r"^http://\S+:(\d+)\S*  .*\n", log(), re.MULTILINE):
            return int(match[1])
        time.sleep(0.05)
    raise AssertionError(log())
