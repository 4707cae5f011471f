"""Files in: what is stored, skipped, replaced, refused, deleted."""

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import psycopg
import pytest

from lexichord import SyncLexichord
from lexichord.errors import ConfigError
from lexichord.ingest.flow import IngestLimits
from lexichord.types import ContextKind
from lexichord.types.state import FileProgress
from tests.conftest import SAMPLES
from tests.end_to_end.hashing import Hashing
from tests.sql.corpus import value

FOLDERS = [SAMPLES / "agreements", SAMPLES / "policies"]
NOT_UTF_8 = os.fsdecode(b"caf\xe9.txt")


@pytest.fixture
def lexichord(dsn: str, tmp_path: Path) -> Iterator[SyncLexichord]:
    """On a new database of a space without an embedder."""
    with SyncLexichord(dsn=dsn, home=tmp_path / "home") as lexichord:
        yield lexichord


def uris(lexichord: SyncLexichord, query: str) -> list[str]:
    hits = lexichord.search(query, mode="keyword").hits
    return sorted({Path(hit.uri).name for hit in hits})


def test_the_samples_are_stored_character_for_character(lexichord: SyncLexichord) -> None:
    report = lexichord.ingest(FOLDERS)
    files = [file for folder in FOLDERS for file in sorted(folder.iterdir())]
    assert (report.inserted, report.replaced, report.skipped) == (len(files), 0, 0)
    assert report.failed == {}
    listed = lexichord.list()
    assert [row.uri for row in listed] == [file.as_posix() for file in files]
    assert sum(row.chunks for row in listed) == report.chunks
    for file in files:
        shown = lexichord.show(file.as_posix())
        assert shown.text.encode() == file.read_bytes()
        for chunk in shown.chunks:
            assert shown.text[chunk.start : chunk.end] == chunk.content
    assert {fault.amount for fault in lexichord.doctor().faults} == {0}


def test_a_second_run_skips_all(lexichord: SyncLexichord) -> None:
    lexichord.ingest(FOLDERS)
    before = lexichord.list()
    heard: list[tuple[str, str, str]] = []
    report = lexichord.ingest(FOLDERS, listener=lambda *news: heard.append(news))
    assert (report.inserted, report.replaced, report.skipped) == (0, 0, len(before))
    assert lexichord.list() == before
    assert sorted(heard) == sorted((row.uri, "skipped", "") for row in before)
    latest = lexichord.status().runs[0]
    assert latest.skipped == len(before)
    assert latest.finished_at is not None


def test_a_changed_file_is_replaced(lexichord: SyncLexichord, folder: Path) -> None:
    changed, same = folder / "changed.md", folder / "same.md"
    changed.write_text("# Lease\n\nThe zebra clause.\n")
    same.write_text("# Other\n\nThe yak clause.\n")
    lexichord.ingest([folder])
    before = {row.uri: row.document_id for row in lexichord.list()}
    changed.write_text("# Licence\n\nThe walrus clause.\n")
    report = lexichord.ingest([folder])
    assert (report.inserted, report.replaced, report.skipped) == (0, 1, 1)
    assert {row.uri: row.document_id for row in lexichord.list()} == before
    assert lexichord.show("changed.md").document.title == "Licence"
    assert uris(lexichord, "zebra") == []
    assert uris(lexichord, "lease") == []
    assert uris(lexichord, "walrus") == ["changed.md"]
    assert {fault.amount for fault in lexichord.doctor().faults} == {0}


def test_bad_files_fail_alone_each_with_its_reason(lexichord: SyncLexichord, folder: Path) -> None:
    (folder / "good.md").write_text("# Good\n\nThe zebra clause.")
    (folder / "empty.txt").write_bytes(b"")
    (folder / "blank.txt").write_bytes(b" \n\t\n")
    (folder / "binary.txt").write_bytes(b"PK\0\0")
    (folder / "odd.txt").write_bytes(b"\xff\xfe\x00")
    (folder / "dangling.md").symlink_to(folder / "gone.md")
    os.mkfifo(folder / "pipe.txt")
    (folder / "sheet.pdf").write_bytes(b"%PDF")
    (folder / "sums.doc").write_bytes(b"\xd0\xcf\x11\xe0\0")
    report = lexichord.ingest([folder, folder / "sums.doc"])
    assert report.inserted == 1
    assert {Path(uri).name: reason for uri, reason in report.failed.items()} == {
        "empty.txt": "holds no text",
        "blank.txt": "holds no text",
        "binary.txt": "holds NUL characters: it is binary, or in an encoding without a mark",
        "odd.txt": "is binary, or text in an unknown encoding: save it as UTF-8",
        "gone.md": "cannot be read: No such file or directory",
        "pipe.txt": "is no file",
        "sheet.pdf": "is no PDF, or a broken one: open it and save it again",
        "sums.doc": "'.doc' is no kind that can be read: "
        "text, .md, .pdf, .docx, .pptx, .xlsx, .csv, .html, .eml, .epub and source code are",
    }
    assert lexichord.status().runs[0].failures == report.failed
    assert uris(lexichord, "zebra") == ["good.md"]
    again = lexichord.ingest([folder, folder / "sums.doc"])
    assert (again.skipped, again.failed) == (1, report.failed)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_files_that_may_not_be_read_fail_alone(lexichord: SyncLexichord, folder: Path) -> None:
    (folder / "good.md").write_text("The zebra clause.")
    (folder / "closed.md").write_text("The yak clause.")
    (folder / "closed.md").chmod(0)
    (folder / "shut").mkdir(mode=0)
    report = lexichord.ingest([folder])
    (folder / "shut").chmod(0o700)
    assert report.inserted == 1
    assert {Path(uri).name for uri in report.failed} == {"closed.md", "shut"}


