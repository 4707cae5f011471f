"""Sets of questions in, numbers out: how good retrieval is, and what each stage gives.

Here: what evaluation asks of the application, and a cache of vectors: each evaluation ingests its
set again, and embeds only what is new. `Lexichord` itself imports this package.
"""

import hashlib
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from threading import Lock
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol, Self, Unpack

import numpy as np

from lexichord.db.pool import Database
from lexichord.errors import ConfigError
from lexichord.ingest.options import IngestOptions
from lexichord.ingest.report import Report
from lexichord.providers import Embedder, EmbedKind, Reader, Reranker, Vectors
from lexichord.settings import Settings
from lexichord.types import (
    EmbeddingSpace,
    FilesResult,
    Json,
    Response,
    SearchResult,
    Status,
)

if TYPE_CHECKING:
    from lexichord.retrieve.stages import Stages


class Application(Protocol):
    """The part of `Lexichord` that is evaluated; a second one is opened on a scratch database."""

    settings: Settings
    database: Database
    embedder: Embedder | None
    reranker: Reranker | None
    reader: Reader | None
    stages: "Stages"
    degraded: list[str]
    space: str

    def __init__(self, settings: Settings) -> None: ...

    async def __aenter__(self) -> Self: ...

    async def __aexit__(self, *_: object) -> None: ...

    async def ingest(
        self, *, documents: Iterable[Json] = ..., **options: Unpack[IngestOptions]
    ) -> Report:
        """See `Lexichord.ingest`."""

    async def search(self, query: str, *args: Any, **options: Any) -> SearchResult:  # noqa: ANN401
        """See `Lexichord.search`."""

    async def files(self, query: str, *args: Any, **options: Any) -> FilesResult:  # noqa: ANN401
        """See `Lexichord.files`."""

    async def query(self, query: str, *args: Any, **options: Any) -> Response:  # noqa: ANN401
        """See `Lexichord.query`."""

    async def resolve(self, document: str) -> str:
        """See `Lexichord.resolve`."""

    async def status(self) -> Status:
        """See `Lexichord.status`."""


VECTOR_CACHE_FILE = "evaluation-vectors.sqlite"
VECTOR_CACHE_TABLE = (
    "create table if not exists vector (digest blob primary key, vector blob) without rowid"
)


class CachedEmbedder(AbstractContextManager["CachedEmbedder"]):
    """An embedder that embeds each text once and keeps the vectors in a file of the home folder.

    `seconds` is the total time of all calls of `embed`.
    """

    def __init__(self, embedder: Embedder, home: Path) -> None:
        import sqlite3

        self._embedder = embedder
        self._lock = Lock()
        self.seconds = 0.0
        try:
            home.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(
                home / VECTOR_CACHE_FILE, check_same_thread=False, timeout=30
            )
            self._connection.execute(VECTOR_CACHE_TABLE)
        except (OSError, sqlite3.Error) as error:
            raise ConfigError(
                f"{home / VECTOR_CACHE_FILE} cannot be used ({error}): delete it"
            ) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._connection.close()

    @property
    def space(self) -> EmbeddingSpace:
        """The embedder's space."""
        return self._embedder.space

    def embed(self, texts: Sequence[str], kind: EmbedKind) -> Vectors:
        """Embed each text, or return its cached vector."""
        started = perf_counter()
        try:
            return self._embed(texts, kind)
        finally:
            self.seconds += perf_counter() - started

    def _embed(self, texts: Sequence[str], kind: EmbedKind) -> Vectors:
        digests = [self._digest(text, kind) for text in texts]
        with self._lock:
            vectors = self._read(digests)
            new = {d: text for d, text in zip(digests, texts, strict=True) if d not in vectors}
            if new:
                embedded = self._embedder.embed(list(new.values()), kind)
                vectors.update(zip(new, embedded, strict=True))
                finite = [digest for digest in new if np.isfinite(vectors[digest]).all()]
                self._write({digest: vectors[digest] for digest in finite})
        return np.stack([vectors[digest] for digest in digests])

    def _digest(self, text: str, kind: str) -> bytes:
        return hashlib.sha256(f"{self.space}\0{kind}\0{text}".encode()).digest()

    def _read(self, digests: Sequence[bytes]) -> dict[bytes, Vectors]:
        placeholders = ",".join("?" * len(digests))
        rows = self._connection.execute(
            f"select digest, vector from vector where digest in ({placeholders})", digests
        )
        return {digest: np.frombuffer(vector, np.float32) for digest, vector in rows}

    def _write(self, vectors: dict[bytes, Vectors]) -> None:
        rows = [(digest, vector.tobytes()) for digest, vector in vectors.items()]
        with self._connection:
            self._connection.executemany("insert or ignore into vector values (?, ?)", rows)
