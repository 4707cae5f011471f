"""Vectors for chunks: given, kept or new; another embedding model for what is stored."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import batched
from pathlib import Path

import numpy as np

from lexichord.db import catalogue, store
from lexichord.db import reembed as db
from lexichord.db.pool import Conn, Database, Row
from lexichord.db.search import Vector
from lexichord.errors import ConfigError
from lexichord.ingest.flow import INGEST_LIMITS, IngestLimits
from lexichord.ingest.report import CountCallbacks, FilesInProgress, Report
from lexichord.ingest.sources import PreparedDocument
from lexichord.providers import Embedder, RemoteEmbedder
from lexichord.providers import Vectors as Rows
from lexichord.types import EmbeddingSpace, Shaped
from lexichord.types.base import counted
from lexichord.types.questions import Usage
from lexichord.types.state import FileProgress
from lexichord.work import in_thread

type ChunkVectors = list[Vector | None]


def embedding_text(context: str, content: str) -> str:
    """Return what is embedded for a chunk."""
    return f"{context}\n{content}" if context else content


@dataclass(frozen=True, slots=True)
class EmbeddedDocument:
    """A document with its chunks' vectors, and the space that these are of."""

    prepared: PreparedDocument
    vectors: ChunkVectors
    space: str


# A service may have an ingest wait for minutes; no query does then.
_THREADS = ThreadPoolExecutor(thread_name_prefix="lexichord-embed")


@dataclass(slots=True)
class ChunkEmbedder:
    """Embeds chunks that have no vector; calls `on_chunks` with how many more are finished.

    A text that the embedder refuses is named in the report, and not tried again in this run.
    """

    database: Database
    embedder: Embedder | None
    space: str
    on_chunks: Callable[[int], None]
    on_usage: Callable[[Usage], None]
    report: Report
    limits: IngestLimits = INGEST_LIMITS
    files: FilesInProgress = field(default_factory=FilesInProgress)
    _refused: set[str] = field(default_factory=set)
    _before: Usage = field(init=False)

    def __post_init__(self) -> None:
        self._before = _used(self.embedder)

    @property
    def at_once(self) -> int:
        """How many groups to embed at the same time: a service idles while one waits for its last.

        1,000 chunks in two groups, Gemini's batches, 30 % of the calls failing: 84 % of what the
        rate limit allows with one at a time, 93 with two.
        """
        return 2 if isinstance(self.embedder, RemoteEmbedder) else 1

    async def vectors(
        self, group: Sequence[PreparedDocument], origins: Mapping[str, Sequence[str | None]]
    ) -> list[ChunkVectors]:
        """Return each document's vectors; None where the database has it, or where there is none.

        `origins` are the stored documents, by uri, whose chunks may lend theirs.
        """
        try:
            return await self._vectors(group, origins)
        finally:
            for prepared in group:
                self.files.end(prepared.document.uri)

    async def _vectors(
        self, group: Sequence[PreparedDocument], origins: Mapping[str, Sequence[str | None]]
    ) -> list[ChunkVectors]:
        vectors: list[ChunkVectors] = [list(p.vectors) or [None] * len(p.chunks) for p in group]
        places = [
            (own, index, prepared)
            for prepared, own in zip(group, vectors, strict=True)
            for index in await self._missing(prepared, origins[prepared.document.uri])
        ]
        self.on_chunks(sum(map(len, vectors)) - len(places))
        chunks = [prepared.chunks[index] for _, index, prepared in places]
        names = [f"{prepared.document.uri}: chunk {index}" for _, index, prepared in places]
        texts = [embedding_text(chunk.context, chunk.content) for chunk in chunks]
        uris = [prepared.document.uri for _, _, prepared in places]
        left = Counter(uris)
        for prepared in group:
            uri, size = prepared.document.uri, len(prepared.chunks)
            self.files.cut(uri, FileProgress(size, size - left[uri]))
        embedded = await self.embed(texts, names, uris)
        for (own, index, _), vector in zip(places, embedded, strict=True):
            own[index] = vector
            self.report.embedded += vector is not None
        return vectors

    async def fill(self) -> None:
        """Embed what was stored while there was no embedder, or lost the vector it was to keep."""
        after: str | None = None
        while self.embedder and (
            rows := await store.chunks_without_vector(
                self.database, after, self.limits.group_chunks
            )
        ):
            texts = [embedding_text(row["context"], row["content"]) for row in rows]
            names = [row["chunk_id"] for row in rows]
            uris = [row["uri"] for row in rows]
            for row in rows:
                self.files.begin(row["uri"], FileProgress(row["missing"]))
            pairs = zip(rows, await self.embed(texts, names, uris), strict=True)
            after = rows[-1]["chunk_id"]
            filled = {row["chunk_id"]: vector for row, vector in pairs if vector is not None}
            await store.set_vectors(self.database, list(filled), filled.values(), self.space)
            self.report.vectors_filled += len(filled)
            for uri in {*uris} - {uris[-1]}:  # chunks go by id: the last may have more
                self.files.end(uri)
        self.files.clear()

    async def _missing(
        self, prepared: PreparedDocument, origins: Sequence[str | None]
    ) -> list[int]:
        """Return the places of the chunks to embed."""
        if prepared.vectors or not self.embedder:
            return []
        known = set[str]()
        if documents := [origin for origin in origins if origin is not None]:
            recipe = prepared.document.recipe
            known = await store.reusable_chunks(self.database, documents, recipe)
        return [
            index
            for index, chunk in enumerate(prepared.chunks)
            if not known or store.vector_key(chunk) not in known
        ]

    async def embed(
        self, texts: Sequence[str], names: Sequence[str], uris: Sequence[str] = ()
    ) -> ChunkVectors:
        """Embed texts of about the same length together; None for one that is refused.

        Each has a name by which it is reported, and may have the uri of a file in progress.
        """
        vectors: ChunkVectors = [None] * len(texts)
        todo = [number for number, text in enumerate(texts) if text not in self._refused]
        is_remote = isinstance(self.embedder, RemoteEmbedder)
        size = max(len(todo), 1) if is_remote else self.limits.slice_chunks
        for batch in batched(sorted(todo, key=lambda n: len(texts[n])), size):
            rows = await self._ask([texts[number] for number in batch])
            bad = np.isnan(rows).any(axis=1)
            for number, row, is_bad in zip(batch, rows.tolist(), bad, strict=True):
                vectors[number] = None if is_bad else row
            self._refused.update(texts[number] for number in np.array(batch)[bad])
            self.report.refused += [names[number] for number in np.array(batch)[bad]]
            self.files.embed(uris[number] for number in batch if uris)
            self.on_chunks(len(batch))
        return vectors

    async def _ask(self, batch: Sequence[str]) -> Rows:
        assert self.embedder is not None
        try:
            return await in_thread(self.embedder.embed, batch, "document", threads=_THREADS)
        except asyncio.CancelledError:
            if isinstance(self.embedder, RemoteEmbedder):
                self.embedder.stop()
            raise
        finally:
            if isinstance(self.embedder, RemoteEmbedder):
                self.report.usage = _since(self._before, self.embedder.used())
                self.on_usage(self.report.usage)


