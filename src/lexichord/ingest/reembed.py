"""Another embedding model for what is stored: fill, build the index, compare, swap."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import batched
from pathlib import Path

from lexichord.db import catalogue
from lexichord.db import reembed as db
from lexichord.db.pool import Conn, Database, Row
from lexichord.db.search import Vector
from lexichord.errors import ConfigError
from lexichord.ingest.flow import INGEST_LIMITS, IngestLimits
from lexichord.ingest.report import CountCallbacks
from lexichord.ingest.structural_context import embedding_text
from lexichord.providers.base import Embedder
from lexichord.types import EmbeddingSpace, Shaped

# Chunks of a transaction: so few that nobody waits long for its rows.
TRANSACTION_CHUNKS = 16
OVERLAP_NEIGHBOURS = 10  # nearest chunks that are compared

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


@dataclass
class Reembed:
    """A change of the space, which goes on from wherever it was interrupted.

    `find` returns the embedder of a space, or the reasons why there is none.
    """

    database: Database
    find: EmbedderLookup
    sample: Path | str | None = None
    min_overlap: float | None = None
    on_start: Callable[[int], None] = lambda total: None
    on_chunks: Callable[[int], None] = lambda count: None
    limits: IngestLimits = INGEST_LIMITS
    embedded: int = field(init=False, default=0)

    async def run(self, to: str | None) -> Reembedded:
        """Change to a space, or finish the change that is under way; searches go on meanwhile.

        Raises ConfigError, DatabaseError, ProviderError; what was filled by then stays.
        """
        queries = None if self.sample is None else read_queries(Path(self.sample))
        space = EmbeddingSpace.parse(to or await self._under_way())
        embedder = self._embedder(space)
        async with db.hold_reembed(self.database) as holder:
            await db.start_reembed(self.database, space)
            await self._fill(holder, embedder)
            await db.build_reembed_indexes(self.database, holder, filled=True)
            comparison, degraded = await self._compare(embedder, queries)
            await self._swap(embedder)
        return await self._report(comparison, degraded)

    async def roll_back(self) -> Reembedded:
        """Change back to the old vectors, which are kept; what lacks one is embedded first.

        Without an embedder of the old space none is embedded, and `degraded` says so.
        """
        async with db.hold_reembed(self.database) as holder:
            row = await db.reembed_status(self.database)
            if row is None or row["state"] != "swapped":
                raise ConfigError("there is nothing to roll back: no old vectors are kept")
            embedder, reasons = self.find(row["other_space"])
            if embedder is None:
                await db.swap_incomplete(self.database)
            else:
                await self._fill(holder, embedder)
                await db.build_reembed_indexes(self.database, holder, filled=True)
                await self._swap(embedder)
        return await self._report(None, reasons)

    async def drop(self) -> Reembedded:
        """Delete the vectors that are not in use: the old ones, or new ones that are unfinished."""
        async with db.hold_reembed(self.database):
            dropped = await db.drop_other(self.database)
        fixed = await catalogue.configuration(self.database)
        return Reembedded(fixed["space"], dropped=dropped)

    async def _under_way(self) -> str:
        row = await db.reembed_status(self.database)
        if row is None or row["state"] != "filling":
            raise ConfigError("nothing is under way: name the new space, provider/model/dimension")
        return str(row["other_space"])

    def _embedder(self, space: EmbeddingSpace) -> Embedder:
        embedder, reasons = self.find(str(space))
        if embedder is None:
            raise ConfigError(f"cannot change to {space}: {'; '.join(reasons)}")
        return embedder

    async def _fill(self, holder: Conn, embedder: Embedder) -> None:
        await db.build_reembed_indexes(self.database, holder, filled=False)
        row = await db.reembed_status(self.database)
        assert row is not None
        self.on_start(row["missing"])
        while await self._pass(embedder):  # again for what others store meanwhile
            pass

    async def _pass(self, embedder: Embedder) -> bool:
        """Embed chunks that lack a vector, storing each call's at once; return whether any did."""
        after: str | None = None
        group_chunks, slice_chunks = self.limits.group_chunks, self.limits.slice_chunks
        while rows := await db.chunks_without_other(self.database, after, group_chunks):
            after = rows[-1]["chunk_id"]
            # texts of about the same length together
            for batch in batched(sorted(rows, key=lambda row: len(row["content"])), slice_chunks):
                await self._fill_slice(embedder, batch)
        return after is not None

    async def _fill_slice(self, embedder: Embedder, rows: Sequence[Row]) -> None:
        vectors = await embed(embedder, rows)
        for place in range(0, len(rows), TRANSACTION_CHUNKS):
            batch = slice(place, place + TRANSACTION_CHUNKS)
            filled = await db.set_other_vectors(
                self.database, embedder.space, rows[batch], vectors[batch]
            )
            self._count(filled)

    def _count(self, filled: int) -> None:
        self.embedded += filled
        self.on_chunks(filled)

    async def _swap(self, embedder: Embedder) -> None:
        """Swap once no chunk lacks a vector."""
        swapped = False
        while not swapped:
            filler = partial(embed, embedder)
            swapped, filled = await db.swap_spaces(
                self.database, embedder.space, filler, self.limits.slice_chunks
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
        bound = (await catalogue.configuration(self.database))["space"]
        old, reasons = self.find(bound)
        if queries is None:
            queries = await db.sample_queries(self.database)
        if old is None or not queries:
            why = [f"not compared: {reason}" for reason in reasons or ["there is nothing to ask"]]
            if self.min_overlap is not None:
                raise ConfigError(why[0])
            return None, why
        comparison = await compare_embedders(self.database, old, embedder, queries)
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
        fixed = await catalogue.database_status(self.database)
        row = await db.reembed_status(self.database)
        missing = fixed["chunks_without_vector"]
        reasons = list(degraded) if comparison is None else []
        if missing:
            reasons.append(
                f"{missing} chunks have no vector: an ingest with an embedder fills them"
            )
        kept = None if row is None else row["other_space"]
        return Reembedded(
            fixed["space"],
            kept,
            embedded=self.embedded,
            missing=missing,
            comparison=comparison,
            degraded=reasons,
        )


async def embed(embedder: Embedder, rows: Sequence[Row]) -> list[Vector]:
    """Embed chunks, rows with `context` and `content`."""
    texts = [embedding_text(row["context"], row["content"]) for row in rows]
    vectors = await asyncio.to_thread(embedder.embed, texts, "document")
    return list(vectors.tolist())


async def compare_embedders(
    database: Database, old: Embedder, new: Embedder, queries: Sequence[str]
) -> dict[str, float]:
    """Compare exactly, for each query, the nearest chunks by the old and by the new vectors."""
    one = await asyncio.to_thread(old.embed, list(queries), "query")
    other = await asyncio.to_thread(new.embed, list(queries), "query")
    pairs = zip(one.tolist(), other.tolist(), strict=True)
    overlaps = [await db.space_overlap(database, *pair, OVERLAP_NEIGHBOURS) for pair in pairs]
    shares = [share for share in overlaps if share is not None] or [1.0]  # no chunks, no difference
    mean = sum(shares) / len(shares)
    return {"queries": len(shares), "k": OVERLAP_NEIGHBOURS, "overlap": mean, "lowest": min(shares)}


def read_queries(file: Path) -> list[str]:
    """Read queries, one a line. Raises ConfigError."""
    try:
        queries = [line.strip() for line in file.read_text().splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"the sample {file} cannot be read: {error}") from None
    if not queries:
        raise ConfigError(f"the sample {file} holds no query: write one a line")
    return queries
