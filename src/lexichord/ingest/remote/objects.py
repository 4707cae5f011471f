"""Objects of buckets and servers as sources of an ingest: each is fetched when its turn comes.

What an object was when it was stored stands in its recipe, by a digest of its version: the listing
alone tells whether it has changed.
"""

import asyncio
import hashlib
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice, takewhile
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock

from lexichord.db import store
from lexichord.db.pool import Database, Row
from lexichord.errors import ConfigError, IngestError
from lexichord.ingest.files import (
    METADATA_DIGEST_CHARS,
    FileSources,
    ReadFile,
    file_digest,
    read_sidecar,
)
from lexichord.ingest.load import (
    ARCHIVE_TYPES,
    CONTAINER_TYPES,
    LOADERS,
    kind_of,
    kind_of_content,
    unread_kind,
)
from lexichord.ingest.load.containers import ContainedFile, plain_name
from lexichord.ingest.load.text import CHANGED, HEAD_BYTES, MAX_TEXT_BYTES, too_long_error
from lexichord.ingest.remote import MissingError, RemoteObject, RemotePlace
from lexichord.ingest.sources import (
    SIDECAR_ENDING,
    IngestSource,
    PreparedDocument,
    Pruned,
    containing,
    refused_source,
)
from lexichord.types import Json

KEPT_BYTES = 1_000_000_000  # of archives between the look into them and the reading of their parts


@dataclass
class ArchiveRoom:
    """How many bytes of archives may be kept at once."""

    left: int = KEPT_BYTES
    _lock: Lock = field(default_factory=Lock)

    def take(self, size: int) -> bool:
        """Return whether there is room for so many bytes, which are then taken."""
        with self._lock:
            if size > self.left:
                return False
            self.left -= size
            return True

    def give_back(self, size: int) -> None:
        """Give so many bytes back."""
        with self._lock:
            self.left += size


@dataclass
class FetchedArchive:
    """An archive's file. `fetch` brings it, again where there was no room to keep it.

    It goes when all looks at it that are `left`, the first one included, were had.
    """

    file: Path
    fetch: Callable[[Path], None]
    room: ArchiveRoom
    left: int = 1
    _users: int = field(init=False, default=0)
    _kept: int = field(init=False, default=0)  # bytes
    _lock: Lock = field(init=False, default_factory=Lock)

    @contextmanager
    def opened(self) -> Iterator[Path]:
        """Yield the file. Raises IngestError where it cannot be fetched."""
        with self._lock:
            if not self.file.exists():
                self._bring()
            self._users += 1
        try:
            yield self.file
        finally:
            with self._lock:
                self._users -= 1
                self.left -= 1
                if not self._users and not self._stays():
                    self.file.unlink(missing_ok=True)

    def _bring(self) -> None:
        self.file.parent.mkdir(exist_ok=True)
        try:
            self.fetch(self.file)
        except BaseException:
            self.file.unlink(missing_ok=True)  # what came of it is not taken for all
            raise

    def _stays(self) -> bool:
        if self.left > 0 and not self._kept and self.room.take(size := self.file.stat().st_size):
            self._kept = size
        if self.left <= 0:
            self.room.give_back(self._kept)
            self._kept = 0
        return self._kept > 0


@dataclass(frozen=True, slots=True)
class _Item:
    """An object to ingest, with the one beside it that holds its metadata."""

    place: RemotePlace
    of: RemoteObject
    sidecar: RemoteObject | None

    @property
    def uri(self) -> str:
        """Where it is stored."""
        return self.of.uri

    @property
    def name(self) -> str:
        """A name for its file: nothing in it leads elsewhere, and its ending tells the kind."""
        return plain_name(self.of.name)

    @property
    def version(self) -> str:
        """A digest of what the listing says of its version; "" where it says nothing."""
        if not self.of.version:
            return ""
        digest = hashlib.sha256(self.of.version.encode(errors="replace"))
        return digest.hexdigest()[:METADATA_DIGEST_CHARS]


