"""Documents read again, moved, their datasets renamed: with all that they had, embedded once."""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import psycopg
import pytest

from lexichord import SyncLexichord
from lexichord.errors import ConfigError, NotFoundError
from lexichord.types import ShownDocument
from tests.conftest import SPACE
from tests.end_to_end.hashing import Hashing
from tests.end_to_end.processes import run_cli
from tests.unit.test_containers import packed

CLAUSES = [
    f"## {n}. Of the {name}\n\n" + f"The {name} is fed. " * 40
    for n, name in enumerate(["yak", "zebra", "walrus"], 1)
]
TEXT = "---\nyear: 2026\n---\n# Keeping animals\n\n" + "\n\n".join(CLAUSES)


@pytest.fixture
def heard() -> list[str]:
    return []


@pytest.fixture
def lexichord(dsn: str, tmp_path: Path, heard: list[str]) -> Iterator[SyncLexichord]:
    with SyncLexichord(dsn=dsn, home=tmp_path / "home") as lexichord:
        lexichord.core.embedder = Hashing(str(SPACE), heard.extend)
        yield lexichord


@pytest.fixture
def file(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "zoo"
    folder.mkdir()
    file = folder / "animals.md"
    file.write_text(TEXT)
    return file


def change(lexichord: SyncLexichord, statement: str) -> None:
    """Have something stored as an earlier reader might have left it."""
    with psycopg.connect(lexichord.core.database.dsn, autocommit=True) as connection:
        connection.execute(statement.encode())


def shown(lexichord: SyncLexichord) -> ShownDocument:
    (row,) = lexichord.list()
    return lexichord.show(row.document_id)


def test_only_what_comes_out_otherwise_is_embedded(
    lexichord: SyncLexichord, file: Path, heard: list[str]
) -> None:
    lexichord.ingest([file], keep_originals=True, without=["keyphrases"])
    before = shown(lexichord)
    assert len(before.chunks) == len(heard) > 2
    heard.clear()
    change(lexichord, "update lexichord_data.chunk set content = 'misread' where ordinal = 1")
    file.unlink()
    report = lexichord.reread("animals.md")
    assert (report.replaced, report.embedded, report.failed) == (1, 1, {})
    assert [before.chunks[1].content in text for text in heard] == [True]
    after = shown(lexichord)
    assert (after.document.document_id, after.text) == (before.document.document_id, before.text)
    assert [(chunk.content, chunk.context, chunk.page) for chunk in after.chunks] == [
        (chunk.content, chunk.context, chunk.page) for chunk in before.chunks
    ]
    assert lexichord.original("animals.md").content.decode() == TEXT
    assert {fault.amount for fault in lexichord.doctor().faults} == {0}
    assert lexichord.reread("animals.md").embedded == 0


@pytest.mark.parametrize("context", ["structural", "none"])
def test_the_next_ingest_finds_nothing_to_do(
    lexichord: SyncLexichord, file: Path, context: str
) -> None:
    file.with_name("animals.md.meta.json").write_text('{"title": "Zoo", "shelf": 3}')
    options = {"context": context, "without": ["keyphrases"], "keep_originals": True}
    lexichord.ingest([file], **options)  # type: ignore[arg-type]
    change(lexichord, "update lexichord_data.document set recipe = replace(recipe, '/2', '/1')")
    assert lexichord.reread("animals.md").replaced == 1
    again = lexichord.ingest([file], **options)  # type: ignore[arg-type]
    assert (again.skipped, again.replaced) == (1, 0)


def test_metadata_and_a_given_title_stay(lexichord: SyncLexichord, file: Path) -> None:
    lexichord.ingest([file], metadata={"title": "Zoo", "shelf": 3}, keep_originals=True)
    told = {"flags": ["misread"], "language": "xx"}  # which a reader makes anew
    lexichord.set_metadata("animals.md", {"year": 2030, "seen": True, **told})
    before = shown(lexichord).document
    lexichord.reread("animals.md")
    after = shown(lexichord).document
    assert (after.title, after.uri, after.media_type) == ("Zoo", before.uri, before.media_type)
    assert after.metadata == {"year": 2030, "seen": True, "shelf": 3}
    lexichord.ingest([file], keep_originals=True)  # a title that the reader found is found again
    change(lexichord, "update lexichord_data.document set title = 'misread'")
    lexichord.reread("animals.md")
    assert shown(lexichord).document.title == "Keeping animals"
    lexichord.ingest(documents=[{"uri": "note", "text": "A zebra."}])
    with pytest.raises(NotFoundError, match=r"was sent.*not kept; ingest its file again"):
        lexichord.reread("note")


def test_a_file_or_archive_at_its_place_is_read_again(
    lexichord: SyncLexichord, file: Path, tmp_path: Path
) -> None:
    archive = tmp_path.resolve() / "all.zip"
    archive.write_bytes(packed({"in/animals.txt": TEXT}))
    lexichord.ingest([file, archive])
    for name in (str(file), f"{archive}/in/animals.txt"):
        assert lexichord.reread(name).replaced == 1
    archive.unlink()
    file.write_text("other")
    for name, reason in ((str(file), "as it was read"), (f"{archive}/in/animals.txt", "no such")):
        with pytest.raises(NotFoundError, match=f"(?i){reason}.*ingest its file again"):
            lexichord.reread(name)


def test_what_moved_is_found_there_by_its_vectors(
    lexichord: SyncLexichord, heard: list[str]
) -> None:
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


def test_metadata_that_are_set_meanwhile_stay(lexichord: SyncLexichord, file: Path) -> None:
    lexichord.ingest([file])
    (row,) = lexichord.list()
    hide = (
        'select lexichord.set_metadata(id, \'{"principals": ["hr"]}\') from lexichord_data.document'
    )
    report = lexichord.reread(row.document_id, on_run=lambda run: change(lexichord, hide))
    assert report.replaced == 1
    assert shown(lexichord).document.metadata["principals"] == ["hr"]


@pytest.mark.parametrize(
    ("statement", "left"),
    [
        ("select lexichord.delete_documents(array_agg(id)) from lexichord_data.document", []),
        (
            "select lexichord.move_documents(array_agg(id), 'elsewhere') "
            "from lexichord_data.document",
            ["elsewhere"],
        ),
    ],
)
def test_what_is_deleted_or_moved_meanwhile_stays_so(
    lexichord: SyncLexichord, file: Path, statement: str, left: list[str]
) -> None:
    lexichord.ingest([file])
    (row,) = lexichord.list()
    report = lexichord.reread(row.document_id, on_run=lambda run: change(lexichord, statement))
    (reason,) = report.failed.values()
    assert reason == "it was deleted or moved while it was read again"
    assert [each.dataset for each in lexichord.list()] == left
    assert {fault.amount for fault in lexichord.doctor().faults} == {0}
