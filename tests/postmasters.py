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
    connect_after_recovery,
    find_postmaster,
    postmaster_url,
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
    server = (data, programs, user)
    try:
        yield await_postmaster(data, programs, user, partial(start_postmaster, *server))
    finally:
        end_postmaster(*server)


def end_postmaster(data: Path, programs: Path, user: str | None) -> None:
    """Stop the server of a data folder, if there is one, whoever uses it."""
    if (info := find_postmaster(data)) is not None:
        connect_after_recovery(postmaster_url(info, "postgres")).close()
        stop_postmaster(data, programs, user)


def give(folder: Path, user: str | None) -> None:
    """Let the server's user own a folder with all in it."""
    if user:
        for path in [folder, *folder.rglob("*")]:
            shutil.chown(path, user)
    folder.chmod(0o700)
