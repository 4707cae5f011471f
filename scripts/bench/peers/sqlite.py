"""SQLite: BM25 by FTS5, every vector compared by sqlite-vec, fused by RRF in one statement."""

import re
import shutil
from collections.abc import Sequence
from threading import local

import apsw
import sqlite_vec

from lexichord.providers import Vectors
from peers import DEPTH, RRF, Place, Rows, folder_size, seconds

TABLES = """
create table chunk (id integer primary key, text text);
create virtual table word using fts5 (text, content = 'chunk', content_rowid = 'id');
create virtual table near using vec0 (vector float[384] distance_metric = cosine);
"""
SEARCH = f"""
with near_best as (
    select rowid as id, row_number() over (order by distance) as place
    from near where vector match ?1 and k = {DEPTH}
), word_best as (
    select rowid as id, row_number() over (order by rank) as place
    from (select rowid, rank from word where word match ?2 order by rank limit {DEPTH})
), fused as (
    select id, sum(1.0 / ({RRF} + place)) as score
    from (select * from near_best union all select * from word_best)
    group by id order by score desc limit ?3
)
select c.id, c.text from fused f join chunk c using (id) order by f.score desc"""


class Sqlite:
    def __init__(self, place: Place) -> None:
        self.folder = place.folder / "sqlite"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.own = local()

    def fill(self, rows: Rows) -> float:
        return seconds(lambda: self._fill(rows))

    def _fill(self, rows: Rows) -> None:
        database = self._open()
        database.execute("pragma journal_mode = wal")
        database.execute(TABLES)
        with database:
            database.executemany(
                "insert into chunk values (?, ?)", zip(rows.ids, rows.texts, strict=True)
            )
            database.execute("insert into word (word) values ('rebuild')")
            blobs = (vector.tobytes() for vector in rows.vectors)
            database.executemany(
                "insert into near (rowid, vector) values (?, ?)", zip(rows.ids, blobs, strict=True)
            )

    def search(self, text: str, vector: Vectors, k: int) -> Sequence[int]:
        if not hasattr(self.own, "database"):
            self.own.database = self._open()  # a connection of the thread's own
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", text))
        given = (vector.tobytes(), words, k)
        return [row[0] for row in self.own.database.execute(SEARCH, given)]

    def size(self) -> int:
        return folder_size(self.folder)

    def close(self) -> None:
        pass

    def _open(self) -> apsw.Connection:
        database = apsw.Connection(str(self.folder / "chunks.sqlite"))
        database.enable_load_extension(True)
        database.load_extension(sqlite_vec.loadable_path())
        return database
