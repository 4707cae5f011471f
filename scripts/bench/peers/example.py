"""The method of pgvector-python's hybrid example: tsvector ranks and vector ranks, RRF in SQL.

Beside it: HNSW instead of comparing every vector, depth 100 instead of 20, rows by COPY.
"""

from collections.abc import Sequence

import psycopg
from pgvector.psycopg import register_vector
from psycopg_pool import ConnectionPool

from lexichord.providers import Vectors
from peers import DEPTH, RRF, Place, Rows, database_size, new_database, seconds

TABLE = """
create extension vector;
create table chunk (id bigint primary key, content text, embedding vector(384))"""
INDEXES = """
create index on chunk using gin (to_tsvector('english', content));
create index on chunk using hnsw (embedding vector_cosine_ops);
analyze chunk"""
SEARCH = f"""
with by_meaning as (
    select id, rank() over (order by embedding <=> %(vector)s) as place
    from chunk order by embedding <=> %(vector)s limit {DEPTH}
), by_words as (
    select id, rank() over (order by ts_rank_cd(to_tsvector('english', content), q) desc) as place
    from chunk, plainto_tsquery('english', %(text)s) as q
    where to_tsvector('english', content) @@ q
    order by ts_rank_cd(to_tsvector('english', content), q) desc limit {DEPTH}
), fused as (
    select id, coalesce(1.0 / ({RRF} + m.place), 0) + coalesce(1.0 / ({RRF} + w.place), 0) as score
    from by_meaning m full join by_words w using (id)
    order by score desc, id limit %(k)s
)
select id, content from fused join chunk using (id) order by score desc, id"""


class Example:
    def __init__(self, place: Place) -> None:
        self.dsn = new_database(place.server, "peers_example")
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            connection.execute(TABLE)
        self.pool = ConnectionPool(
            self.dsn, kwargs={"autocommit": True}, configure=_prepare, max_size=4, open=True
        )

    def fill(self, rows: Rows) -> float:
        return seconds(lambda: self._fill(rows))

    def _fill(self, rows: Rows) -> None:
        with self.pool.connection() as connection:
            with connection.cursor().copy("copy chunk from stdin (format binary)") as copy:
                copy.set_types(["int8", "text", "vector"])
                for row in zip(rows.ids, rows.texts, rows.vectors, strict=True):
                    copy.write_row(row)
            connection.execute(INDEXES)

    def search(self, text: str, vector: Vectors, k: int) -> Sequence[int]:
        with self.pool.connection() as connection:
            rows = connection.execute(SEARCH, {"text": text, "vector": vector, "k": k}).fetchall()
        return [row[0] for row in rows]

    def size(self) -> int:
        return database_size(self.dsn)

    def close(self) -> None:
        self.pool.close()


def _prepare(connection: psycopg.Connection) -> None:
    register_vector(connection)
    connection.execute(f"set hnsw.ef_search = {DEPTH}")
