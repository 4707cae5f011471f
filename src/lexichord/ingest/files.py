"""Files, and what they contain, as sources read in their turn; originals, looked at again."""

import asyncio
import errno
import hashlib
import json
import os
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from lexichord.db import store
from lexichord.db.pool import Database
from lexichord.errors import ConfigError, IngestError, NotFoundError
from lexichord.ingest.chunk.splitter import CHUNK_RECIPE
from lexichord.ingest.load import (
    ARCHIVE_TYPES,
    CONTAINER_TYPES,
    MARKDOWN_TYPE,
    MARKED_TYPES,
    PDF_TYPE,
    RST_TYPE,
    TEX_TYPE,
    kind_of,
    named_by_type,
)
from lexichord.ingest.load.containers import MAX_PARTS_BYTES, ContainedFile
from lexichord.ingest.load.includes import taken_in_by_page
from lexichord.ingest.load.marks import LoadOptions
from lexichord.ingest.load.tex.reader import taken_in_by_tex
from lexichord.ingest.load.text import CHANGED, OpenFile, open_in_place, open_regular
from lexichord.ingest.sandbox import LateError, Sandbox, ScratchFolder
from lexichord.ingest.sources import (
    GIVEN_RECIPE_PREFIX,
    LEADS_OUT,
    SIDECAR_ENDING,
    FileGoneError,
    FileSearch,
    IngestSource,
    PreparedDocument,
    is_gone,
    path_of_uri,
    refused_source,
    storable_name,
)
from lexichord.types import (
    Chunk,
    Document,
    Json,
    LoadedText,
    Original,
    PageBox,
    PageSize,
    StoredDocument,
)
from lexichord.types.query_options import read_metadata

MAX_FILE_BYTES = MAX_PARTS_BYTES  # as much as archives may unpack to
MAX_SIDECAR_BYTES = 1_000_000
NO_METADATA: Json = MappingProxyType({})
METADATA_DIGEST_CHARS = 16  # characters of the digest in a recipe

# Of one file: what takes the reader's whole time as its hundredth part would hold it for hours.
MAX_LATE_PARTS = 3

type ReadFile = tuple[LoadedText, list[Chunk]]
type OpenedFile = Callable[[], AbstractContextManager[Path]]


