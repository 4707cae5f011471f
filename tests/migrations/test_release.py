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


@pytest.fixture(params=["release_13.sql"])
def earlier(request: pytest.FixtureRequest, embedded_dsn: str) -> Iterator[str]:
    dump = (RELEASES / request.param).read_text()
    with new_database(embedded_dsn) as dsn:
        run_statements(dsn, "create extension vector", dump)
        yield dsn


def test_all_is_kept_and_found_first(earlier: str) -> None:
    prepare(earlier, Choice("plain", None, SPACE))
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
