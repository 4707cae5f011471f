"""Files in: what is stored, skipped, replaced, refused, deleted."""

import gc
import os
import shutil
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from reportlab.lib import pdfencrypt

from lexichord import SyncLexichord
from lexichord.db.pool import Database
from lexichord.errors import ConfigError
from lexichord.ingest.files import FileSources
from lexichord.ingest.flow import IngestLimits
from lexichord.ingest.sandbox import Sandbox
from lexichord.ingest.sources import PreparedDocument, Spool
from lexichord.ingest.structural_context import DocumentSample
from lexichord.types.state import FileProgress
from tests.conftest import SAMPLES
from tests.documents import draw_pdf
from tests.end_to_end.hashing import Hashing
from tests.end_to_end.processes import wait_until

FOLDERS = [SAMPLES / "agreements", SAMPLES / "policies"]


def uris(plain: SyncLexichord, query: str) -> list[str]:
    hits = plain.search(query, mode="keyword").hits
    return sorted({Path(hit.uri).name for hit in hits})


def test_the_samples_are_stored_character_for_character(plain: SyncLexichord) -> None:
    report = plain.ingest(FOLDERS)
    files = [file for folder in FOLDERS for file in sorted(folder.iterdir())]
    assert (report.inserted, report.replaced, report.skipped) == (len(files), 0, 0)
    assert report.failed == {}
    listed = plain.list()
    assert [row.uri for row in listed] == [file.as_posix() for file in files]
    assert sum(row.chunks for row in listed) == report.chunks
    for file in files:
        shown = plain.show(file.as_posix())
        assert shown.text.encode() == file.read_bytes()
        for chunk in shown.chunks:
            assert shown.text[chunk.start : chunk.end] == chunk.content
    assert {fault.amount for fault in plain.doctor().faults} == {0}


def held_documents() -> list[PreparedDocument]:
    gc.collect()
    return [one for one in gc.get_objects() if isinstance(one, PreparedDocument)]


async def test_documents_read_for_the_word_counts_are_not_kept_in_memory(
    database: Database, folder: Path, tmp_path: Path
) -> None:
    for number in range(30):
        (folder / f"{number}.md").write_text(f"# Lease {number}\n\nIt ends at noon.\n")
    sample = DocumentSample(database, "default")
    with Sandbox() as sandbox, closing(Spool(tmp_path)) as spool:
        todo = list(FileSources("default", "context=none", sandbox).find([folder]))
        await sample.count(todo, spool)
        wait_until(lambda: not held_documents())  # a thread lets go of its last one when it rests
        shutil.rmtree(folder)  # so that nothing is read again
        for source in todo:
            assert sample.read(source).document.uri == source.uri


def test_a_changed_file_is_replaced(plain: SyncLexichord, folder: Path) -> None:
    changed, same = folder / "changed.md", folder / "same.md"
    changed.write_text("# Lease\n\nThe zebra clause.\n")
    same.write_text("# Other\n\nThe yak clause.\n")
    plain.ingest([folder])
    before = {row.uri: row.document_id for row in plain.list()}
    changed.write_text("# Licence\n\nThe walrus clause.\n")
    report = plain.ingest([folder])
    assert (report.inserted, report.replaced, report.skipped) == (0, 1, 1)
    assert {row.uri: row.document_id for row in plain.list()} == before
    assert plain.show("changed.md").document.title == "Licence"
    assert uris(plain, "zebra") == []
    assert uris(plain, "lease") == []
    assert uris(plain, "walrus") == ["changed.md"]
    assert {fault.amount for fault in plain.doctor().faults} == {0}


