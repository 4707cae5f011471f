"""Cases that are words and what is made of them: a file of TOML a test module, a table a test.

Of a module's file each key is a test's name, and each row the arguments that the test names.
"""

import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parent


@cache
def read_wordings(module: str) -> dict[str, list[Any]]:
    return tomllib.loads((FOLDER / f"{module}.toml").read_text())


def worded[Test: Callable[..., None]](*names: str) -> Callable[[Test], Test]:
    """Run a test for each row of its table; a row of one name is the value itself."""

    def decorate(test: Test) -> Test:
        rows = read_wordings(test.__module__.rpartition(".test_")[2])[test.__name__]
        parametrized: Test = pytest.mark.parametrize(names if names[1:] else names[0], rows)(test)
        return parametrized

    return decorate
