"""What happens in folders as it happens, and in buckets and on servers by asking now and then.

Each folder is watched by itself, so that no link leads out of them.
"""

import asyncio
import hashlib
import os
from collections.abc import AsyncGenerator, Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from threading import Event
from time import monotonic

from lexichord.errors import ConfigError, IngestError
from lexichord.ingest.find import SKIPPED_FOLDERS
from lexichord.ingest.load.kinds import kind_of_file
from lexichord.ingest.remote import RemoteAddress
from lexichord.ingest.remote.place import RemotePlace


async def changes(
    paths: Sequence[Path],
    home: Path,
    remote: Sequence[RemoteAddress],
    seconds: float,
    *,
    follow_links: bool,
) -> AsyncGenerator[None]:
    """Yield one item soon and one after each batch of changes; `home` is not looked at.

    The `remote` places are listed again after so many seconds. Nothing is lost in between: what
    changes meanwhile makes the next item. Raises ConfigError.
    """
    stop = Event()
    batches = _ticks(stop)
    if paths:
        batches = _batches(paths, home, stop, follow_links=follow_links)
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


def _batches(
    paths: Sequence[Path], home: Path, stop: Event, *, follow_links: bool
) -> Iterator[Collection[object]]:
    """Return what changed, an empty set where nothing did for a while."""
    for path in paths:
        if not path.exists():
            raise ConfigError(f"there is no file or folder {path}")
    roots = [path.resolve() for path in paths]
    # A file's folder, not the file: editors put a new one in its place.
    places = {path if path.is_dir() else path.parent for path in roots}
    matters = partial(_matters, roots=roots, home=home)
    return batches(places, matters, stop, follow_links=follow_links)


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
