"""A document read again from its bytes: as it was made, with what came with it, embedded once."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from lexichord import SyncLexichord
from lexichord.errors import NotFoundError
from lexichord.types import ShownDocument
from tests.conftest import SPACE
from tests.end_to_end.hashing import Hashing
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


def test_a_title_that_the_reader_found_is_found_again(lexichord: SyncLexichord, file: Path) -> None:
    lexichord.ingest([file], keep_originals=True)
    change(lexichord, "update lexichord_data.document set title = 'misread'")
    lexichord.reread("animals.md")
    assert shown(lexichord).document.title == "Keeping animals"


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


def test_what_was_given_without_a_file_says_so(lexichord: SyncLexichord) -> None:
    lexichord.ingest(documents=[{"uri": "note", "text": "A zebra."}])
    with pytest.raises(NotFoundError, match=r"was sent.*not kept; ingest its file again"):
        lexichord.reread("note")
    assert lexichord.count() == 1
