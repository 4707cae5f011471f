"""What whoever starts an ingest may choose and hear of."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import TypedDict

from lexichord.ingest.report import ProgressCallbacks, Reading
from lexichord.types import ContextKind, ContextPart, Json
from lexichord.types.questions import Usage


class IngestOptions(ProgressCallbacks, total=False):
    """How to store, and callbacks: what `ingest`, `retry_failed` and `watch` share.

    `without` leaves parts of the structural context out; `on_usage` is called with what the
    embedder's service was asked so far, `on_run` with the run's id once its record is open. `uris`
    holds other names for files than their paths, by path. Of files in folders `include` and
    `exclude` take and leave out what their patterns match, written as in .gitignore; links that
    lead out of the folders, and links to folders, are followed only with `follow_links`. `metadata`
    is added to that of each file. `keep_originals` keeps the files' bytes in the database. As many
    files are read at once as there are `workers`, by default one a processor. `on_estimate` is
    called with how many chunks there will probably be, `on_reading` with how many files were read
    and how far those in progress are, `on_slow` with a file that takes long and the seconds.
    `depth`, `max_pages` and `allow_private` are about pages of the web, of which private addresses
    are refused unless allowed; with `fetch_hosts` these hosts alone are asked, as the setting names
    them, within the limits of a request. `admit` is awaited before anything is stored, when the
    dataset can no longer be renamed: what it raises ends the run.
    """

    dataset: str
    context: ContextKind
    without: Collection[ContextPart]
    on_usage: Callable[[Usage], None]
    on_run: Callable[[int], None]
    uris: Mapping[str, str]
    include: Sequence[str]
    exclude: Sequence[str]
    follow_links: bool
    metadata: Json
    keep_originals: bool
    workers: int | None
    on_estimate: Callable[[int], None]
    on_reading: Callable[[Reading], None]
    on_slow: Callable[[str, float], None]
    depth: int
    max_pages: int
    allow_private: bool
    fetch_hosts: Sequence[str] | None
    admit: Callable[[], Awaitable[None]]


class RereadCallbacks(TypedDict, total=False):
    """What whoever has a document read again may hear of it: see `IngestOptions`."""

    on_run: Callable[[int], None]
    on_chunks: Callable[[int], None]
    on_estimate: Callable[[int], None]
    on_reading: Callable[[Reading], None]
    admit: Callable[[], Awaitable[None]]
