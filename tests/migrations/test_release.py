"""A database of the first release is upgraded: every document and key is kept and right.

Of release_1_0.sql schema lexichord is left out: an upgrade makes it anew.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lexichord import SyncLexichord
from lexichord.db.backup import backup
from lexichord.db.dumps import parts_of, schema_of
from lexichord.db.schema import Choice, check, prepare
from lexichord.errors import ConfigError, SchemaOutdatedError
from tests.conftest import ROOT, new_database
from tests.migrations.conftest import ANOTHER_VERSION, connect, run_statements
from tests.sql.corpus import call, value

DUMP = Path(__file__).with_name("release_1_0.sql")
CHUNKS = {
    "contracts/保密协议.md": ["甲方应当对乙方的保密信息承担保密义务。", "合同期限为三年。"],
    "de/mietvertrag.md": ["Die Kündigungsfrist beträgt drei Monate."],
    "leases/lease.md": ["The deposit is two months' rent.", "The landlord keeps one key."],
    "th/สัญญา.md": ["ผู้เช่าต้องชำระค่าเช่าทุกเดือน"],
}
FIRST_HITS = {
    "保密义务": "甲方应当对乙方的保密信息承担保密义务。",
    "合同 期限": "合同期限为三年。",
    "deposit": "The deposit is two months' rent.",
    "Kündigungsfrist": "Die Kündigungsfrist beträgt drei Monate.",
    "ค่าเช่า": "ผู้เช่าต้องชำระค่าเช่าทุกเดือน",
}
LATER = "alter table lexichord_data.document add column later integer not null default 7;\n"
STATE = (
    "select (select jsonb_agg(m) from lexichord_data.migration m), "
    "array(select d::text from lexichord_data.document d)"
)
SHARDS = (
    "the database has shards, which this version of lexichord does not read: by lexichord 1.0.0 "
    "run lexichord copy --to DSN, which copies the documents of all shards into one database, and "
    "use that."
)
PREPARE = (
    "import sys; from lexichord.db.schema import Choice, prepare; prepare(sys.argv[1], Choice())"
)


@pytest.fixture
def released(embedded_dsn: str) -> Iterator[str]:
    with new_database(embedded_dsn) as dsn:
        run_statements(dsn, "create extension vector", DUMP.read_text(), ANOTHER_VERSION)
        yield dsn


def upgrade(dsn: str, folder: Path) -> None:
    """Prepare a database by a later version, which has one more migration."""
    for part in ("src", "sql", "migrations"):
        shutil.copytree(ROOT / part, folder / part)
    (folder / "migrations/9998_later.sql").write_text(LATER)
    environment = {**os.environ, "PYTHONPATH": str(folder / "src")}
    subprocess.run([sys.executable, "-c", PREPARE, dsn], env=environment, check=True)


def test_all_is_kept_and_found_first(released: str, tmp_path: Path) -> None:
    with pytest.raises(SchemaOutdatedError, match="run lexichord init"):
        check(released)
    upgrade(released, tmp_path)
    with pytest.raises(SchemaOutdatedError, match="has migration 9998"):
        check(released)
    with connect(released) as connection:
        assert value(connection, "select sum(later) from lexichord_data.document") == 28
        rows = call(connection, "list_documents")
        assert {row["uri"]: row["chunks"] for row in rows} == {
            uri: len(contents) for uri, contents in CHUNKS.items()
        }
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
        # As `lexichord reindex` does: the analyzer knows more words by now.
        value(connection, "select lexichord.analyze_documents(100)")
        assert call(connection, "find_problems") == []
        assert value(connection, "select count(*) from lexichord_data.keyword") == 6


def test_chunks_of_postings_wait_for_the_index_of_today(released: str, tmp_path: Path) -> None:
    with connect(released) as connection:
        connection.execute("delete from lexichord_data.keyword_tail")
        connection.execute("insert into lexichord_data.keyword_segment values (1, 6, false)")
        connection.execute(
            "insert into lexichord_data.posting (segment, term_id, impact, amount, chunk_ids) "
            "select 1, t.id, 1, 1, '{1}' from lexichord_data.term t"
        )
    upgrade(released, tmp_path)
    with connect(released) as connection:
        assert value(connection, "select to_regclass('lexichord_data.posting') is null")
        assert value(connection, "select count(*) from lexichord_data.keyword_tail") == 6
        assert call(connection, "keyword_candidates", query="deposit")


def test_a_table_of_uris_is_read_anew_and_compared_by_them(released: str, tmp_path: Path) -> None:
    with connect(released) as connection:
        connection.execute("create table price (day date primary key, slug text, body text)")
        connection.execute("insert into price values ('infinity', 'a', 'b')")
        connection.execute(
            "insert into lexichord_data.indexed_table (relation, relation_oid, name, dataset, key, "
            "content, uri, numbers) values ('price', 'price'::regclass, 'public.price', 'price', "
            """'{day}', '{body}', '{slug}', '{"day": 1, "slug": 2, "body": 3}')"""
        )
        connection.execute(
            "select lexichord_data.make_queue_function(t) from lexichord_data.indexed_table t"
        )
        connection.execute(
            "create trigger queue after update on price referencing old table as old_rows "
            "new table as new_rows for each statement "
            "execute function lexichord_data.queue_changes_1()"
        )
    upgrade(released, tmp_path)
    with connect(released) as connection:
        assert value(connection, "delete from lexichord_data.table_change returning keys") is None
        connection.execute("update price set slug = 'c'")
        assert value(connection, "select keys from lexichord_data.table_change") == ["infinity"]


def test_keys_do_what_they_did(released: str, tmp_path: Path, home: Path) -> None:
    upgrade(released, tmp_path)
    run_statements(released, "delete from lexichord_data.migration where number = 9998")
    with SyncLexichord(dsn=released, home=home) as lexichord:
        assert [(key.name, key.valid, key.datasets) for key in lexichord.list_keys()] == [
            ("reader", True, ("leases",))
        ]


def test_one_with_shards_stays_as_it_is(released: str, tmp_path: Path) -> None:
    """What is in the others would be lost."""
    run_statements(released, "insert into lexichord_data.shard values (1, 'dbname=second')")
    file = tmp_path / "lexichord.backup"

    def state() -> tuple[list[bytes], object]:
        with connect(released) as connection:
            return [*parts_of(schema_of(released))], connection.execute(STATE).fetchall()

    before = state()
    with pytest.raises(ConfigError) as raised:
        prepare(released, Choice())
    assert str(raised.value) == SHARDS
    with pytest.raises(ConfigError, match="the database has shards: back it up by"):
        backup(released, file)
    assert not file.exists()
    assert state() == before
