"""Documents moved, datasets renamed: in Python and on the command line, embedded once."""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from lexichord import SyncLexichord
from lexichord.errors import ConfigError, NotFoundError
from tests.conftest import SPACE
from tests.end_to_end.hashing import Hashing
from tests.end_to_end.processes import run_cli


@pytest.fixture
def lexichord(dsn: str, tmp_path: Path) -> Iterator[SyncLexichord]:
    with SyncLexichord(dsn=dsn, home=tmp_path / "home") as lexichord:
        lexichord.core.embedder = Hashing(str(SPACE))
        yield lexichord


def test_what_moved_is_found_there_by_its_vectors(lexichord: SyncLexichord) -> None:
    heard = list[str]()
    lexichord.core.embedder = Hashing(str(SPACE), heard.extend)
    for name in ("zebra", "gnu"):
        lexichord.ingest(documents=[{"uri": f"{name}.md", "text": f"The {name} is fed."}])
    heard.clear()
    (gnu, _) = lexichord.list()
    assert lexichord.move(["gnu.md"], "barn") == 1
    lexichord.rename_dataset("barn", "byre")
    (found,) = lexichord.search("the gnu is fed", mode="dense", datasets=["byre"]).hits
    assert (found.document_id, found.dataset) == (gnu.document_id, "byre")
    assert lexichord.move(["gnu.md"], "byre") == 0
    assert [row.uri for row in lexichord.list(datasets=["default"])] == ["zebra.md"]
    assert heard == []
    assert {fault.amount for fault in lexichord.doctor().faults} == {0}


def test_what_cannot_be_is_said_in_a_line(lexichord: SyncLexichord) -> None:
    for dataset in ("barn", "byre"):
        lexichord.ingest(documents=[{"uri": "gnu.md", "text": "The gnu."}], dataset=dataset)
    with pytest.raises(ConfigError, match=r"gnu\.md is in byre already: delete one"):
        lexichord.move(["gnu.md"], "byre", ["barn"])
    with pytest.raises(ConfigError, match="may mean 2 documents"):
        lexichord.move(["gnu.md"], "new")
    with pytest.raises(NotFoundError):
        lexichord.move(["yak.md"], "new")
    with pytest.raises(ConfigError, match="there is a dataset byre already: choose another"):
        lexichord.rename_dataset("barn", "byre")
    with pytest.raises(NotFoundError, match=r"dataset 'new': take one of 'barn', 'byre'$"):
        lexichord.rename_dataset("new", "other")


def test_the_command_line_renames_moves_and_reads_again(
    lexichord: SyncLexichord, dsn: str, tmp_path: Path
) -> None:
    run = partial(run_cli, dsn, tmp_path / "home")
    for name in ("gnu", "yak"):
        (tmp_path / f"{name}.txt").write_text(f"The {name}.")
    lexichord.ingest([tmp_path / "gnu.txt", tmp_path / "yak.txt"], dataset="barn")
    renamed = run("datasets", "rename", "barn", "byre")
    assert (renamed.stdout, renamed.exit_code) == ("barn is byre now\n", 0)
    moved = run("datasets", "move", "gnu.txt", "yak.txt", "--to", "field", "--json")
    assert json.loads(moved.stdout) == {"moved": 2}
    assert {row.dataset: row.documents for row in lexichord.datasets()} == {"byre": 0, "field": 2}
    assert json.loads(run("reread", "gnu.txt", "--json").stdout)["replaced"] == 1
    (tmp_path / "gnu.txt").unlink()
    refused = run("reread", "gnu.txt")
    assert (refused.exit_code, refused.stderr.count("\n")) == (2, 1)
    assert "ingest its file again" in refused.stderr
