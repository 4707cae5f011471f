"""The last state before the first release, on each engine, and what an engine's server loads."""

from collections.abc import Callable
from functools import partial

from lexichord import SyncLexichord
from lexichord.db.schema import Choice, prepare
from tests.conftest import SPACE
from tests.end_to_end.client import documents
from tests.migrations.conftest import ANOTHER_VERSION, UNRELEASED, run_statements
from tests.sql.corpus import OUTDATED

PRELOADS = {"plain": "''", "textsearch": "pg_textsearch", "vectorchord": "vchord,vchord_bm25"}
CHUNKS = "select c.id, d.id, d.uri, d.text, d.metadata, c.content, c.embedding::text "
CHUNKS += "from lexichord_data.chunk c join lexichord_data.document d on d.id = c.document_id "
CHUNKS += "order by 1"


def fill_earlier(engine: str) -> Callable[[str], None]:
    """Return what fills a database: its ledger, functions and words are those of before."""
    return partial(_fill, engine)


def _fill(engine: str, dsn: str) -> None:
    prepare(dsn, Choice(engine, "english", SPACE))
    with SyncLexichord(dsn=dsn) as lexichord:
        lexichord.ingest(documents=documents(0, 8))
    run_statements(dsn, OUTDATED, *UNRELEASED, ANOTHER_VERSION)