@dataclass
class RemoteSources:
    """Makes sources of what places hold; what is fetched lies in `folder` while it is read."""

    files: FileSources
    folder: Path
    workers: int
    looks: int = 1  # at each part of an archive: two where originals are kept
    pruned: list[Pruned] = field(default_factory=list)
    _room: ArchiveRoom = field(default_factory=ArchiveRoom)
    _digests: dict[str, str] = field(default_factory=dict)  # of what was fetched, by uri
    _opened: set[str] = field(default_factory=set)  # archives that were looked into

    async def find(self, database: Database, places: Sequence[RemotePlace]) -> list[IngestSource]:
        """Return what the places hold, each once. Raises ConfigError for one that is not there."""
        sources = dict[str, IngestSource]()
        for place in places:
            listed = await asyncio.to_thread(self._listed, place)
            if isinstance(listed, IngestError):
                sources[place.uri] = refused_source(place.uri, listed)
                continue
            stored = await self._stored(database, place)
            errors = {each.uri: IngestError(each.error) for each in listed if each.error}
            made = await asyncio.to_thread(self._made, place, listed, stored)
            refused = [refused_source(uri, error) for uri, error in errors.items()]
            for source in [*refused, *made]:
                sources.setdefault(source.uri, source)
        return list(sources.values())

    def _listed(self, place: RemotePlace) -> list[RemoteObject] | IngestError:
        try:
            listed = list(place.list())
        except MissingError as error:
            raise ConfigError(f"{place.uri} {error}") from None
        except IngestError as error:
            return error
        if not _is_single(place, listed):
            self.pruned.append(Pruned(place.uri, partial(self._lost, listed)))
        return listed

    def _lost(
        self, listed: Sequence[RemoteObject], uris: Sequence[str], _: AbstractSet[str]
    ) -> list[str]:
        """Return what is neither there nor in what is: a folder or archive not looked into."""
        there = {each.uri for each in listed}
        closed = {each.uri for each in listed if each.error or _is_container(each)} - self._opened
        return [uri for uri in uris if uri not in there and not closed & containing(uri)]

    async def _stored(self, database: Database, place: RemotePlace) -> dict[str, Row]:
        """Return what is stored of a place, in order of its uris."""
        dataset = self.files.dataset
        rows = await store.documents_under(database, dataset, place.uri)
        uris = [place.uri, *(row["uri"] for row in rows)]
        return dict(sorted((await store.document_digests(database, dataset, uris)).items()))

    def _items(self, place: RemotePlace, listed: Sequence[RemoteObject]) -> list[_Item]:
        """Return the objects to read; the others are noted by name."""
        if _is_single(place, listed):
            return [_Item(place, listed[0], place.beside(listed[0], SIDECAR_ENDING))]
        by_name = {each.name: each for each in listed}
        items = list[_Item]()
        for each in listed:
            if why := each.left_out or self.files.search.why_not(each.name):
                self.files.search.left_out[each.uri] = why
            elif not each.error:
                items.append(_Item(place, each, by_name.get(f"{each.name}{SIDECAR_ENDING}")))
        return items

    def _made(
        self, place: RemotePlace, listed: Sequence[RemoteObject], stored: Mapping[str, Row]
    ) -> list[IngestSource]:
        items, uris = self._items(place, listed), list(stored)
        with ThreadPoolExecutor(self.workers, "lexichord-remote") as pool:
            made = pool.map(lambda item: self._sources(item, stored, uris), items)
            return [source for sources in made for source in sources]

    def _sources(
        self, item: _Item, stored: Mapping[str, Row], uris: Sequence[str]
    ) -> list[IngestSource]:
        try:
            if _is_container(item.of):
                return self._archive(item, stored, uris)
            return list(self._object(item, stored))
        except IngestError as error:
            return [refused_source(item.uri, error)]

    def _object(self, item: _Item, stored: Mapping[str, Row]) -> Iterator[IngestSource]:
        """Yield an object's source, unless it is of no kind that can be read."""
        recipe = self._recipe(item, item.name)
        row = stored.get(item.uri)
        sha256 = row["sha256"] if row and item.version and row["recipe"] == recipe else ""
        kind = kind_of(item.name)
        if not sha256 and kind is None:
            kind = kind_of_content(item.name, lambda: item.place.head(item.of, HEAD_BYTES))
            if kind is None:
                self.files.search.unread[item.uri] = unread_kind(item.name)
                return
        if kind not in LOADERS and (item.of.size or 0) > MAX_TEXT_BYTES:
            raise too_long_error()
        stand_in = hashlib.sha256(f"{item.uri}\n{item.version}".encode(errors="replace"))
        yield IngestSource(
            item.uri,
            sha256,
            recipe,
            partial(self._read, item, recipe),
            item.of.size or 0,
            kind or "",
            partial(self._bytes, item, sha256),
            stand_in.hexdigest(),
        )

    def _archive(
        self, item: _Item, stored: Mapping[str, Row], uris: Sequence[str]
    ) -> list[IngestSource]:
        """Return what an archive or a mail contains, and the mail; fetched only if it changed."""
        folder = self.folder / hashlib.sha256(item.uri.encode(errors="replace")).hexdigest()
        archive = FetchedArchive(folder / item.name, partial(self._fetch, item), self._room)
        made = self._same_archive(item, archive, stored, uris) if item.version else []
        if made:
            archive.left = len(made)
        else:
            with archive.opened() as file:
                made = list(self._looked_into(item, archive, file))
                archive.left += len(made) * self.looks
        self._opened.add(item.uri)
        return made

    def _same_archive(
        self,
        item: _Item,
        archive: FetchedArchive,
        stored: Mapping[str, Row],
        uris: Sequence[str],
    ) -> list[IngestSource]:
        """Return all that an archive contains if it is stored as it would be now, else nothing."""
        below = f"{item.uri}/"
        first = bisect_left(uris, below)
        within = takewhile(lambda uri: uri.startswith(below), islice(uris, first, None))
        rows = [(uri, stored[uri]) for uri in (item.uri, *within) if uri in stored]
        made = list[IngestSource]()
        counts = [_parts_of(item.version, row["recipe"]) for _, row in rows]
        count = max(counts, default=0)
        for uri, row in rows:
            name = item.name if uri == item.uri else uri.removeprefix(below)
            if row["recipe"] == self._recipe(item, name, f"{item.version}/{count}"):
                sha256 = row["sha256"]
                part = None if uri == item.uri else ContainedFile(name, sha256)
                original = partial(self._part_bytes, archive, part, sha256)
                same = refused_source(uri, IngestError(CHANGED))
                changes = {"sha256": sha256, "recipe": row["recipe"], "original": original}
                made.append(replace(same, **changes))
        return made if len(made) == count else []

    def _looked_into(
        self, item: _Item, archive: FetchedArchive, file: Path
    ) -> Iterator[IngestSource]:
        """Yield what an archive or a mail contains. Raises IngestError for an archive only."""
        is_mail = kind_of(item.name) not in ARCHIVE_TYPES
        added = self._added(file)
        try:
            parts = self.files.sandbox.list_parts(file)
        except IngestError:
            if not is_mail:
                raise
            parts = []  # reading it says the same
        # Once so many are stored, it need not be looked into again; never if one has failed.
        count = is_mail + sum(bool(part.sha256) for part in parts)
        is_whole = item.version and not any(part.error for part in parts)
        version = f"{item.version}/{count}" if is_whole else item.version
        if is_mail:
            yield self._mail(item, archive, file, added, version)
        recipe = partial(self._recipe, item, version=version)
        yield from self.files.parts(item.uri, parts, archive.opened, added, recipe)

    def _mail(
        self, item: _Item, archive: FetchedArchive, file: Path, added: Json, version: str
    ) -> IngestSource:
        recipe, digest = self._recipe(item, item.name, version), file_digest(file)

        def read() -> ReadFile:
            with archive.opened() as mail:
                _check(mail, digest)
                return self.files.sandbox.read(mail)

        original = partial(self._part_bytes, archive, None, digest)
        prepare = partial(self.files.prepare, read, item.uri, digest, recipe, added)
        size, kind = item.of.size or 0, kind_of(item.name) or ""
        return IngestSource(item.uri, digest, recipe, prepare, size, kind, original)

    def _part_bytes(
        self, archive: FetchedArchive, part: ContainedFile | None, sha256: str
    ) -> bytes:
        """Return the bytes of an archive's part, or of a mail itself."""
        with archive.opened() as file:
            if part is not None:
                return self.files.sandbox.read_bytes(file, part)
            _check(file, sha256)
            return file.read_bytes()

    def _recipe(self, item: _Item, name: str, version: str | None = None) -> str:
        added = self.files.metadata
        if item.sidecar:
            added = {**added, SIDECAR_ENDING: item.sidecar.version}
        return self.files.recipe(name, added, version=item.version if version is None else version)

    def _read(self, item: _Item, recipe: str) -> PreparedDocument:
        with self._fetched(item) as file:
            sha256 = self._digests[item.uri] = file_digest(file)
            read = partial(self.files.sandbox.read, file)
            return self.files.prepare(read, item.uri, sha256, recipe, self._added(file))

    def _bytes(self, item: _Item, sha256: str) -> bytes:
        """Return an object's bytes, of which `sha256` is the digest, or what was read last."""
        with self._fetched(item) as file:
            content = file.read_bytes()
        if hashlib.sha256(content).hexdigest() != (sha256 or self._digests.get(item.uri)):
            raise IngestError(CHANGED)
        return content

    @contextmanager
    def _fetched(self, item: _Item) -> Iterator[Path]:
        with TemporaryDirectory(dir=self.folder) as folder:
            file = Path(folder, item.name)
            self._fetch(item, file)
            yield file

    def _fetch(self, item: _Item, file: Path) -> None:
        item.place.read(item.of, file)
        if item.sidecar:
            item.place.read(item.sidecar, file.with_name(f"{file.name}{SIDECAR_ENDING}"))

    def _added(self, file: Path) -> Json:
        return {**self.files.metadata, **read_sidecar(file)}


def _is_single(place: RemotePlace, listed: Sequence[RemoteObject]) -> bool:
    """Return whether the address names an object, no folder."""
    return [each.uri for each in listed] == [place.uri]


def _check(file: Path, digest: str) -> None:
    """Raise IngestError for a file that was fetched again and is another."""
    if file_digest(file) != digest:
        raise IngestError(CHANGED)


def _is_container(each: RemoteObject) -> bool:
    return kind_of(each.name) in CONTAINER_TYPES


def _parts_of(version: str, recipe: str) -> int:
    """Return of how many documents a recipe says that they make up an archive's version."""
    match = re.search(rf"\bversion={version}/(\d+)", recipe)
    return int(match[1]) if match else 0
