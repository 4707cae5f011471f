"""What is gone from a folder is deleted, and nothing else."""

import os
from pathlib import Path

import pytest

from lexichord import SyncLexichord
from lexichord.errors import ConfigError
from tests.end_to_end.conftest import names, write


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
    with pytest.raises(ConfigError, match=r"/a holds no files now, 1 documents would be") as caught:
        plain.ingest([folder / "a", folder / "b"], prune=True)
    assert "\n" not in str(caught.value)
    assert names(plain) == ["1.txt", "2.txt"]
    assert plain.ingest([folder / "a", folder / "b"]).inserted == 1
    assert plain.ingest([folder], prune=True).deleted == 1
