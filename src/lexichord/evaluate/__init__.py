"""Sets of questions in, numbers out: how good retrieval is, and what each stage gives.

Here: what evaluation asks of the application; `Lexichord` itself imports this package.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol, Self, Unpack

from lexichord.db.pool import Database
from lexichord.ingest.options import IngestOptions
from lexichord.ingest.report import Report
from lexichord.providers import Embedder, Reader, Reranker
from lexichord.settings import Settings
from lexichord.types import (
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
