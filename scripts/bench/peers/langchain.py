"""LangChain's PGVectorStore with its hybrid search: tsvector and pgvector, fused in Python."""

from collections.abc import Sequence
from uuid import UUID

import psycopg
from langchain_postgres import PGEngine, PGVectorStore
from langchain_postgres.v2.hybrid_search_config import HybridSearchConfig, reciprocal_rank_fusion
from langchain_postgres.v2.indexes import HNSWIndex, HNSWQueryOptions

from lexichord.providers import Vectors
from peers import DEPTH, Place, Rows, database_size, new_database, seconds

TABLE = "chunk"
FIRST = 1000  # rows stored by its own method, each a transaction: a table of 100k takes too long
STAGED = "create temporary table staged (id uuid, content text, embedding vector(384))"
UNSTAGED = f"""
insert into {TABLE} (langchain_id, content, embedding, content_tsv)
select id, content, embedding, to_tsvector('english', content) from staged"""


class Known:
    """Gives the vectors that it was told."""

    def __init__(self) -> None:
        self.vectors: dict[str, list[float]] = {}

    async def aembed_query(self, text: str) -> list[float]:
        return self.vectors[text]


class WeightedSum:
    """With its default fusion, half of each side's scores scaled to 0 to 1."""

    name = "peers_langchain"

    def __init__(self, place: Place) -> None:
        self.dsn = new_database(place.server, self.name)
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            connection.execute("create extension vector")
        self.engine = PGEngine.from_connection_string(
            self.dsn.replace("postgresql://", "postgresql+psycopg://", 1)
        )
        self.known = Known()
        self.engine.init_vectorstore_table(TABLE, 384, hybrid_search_config=self.config())
        self.store = PGVectorStore.create_sync(
            self.engine,
            self.known,
            TABLE,
            index_query_options=HNSWQueryOptions(ef_search=DEPTH),
            hybrid_search_config=self.config(),
        )

    def config(self) -> HybridSearchConfig:
        return HybridSearchConfig(
            tsv_column="content_tsv", primary_top_k=DEPTH, secondary_top_k=DEPTH
        )

    def fill(self, rows: Rows) -> float:
        """Store the first rows by its own method, copy the others; give what all would take."""
        ids = [str(UUID(int=number)) for number in rows.ids]
        texts, vectors = list(rows.texts), rows.vectors[:FIRST].tolist()
        own = seconds(lambda: self.store.add_embeddings(texts[:FIRST], vectors, ids=ids[:FIRST]))
        self._copy(ids[FIRST:], texts[FIRST:], rows.vectors[FIRST:])
        return own / len(vectors) * len(ids) + seconds(self._index)

    def _copy(self, ids: Sequence[str], texts: Sequence[str], vectors: Vectors) -> None:
        with psycopg.connect(self.dsn) as connection:
            connection.execute(STAGED)
            with connection.cursor().copy("copy staged from stdin") as copy:
                for number, text, vector in zip(ids, texts, vectors, strict=True):
                    copy.write_row((number, text, str(vector.tolist())))
            connection.execute(UNSTAGED)

    def _index(self) -> None:
        self.store.apply_hybrid_search_index()
        self.store.apply_vector_index(HNSWIndex())

    def search(self, text: str, vector: Vectors, k: int) -> Sequence[int]:
        self.known.vectors[text] = vector.tolist()
        # A config of its own: the store's remembers the words of its first question for ever.
        documents = self.store.similarity_search(text, k, hybrid_search_config=self.config())
        return [UUID(document.id).int for document in documents]

    def size(self) -> int:
        return database_size(self.dsn)

    def close(self) -> None:
        self.engine._run_as_sync(self.engine.close())


class ReciprocalRank(WeightedSum):
    """With the other fusion that it offers."""

    name = "peers_langchain_rrf"

    def config(self) -> HybridSearchConfig:
        config = super().config()
        config.fusion_function = reciprocal_rank_fusion
        return config
