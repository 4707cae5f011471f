"""0025: keys that were made before it do what they did, for as long as they did."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from lexichord import SyncLexichord
from lexichord.db.schema import Choice, prepare
from lexichord.errors import AccessError
from tests.conftest import SPACE, new_database
from tests.migrations.conftest import connect, run_statements

RELEASE = Path(__file__).with_name("release_13.sql")
KEYS = "insert into lexichord_data.api_key (name, digest, datasets, writes, revoked_at) values "


def digest(secret: str) -> str:
    return f"'\\x{sha256(secret.encode()).hexdigest()}'"


@pytest.fixture
def earlier(embedded_dsn: str) -> Iterator[str]:
    with new_database(embedded_dsn) as dsn:
        run_statements(
            dsn,
            "create extension vector",
            RELEASE.read_text(),
            f"{KEYS} ('reader', {digest('lx_reader')}, '{{leases}}', false, null), "
            f"('writer', {digest('lx_writer')}, null, true, null), "
            f"('gone', {digest('lx_gone')}, null, true, now())",
        )
        yield dsn


def test_keys_of_before_work_as_they_did(earlier: str, home: Path) -> None:
    prepare(earlier, Choice(None, None, SPACE))
    with SyncLexichord(dsn=earlier, home=home) as lexichord:
        reader, writer = lexichord.check_key("lx_reader"), lexichord.check_key("lx_writer")
        assert (reader.reads, reader.writes, reader.deletes) == (True, False, False)
        assert reader.datasets == ("leases",)
        # Who wrote deleted, too.
        assert (writer.reads, writer.writes, writer.deletes) == (True, True, True)
        assert writer.requests_per_minute is None
        with pytest.raises(AccessError, match="unknown or revoked"):
            lexichord.check_key("lx_gone")
        assert [(key.name, key.valid, key.expires_at) for key in lexichord.list_keys()] == [
            ("reader", True, None),
            ("writer", True, None),
            ("gone", False, None),
        ]
        renewed = lexichord.rotate_key(2)
        assert lexichord.check_key(renewed.secret).deletes


def test_a_key_made_by_sql_as_before_reads(earlier: str, home: Path) -> None:
    prepare(earlier, Choice(None, None, SPACE))
    with connect(earlier) as connection:
        connection.execute(
            "select lexichord.create_api_key('by sql', sha256('lx_sql'), null, false)"
        )
    with SyncLexichord(dsn=earlier, home=home) as lexichord:
        rights = lexichord.check_key("lx_sql")
        assert (rights.reads, rights.writes, rights.deletes) == (True, False, False)