@dataclass(frozen=True)
class FileSources:
    """Makes sources of files; `context` is the part of the recipe on how chunks get theirs.

    `uris` holds other names than the files' paths; `metadata` is added to that of each. What cannot
    be read is put on the search's record.
    """

    dataset: str
    context: str
    sandbox: Sandbox
    uris: Mapping[str, str] = field(default_factory=dict)
    metadata: Json = field(default_factory=dict)
    search: FileSearch = field(default_factory=FileSearch)

    def find(self, paths: Iterable[Path]) -> Iterator[IngestSource]:
        """Yield the files among `paths` and in its folders, and the files that these contain.

        Raises ConfigError for a missing path.
        """
        for path in self.search.find(paths):
            kind = kind_of(path.name)
            if kind not in ARCHIVE_TYPES:
                yield self.source(path)
            if kind in CONTAINER_TYPES:  # a mail is a document itself, too
                yield from self._parts(path)

    def source(self, path: Path, uri: str = "", version: Json | None = None) -> IngestSource:
        """Return a file; its uri is its whole path, unless it is given or `uris` names it.

        One whose uri is given has been fetched, into a folder that links may lead to.

        `version` is metadata that may change while the file stays the same.
        """
        if uri:
            path = path.parent.resolve() / path.name
        uri = uri or self._uri(path)
        try:
            sha256 = file_digest(path, open_in_place)
            added = self._added(path)
            size = path.stat().st_size
            taken_in = _taken_in(path)
        except (IngestError, OSError) as error:
            return refused_source(uri, IngestError(str(error)))
        read = partial(self._read, path, sha256)
        recipe = self.recipe(path.name, added, taken_in)
        source = self._source(uri, recipe, sha256, added, read, version or {})
        kind, original = kind_of(path.name) or "", partial(checked_bytes, path, sha256)
        return replace(source, size=size, kind=kind, original=partial(original, open_in_place))

    def again(self, uri: str) -> IngestSource:
        """Return the file, or the part of one, that a uri names."""
        path = path_of_uri(uri)
        file = next((parent for parent in path.parents if parent.is_file()), None)
        if file is not None and kind_of(file.name) in CONTAINER_TYPES:
            for source in self._parts(file):
                if source.uri in (uri, self._uri(file)):  # the file that cannot be looked into
                    return replace(source, uri=uri)
            return refused_source(uri, FileGoneError("the file contains it no more"))
        if is_gone(path):
            return refused_source(uri, FileGoneError("the file is gone"))
        return self.source(path)

    def _source(
        self,
        uri: str,
        recipe: str,
        sha256: str,
        added: Json,
        read: Callable[[], ReadFile],
        version: Json = NO_METADATA,
    ) -> IngestSource:
        prepare = partial(self.prepare, read, uri, sha256, recipe, added, version)
        return IngestSource(uri, sha256, recipe, prepare)

    def recipe(self, name: str, added: Json, taken_in: str = "", version: str = "") -> str:
        """Return how a file becomes a document; the context's part stays at the end.

        `taken_in` is a digest of other files that are read with it, `version` what tells the
        versions of one apart whose bytes are not at hand.
        """
        parts = [CHUNK_RECIPE]
        if version:
            parts.append(f"version={version}")
        if taken_in:
            parts.append(f"with={taken_in[:METADATA_DIGEST_CHARS]}")
        parts += self._load_parts(kind_of(name))
        if added:
            digest = hashlib.sha256(json.dumps(added, sort_keys=True).encode()).hexdigest()
            parts.append(f"metadata={digest[:METADATA_DIGEST_CHARS]}")
        return " ".join([*parts, self.context])

    def _load_parts(self, kind: str | None) -> Iterator[str]:
        """Yield the options that a file of a kind is loaded by, other than the defaults."""
        options = self.sandbox.options
        if options.ocr and kind == PDF_TYPE:
            yield f"ocr={options.ocr}"
        if kind in MARKED_TYPES:
            marking = {"hidden": options.hidden, "comments": options.comments}
            yield from (f"{name}={value}" for name, value in marking.items() if value != "mark")

    def _uri(self, path: Path) -> str:
        return self.uris.get(str(path)) or storable_name(path.as_posix())

    def _added(self, path: Path) -> Json:
        """Return the metadata to add to a file's own: that for all, and of the file beside it."""
        return {**self.metadata, **read_sidecar(path, self._sidecar)}

    def _sidecar(self, sidecar: Path) -> Path | None:
        """Return where a sidecar stands; one that leads out of the folder is put on record."""
        target = self.search.target(sidecar)
        if target is None:
            self.search.left_out[storable_name(sidecar.as_posix())] = LEADS_OUT
        return target

    def _parts(self, path: Path) -> Iterator[IngestSource]:
        """Yield what a file contains; the file itself where it cannot be looked into."""
        uri = self._uri(path)
        try:
            parts, added = self.sandbox.list_parts(path), self._added(path)
        except IngestError as error:
            if kind_of(path.name) in ARCHIVE_TYPES:  # reading a mail says the same
                yield refused_source(uri, error)
            return
        recipe = partial(self.recipe, added=added)
        yield from self.parts(uri, parts, lambda: nullcontext(path), added, recipe)

    def parts(
        self,
        uri: str,
        parts: Iterable[ContainedFile],
        opened: OpenedFile,
        added: Json,
        recipe: Callable[[str], str],
    ) -> Iterator[IngestSource]:
        """Yield the parts of the file `uri`, each made by the `recipe` of its name.

        `opened` says where the file is while one of them is read.
        """
        readable = _Parts(opened, self.sandbox)
        for part in parts:
            name = f"{uri}/{part.name}"
            if part.unread:
                self.search.unread[name] = part.unread
            elif part.left_out:
                self.search.left_out[name] = part.left_out
            elif part.error:
                yield refused_source(name, IngestError(part.error))
            else:
                read = partial(readable.read, part)
                source = self._source(name, recipe(part.name), part.sha256, added, read)
                original = partial(_opened, opened, part, self.sandbox.read_bytes)
                kind = kind_of(part.name) or ""
                yield replace(source, size=part.size, kind=kind, original=original)

    def _read(self, file: Path, sha256: str) -> ReadFile:
        read = self.sandbox.read(file)
        if file_digest(file, open_in_place) != sha256:
            raise IngestError(CHANGED)
        return read

    def prepare(
        self,
        read: Callable[[], ReadFile],
        uri: str,
        sha256: str,
        recipe: str,
        added: Json,
        version: Json = NO_METADATA,
    ) -> PreparedDocument:
        """Read a file, and return its document with the metadata that are `added`."""
        loaded, chunks = read()
        document = Document(
            dataset=self.dataset,
            uri=uri,
            title=loaded.title,
            media_type=loaded.media_type,
            sha256=sha256,
            recipe=recipe,
            text=loaded.text,
            metadata={**version, **loaded.metadata},
        )
        return PreparedDocument(_with_metadata(document, added) if added else document, chunks)


