"""A second ingest: what changed is embedded, what is gone pruned, what failed retried; watching."""

import asyncio
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest

from lexichord import Lexichord, SyncLexichord
from lexichord.errors import ConfigError
from lexichord.providers.embed.local import LocalEmbedder
from tests.end_to_end.conftest import names, write
from tests.end_to_end.hashing import Counting

CLAUSES = [
    f"## {number}. Clause of the {animal}\n\n"
    + f"The {animal} is to be fed at {number} o'clock and not later. " * 9
    for number, animal in enumerate(["yak", "zebra", "walrus", "otter", "heron", "lynx"], 1)
]


@pytest.fixture
def lexichord(embedding_dsn: str, home: Path) -> Iterator[SyncLexichord]:
    with SyncLexichord(dsn=embedding_dsn, home=home) as lexichord:
        yield lexichord


@pytest.fixture
def counting(lexichord: SyncLexichord, embedder: LocalEmbedder) -> Counting:
    counting = Counting(embedder)
    lexichord.core.embedder = counting
    return counting


def contract(*clauses: str) -> str:
    return "# Contract\n\n" + "\n\n".join(clauses) + "\n"


def vectors(lexichord: SyncLexichord, name: str) -> list[str]:
    with psycopg.connect(lexichord.core.database.dsn) as connection:
        rows = connection.execute(
            "select c.embedding::text from lexichord_data.chunk c "
            "join lexichord_data.document d on d.id = c.document_id "
            "where right(d.uri, length(%s)) = %s order by c.ordinal",
            [name, name],
        ).fetchall()
    return [vector for (vector,) in rows]


def assert_sound(lexichord: SyncLexichord) -> None:
    report = lexichord.doctor()
    assert {fault.amount for fault in report.faults} == {0}
    assert report.chunks_without_vector == 0


def test_only_the_changed_clause_is_embedded(
    lexichord: SyncLexichord, counting: Counting, folder: Path
) -> None:
    file = folder / "contract.md"
    file.write_text(contract(*CLAUSES))
    report = lexichord.ingest([folder])
    assert report.embedded == report.chunks == len(counting.taken())
    before = vectors(lexichord, file.name)
    changed = CLAUSES[2].replace("walrus", "penguin")
    file.write_text(contract(*CLAUSES[:2], changed, *CLAUSES[3:]))
    report = lexichord.ingest([folder])
    texts = counting.taken()
    assert (report.replaced, report.embedded) == (1, len(texts))
    assert 0 < len(texts) <= 2
    assert all("penguin" in text for text in texts)
    after = vectors(lexichord, file.name)
    assert sum(old != new for old, new in zip(before, after, strict=True)) == len(texts)
    assert "walrus" not in lexichord.show(file.name).text
    assert lexichord.search("penguin", k=1).hits[0].heading.endswith("penguin")
    assert_sound(lexichord)


def test_a_renamed_file_keeps_its_vectors(
    lexichord: SyncLexichord, counting: Counting, folder: Path
) -> None:
    (folder / "old.txt").write_text(contract(*CLAUSES))
    (folder / "other.txt").write_text(CLAUSES[0])
    lexichord.ingest([folder])
    before = vectors(lexichord, "old.txt")
    counting.taken()
    (folder / "old.txt").rename(folder / "new.txt")
    report = lexichord.ingest([folder])
    assert (report.inserted, report.embedded, counting.taken()) == (1, 0, [])
    assert names(lexichord) == ["new.txt", "old.txt", "other.txt"]
    assert vectors(lexichord, "new.txt") == before
    report = lexichord.ingest([folder], prune=True)
    assert (report.deleted, report.skipped) == (1, 2)
    assert names(lexichord) == ["new.txt", "other.txt"]
    assert_sound(lexichord)


def test_pruning_deletes_what_is_gone_and_nothing_else(
    plain: SyncLexichord, folder: Path, tmp_path: Path
) -> None:
    """Neighbours whose names begin alike or would match as a pattern, other datasets, chunks."""
    (folder / "a%").mkdir()
    kept = [folder / "ab" / "3.txt", folder / "a" / "2.txt", folder / "axx" / "x.txt"]
    gone = [folder / "a" / "1.txt", folder / "a" / "deep.txt"]
    write(*kept, *gone, folder / "a%" / "4.txt", folder / "a%" / "5.txt")
    plain.ingest([folder])
    plain.ingest([folder], dataset="other")
    source = {"uri": f"{folder}/a/given", "chunks": [{"content": "w1"}]}
    plain.ingest(documents=[source])
    for file in (*gone, folder / "ab" / "3.txt", folder / "axx" / "x.txt", folder / "a%" / "5.txt"):
        file.unlink()
    heard: list[tuple[str, str, str]] = []
    report = plain.ingest(
        [folder / "a", folder / "a%"], prune=True, listener=lambda *news: heard.append(news)
    )
    assert (report.skipped, report.deleted) == (2, 3)
    deleted = {Path(uri).name for uri, status, _ in heard if status == "deleted"}
    assert deleted == {"1.txt", "deep.txt", "5.txt"}
    left = [Path(row.uri).name for row in plain.list(datasets=["default"])]
    assert sorted(left) == ["2.txt", "3.txt", "4.txt", "given", "x.txt"]
    assert len(plain.list(datasets=["other"])) == 7
    latest = plain.status().runs[0]
    assert (latest.state, latest.deleted, latest.done, latest.total) == (
        *("finished", 3),
        *(5, 5),
    )


