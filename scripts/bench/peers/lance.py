"""LanceDB: its own BM25 and vector index in files, fused by RRF, its default."""

import shutil
from collections.abc import Sequence

import lancedb
import pyarrow as pa
from lancedb.index import HnswSq

from lexichord.providers import Vectors
from peers import DEPTH, Place, Rows, folder_size, seconds

SMALL = 10_000  # rows that it compares one by one faster than an index is built


class Lance:
    def __init__(self, place: Place) -> None:
        self.folder = place.folder / "lance"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.database = lancedb.connect(self.folder)

    def fill(self, rows: Rows) -> float:
        return seconds(lambda: self._fill(rows))

    def _fill(self, rows: Rows) -> None:
        vectors = pa.FixedSizeListArray.from_arrays(pa.array(rows.vectors.ravel()), 384)
        columns = {"id": pa.array(rows.ids), "text": pa.array(rows.texts), "vector": vectors}
        self.table = self.database.create_table("chunk", pa.table(columns))
        self.table.create_fts_index("text")
        if len(rows.ids) > SMALL:
            self.table.create_index("vector", config=HnswSq(distance_type="cosine"))

    def search(self, text: str, vector: Vectors, k: int) -> Sequence[int]:
        query = self.table.search(query_type="hybrid").vector(vector).text(text)
        # Its limit is also the depth of both sides.
        table = query.distance_type("cosine").select(["id", "text"]).limit(DEPTH).to_arrow()
        best: list[int] = table["id"][:k].to_pylist()
        return best

    def size(self) -> int:
        return folder_size(self.folder)

    def close(self) -> None:
        pass
