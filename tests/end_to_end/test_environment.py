"""What libpq reads from the environment, which is set for other programs."""

from pathlib import Path
from time import monotonic

import pytest

from lexichord import SyncLexichord
from lexichord.db.backup import backup
from lexichord.db.postmaster import STALE_LOCK_SECONDS
from lexichord.errors import ConfigError


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII", "EUC_JP"])
def test_texts_are_utf_8_whatever_the_environment_says(
    dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    monkeypatch.setenv("PGCLIENTENCODING", encoding)
    text = "# Preis\n\nDie Miete beträgt “fünfhundert” €, 日本 ausgenommen.\n"
    (tmp_path / "miete.md").write_text(text, encoding="utf-8")
    with SyncLexichord(dsn=dsn) as lexichord:
        assert not lexichord.ingest(tmp_path / "miete.md").failed
        (hit, *_) = lexichord.search("beträgt “fünfhundert” €", mode="keyword").hits
        assert "“fünfhundert” €, 日本" in hit.content
    assert backup(dsn, tmp_path / "all.backup").documents == 1


@pytest.mark.parametrize(
    ("variable", "value"),
    [("PGCONNECT_TIMEOUT", "soon"), ("PGSSLMODE", "bogus"), ("PGTZ", "Mars/Phobos")],
)
def test_a_variable_that_cannot_be_read_is_said_at_once(
    prepared_home: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    wrong = f"^a PG… variable of the environment is wrong: .*{value}"
    started = monotonic()
    with monkeypatch.context() as changed:
        changed.setenv(variable, value)
        with pytest.raises(ConfigError, match=wrong):
            SyncLexichord(home=prepared_home).open()
    assert monotonic() - started < STALE_LOCK_SECONDS / 2
