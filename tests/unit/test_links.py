"""Links in folders: what leads out of them is named, not read; and files that are no files."""

import os
import shutil
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from time import monotonic, sleep
from typing import Any

import pytest

from lexichord.errors import IngestError
from lexichord.ingest import files as ingest_files
from lexichord.ingest.files import FileSources
from lexichord.ingest.jobs import Batch, batches
from lexichord.ingest.load.text import held_in_place
from lexichord.ingest.sandbox import Sandbox
from lexichord.ingest.sources import FileSearch, IngestSource

OUT = "a link out of the folder"
WORDS = "Boats moor at the pier."


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """Return a folder beside the one that is ingested, with what nobody meant to store."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "key.pem").write_text("SECRET")
    (folder / "note.md").write_text("SECRET")
    (folder / "meta.json").write_text('{"team": "SECRET"}')
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "a.md").write_text(WORDS)
    return inside


def found(*named: Path, **options: Any) -> tuple[list[str], dict[str, str]]:
    """Return the files found below the first folder's parent, and what was left out, by name."""
    search = FileSearch(**options)
    top = named[0].resolve().parent
    files = [file.relative_to(top).as_posix() for file in search.find(named)]
    return files, {Path(name).name: why for name, why in search.left_out.items()}


def test_a_link_out_of_the_folder_is_named_and_not_read(folder: Path, outside: Path) -> None:
    (folder / "b.md").symlink_to(outside / "note.md")
    (folder / "key").symlink_to(outside / "key.pem")  # a text by what it holds
    (folder / "up.md").symlink_to("../outside/note.md")
    (folder / "gone.md").symlink_to(outside / "gone.md")
    files, left_out = found(folder)
    assert files == ["inside/a.md"]
    assert left_out == dict.fromkeys(("b.md", "key", "up.md", "gone.md"), OUT)
    files, left_out = found(folder, follow_links=True)
    read = ["outside/note.md", "outside/gone.md", "outside/key.pem"]
    assert (files, left_out) == (["inside/a.md", *read], {})


def test_a_link_within_what_is_named_is_its_target(folder: Path, outside: Path) -> None:
    (folder / "b.md").symlink_to("a.md")
    (folder / "c.md").symlink_to(outside / "note.md")
    assert found(folder)[0] == ["inside/a.md"]
    assert found(folder, outside / "note.md")[1] == {"c.md": OUT}
    files, left_out = found(folder, outside)
    assert (files[:2], left_out) == (["inside/a.md", "outside/note.md"], {})
    given = folder.with_name("given")
    given.symlink_to(folder)
    assert found(given)[0] == ["inside/a.md"]
    (file,) = FileSearch().find([folder / "c.md"])
    assert file == outside / "note.md"


@pytest.mark.timeout(20)
def test_links_to_folders_are_followed_where_that_is_said_each_once(
    folder: Path, outside: Path
) -> None:
    for name, target in (("loop", folder), ("up", folder.parent), ("there", outside)):
        (folder / name).symlink_to(target)
    (outside / "back").symlink_to(folder)
    files, left_out = found(folder)
    assert files == ["inside/a.md"]
    assert left_out == dict.fromkeys(("loop", "up", "there"), "a link to a folder")
    files, left_out = found(folder, follow_links=True)
    assert files == ["inside/a.md", "outside/key.pem", "outside/meta.json", "outside/note.md"]
    assert left_out == {}


