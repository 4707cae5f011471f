"""Passages as programs of other makers take them, and texts under ids of their own."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from lexichord.client.lexichord import Lexichord
from lexichord.client.sync import SyncLexichord
from lexichord.db import store
from lexichord.db.catalogue import list_documents
from lexichord.db.pool import Database
from lexichord.db.search import read_spans
from lexichord.errors import ConfigError, IngestError, NotFoundError
from lexichord.ingest.structural_context import LANGUAGE
from lexichord.retrieve.confidence import JUDGED_HITS, hit_confidences
from lexichord.types import (
    ChunkHit,
    Json,
    QueryOptions,
    Response,
    Scope,
    SearchOptions,
    StoredDocument,
)
from lexichord.types.base import file_name

PASSAGE_PLACE_FIELDS = (
    "dataset",
    "document_id",
    "chunk_id",
    "uri",
    "title",
    "heading",
    "page",
    "start",
    "end",
)


@dataclass(frozen=True, slots=True)
class ScoredPassage:
    """A hit with its document's `metadata`, its media type and folder among them.

    `score` is the probability, 0 to 1, that it holds an answer: see `hit_confidences`.
    """

    hit: ChunkHit
    score: float
    metadata: Json

    @property
    def name(self) -> str:
        """Its document's file name, that is the end of its uri."""
        return file_name(self.hit.uri)

    def describe(self) -> Json:
        """Return the metadata, and over it where the passage stands and how it was found.

        What a document says of itself cannot pass for its place.
        """
        place = {name: getattr(self.hit, name) for name in PASSAGE_PLACE_FIELDS}
        place["title"] = self.hit.title or self.name
        raw = {"scores": self.hit.scores.to_dict(), "ranks": self.hit.ranks}
        known = {name: value for name, value in place.items() if value is not None}
        return {**self.metadata, **known, "score": self.score, **raw}


def passage_options(options: Json) -> Json:
    """Return the options by which to query for the hits alone. Raises ConfigError.

    Whatever the intent, hits are searched alike; the table of a comparison, the list or summary,
    which take a second to make, would be thrown away. With fewer hits than the confidence is
    estimated from, their scores would depend on k.
    """
    k = QueryOptions.read(options).k
    return {"intent": "general", **options, "k": max(k, JUDGED_HITS)}


async def find_passages(
    database: Database, response: Response, k: int, min_score: float = 0.0
) -> list[ScoredPassage]:
    """Return the k best passages of a response, of those that score at least `min_score`."""
    scored = [
        (hit, score)
        for hit, score in zip(response.hits[:k], hit_confidences(response), strict=False)
        if score >= min_score
    ]
    if not scored:
        return []
    scope = Scope(documents=tuple({hit.document_id for hit, _ in scored}))
    rows = await list_documents(database, scope)
    metadata = {row.document_id: {**_built_in(row), **row.metadata} for row in rows}
    return [ScoredPassage(hit, score, metadata[hit.document_id]) for hit, score in scored]


def _built_in(row: StoredDocument) -> Json:
    """Return the keys that filters know of every document, but for those that a hit has."""
    return {"media_type": row.media_type, "folder": row.uri.rpartition("/")[0]}


type Client = Lexichord | SyncLexichord
type Work[R] = Callable[[Lexichord], Awaitable[R]]

ASYNC_ONLY = "a Lexichord serves asynchronous calls only: give a SyncLexichord"


def run[R](client: Client, work: Work[R]) -> R:
    """Do the work and wait for it. Raises ConfigError without a `SyncLexichord`."""
    if isinstance(client, Lexichord):
        raise ConfigError(ASYNC_ONLY)

    async def do() -> R:
        return await work(client.core)

    return client.run(do())


async def arun[R](client: Client, work: Work[R]) -> R:
    """Do the work inside a running loop, without holding it up."""
    if isinstance(client, SyncLexichord):
        return await asyncio.to_thread(run, client, work)
    return await work(client)


async def query_passages(core: Lexichord, query: str, options: Json) -> list[ScoredPassage]:
    """Return the k best passages for a query, by the options of `query`. Raises ConfigError."""
    k = QueryOptions.read(options).k
    response = await core.query(query, **passage_options(options))
    return await find_passages(core.database, response, k)


