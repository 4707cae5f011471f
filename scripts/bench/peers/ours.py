"""lexichord itself, whose chunks and vectors are what the peers are given."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import psycopg
from pgvector import HalfVector
from pgvector.psycopg import register_vector
from psycopg_pool import ConnectionPool

from lexichord import SyncLexichord
from lexichord.db.server import initialise
from lexichord.providers import Embedder, EmbedKind, Vectors
from lexichord.settings import load_settings
from lexichord.types import ChunkHit, EmbeddingSpace, Json
from peers import DEPTH, Rows, database_size

# What both of its indexes were made of; a peer has one text for its words.
ROWS = """
select c.id, concat_ws(E'\\n', nullif(c.context, ''), nullif(c.keyword_context, ''), c.content),
       c.embedding, d.uri, c.ordinal
from lexichord_data.chunk c join lexichord_data.document d on d.id = c.document_id order by c.id"""


IN_SQL = "select * from lexichord.hybrid_search(%s, %s, k => %s, depth => %s)"
MOST_CONNECTIONS = 8


class Known:
    """Gives the vectors that it was told, and makes others."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self.vectors: dict[str, Vectors] = {}

    @property
    def space(self) -> EmbeddingSpace:
        return self.embedder.space

    def embed(self, texts: Sequence[str], kind: EmbedKind) -> Vectors:
        if all(text in self.vectors for text in texts):
            return np.stack([self.vectors[text] for text in texts])
        return self.embedder.embed(texts, kind)


class Ours:
    def __init__(self, dsn: str, home: Path, engine: str | None = None) -> None:
        self.dsn = dsn
        initialise(load_settings(dsn=dsn, engine=engine))
        self.lexichord = SyncLexichord(dsn=dsn, home=home)
        self.lexichord.__enter__()
        self.engine = self.lexichord.status().engine
        embedder = self.lexichord.core.embedder
        assert embedder is not None
        self.embedder = embedder
        self.known = Known(embedder)
        self.connections = ConnectionPool(
            dsn, min_size=1, max_size=MOST_CONNECTIONS, configure=register_vector, open=True
        )

    def ingest(self, documents: Iterable[Json], *, contextual: bool) -> None:
        context: Literal["structural", "none"] = "structural" if contextual else "none"
        report = self.lexichord.ingest(documents=documents, context=context)
        assert not report.failed, report.failed

    def rows(self) -> tuple[Rows, dict[tuple[str, int], int]]:
        """Give all chunks, and their ids by the document's uri and their number in it."""
        with psycopg.connect(self.dsn) as connection:
            register_vector(connection)
            records = connection.execute(ROWS).fetchall()
        ids, texts, vectors, uris, ordinals = zip(*records, strict=True)
        matrix = np.array([vector.to_numpy() for vector in vectors], np.float32)
        places = zip(uris, ordinals, strict=True)
        return Rows(ids, texts, matrix), dict(zip(places, ids, strict=True))

    def search(self, text: str, vector: Vectors, k: int) -> Sequence[int]:
        self._know(text, vector)
        return self._numbers(self.lexichord.search(text, k=k, depth=DEPTH).hits)

    def search_in_sql(self, text: str, vector: Vectors, k: int) -> Sequence[int]:
        """Search as peers do, by the words and the vector: no document that they name is found."""
        with self.connections.connection() as connection:
            values = (text, HalfVector(vector), k, DEPTH)
            return [row[0] for row in connection.execute(IN_SQL, values).fetchall()]

    def query(self, text: str, vector: Vectors, k: int) -> Sequence[int]:
        self._know(text, vector)
        return self._numbers(self.lexichord.query(text, k=k).hits)

    def _know(self, text: str, vector: Vectors) -> None:
        self.known.vectors[text] = vector
        self.lexichord.core.embedder = self.known

    def _numbers(self, hits: Sequence[ChunkHit]) -> Sequence[int]:
        ids = self.lexichord.core.database.ids
        return [ids.read("chunk", hit.chunk_id) for hit in hits]

    def count(self) -> int:
        """How many chunks there are."""
        return self.lexichord.status().chunks

    def size(self) -> int:
        return database_size(self.dsn)

    def close(self) -> None:
        self.connections.close()
        self.lexichord.__exit__(None, None, None)