def metadata(
    folder: Path, sandbox: Sandbox, **options: Any
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the metadata of the only file in a folder, and what was left out, by name."""
    search = FileSearch(**options)
    (source,) = FileSources("default", "context=none", sandbox, search=search).find([folder])
    read = source.read().document.metadata
    return dict(read), {Path(name).name: why for name, why in search.left_out.items()}


def test_metadata_beside_a_file_come_from_its_folder(
    folder: Path, outside: Path, sandbox: Sandbox
) -> None:
    sidecar = folder / "a.md.meta.json"
    sidecar.symlink_to(outside / "meta.json")
    assert metadata(folder, sandbox) == ({}, {sidecar.name: OUT})
    assert metadata(folder, sandbox, follow_links=True)[0] == {"team": "SECRET"}
    sidecar.unlink()
    (folder / ".own.json").write_text('{"team": "legal"}')
    sidecar.symlink_to(".own.json")
    assert metadata(folder, sandbox)[0] == {"team": "legal"}


def test_rules_of_what_to_leave_out_come_from_the_folder(folder: Path, outside: Path) -> None:
    """Or whoever writes there could ask, name by name, what a file of somebody else's holds."""
    (outside / "rules").write_text("a.md\n")
    (folder / ".gitignore").symlink_to(outside / "rules")
    assert found(folder) == (["inside/a.md"], {".gitignore": OUT})
    assert found(folder, follow_links=True)[0] == []


def refused(source: IngestSource) -> str:
    with pytest.raises(IngestError) as refusal:
        source.read()
    return str(refusal.value)


@pytest.mark.parametrize("what", ["file", "folder"])
def test_what_becomes_a_link_after_it_was_found_is_not_read(
    folder: Path, outside: Path, sandbox: Sandbox, what: str
) -> None:
    (folder / "sub").mkdir()
    (folder / "sub/note.md").write_text(WORDS)
    sources = FileSources("default", "context=none", sandbox)
    seen = sources.find([folder])
    next(seen)  # the folder's files are listed by now
    if what == "file":
        (folder / "sub/note.md").unlink()
        (folder / "sub/note.md").symlink_to(outside / "note.md")
        note = sources.again(str(folder / "sub/note.md"))
    else:
        (folder / "sub/note.md").unlink()
        (folder / "sub").rmdir()
        (folder / "sub").symlink_to(outside)
        note = sources.again(str(folder / "sub/note.md"))
    assert refused(note) == "is behind a link by now, which is not followed"


def test_what_becomes_a_link_before_it_is_read_is_not_stored(
    folder: Path, outside: Path, sandbox: Sandbox
) -> None:
    (source,) = FileSources("default", "context=none", sandbox).find([folder])
    (folder / "a.md").unlink()
    (folder / "a.md").symlink_to(outside / "note.md")
    assert refused(source) == "is behind a link by now, which is not followed"
    assert source.original is not None
    with pytest.raises(IngestError, match="is behind a link"):
        source.original()


@pytest.mark.timeout(30)
def test_pipes_sockets_and_devices_hold_nothing_up(folder: Path, sandbox: Sandbox) -> None:
    for name in ("pipe", "pipe.md", "pipe.zip", "a.md.meta.json", ".gitignore"):
        os.mkfifo(folder / name)
    with socket.socket(socket.AF_UNIX) as own:
        own.bind(str(folder / "own.txt"))
        (folder / "zero.md").symlink_to("/dev/zero")
        search = FileSearch(follow_links=True)
        listed = [*FileSources("default", "context=none", sandbox, search=search).find([folder])]
    reasons = {Path(source.uri).name: refused(source) for source in listed if not source.sha256}
    assert reasons == dict.fromkeys(("pipe.md", "pipe.zip", "own.txt", "zero"), "is no file")
    assert [Path(source.uri).name for source in listed if source.sha256] == ["a.md"]
    assert [Path(name).name for name in search.unread] == ["pipe"]


@pytest.mark.timeout(20)
def test_a_pipe_that_takes_a_file_s_place_does_not_hold_up(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one that comes between the look and the opening: here nothing looks before."""
    os.mkfifo(folder / "pipe.md")
    monkeypatch.setattr(Path, "is_file", lambda _: True)
    with pytest.raises(IngestError, match="is no file"):
        ingest_files.file_digest(folder / "pipe.md")


@pytest.mark.timeout(120)
def test_a_watch_looks_into_new_folders_and_behind_no_links(folder: Path, outside: Path) -> None:
    (folder / "root").symlink_to("/")
    (folder / "there").symlink_to(outside)
    (folder / ".git").mkdir()
    stop = Event()
    seen = batches([folder], lambda _: True, stop, follow_links=False)

    def until(name: str) -> set[str]:
        """Return what changed until a file of this name did, by name."""
        changed = set[str]()
        while name not in changed:
            changed |= {Path(path).name for _, path in next(seen)}
        return changed

    assert not next(seen)
    (outside / "note.md").write_text("changed")
    (folder / ".git/index").write_text("changed")
    (folder / "a.md").write_text("changed")
    assert until("a.md") == {"a.md"}
    (folder / "new/deep").mkdir(parents=True)
    assert "new" in until("new")
    (folder / "new/deep/b.md").write_text(WORDS)
    assert until("b.md") == {"b.md"}
    (folder / "new/there").symlink_to(outside)
    until("there")
    (outside / "note.md").write_text("changed again")
    shutil.rmtree(folder / "new")
    assert "note.md" not in until("new")
    stop.set()
    assert not [*seen]


def until_told(seen: Iterator[Batch], name: str) -> None:
    while name not in str(next(seen)):
        pass


@pytest.mark.timeout(120)
@pytest.mark.parametrize("follow_links", [False, True])
@pytest.mark.parametrize("name", ["", "inner", "link"])
def test_a_watch_sees_what_changes_in_a_folder_that_has_taken_the_place_of_another(
    folder: Path, tmp_path: Path, name: str, follow_links: bool
) -> None:
    """As releases are published: the one of today gets another name, the new one its own."""
    (folder / "inner").mkdir()
    (tmp_path / "next").mkdir()
    place = folder / name
    if name == "link":
        place = tmp_path / "link"
        place.symlink_to(folder / "inner")
    stop = Event()
    watched = folder if name == "inner" else place
    seen = batches([watched], lambda _: True, stop, follow_links=follow_links)
    assert not next(seen)
    place.rename(tmp_path / "before")
    if name != "inner":
        until_told(seen, place.name)  # that it is gone
    if name == "link":
        place.symlink_to(tmp_path / "next")
    else:
        (tmp_path / "next").rename(place)
    until_told(seen, place.name)
    (place / "late.md").write_text(WORDS)
    until_told(seen, "late.md")
    stop.set()


@pytest.mark.timeout(300)
def test_folders_that_go_while_they_are_looked_up_end_no_watch(folder: Path) -> None:
    stop, over = Event(), Event()

    def publish() -> None:
        for number in range(60):
            coming, old = folder / f"coming{number}", folder / f"release{number - 2}"
            (coming / "deep").mkdir(parents=True)
            (coming / "deep/a.md").write_text(WORDS)
            coming.rename(folder / f"release{number}")
            shutil.rmtree(old, ignore_errors=True)
            sleep(number % 7 / 100)
        over.set()

    seen = batches([folder], lambda _: True, stop, follow_links=False)
    next(seen)
    publisher = Thread(target=publish)
    publisher.start()
    while not over.is_set():
        next(seen)
    publisher.join()
    (folder / "release59/deep/b.md").write_text(WORDS)
    until_told(seen, "b.md")
    stop.set()


@pytest.mark.timeout(60)
def test_a_watch_that_follows_links_looks_behind_them(folder: Path, outside: Path) -> None:
    (folder / "there").symlink_to(outside)
    stop = Event()
    seen = batches([folder], lambda _: True, stop, follow_links=True)
    assert not next(seen)
    (outside / "note.md").write_text("changed")
    while not (batch := next(seen)):
        pass
    assert "note.md" in str(batch)
    stop.set()


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="the system has no such paths")
def test_a_file_is_read_as_it_was_opened(folder: Path, outside: Path, tmp_path: Path) -> None:
    file = folder / "a.md"
    with held_in_place(file, tmp_path) as held:
        file.unlink()
        file.symlink_to(outside / "note.md")
        assert (held.name, held.read_text()) == ("a.md", WORDS)
    with pytest.raises(IngestError, match="is behind a link"), held_in_place(file, tmp_path):
        pass


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="the system has no such paths")
@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", ["sub", "sub/a.md", "sub/b.md", "sub/a.md.meta.json"])
def test_a_link_that_comes_and_goes_is_never_followed(
    folder: Path, outside: Path, sandbox: Sandbox, name: str
) -> None:
    (outside / "sub").mkdir()
    (folder / "sub").mkdir()
    for top, word in ((folder, "plain"), (outside, "SECRET")):
        (top / "sub/a.md").write_text(f"{word}\n\n```{{include}} b.md\n```\n")
        (top / "sub/b.md").write_text(word)
        (top / "sub/a.md.meta.json").write_text(f'{{"team": "{word}"}}')
    ended = Event()

    def swap() -> None:
        while not ended.is_set():
            (folder / name).rename(folder.parent / "kept")
            (folder / name).symlink_to(outside / name)
            sleep(0.001)
            (folder / name).unlink()
            (folder.parent / "kept").rename(folder / name)
            sleep(0.001)

    def read() -> Iterator[str]:
        for source in FileSources("default", "context=none", sandbox).find([folder]):
            with suppress(IngestError):
                document = source.read().document
                yield f"{document.text} {document.metadata}"

    told, until = list[str](), monotonic() + 1
    with ThreadPoolExecutor() as pool:
        swapping = pool.submit(swap)
        while monotonic() < until:
            told += read()
        ended.set()
        swapping.result()
    assert not any("SECRET" in each for each in told)
    assert any("plain" in each for each in read())  # amid it all, none may have been whole


def test_a_link_publishes_nothing_that_is_hidden(folder: Path) -> None:
    (folder / ".git").mkdir()
    for name, hidden in (("e.txt", ".env"), ("g.txt", ".git/config.txt")):
        (folder / hidden).write_text("SECRET")
        (folder / name).symlink_to(folder / hidden)
    files, left_out = found(folder)
    assert files == ["inside/a.md"]
    assert left_out["e.txt"] == left_out["g.txt"] == "a link to what is hidden"
