"""Finding files, naming them."""

import hashlib
import os
import shutil
from pathlib import Path

import pytest

from lexichord.errors import ConfigError, IngestError
from lexichord.ingest.load import load
from lexichord.ingest.sources import file_digest, find_files, storable_name

needs_permissions = pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
NOT_UTF_8 = os.fsdecode(b"caf\xe9.txt")


def names(*paths: Path) -> list[str]:
    return [file.name for file in find_files(paths)]


def write(file: Path, content: str | bytes = "text") -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


def test_a_folder_gives_its_files_in_order(tmp_path: Path) -> None:
    for name in (
        "b.md",
        "a.txt",
        "sub/c.markdown",
        "sub/D.TXT",
        "e.pdf",
        "f.docx",
        "g.htm",
        "h.py",
        "i.png",
        "Makefile",
        ".hidden.md",
        ".git/f.md",
    ):
        write(tmp_path / name)
    expected = ["a.txt", "b.md", "e.pdf", "f.docx", "g.htm", "h.py", "D.TXT", "c.markdown"]
    assert names(tmp_path) == expected


def test_what_tools_put_in_a_folder_is_left_out(tmp_path: Path) -> None:
    for name in ("node_modules/a.js", "__pycache__/b.py", "env/pyvenv.cfg", "env/lib/c.py"):
        write(tmp_path / "sub" / name)
    assert names(tmp_path) == []
    assert names(tmp_path / "sub" / "node_modules") == ["a.js"]


def test_a_file_is_given_once(tmp_path: Path) -> None:
    file = write(tmp_path / "a.md")
    assert names(file, tmp_path, tmp_path / "." / "a.md") == ["a.md"]


def test_a_named_file_is_given_whatever_its_kind(tmp_path: Path) -> None:
    assert names(write(tmp_path / ".hidden.png")) == [".hidden.png"]


def test_a_missing_path_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"there is no file or folder .*absent"):
        names(tmp_path / "absent")


@pytest.mark.timeout(20)
def test_links_neither_loop_nor_give_a_file_twice(tmp_path: Path) -> None:
    write(tmp_path / "real" / "b.md")
    (tmp_path / "real" / "loop").symlink_to(tmp_path / "real")
    (tmp_path / "real" / "up").symlink_to(tmp_path)
    (tmp_path / "real" / "a.md").symlink_to(tmp_path / "real" / "b.md")
    assert names(tmp_path) == ["b.md"]


def test_a_link_that_leads_nowhere_says_so_when_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "gone.md").symlink_to(tmp_path / "absent.md")
    (tmp_path / "loop.md").symlink_to(tmp_path / "loop.md")
    gone, loop = find_files([tmp_path])
    with pytest.raises(IngestError, match="cannot be read: No such file"):
        file_digest(gone)
    with pytest.raises(IngestError, match="cannot be read: Too many levels of symbolic links"):
        file_digest(loop)


@needs_permissions
def test_a_folder_that_cannot_be_listed_is_given_itself(tmp_path: Path) -> None:
    write(tmp_path / "closed" / "a.md")
    (tmp_path / "closed").chmod(0)
    assert names(tmp_path) == ["closed"]
    (tmp_path / "closed").chmod(0o700)


def test_what_vanishes_midway_says_so_when_it_is_read(tmp_path: Path) -> None:
    for name in ("a.md", "b.md", "sub/c.md"):
        write(tmp_path / name)
    files = find_files([tmp_path])
    assert next(files).name == "a.md"
    (tmp_path / "b.md").unlink()
    shutil.rmtree(tmp_path / "sub")
    rest = list(files)
    assert {file.name for file in rest} == {"b.md", "sub"}
    for file in rest:
        with pytest.raises(IngestError, match="cannot be read: No such file"):
            file_digest(file)
    with pytest.raises(IngestError, match="cannot be read: No such file"):
        load(rest[0])


@pytest.mark.parametrize("name", ["a\nb.md", 'it\'s "q".md', "%41 ü 🎉.md", NOT_UTF_8, "-rf.txt"])
def test_odd_names_are_no_matter(tmp_path: Path, name: str) -> None:
    content = "some text"
    write(tmp_path / name, content)
    (file,) = find_files([tmp_path])
    assert file.name == name
    assert file_digest(file) == hashlib.sha256(content.encode()).hexdigest()
    loaded = load(file)
    assert loaded.text == content
    assert loaded.title.encode()  # no lone surrogates


def test_the_digest_is_of_the_bytes(tmp_path: Path) -> None:
    content = b"\xef\xbb\xbfa\r\n"
    assert file_digest(write(tmp_path / "a.md", content)) == hashlib.sha256(content).hexdigest()


@pytest.mark.timeout(20)
def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    (tmp_path / "folder.txt").mkdir()
    for path in (tmp_path / "folder.txt", tmp_path / "pipe.txt"):
        with pytest.raises(IngestError, match="is no file"):
            file_digest(path)
        with pytest.raises(IngestError, match="is no file"):
            load(path)
    with pytest.raises(IngestError, match="cannot be read: No such file"):
        file_digest(tmp_path / "absent")


def test_a_name_that_is_not_utf_8_has_a_uri_that_is() -> None:
    assert storable_name(os.fsdecode(b"/a/caf\xe9.txt")) == "/a/caf\\xe9.txt"
    assert storable_name("/a/naïve 1.txt") == "/a/naïve 1.txt"