@dataclass(slots=True)
class _Parts:
    """The parts of a file, of which none is read any more once some have taken too long."""

    opened: OpenedFile
    sandbox: Sandbox
    late: int = 0

    def read(self, part: ContainedFile) -> ReadFile:
        if self.late >= MAX_LATE_PARTS:
            raise IngestError(f"was not read: {self.late} parts before it took too long")
        try:
            return _opened(self.opened, part, self.sandbox.read_part)
        except LateError:
            self.late += 1
            raise


def _opened[T](
    opened: OpenedFile, part: ContainedFile, read: Callable[[Path, ContainedFile], T]
) -> T:
    with opened() as file:
        return read(file, part)


def checked_bytes(file: Path, sha256: str, opening: OpenFile = open_regular) -> bytes:
    """Return a file's bytes. Raises IngestError where they are others than it was read from."""
    try:
        with opening(file) as stream:
            content = stream.read()
    except OSError as error:
        raise IngestError(f"cannot be read: {error.strerror}") from error
    if hashlib.sha256(content).hexdigest() != sha256:
        raise IngestError(CHANGED)
    return content


def file_digest(file: Path, opening: OpenFile = open_regular) -> str:
    """Return the sha256 of the file's bytes. Raises IngestError."""
    try:
        with opening(file) as stream:
            if os.fstat(stream.fileno()).st_size > MAX_FILE_BYTES:
                raise IngestError(f"is larger than {MAX_FILE_BYTES // 10**6:,} MB: split it")
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise IngestError(f"cannot be read: {error.strerror}") from error


def _taken_in(path: Path) -> str:
    """Return a digest of the files that are read with one; "" where there are none."""
    kind = kind_of(path.name)
    if kind == TEX_TYPE:
        return taken_in_by_tex(path)
    return taken_in_by_page(path) if kind in (MARKDOWN_TYPE, RST_TYPE) else ""


def read_sidecar(path: Path, find: Callable[[Path], Path | None] = Path) -> Json:
    """Return the metadata in the file beside a file, if there is one. Raises IngestError.

    `find` says where that stands, None where it is not to be read.
    """
    sidecar = path.with_name(f"{path.name}{SIDECAR_ENDING}")
    try:
        target = find(sidecar)
        if target is None or not target.is_file():
            return {}
        with open_in_place(target) as stream:
            return read_metadata(json.loads(stream.read(MAX_SIDECAR_BYTES)))
    except (OSError, ValueError, RecursionError, ConfigError, IngestError) as error:
        if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
            return {}  # no file beside it can have such a name
        name = storable_name(sidecar.name)
        raise IngestError(f"{name} holds no metadata in JSON: {error}") from None


def _with_metadata(document: Document, added: Json) -> Document:
    """Return a document with more metadata, of which a title is the document's."""
    metadata = {**document.metadata, **added}
    title = metadata.pop("title", None)
    if not isinstance(title, str) or not title.strip():
        title = document.title
    return replace(document, metadata=metadata, title=title)


MAX_LOOKS = 2  # at files at the same time, each by a process of its own
LOOK_SECONDS = 20.0  # for one look: a page is drawn in less than 1

# Threads of its own, so that who scrolls through pages keeps no thread from a query.
_LOOKS = ThreadPoolExecutor(MAX_LOOKS, "lexichord-original")


@dataclass(frozen=True, slots=True)
class OriginalFile:
    """The file of the document `uri`, or the file that contains it as its `part`.

    At its place it has the digest `sha256`, which another that comes there has not.
    """

    uri: str
    file: Path
    part: ContainedFile | None = None
    sha256: str | None = None


def check_pages(document: StoredDocument) -> None:
    """Raise NotFoundError for a document without pages to show."""
    if document.media_type != PDF_TYPE:
        raise NotFoundError(f"{document.uri} is no PDF: it has no pages to show")