@dataclass(frozen=True, slots=True)
class StoredText:
    """A text with its metadata, under an id."""

    id: str
    text: str
    metadata: dict[str, Any]


@dataclass(frozen=True, slots=True)
class FoundText:
    """A text that a search found; of a longer document, the chunk."""

    stored: StoredText
    hit: ChunkHit


@dataclass(frozen=True, slots=True)
class TextDataset:
    """A dataset of texts, each a document of one chunk whose uri is its id."""

    name: str

    async def put(self, core: Lexichord, texts: Iterable[StoredText]) -> None:
        """Store texts, in place of those of the same ids. Raises IngestError."""
        last = {text.id: text for text in texts}  # what is given again replaces what was
        # A language that is told would be a key more than was given.
        documents = [
            {
                "uri": text.id,
                "chunks": [{"content": text.text}],
                "metadata": {LANGUAGE: None} | text.metadata,
            }
            for text in last.values()
        ]
        if not documents:
            return
        report = await core.ingest(documents=documents, dataset=self.name, context="none")
        for place, reason in report.failed.items():
            raise IngestError(f"{place} of {len(documents)}: {reason}")

    async def get(self, core: Lexichord, ids: Sequence[str]) -> list[StoredText]:
        """Return the texts of ids, in their order, without those that are not there."""
        rows = await self._named(core, ids)
        texts = {text.id: text for text in await _texts(core, rows)}
        return [texts[id] for id in ids if id in texts]

    async def all(self, core: Lexichord, filter: Json | None = None) -> list[StoredText]:
        """Return all texts that pass a filter."""
        return await _texts(core, await self._rows(core, filter))

    async def count(self, core: Lexichord) -> int:
        """Count the texts."""
        try:
            return await core.count(datasets=[self.name])
        except NotFoundError:
            return 0

    async def delete(self, core: Lexichord, ids: Sequence[str] | None = None) -> int:
        """Delete the texts of ids, by default all; return how many there were."""
        rows = await (self._rows(core) if ids is None else self._named(core, ids))
        return await store.delete_documents(core.database, [row.document_id for row in rows])

    async def find(
        self,
        core: Lexichord,
        query: str,
        k: int,
        filter: Json | None = None,
        **options: object,
    ) -> list[FoundText]:
        """Search, as `Lexichord.search` does with these options; best first."""
        depth = max(k, SearchOptions.depth)
        wanted: Json = {"k": k, "depth": depth, "filter": filter, **options}
        try:
            result = await core.search(query, datasets=[self.name], **wanted)
        except (ConfigError, NotFoundError):  # no dataset yet, or no key of the filter
            if await self.count(core):
                raise
            return []
        scope = Scope(documents=tuple({hit.document_id for hit in result.hits}))
        rows = await list_documents(core.database, scope) if result.hits else []
        metadata = {row.document_id: _metadata(row) for row in rows}
        return [
            FoundText(StoredText(hit.uri, hit.content, metadata[hit.document_id]), hit)
            for hit in result.hits
        ]

    async def _named(self, core: Lexichord, ids: Sequence[str]) -> list[StoredDocument]:
        return await self._rows(core, {"key": "uri", "op": "in", "value": [*ids]}) if ids else []

    async def _rows(self, core: Lexichord, filter: Json | None = None) -> list[StoredDocument]:
        try:
            return [*await core.list(datasets=[self.name], filter=filter)]
        except (ConfigError, NotFoundError):  # no dataset yet, or no key of the filter
            if await self.count(core):
                raise
            return []


def _metadata(row: StoredDocument) -> dict[str, Any]:
    is_own = row.metadata.get(LANGUAGE) is not None
    return {name: each for name, each in row.metadata.items() if is_own or name != LANGUAGE}


async def _texts(core: Lexichord, rows: Sequence[StoredDocument]) -> list[StoredText]:
    spans = [(row.document_id, 0, row.characters) for row in rows]
    texts = await read_spans(core.database, spans)
    return [
        StoredText(row.uri, text, _metadata(row))
        for row, text in zip(rows, texts, strict=True)
        if text is not None  # deleted meanwhile
    ]
