"""DuckDB: BM25 by its extension fts and HNSW by vss, fused by RRF in one statement."""

import shutil
from collections.abc import Sequence
from threading import Lock

import duckdb
import pyarrow as pa
from duckdb_extensions import import_extension

from lexichord.providers import Vectors
from peers import DEPTH, RRF, Place, Rows, folder_size, seconds

SEARCH = f"""
with near as (
    select id, row_number() over () as place
    from (select id from chunk order by array_cosine_distance(vector, $vector::float[384])
          limit {DEPTH})
), worded as (
    select id, row_number() over (order by score desc) as place
    from (select id, fts_main_chunk.match_bm25(id, $text) as score from chunk)
    where score is not null order by score desc limit {DEPTH}
), fused as (
    select id, sum(1 / ({RRF} + place)) as score
    from (from near union all from worded) group by id order by score desc limit $k
)
select c.id, c.text from fused f join chunk c using (id) order by f.score desc"""


class Duck:
    def __init__(self, place: Place) -> None:
        self.folder = place.folder / "duck"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        for extension in ("fts", "vss"):
            import_extension(extension)
        self.database = duckdb.connect(str(self.folder / "chunks.duckdb"))
        for extension in ("fts", "vss"):
            self.database.load_extension(extension)
        self.database.execute("set hnsw_enable_experimental_persistence = true")
        self.asking = Lock()

    def fill(self, rows: Rows) -> float:
        return seconds(lambda: self._fill(rows))

    def _fill(self, rows: Rows) -> None:
        vectors = pa.FixedSizeListArray.from_arrays(pa.array(rows.vectors.ravel()), 384)
        columns = {"id": pa.array(rows.ids), "text": pa.array(rows.texts), "vector": vectors}
        self.database.register("given", pa.table(columns))
        self.database.execute("create table chunk as select id, text, vector from given")
        self.database.execute("pragma create_fts_index('chunk', 'id', 'text')")
        self.database.execute(
            "create index near on chunk using hnsw (vector) with (metric = 'cosine')"
        )
        self.database.execute(f"set hnsw_ef_search = {DEPTH}")
        self.database.execute("checkpoint")

    def search(self, text: str, vector: Vectors, k: int) -> Sequence[int]:
        given = {"vector": vector.tolist(), "text": text, "k": k}
        with self.asking:  # a search has all cores; with a cursor for each thread it crashed
            return [row[0] for row in self.database.execute(SEARCH, given).fetchall()]

    def size(self) -> int:
        return folder_size(self.folder)

    def close(self) -> None:
        self.database.close()
