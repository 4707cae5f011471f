"""Folders that are watched for changes, each by itself, so that no link leads out of them.

A watch over whole trees looks behind links to folders: one to / would watch the machine, or fail.
"""

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from pathlib import Path
from threading import Event

from lexichord.errors import ConfigError
from lexichord.ingest.find import SKIPPED_FOLDERS

WATCH_POLL_MS = 500  # milliseconds, also until the first ingest: the watch is up by then

type Batch = Collection[tuple[object, str]]


def batches(
    places: Collection[Path], matters: Callable[[Path], bool], stop: Event, *, follow_links: bool
) -> Iterator[Batch]:
    """Yield what changed, an empty set where nothing did for a while. Raises OSError."""
    try:
        from watchfiles import watch
    except ModuleNotFoundError as error:
        raise ConfigError("--watch needs watchfiles: pip install 'lexichord[files]'") from error
    start = partial(
        watch,
        watch_filter=lambda _, path: matters(Path(path)),
        stop_event=stop,
        rust_timeout=WATCH_POLL_MS,
        yield_on_timeout=True,
    )
    if follow_links:
        return start(*places)
    return _each_by_itself(places, partial(start, recursive=False))


def _each_by_itself(
    places: Collection[Path], start: Callable[..., Iterator[Batch]]
) -> Iterator[Batch]:
    """Yield what changed; folders that have come are watched before their coming is told."""
    watched = _folders(places)
    own = start(*watched)
    while (batch := next(own, None)) is not None:
        while batch and watched != (found := _folders(places)):
            watched, own = found, start(*found)
            if (more := next(own, None)) is None:
                return
            batch = {*batch, *more}
        yield batch


def _folders(places: Iterable[Path]) -> set[Path]:
    """Return folders with those in them that an ingest may look into."""
    found = set[Path]()
    for place in places:
        for here, folders, _ in os.walk(place):
            inner = [Path(here, name) for name in folders if _is_looked_into(here, name)]
            folders[:] = [folder.name for folder in inner]
            found.update((Path(here), *inner))
    return found


def _is_looked_into(parent: str, name: str) -> bool:
    path = Path(parent, name)
    is_open = os.access(path, os.R_OK | os.X_OK)  # one that is closed would end the watch
    is_skipped = name.startswith(".") or name in SKIPPED_FOLDERS
    return is_open and not is_skipped and not path.is_symlink()