def test_a_name_that_is_not_utf_8_stops_nothing(lexichord: SyncLexichord, folder: Path) -> None:
    (folder / "good.md").write_text("The zebra clause.")
    (folder / NOT_UTF_8).write_text("The yak clause.")
    assert lexichord.ingest([folder]).inserted == 2
    assert uris(lexichord, "yak") == ["caf\\xe9.txt"]
    assert lexichord.ingest([folder / NOT_UTF_8]).skipped == 1
    assert lexichord.status().runs[0].source == f"{folder}/caf\\xe9.txt"


def test_what_was_stored_stays_when_its_file_goes_bad(
    lexichord: SyncLexichord, folder: Path
) -> None:
    file = folder / "a.md"
    file.write_text("The zebra clause.")
    lexichord.ingest([file])
    file.write_bytes(b"\0")
    report = lexichord.ingest([file])
    assert list(report.failed) == [file.as_posix()]
    assert uris(lexichord, "zebra") == ["a.md"]


def test_a_document_of_too_many_chunks_is_refused_by_name(
    dsn: str, lexichord: SyncLexichord, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lexichord.ingest.pipeline.LARGE_CHUNKS", 3)
    huge, small = folder / "huge.txt", folder / "small.md"
    huge.write_text("zebra")
    small.write_text("yak")
    lexichord.ingest([folder])
    huge.write_text("\n\n".join(f"Walrus {number}. {'word ' * 150}" for number in range(9)))
    with SyncLexichord(dsn=dsn, max_chunks=8) as limited:
        refused = limited.ingest([folder])
        reason = "gives 9 chunks, more than max_chunks (8): leave the file out, or raise the limit"
        assert (refused.failed, refused.skipped) == ({huge.as_posix(): reason}, 1)
        assert limited.status().runs[0].failures == refused.failed
        assert uris(limited, "zebra") == ["huge.txt"]  # what was stored stays
        assert uris(limited, "walrus") == []
    stored = lexichord.ingest([folder])
    assert stored.flagged == {
        huge.as_posix(): ["9 chunks: data are better left out, by exclude or max_chunks"]
    }
    assert uris(lexichord, "zebra") == []


def test_a_missing_path_stops_before_anything_is_stored(
    lexichord: SyncLexichord, folder: Path
) -> None:
    (folder / "good.md").write_text("The zebra clause.")
    with pytest.raises(ConfigError, match="there is no file or folder") as caught:
        lexichord.ingest([folder, folder / "missing"])
    assert "\n" not in str(caught.value)
    status = lexichord.status()
    assert (status.documents, status.runs) == (0, [])


def test_deleted_documents_are_gone(lexichord: SyncLexichord) -> None:
    lexichord.ingest(FOLDERS)
    uri = (SAMPLES / "agreements" / "office-lease-saltpan-house.md").as_posix()
    assert "office-lease-saltpan-house.md" in uris(lexichord, "Saltpan House")
    assert lexichord.delete([uri, "remote-work-policy.md"]) == 2
    assert uri not in {row.uri for row in lexichord.list()}
    assert "office-lease-saltpan-house.md" not in uris(lexichord, "Saltpan House")
    findings = lexichord.doctor()
    assert findings.documents == 11
    assert {fault.amount for fault in findings.faults} == {0}
    report = lexichord.ingest(FOLDERS)
    assert (report.inserted, report.skipped) == (2, 11)


def test_one_unknown_document_keeps_all_from_being_deleted(lexichord: SyncLexichord) -> None:
    lexichord.ingest(FOLDERS[1:])
    with pytest.raises(ConfigError, match=r"there is no document none\.md"):
        lexichord.delete(["remote-work-policy.md", "none.md"])
    assert lexichord.status().documents == 4


@pytest.mark.parametrize(
    ("kind", "context", "words"),
    [
        ("structural", "Lease", {"clause", "Lease", "Rent", "zebra"}),
        ("none", "", set()),
        ("given", "", set()),
    ],
)
def test_kinds_of_context(
    kind: ContextKind, context: str, words: set[str], lexichord: SyncLexichord, folder: Path
) -> None:
    (folder / "a.md").write_text("# Lease\n\n## Rent\n\nThe zebra clause.")
    lexichord.ingest([folder], context=kind)
    (chunk,) = lexichord.show("a.md").chunks
    assert chunk.context == context
    assert words <= set(chunk.keyword_context.split())
    assert bool(words) == bool(chunk.keyword_context)
    assert chunk.heading == "Rent"


def test_another_kind_of_context_does_the_files_again(
    lexichord: SyncLexichord, folder: Path
) -> None:
    (folder / "a.md").write_text("# Lease\n\nThe zebra clause.")
    lexichord.ingest([folder])
    assert uris(lexichord, "lease") == ["a.md"]
    assert lexichord.ingest([folder], context="none").replaced == 1
    assert lexichord.ingest([folder], context="none").skipped == 1


def test_a_part_of_the_context_can_be_left_out(lexichord: SyncLexichord, folder: Path) -> None:
    (folder / "a.md").write_text("# Lease\n\n## Rent\n\nThe zebra clause.")
    lexichord.ingest([folder])
    assert lexichord.ingest([folder], without=["title", "keyphrases"]).replaced == 1
    (chunk,) = lexichord.show("a.md").chunks
    assert (chunk.context, chunk.keyword_context) == ("", "Rent")
    assert lexichord.ingest([folder], without=["keyphrases", "title"]).skipped == 1
    with pytest.raises(ConfigError, match="there is no part of a context 'name': title, heading"):
        lexichord.ingest([folder], without=["name"])  # type: ignore[list-item]


def test_datasets_hold_documents_of_their_own(lexichord: SyncLexichord, folder: Path) -> None:
    (folder / "a.md").write_text("The zebra clause.")
    for dataset in ("one", "two"):
        assert lexichord.ingest([folder], dataset=dataset).inserted == 1
    assert [row.dataset for row in lexichord.list()] == ["one", "two"]
    hits = lexichord.search("zebra", mode="keyword", datasets=["two"]).hits
    assert [hit.dataset for hit in hits] == ["two"]
    with pytest.raises(ConfigError, match=r"may mean 2 documents: .*; give the id"):
        lexichord.show("a.md")
    with pytest.raises(
        ConfigError, match=r"there is no dataset 'three': take one of 'one', 'two'$"
    ):
        lexichord.search("zebra", datasets=["three"])


def test_a_wrong_argument_is_refused_before_the_run(lexichord: SyncLexichord) -> None:
    wrong: Any = "structral"
    with pytest.raises(ConfigError, match="no context 'structral': none, structural, given"):
        lexichord.ingest(FOLDERS, context=wrong)
    with pytest.raises(ConfigError, match="the dataset needs a name"):
        lexichord.ingest(FOLDERS, dataset="")
    assert lexichord.status().runs == []


def test_the_listener_hears_of_every_file_once(lexichord: SyncLexichord, folder: Path) -> None:
    (folder / "bad.txt").write_bytes(b"")
    (folder / "good.txt").write_text("The zebra clause.")
    heard: list[tuple[str, str, str]] = []
    totals: list[int] = []
    lexichord.ingest([folder], on_start=totals.append, listener=lambda *news: heard.append(news))
    assert totals == [2]
    assert sorted((Path(uri).name, status, reason) for uri, status, reason in heard) == [
        ("bad.txt", "failed", "holds no text"),
        ("good.txt", "inserted", ""),
    ]


def test_a_wrong_option_is_named(lexichord: SyncLexichord) -> None:
    wrong: Any = {"pruned": True}
    with pytest.raises(ConfigError, match="there is no option pruned"):
        lexichord.ingest([], **wrong)


def test_chunks_and_files_are_counted(lexichord: SyncLexichord, folder: Path) -> None:
    (folder / "a.txt").write_text("The zebra clause.")
    counts: list[int] = []
    lexichord.ingest([folder], on_chunks=counts.append)
    assert sum(counts) == 1
    with psycopg.connect(lexichord.core.database.dsn) as connection:
        assert value(connection, "select total from lexichord_data.run") == 1


def test_status_says_how_far_a_file_is(
    dsn: str, lexichord: SyncLexichord, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While its chunks are embedded as it is stored, and those that were stored without."""
    monkeypatch.setattr("lexichord.ingest.flow.RUN_HEARTBEAT_SECONDS", 0.1)
    files = [folder / "early.txt", folder / "late.txt"]
    for file in files:
        file.write_text("\n\n".join(f"{file.stem} {n}. {'word ' * 150}" for n in range(9)))
    lexichord.ingest([files[0]])
    with SyncLexichord(dsn=dsn) as other:
        seen: list[dict[str, FileProgress]] = []

        def look(texts: Sequence[str]) -> None:
            time.sleep(0.5)
            seen.append(other.status().runs[0].in_progress)

        lexichord.core.embedder = Hashing("test/tiny/4", look)
        lexichord.core.ingest_limits = IngestLimits(slice_chunks=4)
        lexichord.ingest([folder])
        assert other.status().runs[0].in_progress == {}
    names = [file.as_posix() for file in reversed(files)]
    assert seen == [{name: FileProgress(9, n)} for name in names for n in (0, 4, 8)]
