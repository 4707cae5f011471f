"""Servers of a test's own, of the embedded server's programs or others: on a data folder."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from lexichord.db.embedded import PROGRAMS
from lexichord.db.postmaster import (
    PostmasterInfo,
    await_postmaster,
    find_postmaster,
    start_postmaster,
    stop_postmaster,
)


@contextmanager
def running(
    data: Path, user: str | None, programs: Path = PROGRAMS, /, **settings: str
) -> Iterator[PostmasterInfo]:
    """A server of its own on a data folder, with settings."""
    with (data / "postgresql.auto.conf").open("a") as file:
        file.writelines(f"{name} = '{value}'\n" for name, value in settings.items())
    try:
        yield await_postmaster(data, partial(start_postmaster, data, programs, user))
    finally:
        if find_postmaster(data):
            stop_postmaster(data)


def give(folder: Path, user: str | None) -> None:
    """Let the server's user own a folder with all in it."""
    if user:
        for path in [folder, *folder.rglob("*")]:
            shutil.chown(path, user)
    folder.chmod(0o700)
