"""A database as an earlier release left it is upgraded: every document kept, its searches right."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lexichord.db.schema import Choice, prepare
from tests.conftest import SPACE, new_database
from tests.migrations.conftest import connect, run_statements
from tests.sql.corpus import call, value

RELEASES = Path(__file__).parent
DOCUMENTS = [
    ("contracts/保密协议.md", 2),
    ("de/mietvertrag.md", 2),
    ("leases/lease.md", 2),
    ("th/สัญญา.md", 1),
]
FIRST_HITS = {
    "保密义务": "甲方应当对乙方的保密信息承担保密义务。",
    "合同 期限": "合同期限为三年。",
    "deposit": "The deposit is two months' rent.",
    "Kündigungsfrist": "Die Kündigungsfrist beträgt drei Monate.",
    "ค่าเช่า": "ผู้เช่าต้องชำระค่าเช่าทุกเดือน",
}

# Those of vectorchord had no tables of their terms.
OLD_SEGMENTS = """
select (select count(*) from lexichord_data.keyword_segment) + count(*) from pg_class
where relname ~ '^keyword_part_[0-9]+$'
"""


@pytest.fixture(
    params=[
        ("plain", "release_13.sql", ["vector"]),
        ("vectorchord", "release_18_vectorchord.sql", ["vector", "vchord", "vchord_bm25"]),
    ],
    ids=["13", "18 vectorchord"],
)
def earlier(request: pytest.FixtureRequest) -> Iterator[str]:
    engine, dump, extensions = request.param
    server = request.getfixturevalue("embedded_dsn" if engine == "plain" else f"{engine}_dsn")
    with new_database(server) as dsn:
        run_statements(
            dsn,
            *(f"create extension {extension}" for extension in extensions),
            (RELEASES / dump).read_text(),
        )
        yield dsn


def test_all_is_kept_and_found_first(earlier: str) -> None:
    prepare(earlier, Choice(None, None, SPACE))
    with connect(earlier) as connection:
        rows = call(connection, "list_documents")
        assert sorted((row["uri"], row["chunks"]) for row in rows) == DOCUMENTS
        for query, content in FIRST_HITS.items():
            for weights in ([0.0, 1.0], [0.35, 0.65]):
                hits = call(
                    connection,
                    "hybrid_search",
                    query=query,
                    query_vector=f"[{len(content)},1,2,3]",
                    weights=weights,
                )
                assert hits[0]["content"] == content
        assert call(connection, "find_problems") == []
        assert value(connection, "select count(*) from lexichord_data.keyword") == 7
        assert value(connection, OLD_SEGMENTS) == 0
