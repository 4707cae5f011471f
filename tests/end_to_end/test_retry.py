"""Failing, stalling, being cut off, meeting another ingest; and how it goes on."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest

from lexichord import SyncLexichord
from lexichord.db import store
from lexichord.errors import DatabaseError
from tests.end_to_end.conftest import names, write


def test_failed_files_are_taken_up_again(plain: SyncLexichord, folder: Path) -> None:
    bad, worse, vanishing = folder / "bad.txt", folder / "worse.txt", folder / "vanishing.txt"
    write(folder / "good.txt")
    for file in (bad, worse, vanishing):
        file.write_bytes(b"\0")
    assert plain.retry_failed().run_id == 0
    assert len(plain.ingest([folder]).failed) == 3
    assert plain.retry_failed(dataset="other").run_id == 0
    write(bad)
    vanishing.unlink()
    heard: list[tuple[str, str, str]] = []
    report = plain.retry_failed(listener=lambda *news: heard.append(news))
    assert (report.inserted, report.deleted, list(report.failed)) == (1, 1, [str(worse)])
    assert (str(vanishing), "deleted", "the file is gone") in heard
    assert names(plain) == ["bad.txt", "good.txt"]
    assert list(plain.retry_failed().failed) == [str(worse)]
    write(worse)
    assert plain.retry_failed().inserted == 1
    assert plain.retry_failed().run_id == 0


def test_what_is_no_file_is_named_until_it_is_mended(plain: SyncLexichord, folder: Path) -> None:
    lines = folder / "x.jsonl"
    good = '{"uri": "a", "chunks": [{"content": "w1"}]}\n'
    lines.write_text(good + "{}\n")
    plain.ingest(chunked_file=lines)
    report = plain.retry_failed()
    assert (report.run_id, report.failed) == (0, {})
    assert report.degraded[0] == "no files, ingest again what held them: x.jsonl:2"
    lines.write_text(good)
    plain.ingest(chunked_file=lines)
    assert "x.jsonl" not in str(plain.retry_failed().degraded)


def test_a_run_that_was_cut_off_is_shown_as_stalled(plain: SyncLexichord, folder: Path) -> None:
    write(folder / "a.txt")
    plain.ingest([folder])
    database = plain.core.database
    run = plain.run(store.start_run(database, "default", "x", 7))
    with psycopg.connect(database.dsn, autocommit=True) as connection:
        connection.execute("update lexichord_data.run set seen_at = now() - interval '2 min'")
    states = {row.run_id: row.state for row in plain.status().runs}
    assert states == {run: "stalled", run - 1: "finished"}
    plain.run(store.touch_run(database, run, {}))
    assert plain.status().runs[0].state == "running"


def test_a_full_disk_ends_the_run_and_keeps_what_was_reported(
    plain: SyncLexichord, folder: Path
) -> None:
    write(*(folder / f"{number:02}.txt" for number in range(20)))
    with psycopg.connect(plain.core.database.dsn, autocommit=True) as connection:
        connection.execute(
            "create function public.full_disk() returns trigger language plpgsql as $$ begin "
            "if new.content like '%13.txt%' then raise exception using errcode = '53100', "
            "message = 'could not extend file: No space left on device', "
            "hint = 'Check free disk space.'; end if; return new; end $$"
        )
        connection.execute(
            "create trigger full_disk before insert on lexichord_data.chunk "
            "for each row execute function public.full_disk()"
        )
        heard: list[str] = []
        with pytest.raises(DatabaseError, match="No space left on device: check free") as caught:
            plain.ingest([folder], listener=lambda uri, *_: heard.append(Path(uri).name))
        assert "\n" not in str(caught.value)
        assert names(plain) == sorted(heard) == [f"{number:02}.txt" for number in range(13)]
        assert plain.status().runs[0].finished_at is None
        connection.execute("drop trigger full_disk on lexichord_data.chunk")
    report = plain.ingest([folder])
    assert (report.inserted, report.skipped) == (7, 13)
    assert {fault.amount for fault in plain.doctor().faults} == {0}


def test_two_ingests_of_one_folder_do_no_harm(
    plain: SyncLexichord, dsn: str, folder: Path, tmp_path: Path
) -> None:
    write(*(folder / f"{number}.txt" for number in range(60)))
    with (
        SyncLexichord(dsn=dsn, home=tmp_path / "home") as other,
        ThreadPoolExecutor(2) as pool,
    ):
        reports = list(pool.map(lambda app: app.ingest([folder], prune=True), [plain, other]))
    assert [report.failed for report in reports] == [{}, {}]
    assert [sum((r.inserted, r.replaced, r.skipped)) for r in reports] == [60, 60]
    assert sum(report.inserted for report in reports) == 60
    assert len(names(plain)) == plain.status().chunks == 60
    assert {fault.amount for fault in plain.doctor().faults} == {0}


def test_an_interrupted_ingest_goes_on_with_the_same_context(
    plain: SyncLexichord, folder: Path
) -> None:
    """Which words are rare is told from the same documents, stored or not."""
    for number in range(12):
        words = " ".join(f"word{number * step}" for step in range(1, 9))
        (folder / f"{number}.txt").write_text(f"{words} common {'rare' * (number == 3)}")

    def contexts(dataset: str) -> list[Any]:
        rows = plain.list(datasets=[dataset])
        shown = [plain.show(row.document_id).chunks for row in rows]
        return [(chunk.context, chunk.keyword_context) for own in shown for chunk in own]

    plain.ingest([folder], dataset="whole")

    class CutOffError(Exception):
        pass

    def cut(uri: str, *_: str) -> None:
        if uri.endswith("/4.txt"):
            raise CutOffError

    with pytest.raises(CutOffError):
        plain.ingest([folder], dataset="cut", listener=cut)
    assert 0 < len(plain.list(datasets=["cut"])) < 12
    assert plain.ingest([folder], dataset="cut").inserted > 0
    assert contexts("cut") == contexts("whole")
