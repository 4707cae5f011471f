"""Follow files and folders."""

import asyncio
from collections.abc import AsyncGenerator, Collection, Iterator, Sequence
from pathlib import Path
from threading import Event

from lexichord.errors import ConfigError
from lexichord.ingest.load.kinds import MEDIA_TYPES

WAIT = 500  # milliseconds, also until the first ingest: the watch is up by then


async def changes(paths: Sequence[Path], home: Path) -> AsyncGenerator[None]:
    """Give one item soon and one after each batch of changes; `home` is not looked at.

    Nothing is lost in between: what changes meanwhile makes the next item. Raises ConfigError.
    """
    stop = Event()
    batches = _batches(paths, home, stop)
    started = False
    try:
        while (batch := await asyncio.to_thread(next, batches, None)) is not None:
            if batch or not started:
                started = True
                yield
    except OSError as error:
        raise ConfigError(f"cannot watch {', '.join(map(str, paths))}: {error}") from error
    finally:
        stop.set()


def _batches(paths: Sequence[Path], home: Path, stop: Event) -> Iterator[Collection[object]]:
    """Give what changed, an empty set where nothing did for a while."""
    try:
        from watchfiles import watch
    except ModuleNotFoundError as error:
        raise ConfigError("--watch needs watchfiles: pip install 'lexichord[files]'") from error
    for path in paths:
        if not path.exists():
            raise ConfigError(f"there is no file or folder {path}")
    given = [path.resolve() for path in paths]
    return watch(
        # A file's folder, not the file: editors put a new one in its place.
        *{path if path.is_dir() else path.parent for path in given},
        watch_filter=lambda _, path: _matters(Path(path), given, home),
        stop_event=stop,
        rust_timeout=WAIT,
        yield_on_timeout=True,
    )


def _matters(path: Path, given: Sequence[Path], home: Path) -> bool:
    """Tell whether an ingest of the given paths may see a change; a folder may hold anything."""
    if path.is_relative_to(home) or (path.is_file() and path.suffix.lower() not in MEDIA_TYPES):
        return False
    inside = (path.relative_to(root).parts for root in given if path.is_relative_to(root))
    return any(not any(part.startswith(".") for part in parts) for parts in inside)
