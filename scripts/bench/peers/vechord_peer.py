"""vechord on VectorChord: BERT's word pieces by BM25 and its vector index, fused by its RRF."""

import asyncio
from collections.abc import Coroutine, Sequence
from itertools import batched
from threading import Thread
from typing import Any

import psycopg
from vechord.registry import VechordRegistry
from vechord.rerank import ReciprocalRankFusion
from vechord.spec import Keyword, PrimaryKeyAutoIncrease, Table, Vector

from lexichord.providers import Vectors
from peers import DEPTH, Place, Rows, database_size, new_database, seconds

AT_ONCE = 16  # connections of its pool


class Chunk(Table, kw_only=True):  # type: ignore[misc, call-arg]
    uid: PrimaryKeyAutoIncrease | None = None
    number: int
    content: str
    vector: Vector[384]
    keyword: Keyword


class Vechord:
    def __init__(self, place: Place) -> None:
        if "vectorchord" not in place.engines:
            raise RuntimeError("no VectorChord server: set LEXICHORD_TEST_DSN_VECTORCHORD")
        self.dsn = new_database(place.engines["vectorchord"], "peers_vechord")
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            connection.execute(
                "alter database peers_vechord set search_path "
                'to "$user", public, bm25_catalog, tokenizer_catalog'
            )
        self.registry = VechordRegistry("peers", self.dsn, tables=[Chunk])
        self.loop = asyncio.new_event_loop()
        Thread(target=self.loop.run_forever, daemon=True).start()

    def fill(self, rows: Rows) -> float:
        """Build the indexes last: its keyword index is slow where rows came after it."""
        spent = seconds(lambda: self._run(self._insert(rows)))
        return spent + seconds(lambda: self._run(self.registry.__aenter__()))

    def search(self, text: str, vector: Vectors, k: int) -> Sequence[int]:
        return self._run(self._search(text, vector, k))

    def size(self) -> int:
        return database_size(self.dsn)

    def close(self) -> None:
        if self.registry._inited:
            self._run(self.registry.__aexit__(None, None, None))
        self.loop.call_soon_threadsafe(self.loop.stop)

    async def _insert(self, rows: Rows) -> None:
        bare = VechordRegistry("peers", self.dsn, tables=[Chunk], create_index=False)
        async with bare as registry:
            chunks = (
                Chunk(number=number, content=text, vector=vector, keyword=Keyword(text))
                for number, text, vector in zip(rows.ids, rows.texts, rows.vectors, strict=True)
            )
            for some in batched(chunks, AT_ONCE):
                await asyncio.gather(*map(registry.insert, some))

    async def _search(self, text: str, vector: Vectors, k: int) -> list[int]:
        lists = await asyncio.gather(
            self.registry.search_by_vector(Chunk, vector, topk=DEPTH),
            self.registry.search_by_keyword(Chunk, text, topk=DEPTH),
        )
        return [chunk.number for chunk in ReciprocalRankFusion().fuse(lists)[:k]]

    def _run[R](self, coroutine: Coroutine[Any, Any, R]) -> R:
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result()