def _used(embedder: Embedder | None) -> Usage:
    return embedder.used() if isinstance(embedder, RemoteEmbedder) else Usage(0, 0, 0, None)


def _since(before: Usage, now: Usage) -> Usage:
    dollars = None if now.dollars is None else now.dollars - (before.dollars or 0.0)
    tokens = now.input_tokens - before.input_tokens
    return Usage(now.requests - before.requests, tokens, 0, dollars)


# Chunks of a transaction: so few that nobody waits long for its rows.
TRANSACTION_CHUNKS = 16
MAX_REFUSED_NAMED = 3
OVERLAP_NEIGHBOURS = 10  # nearest chunks that are compared
NOTHING_TO = {
    "filling": "nothing is under way: name the new space, provider/model/dimension",
    "swapped": "there is nothing to roll back: no old vectors are kept",
}

type EmbedderLookup = Callable[[str], tuple[Embedder | None, list[str]]]


class ReembedOptions(CountCallbacks, total=False):
    """How to compare, and callbacks for the chunks to fill.

    `sample` is a file of queries to compare by, one a line; `min_overlap`, 0 to 1, is the mean
    overlap below which nothing is swapped.
    """

    sample: Path | str | None
    min_overlap: float | None


@dataclass(slots=True)
class Reembedded(Shaped):
    """What came of it: the database's space by now, and whose vectors are kept beside it.

    `embedded` vectors were filled in by this run, `missing` chunks lack one of `space`. Of a sample
    of queries, `comparison` holds which part of the 10 nearest chunks by the old vectors is among
    those by the new ones: `overlap` in the mean, `lowest` of one query, 0 to 1; `queries` is how
    many there were, `k` the 10.
    """

    space: str
    kept: str | None = None
    dropped: str | None = None
    embedded: int = 0
    missing: int = 0
    comparison: Mapping[str, float] | None = None
    degraded: list[str] = field(default_factory=list)


