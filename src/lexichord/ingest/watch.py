"""What happens in folders as it happens, and in buckets and on servers by asking now and then."""

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Collection, Iterator, Sequence
from pathlib import Path
from threading import Event
from time import monotonic

from lexichord.errors import ConfigError, IngestError
from lexichord.ingest.load.kinds import kind_of_file
from lexichord.ingest.remote.address import RemoteAddress
from lexichord.ingest.remote.place import RemotePlace

WATCH_POLL_MS = 500  # milliseconds, also until the first ingest: the watch is up by then


async def changes(
    paths: Sequence[Path], home: Path, remote: Sequence[RemoteAddress], seconds: float
) -> AsyncGenerator[None]:
    """Yield one item soon and one after each batch of changes; `home` is not looked at.

    The `remote` places are listed again after so many seconds. Nothing is lost in between: what
    changes meanwhile makes the next item. Raises ConfigError.
    """
    stop = Event()
    batches = _batches(paths, home, stop) if paths else _ticks(stop)
    started, listed, due = False, "", monotonic()
    try:
        while (batch := await asyncio.to_thread(next, batches, None)) is not None:
            before = listed
            if remote and monotonic() >= due:
                listed = await asyncio.to_thread(_listing, remote)
                due = monotonic() + seconds
            if batch or listed != before or not started:
                started = True
                yield
    except OSError as error:
        raise ConfigError(f"cannot watch {', '.join(map(str, paths))}: {error}") from error
    finally:
        stop.set()


def _batches(paths: Sequence[Path], home: Path, stop: Event) -> Iterator[Collection[object]]:
    """Return what changed, an empty set where nothing did for a while."""
    try:
        from watchfiles import watch
    except ModuleNotFoundError as error:
        raise ConfigError("--watch needs watchfiles: pip install 'lexichord[files]'") from error
    for path in paths:
        if not path.exists():
            raise ConfigError(f"there is no file or folder {path}")
    roots = [path.resolve() for path in paths]
    return watch(
        # A file's folder, not the file: editors put a new one in its place.
        *{path if path.is_dir() else path.parent for path in roots},
        watch_filter=lambda _, path: _matters(Path(path), roots, home),
        stop_event=stop,
        rust_timeout=WATCH_POLL_MS,
        yield_on_timeout=True,
    )


def _ticks(stop: Event) -> Iterator[Collection[object]]:
    """Yield nothing now and then."""
    yield ()
    while not stop.wait(WATCH_POLL_MS / 1000):
        yield ()


def _matters(path: Path, roots: Sequence[Path], home: Path) -> bool:
    """Return whether an ingest of the given paths may see a change; a folder may hold anything."""
    if path.is_relative_to(home) or (path.is_file() and kind_of_file(path) is None):
        return False
    inside = (path.relative_to(root).parts for root in roots if path.is_relative_to(root))
    return any(not any(part.startswith(".") for part in parts) for parts in inside)


def _listing(remote: Sequence[RemoteAddress]) -> str:
    """Return a digest of what places hold by now, or of why they cannot be listed."""
    digest = hashlib.sha256()
    for address in remote:
        try:
            for each in RemotePlace(address).list():
                told = f"{each.uri}\n{each.version}\n{each.size}\n{each.error}\n"
                digest.update(told.encode(errors="replace"))
        except IngestError as error:
            digest.update(str(error).encode(errors="replace"))
    return digest.hexdigest()
