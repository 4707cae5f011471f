"""Searches by one SQL statement in Postgres: pgvector's HNSW, words by three ways, fused by RRF.

HNSW instead of comparing every vector, depth 100 instead of the examples' 20, rows by COPY.
"""

import re
from collections.abc import Sequence
from typing import ClassVar

import psycopg
from pgvector.psycopg import register_vector
from psycopg_pool import ConnectionPool

from lexichord.providers import Vectors
from peers import DEPTH, RRF, Place, Rows, database_size, new_database, seconds

TABLE = "create table chunk (id bigint primary key, content text, embedding vector(384))"
VECTOR_INDEX = "create index on chunk using hnsw (embedding vector_cosine_ops)"
SEARCH = """
with by_meaning as (
    select id, rank() over (order by embedding <=> %(vector)s) as place
    from chunk order by embedding <=> %(vector)s limit {depth}
), by_words as (
    {by_words}
), fused as (
    select id, coalesce(1.0 / ({rrf} + m.place), 0) + coalesce(1.0 / ({rrf} + w.place), 0) as score
    from by_meaning m full join by_words w using (id)
    order by score desc, id limit %(k)s
)
select id, content from fused join chunk using (id) order by score desc, id"""


class OneStatement:
    """A table with a vector index and an index of words, on the first server with `extension`."""

    extension: ClassVar[str | None] = None
    word_index: ClassVar[str]
    by_words: ClassVar[str]  # gives id and place of the DEPTH best

    def __init__(self, place: Place) -> None:
        name = f"peers_{self.extension or 'example'}"
        self.dsn = new_database(_server_with(self.extension, place), name)
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            connection.execute("create extension vector")
            if self.extension:
                connection.execute(f"create extension {self.extension}")
            connection.execute(TABLE)
        self.pool = ConnectionPool(
            self.dsn, kwargs={"autocommit": True}, configure=_prepare, max_size=4, open=True
        )
        self.statement = SEARCH.format(depth=DEPTH, rrf=RRF, by_words=self.by_words)

    def fill(self, rows: Rows) -> float:
        return seconds(lambda: self._fill(rows))

    def _fill(self, rows: Rows) -> None:
        with self.pool.connection() as connection:
            with connection.cursor().copy("copy chunk from stdin (format binary)") as copy:
                copy.set_types(["int8", "text", "vector"])
                for row in zip(rows.ids, rows.texts, rows.vectors, strict=True):
                    copy.write_row(row)
            for statement in (self.word_index, VECTOR_INDEX, "analyze chunk"):
                connection.execute(statement)

    def search(self, text: str, vector: Vectors, k: int) -> Sequence[int]:
        given = {"text": self.question(text), "vector": vector, "k": k}
        with self.pool.connection() as connection:
            rows = connection.execute(self.statement, given).fetchall()
        return [row[0] for row in rows]

    def question(self, text: str) -> str:
        """Give what is asked as the words' index takes it."""
        return text

    def size(self) -> int:
        return database_size(self.dsn)

    def close(self) -> None:
        self.pool.close()


class Example(OneStatement):
    """The method of pgvector-python's hybrid example: tsvector's ranks, all words needed."""

    word_index = "create index on chunk using gin (to_tsvector('english', content))"
    by_words = f"""
    select id, rank() over (order by ts_rank_cd(to_tsvector('english', content), q) desc) as place
    from chunk, plainto_tsquery('english', %(text)s) as q
    where to_tsvector('english', content) @@ q
    order by ts_rank_cd(to_tsvector('english', content), q) desc limit {DEPTH}"""


class PgFts(OneStatement):
    """BM25 of the extension pg_fts, whose fts_search() reads its index alone."""

    extension = "pg_fts"
    word_index = "create index chunk_words on chunk using fts (to_ftsdoc('english', content))"
    by_words = f"""
    select id, rank() over (order by w.score desc) as place
    from fts_search('chunk_words', to_ftsquery('english', %(text)s), {DEPTH}) as w
    join chunk on chunk.ctid = w.ctid"""

    def question(self, text: str) -> str:
        return " | ".join(re.findall(r"\w+", text))


class ParadeDb(OneStatement):
    """BM25 of ParadeDB's pg_search, any word of the question."""

    extension = "pg_search"
    word_index = (
        "create index on chunk using bm25 (id, (content::pdb.simple('stemmer=english')))"
        " with (key_field = 'id')"
    )
    by_words = f"""
    select id, rank() over (order by score desc) as place
    from (
        select id, pdb.score(id) as score from chunk
        where content ||| %(text)s order by score desc limit {DEPTH}
    ) as w"""


def _server_with(extension: str | None, place: Place) -> str:
    if extension is None:
        return place.server
    known = "select 1 from pg_available_extensions where name = %s"
    for server in place.engines.values():
        with psycopg.connect(server, autocommit=True) as connection:
            if connection.execute(known, [extension]).fetchone():
                return server
    raise LookupError(f"no server named has the extension {extension}")


def _prepare(connection: psycopg.Connection) -> None:
    register_vector(connection)
    connection.execute(f"set hnsw.ef_search = {DEPTH}")