async def unmeasured(embedder: Embedder) -> None:
    """Leave it to the first query to find out where the cosines of a space lie."""


@dataclass
class Reembed:
    """A change of the space, which goes on from wherever it was interrupted.

    `find` returns the embedder of a space, or the reasons why there is none; `measure` finds out
    where its cosines lie, before it is changed to.
    """

    database: Database
    find: EmbedderLookup
    sample: Path | str | None = None
    min_overlap: float | None = None
    on_start: Callable[[int], None] = lambda total: None
    on_chunks: Callable[[int], None] = lambda count: None
    limits: IngestLimits = INGEST_LIMITS
    measure: Callable[[Embedder], Awaitable[None]] = unmeasured
    embedded: int = field(init=False, default=0)
    _refused: set[str] = field(init=False, default_factory=set)  # ids of chunks

    async def run(self, to: str | None) -> Reembedded:
        """Change to a space, or finish the change that is under way; searches go on meanwhile.

        Raises ConfigError, DatabaseError, ProviderError; what was filled by then stays.
        """
        queries = None if self.sample is None else read_queries(Path(self.sample))
        space = EmbeddingSpace.parse(to or await self._other_space("filling"))
        embedder = self._embedder(space)
        async with db.hold_reembed(self.database) as holder:
            await db.start_reembed(self.database, space)
            await self._fill(holder, embedder)
            comparison, degraded = await self._compare(embedder, queries)
            await self.measure(embedder)
            await self._swap(embedder)
        return await self._report(comparison, degraded)

    async def roll_back(self) -> Reembedded:
        """Change back to the old vectors, which are kept; what lacks one is embedded first.

        Without an embedder of the old space none is embedded, and `degraded` says so.
        """
        async with db.hold_reembed(self.database) as holder:
            embedder, reasons = self.find(await self._other_space("swapped"))
            if embedder is None:
                await db.swap_incomplete(self.database)
            else:
                await self._fill(holder, embedder)
                await self._swap(embedder)
        return await self._report(None, reasons)

    async def drop(self) -> Reembedded:
        """Delete the vectors that are not in use: the old ones, or new ones that are unfinished."""
        async with db.hold_reembed(self.database):
            dropped = await db.drop_other(self.database)
        return Reembedded(await self._space(), dropped=dropped)

    async def _space(self) -> str:
        return str((await catalogue.configuration(self.database))["space"])

    async def _other_space(self, state: str) -> str:
        """Return the space of the vectors beside those in use, to go on to, or back to."""
        row = await db.reembed_status(self.database)
        if row is None or row["state"] != state:
            raise ConfigError(NOTHING_TO[state])
        return str(row["other_space"])

    def _embedder(self, space: EmbeddingSpace) -> Embedder:
        embedder, reasons = self.find(str(space))
        if embedder is None:
            raise ConfigError(f"cannot change to {space}: {'; '.join(reasons)}")
        return embedder

    async def _fill(self, holder: Conn, embedder: Embedder) -> None:
        """Embed what lacks a vector, and build the indexes of the new ones."""
        await db.build_reembed_indexes(self.database, holder, filled=False)
        row = await db.reembed_status(self.database)
        self.on_start(0 if row is None else row["missing"])
        while await self._pass(embedder):  # again for what others store meanwhile
            pass
        await db.build_reembed_indexes(self.database, holder, filled=True)

    async def _pass(self, embedder: Embedder) -> bool:
        """Embed chunks that lack a vector, storing each call's at once; return whether any do.

        Those that the embedder refuses do not count.
        """
        after, is_asked = None, False
        group_chunks, slice_chunks = self.limits.group_chunks, self.limits.slice_chunks
        while rows := await db.chunks_without_other(self.database, after, group_chunks):
            after = rows[-1]["chunk_id"]
            # texts of about the same length together
            lacking = [row for row in rows if row["chunk_id"] not in self._refused]
            is_asked = is_asked or bool(lacking)
            lacking.sort(key=lambda row: len(row["content"]))
            for batch in batched(lacking, slice_chunks):
                await self._fill_slice(embedder, batch)
        return is_asked

    async def _fill_slice(self, embedder: Embedder, rows: Sequence[Row]) -> None:
        for pairs in batched(await self._embed(embedder, rows), TRANSACTION_CHUNKS):
            self._count(await db.set_other_vectors(self.database, embedder.space, pairs))

    async def _embed(
        self, embedder: Embedder, rows: Sequence[Row]
    ) -> list[tuple[Row, list[float]]]:
        """Embed chunks, rows with `context` and `content`; leave out what the embedder refuses."""
        if not rows:
            return []
        texts = [embedding_text(row["context"], row["content"]) for row in rows]
        vectors = await in_thread(embedder.embed, texts, "document", threads=_THREADS)
        bad = np.isnan(vectors).any(axis=1)
        pairs = list(zip(rows, vectors.tolist(), bad, strict=True))
        self._refused.update(row["chunk_id"] for row, _, is_bad in pairs if is_bad)
        return [(row, vector) for row, vector, is_bad in pairs if not is_bad]

    def _count(self, filled: int) -> None:
        self.embedded += filled
        self.on_chunks(filled)

    async def _swap(self, embedder: Embedder) -> None:
        """Swap once no chunk lacks a vector but those that the embedder refuses."""
        swapped = False
        while not swapped:
            swapped, filled = await db.swap_spaces(
                self.database,
                embedder.space,
                partial(self._embed, embedder),
                self._refused,
                self.limits.slice_chunks,
            )
            self._count(filled)
            if not swapped:
                await self._pass(embedder)

    async def _compare(
        self, embedder: Embedder, queries: Sequence[str] | None
    ) -> tuple[Mapping[str, float] | None, list[str]]:
        """Compare, and record it. Raises ConfigError if that was asked for and the overlap is low.

        Gives the comparison, or why there is none.
        """
        old, reasons = self.find(await self._space())
        if queries is None:
            queries = await db.sample_queries(self.database)
        pairs = [] if old is None else await _embed_twice(old, embedder, queries)
        if not pairs:
            why = [f"not compared: {reason}" for reason in reasons or ["there is nothing to ask"]]
            if self.min_overlap is not None:
                raise ConfigError(why[0])
            return None, why
        comparison = await compare_spaces(self.database, pairs)
        await db.record_comparison(self.database, comparison)
        if self.min_overlap is not None and comparison["overlap"] < self.min_overlap:
            raise ConfigError(
                f"nothing is swapped: the overlap is {comparison['overlap']:.2f}, less than "
                f"{self.min_overlap}; ask for less, or give the new vectors up with --drop"
            )
        return comparison, []

    async def _report(
        self, comparison: Mapping[str, float] | None, degraded: Sequence[str]
    ) -> Reembedded:
        status = await catalogue.database_status(self.database)
        row = await db.reembed_status(self.database)
        missing = status["chunks_without_vector"]
        reasons = list(degraded) if comparison is None else []
        if self._refused:
            named = ", ".join(sorted(self._refused)[:MAX_REFUSED_NAMED])
            chunks = counted(len(self._refused), "chunk")
            reasons.append(f"{chunks} without a vector, for the embedder refuses the text: {named}")
        if missing > len(self._refused):
            chunks = counted(missing - len(self._refused), "chunk")
            reasons.append(f"{chunks} without a vector: an ingest with an embedder makes it")
        kept = None if row is None else row["other_space"]
        return Reembedded(
            status["space"],
            kept,
            embedded=self.embedded,
            missing=missing,
            comparison=comparison,
            degraded=reasons,
        )