def test_bad_files_fail_alone_each_with_its_reason(plain: SyncLexichord, folder: Path) -> None:
    good = folder / 'it\'s "good"\n%41.md'
    good.write_text("# Good\n\nThe zebra clause \u202eterm\u200b.")
    (folder / "loop").symlink_to(folder)
    (folder / "old.docx").write_bytes(bytes.fromhex("D0CF11E0A1B11AE1") + b"x" * 600)
    (folder / "broken.docx").write_bytes(b"PK\x03\x04 not a zip")
    (folder / "none.html").write_bytes(b"<html><body></body></html>")
    lock = pdfencrypt.StandardEncryption("secret", strength=128)
    draw_pdf(folder / "secret.pdf", [[(60, 700, "Nobody may read this.")]], encrypt=lock)
    (folder / "empty.txt").write_bytes(b"")
    (folder / "blank.txt").write_bytes(b" \n\t\n")
    (folder / "binary.txt").write_bytes(b"PK\0\0")
    (folder / "odd.txt").write_bytes(b"\xff\xfe\x00")
    (folder / "dangling.md").symlink_to(folder / "gone.md")
    os.mkfifo(folder / "pipe.txt")
    (folder / "sheet.pdf").write_bytes(b"%PDF")
    (folder / "sums.doc").write_bytes(b"\xd0\xcf\x11\xe0\0")
    report = plain.ingest([folder, folder / "sums.doc"])
    assert report.inserted == 1
    reasons = {Path(uri).name: reason for uri, reason in report.failed.items()}
    assert "is encrypted" in reasons.pop("secret.pdf")
    assert "is encrypted or an old .doc" in reasons.pop("old.docx")
    assert "is no DOCX" in reasons.pop("broken.docx")
    assert reasons == {
        "none.html": "holds no text",
        "empty.txt": "holds no text",
        "blank.txt": "holds no text",
        "binary.txt": "holds NUL characters: it is binary, or in an encoding without a mark",
        "odd.txt": "is binary, or text in an unknown encoding: save it as UTF-8",
        "gone.md": "cannot be read: No such file or directory",
        "pipe.txt": "is no file",
        "sheet.pdf": "is no PDF, or a broken one: open it and save it again",
        "sums.doc": "'.doc' cannot be read: save it as .docx or .pdf",
    }
    assert plain.status().runs[0].failures == report.failed
    assert uris(plain, "zebra") == [good.name]
    flags = ["zero-width characters", "bidirectional characters"]
    assert plain.list()[0].metadata["flags"] == flags
    again = plain.ingest([folder, folder / "sums.doc"])
    assert (again.skipped, again.failed) == (1, report.failed)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_files_that_may_not_be_read_fail_alone(plain: SyncLexichord, folder: Path) -> None:
    (folder / "good.md").write_text("The zebra clause.")
    (folder / "closed.md").write_text("The yak clause.")
    (folder / "closed.md").chmod(0)
    (folder / "shut").mkdir(mode=0)
    report = plain.ingest([folder])
    (folder / "shut").chmod(0o700)
    assert report.inserted == 1
    assert {Path(uri).name for uri in report.failed} == {"closed.md", "shut"}


def test_what_was_stored_stays_when_its_file_goes_bad(plain: SyncLexichord, folder: Path) -> None:
    file = folder / "a.md"
    file.write_text("The zebra clause.")
    plain.ingest([file])
    file.write_bytes(b"\0")
    report = plain.ingest([file])
    assert list(report.failed) == [file.as_posix()]
    assert uris(plain, "zebra") == ["a.md"]