@asynccontextmanager
async def opened_original(
    database: Database, document: StoredDocument
) -> AsyncIterator[OriginalFile]:
    """Yield the file of a document for as long as the block lasts. Raises NotFoundError.

    A uri may be anybody's words: what is given has the bytes that were read, of which those of a
    part are looked at when it is unpacked.
    """
    content = await store.read_original(database, document.document_id)
    if content is None:
        rows = await store.document_digests(database, document.dataset, [document.uri])
        row = rows[document.uri]
        yield await asyncio.to_thread(_at_its_place, document.uri, row["sha256"], row["recipe"])
        return
    with ScratchFolder() as folder:
        name = named_by_type("original", document.media_type)
        file = await asyncio.to_thread(_kept, Path(folder), name, content)
        yield OriginalFile(document.uri, file)


def _kept(folder: Path, name: str, content: bytes) -> Path:
    file = folder.resolve() / name
    file.write_bytes(content)
    return file


def _at_its_place(uri: str, sha256: str, recipe: str) -> OriginalFile:
    file = path_of_uri(uri)
    if recipe.startswith(GIVEN_RECIPE_PREFIX) or not file.is_absolute():
        raise NotFoundError(f"{uri} was sent or fetched: no file of it is here, it was not kept")
    try:
        if container := _container(file):
            name = uri.removeprefix(f"{storable_name(container.as_posix())}/")
            return OriginalFile(uri, container.resolve(), ContainedFile(name, sha256))
        digest = file_digest(file)
    except OSError as error:
        raise NotFoundError(f"{uri} cannot be looked for: {error.strerror}") from None
    except IngestError as error:
        raise NotFoundError(f"the file {uri} {error}") from None
    if digest != sha256:
        raise NotFoundError(f"{uri} is not there as it was read: ingest it again")
    return OriginalFile(uri, file.resolve(), sha256=sha256)


def _container(path: Path) -> Path | None:
    """Return the file on the way to a path that contains files."""
    file = next((parent for parent in path.parents if parent.is_file()), None)
    return file if file is not None and kind_of(file.name) in CONTAINER_TYPES else None


def read_original(original: OriginalFile, document: StoredDocument) -> Original:
    """Return a document's bytes. Raises NotFoundError."""
    name = PurePosixPath(document.uri).name or "original"
    try:
        if original.part:
            with Sandbox() as sandbox:
                content = sandbox.read_bytes(original.file, original.part)
        elif original.sha256:
            content = checked_bytes(original.file, original.sha256)
        else:
            content = original.file.read_bytes()
    except (OSError, IngestError) as error:
        raise NotFoundError(f"{document.uri}: {error}") from None
    return Original(name, document.media_type, content)


async def look[**P, R](at: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Return what a function of these finds, when its turn comes."""
    return await asyncio.get_running_loop().run_in_executor(_LOOKS, partial(at, *args, **kwargs))


def draw_page(original: OriginalFile, page: int, passage: str, options: LoadOptions) -> bytes:
    """Return a page as PNG with a passage marked. Raises NotFoundError; ConfigError."""
    with _sandbox(original, f"page {page} of ", options) as sandbox:
        return sandbox.picture(original.file, original.part, page, passage)


def find_boxes(
    original: OriginalFile, page: int, passage: str, options: LoadOptions
) -> list[PageBox]:
    """Return where a passage stands, from a page on. Raises NotFoundError; ConfigError."""
    with _sandbox(original, f"page {page} of ", options) as sandbox:
        return sandbox.boxes(original.file, original.part, page, passage)


def read_page_sizes(original: OriginalFile, options: LoadOptions) -> list[PageSize]:
    """Return how large the pages are. Raises NotFoundError; ConfigError."""
    with _sandbox(original, "", options) as sandbox:
        return sandbox.page_sizes(original.file, original.part)


@contextmanager
def _sandbox(original: OriginalFile, what: str, options: LoadOptions) -> Iterator[Sandbox]:
    try:
        with Sandbox(options, seconds=LOOK_SECONDS) as sandbox:
            yield sandbox
    except IngestError as error:
        message = f"{what}{original.uri}: {error}"
        failed = NotFoundError if str(error) == CHANGED else ConfigError
        raise failed(message) from None