async def _embed_twice(
    old: Embedder, new: Embedder, queries: Sequence[str]
) -> list[tuple[Vector, Vector]]:
    """Return each query's vectors of two embedders, but for queries that one of them refuses."""
    if not queries:
        return []
    one = await in_thread(old.embed, list(queries), "query")
    other = await in_thread(new.embed, list(queries), "query")
    taken = ~(np.isnan(one).any(axis=1) | np.isnan(other).any(axis=1))
    return list(zip(one[taken].tolist(), other[taken].tolist(), strict=True))


async def compare_spaces(
    database: Database, pairs: Sequence[tuple[Vector, Vector]]
) -> dict[str, float]:
    """Compare exactly, for each query, the nearest chunks by its old and by its new vector."""
    overlaps = [await db.space_overlap(database, *pair, OVERLAP_NEIGHBOURS) for pair in pairs]
    known = [share for share in overlaps if share is not None]
    shares = known or [1.0]  # no chunks, no difference
    mean = sum(shares) / len(shares)
    return {"queries": len(shares), "k": OVERLAP_NEIGHBOURS, "overlap": mean, "lowest": min(shares)}


def read_queries(file: Path) -> list[str]:
    """Read queries, one a line. Raises ConfigError."""
    try:
        queries = [
            line.strip() for line in file.read_text(encoding="utf-8").splitlines() if line.strip()
        ]
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"the sample {file} cannot be read: {error}") from None
    if not queries:
        raise ConfigError(f"the sample {file} holds no query: write one a line")
    return queries