def test_what_is_there_but_cannot_be_read_is_not_gone(plain: SyncLexichord, folder: Path) -> None:
    write(folder / "a.txt", folder / "b.txt", folder / "c.txt", folder / ".hidden.txt")
    plain.ingest([folder, folder / ".hidden.txt"])
    (folder / "a.txt").write_bytes(b"\0")
    (folder / "b.txt").unlink()
    (folder / "b.txt").symlink_to(folder / "nowhere")
    report = plain.ingest([folder], prune=True)
    assert (report.deleted, len(report.failed)) == (0, 2)
    assert len(plain.list()) == 4


def test_a_name_that_is_not_utf_8_is_pruned_when_it_goes(
    plain: SyncLexichord, folder: Path
) -> None:
    file = folder / os.fsdecode(b"caf\xe9.txt")
    write(file, folder / "a.txt")
    plain.ingest([folder])
    assert plain.ingest([folder], prune=True).deleted == 0
    file.unlink()
    assert plain.ingest([folder], prune=True).deleted == 1


def test_an_emptied_folder_is_refused(plain: SyncLexichord, folder: Path) -> None:
    """More likely a disk that is not mounted."""
    write(folder / "a" / "1.txt", folder / "b" / "2.txt")
    plain.ingest([folder])
    (folder / "a" / "1.txt").unlink()
    write(folder / "b" / "3.txt")
    with pytest.raises(ConfigError, match=r"/a holds no files now, 1 document would be") as caught:
        plain.ingest([folder / "a", folder / "b"], prune=True)
    assert "\n" not in str(caught.value)
    assert names(plain) == ["1.txt", "2.txt"]
    assert plain.ingest([folder / "a", folder / "b"]).inserted == 1
    assert plain.ingest([folder], prune=True).deleted == 1


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


def test_a_folder_is_followed(plain: SyncLexichord, folder: Path) -> None:
    write(folder / "a.txt", folder / "b.txt")
    reports = plain.watch([folder], prune=True)
    assert next(reports).inserted == 2
    (folder / "b.txt").unlink()
    (folder / "new").mkdir()
    write(folder / "new" / "c.txt")
    seen = [next(reports)]
    while sum(report.inserted + report.deleted for report in seen) < 2:
        seen.append(next(reports))
    assert names(plain) == ["a.txt", "c.txt"]
    (folder / "a.txt").unlink()
    (folder / "new" / "c.txt").unlink()
    while "holds no files now" not in (reasons := " ".join(next(reports).degraded)):
        pass
    assert "2 documents would be deleted" in reasons or "1 document would" in reasons
    write(folder / "a.txt", folder / "new" / "c.txt")
    while next(reports).skipped < 2:
        pass
    reports.close()
    with pytest.raises(ConfigError, match="nothing to watch"):
        next(plain.watch([]))
    with pytest.raises(ConfigError, match="there is no file or folder"):
        next(plain.watch([folder / "missing" / "x"]))


@pytest.mark.parametrize("has_begun", [True, False])
def test_an_interrupt_while_the_loop_is_told_ends_a_watch(
    has_begun: bool, plain: SyncLexichord, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Telling it wakes the loop's thread, which may run before the interrupted one goes on."""
    write(folder / "a.txt")
    reports = plain.watch([folder])
    assert next(reports).inserted == 1
    assert plain._loop is not None
    tell = plain._loop.call_soon_threadsafe

    def interrupted(call: Callable[[], None]) -> None:
        monkeypatch.setattr(plain._loop, "call_soon_threadsafe", tell)
        if has_begun:
            tell(call)
        raise KeyboardInterrupt

    monkeypatch.setattr(plain._loop, "call_soon_threadsafe", interrupted)
    with pytest.raises(KeyboardInterrupt):
        next(reports)
    assert names(plain) == ["a.txt"]


async def test_a_watch_can_be_cancelled(dsn: str, folder: Path, tmp_path: Path) -> None:
    write(folder / "a.txt")
    async with Lexichord(dsn=dsn, home=tmp_path / "home") as lexichord:
        reports = lexichord.watch([folder])
        assert (await anext(reports)).inserted == 1
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(reports), 0.7)
        await reports.aclose()
