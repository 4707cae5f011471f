"""A database as an earlier release left it is upgraded: every document and key kept and right."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from lexichord import SyncLexichord
from lexichord.db.schema import Choice, check, prepare
from lexichord.errors import AccessError, SchemaOutdatedError
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


RELEASED = [
    ("plain", "release_13.sql", ["vector"]),
    ("vectorchord", "release_18_vectorchord.sql", ["vector", "vchord", "vchord_bm25"]),
]


@pytest.fixture(params=RELEASED, ids=["13", "18 vectorchord"])
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
    with pytest.raises(SchemaOutdatedError, match="run lexichord init"):
        check(earlier)
    prepare(earlier, Choice(None, None, SPACE))
    check(earlier)
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
        outdated = [row["problem"] for row in call(connection, "find_problems")]
        assert outdated == ["documents with the words of an earlier version: 4"]
        assert value(connection, "select lexichord.analyze_documents()") == 4
        assert call(connection, "find_problems") == []
        assert value(connection, "select count(*) from lexichord_data.keyword") == 7
        assert value(connection, OLD_SEGMENTS) == 0


KEYS = "insert into lexichord_data.api_key (name, digest, datasets, writes, revoked_at) values "
BY_SQL = "select lexichord.create_api_key('by sql', sha256('lx_sql'), null, false)"


def digest(secret: str) -> str:
    return f"'\\x{sha256(secret.encode()).hexdigest()}'"


@pytest.mark.parametrize("earlier", [RELEASED[0]], indirect=True, ids=["13"])
def test_keys_do_what_they_did_for_as_long_as_they_did(earlier: str, home: Path) -> None:
    run_statements(
        earlier,
        f"{KEYS} ('reader', {digest('lx_reader')}, '{{leases}}', false, null), "
        f"('writer', {digest('lx_writer')}, null, true, null), "
        f"('gone', {digest('lx_gone')}, null, true, now())",
    )
    prepare(earlier, Choice(None, None, SPACE))
    run_statements(earlier, BY_SQL)  # as before
    with SyncLexichord(dsn=earlier, home=home) as lexichord:
        rights = {
            secret: lexichord.check_key(secret) for secret in ("lx_reader", "lx_writer", "lx_sql")
        }
        # Who wrote deleted, too.
        assert [(key.reads, key.writes, key.deletes) for key in rights.values()] == [
            *((True, False, False), (True, True, True), (True, False, False))
        ]
        assert rights["lx_reader"].datasets == ("leases",)
        assert rights["lx_writer"].requests_per_minute is None
        with pytest.raises(AccessError, match="unknown or revoked"):
            lexichord.check_key("lx_gone")
        assert [(key.name, key.valid, key.expires_at) for key in lexichord.list_keys()] == [
            *(("reader", True, None), ("writer", True, None)),
            *(("gone", False, None), ("by sql", True, None)),
        ]
        assert lexichord.check_key(lexichord.rotate_key(2).secret).deletes
