"""A database of the last release, on a server of one's own: all documents are kept and found.

tests/end_to_end/test_upgrade.py does the same with the embedded server of that release.
"""

import subprocess

import pytest

from lexichord.db.embedded import PROGRAMS
from lexichord.db.schema import Choice, prepare
from tests.conftest import ROOT
from tests.end_to_end.client import uri, word
from tests.migrations.conftest import connect, run_statements
from tests.sql.corpus import call, value

DUMP = ROOT / "tests/end_to_end/pgembed.sql"
STORED = [0, *range(2, 8)]  # the documents in it
CHUNKS = "select c.id, d.id, d.uri, d.text, d.metadata, c.content, c.embedding::text "
CHUNKS += "from lexichord_data.chunk c join lexichord_data.document d on d.id = c.document_id "
CHUNKS += "order by 1"


@pytest.fixture
def earlier(empty: str, choice: Choice) -> str:
    """Where the engine's server lacks pg_textsearch, what needs it is left out, with an error."""
    run_statements(empty, "create extension vector")
    if choice.engine == "textsearch":
        run_statements(empty, "create extension pg_textsearch")
    psql = [str(PROGRAMS / "psql"), "-X", "-q", "-d", empty, "-f", str(DUMP)]
    subprocess.run(psql, check=True, capture_output=True)
    if choice.engine == "vectorchord":
        run_statements(empty, "update lexichord_data.configuration set engine = 'vectorchord'")
    return empty


def test_every_document_is_kept_and_found_first(earlier: str, choice: Choice) -> None:
    with connect(earlier) as connection:
        stored = connection.execute(CHUNKS.encode()).fetchall()
    assert {row[2] for row in stored} == {uri(number) for number in STORED}
    prepare(earlier, Choice())
    with connect(earlier) as connection:
        assert value(connection, "select engine from lexichord.configuration()") == choice.engine
        assert connection.execute(CHUNKS.encode()).fetchall() == stored
        for number in STORED:
            hits = call(connection, "hybrid_search", query=word(number))
            assert hits[0]["uri"] == uri(number)
        assert {row["amount"] for row in call(connection, "count_faults")} == {0}