def test_a_document_of_too_many_chunks_is_refused_by_name(
    dsn: str, plain: SyncLexichord, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lexichord.ingest.sources.LARGE_CHUNKS", 3)
    huge, small = folder / "huge.txt", folder / "small.md"
    huge.write_text("zebra")
    small.write_text("yak")
    plain.ingest([folder])
    huge.write_text("\n\n".join(f"Walrus {number}. {'word ' * 150}" for number in range(9)))
    with SyncLexichord(dsn=dsn, max_chunks=8) as limited:
        refused = limited.ingest([folder])
        reason = "gives 9 chunks, more than max_chunks (8): leave the file out, or raise the limit"
        assert (refused.failed, refused.skipped) == ({huge.as_posix(): reason}, 1)
        assert limited.status().runs[0].failures == refused.failed
        assert uris(limited, "zebra") == ["huge.txt"]  # what was stored stays
        assert uris(limited, "walrus") == []
    stored = plain.ingest([folder])
    assert stored.flagged == {
        huge.as_posix(): ["9 chunks: data are better left out, by exclude or max_chunks"]
    }
    assert uris(plain, "zebra") == []


def test_deleted_documents_are_gone(plain: SyncLexichord) -> None:
    plain.ingest(FOLDERS)
    uri = (SAMPLES / "agreements" / "office-lease-saltpan-house.md").as_posix()
    assert "office-lease-saltpan-house.md" in uris(plain, "Saltpan House")
    assert plain.delete([uri, "remote-work-policy.md"]) == 2
    assert uri not in {row.uri for row in plain.list()}
    assert "office-lease-saltpan-house.md" not in uris(plain, "Saltpan House")
    findings = plain.doctor()
    assert findings.documents == 11
    assert {fault.amount for fault in findings.faults} == {0}
    report = plain.ingest(FOLDERS)
    assert (report.inserted, report.skipped) == (2, 11)


def test_one_unknown_document_keeps_all_from_being_deleted(plain: SyncLexichord) -> None:
    plain.ingest(FOLDERS[1:])
    with pytest.raises(ConfigError, match=r"there is no document none\.md"):
        plain.delete(["remote-work-policy.md", "none.md"])
    assert plain.status().documents == 4


def test_a_part_of_the_context_can_be_left_out(plain: SyncLexichord, folder: Path) -> None:
    (folder / "a.md").write_text("# Lease\n\n## Rent\n\nThe zebra clause.")
    plain.ingest([folder])
    assert plain.ingest([folder], without=["title", "keyphrases"]).replaced == 1
    (chunk,) = plain.show("a.md").chunks
    assert (chunk.context, chunk.keyword_context) == ("", "Rent")
    assert plain.ingest([folder], without=["keyphrases", "title"]).skipped == 1
    with pytest.raises(ConfigError, match="there is no part of a context 'name': title, heading"):
        plain.ingest([folder], without=["name"])  # type: ignore[list-item]


def test_datasets_hold_documents_of_their_own(plain: SyncLexichord, folder: Path) -> None:
    (folder / "a.md").write_text("The zebra clause.")
    for dataset in ("one", "two"):
        assert plain.ingest([folder], dataset=dataset).inserted == 1
    assert [row.dataset for row in plain.list()] == ["one", "two"]
    hits = plain.search("zebra", mode="keyword", datasets=["two"]).hits
    assert [hit.dataset for hit in hits] == ["two"]
    with pytest.raises(ConfigError, match=r"may mean 2 documents: .*; give the id"):
        plain.show("a.md")
    with pytest.raises(
        ConfigError, match=r"there is no dataset 'three': take one of 'one', 'two'$"
    ):
        plain.search("zebra", datasets=["three"])


def test_a_wrong_argument_is_refused_before_the_run(plain: SyncLexichord) -> None:
    wrong: Any = "structral"
    with pytest.raises(ConfigError, match="no context 'structral': none, structural, given"):
        plain.ingest(FOLDERS, context=wrong)
    with pytest.raises(ConfigError, match="the dataset needs a name"):
        plain.ingest(FOLDERS, dataset="")
    assert plain.status().runs == []


def test_status_says_how_far_a_file_is(
    dsn: str, plain: SyncLexichord, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While its chunks are embedded as it is stored, and those that were stored without."""
    monkeypatch.setattr("lexichord.ingest.flow.RUN_HEARTBEAT_SECONDS", 0.1)
    files = [folder / "early.txt", folder / "late.txt"]
    for file in files:
        file.write_text("\n\n".join(f"{file.stem} {n}. {'word ' * 150}" for n in range(9)))
    plain.ingest([files[0]])
    with SyncLexichord(dsn=dsn) as other:
        seen: list[dict[str, FileProgress]] = []

        def look(texts: Sequence[str]) -> None:
            time.sleep(0.5)
            seen.append(other.status().runs[0].in_progress)

        plain.core.embedder = Hashing("test/tiny/4", look)
        plain.core.ingest_limits = IngestLimits(slice_chunks=4)
        plain.ingest([folder])
        assert other.status().runs[0].in_progress == {}
    names = [file.as_posix() for file in reversed(files)]
    assert seen == [{name: FileProgress(9, n)} for name in names for n in (0, 4, 8)]
