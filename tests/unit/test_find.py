"""Finding files, naming them."""

import hashlib
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec

from lexichord.errors import ConfigError, IngestError
from lexichord.ingest.files import file_digest
from lexichord.ingest.load import kind_of, kind_of_file, load, named_by_type
from lexichord.ingest.sources import FileSearch, read_patterns, storable_name

needs_permissions = pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
NOT_UTF_8 = os.fsdecode(b"caf\xe9.txt")


def names(*paths: Path) -> list[str]:
    return [file.name for file in FileSearch().find(paths)]


def write(file: Path, content: str | bytes = "text") -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


def test_a_folder_gives_its_files_in_order(tmp_path: Path) -> None:
    for name in (
        *("b.md", "a.txt", "sub/c.markdown", "sub/D.TXT", "e.pdf", "f.docx", "g.htm", "h.py"),
        *("i.png", "Makefile", ".hidden.md", ".git/f.md"),
    ):
        write(tmp_path / name)
    expected = ["Makefile", "a.txt", "b.md", "e.pdf", "f.docx", "g.htm", "h.py"]
    assert names(tmp_path) == [*expected, "D.TXT", "c.markdown"]


def searched(root: Path, **options: Any) -> tuple[list[str], dict[str, str], dict[str, str]]:
    """Return the names of the files found, what was not read and what was left out."""
    search = FileSearch(**options)
    found = [file.relative_to(root).as_posix() for file in search.find([root])]
    prefix = f"{root}/"
    unread = {name.removeprefix(prefix): kind for name, kind in search.unread.items()}
    return found, unread, {n.removeprefix(prefix): why for n, why in search.left_out.items()}


def test_what_is_passed_over_is_on_record(tmp_path: Path) -> None:
    for name in (
        *("a.md", "i.PNG", "sub/j.png", ".env", ".git/f.md", "~$b.docx"),
        *("node_modules/a.js", "env/pyvenv.cfg"),
    ):
        write(tmp_path / name)
    write(tmp_path / "core", b"\x7fELF\0")
    (tmp_path / "link").symlink_to(tmp_path / "sub")
    found, unread, left_out = searched(tmp_path)
    assert found == ["a.md"]
    assert unread == {"i.PNG": ".png", "sub/j.png": ".png", "core": "without an ending"}
    assert left_out == {
        ".env": "hidden",
        ".git": "hidden",
        "~$b.docx": "the lock of an open document",
        "node_modules": "filled by a tool",
        "env": "a Python environment",
        "link": "a link to a folder",
    }


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("copyright", "Licensed to Zoë.", "text/plain"),
        ("README.Debian", "Read\n" + "me ü" * 40_000, "text/plain"),  # a letter at the cut
        ("a.foo", b"caf\xe9", None),
        ("a.foo", b"text\0", None),
        ("a.py", b"\0", "text/x-python"),  # reading it says what is wrong
    ],
)
def test_a_text_is_told_by_what_it_holds_where_its_name_tells_nothing(
    tmp_path: Path, name: str, content: str | bytes, kind: str | None
) -> None:
    file = write(tmp_path / name, content)
    assert kind_of_file(file) == kind
    assert searched(tmp_path)[0] == ([name] if kind else [])
    assert searched(tmp_path)[1] == ({} if kind else {name: file.suffix or "without an ending"})
    if kind == "text/plain":
        assert load(file).title == name


def test_gitignore_is_followed_the_innermost_first(tmp_path: Path) -> None:
    write(tmp_path / ".gitignore", "*.log\nbuild/\n/top.md\n")
    write(tmp_path / "sub" / ".gitignore", "!keep.log\n")
    ignored = ("a.log", "top.md", "sub/b.log", "build/c.md")
    for name in ("a.md", "sub/top.md", "sub/keep.log", *ignored):
        write(tmp_path / name)
    found, _, left_out = searched(tmp_path)
    assert found == ["a.md", "sub/keep.log", "sub/top.md"]
    assert sorted(name for name, why in left_out.items() if why == "in .gitignore") == [
        "a.log",
        "build",
        "sub/b.log",
        "top.md",
    ]
    assert names(tmp_path / "build") == ["c.md"]  # named itself
    assert names(tmp_path / "a.log") == ["a.log"]


@pytest.mark.parametrize(
    "pattern",
    ["*a" * 30 + "*b", "**/a/" * 30 + "b", "*a*/**/" * 10 + "b", "*" + "[!a]" * 40],
)
def test_a_pattern_of_many_stars_does_not_hang(tmp_path: Path, pattern: str) -> None:
    """By backtracking the first alone takes more than a lifetime."""
    write(tmp_path / ".gitignore", f"{pattern}\n*.log\n")
    deep = tmp_path.joinpath(*["a"] * 60) / f"{'a' * 200}.md"
    write(deep)
    write(deep.with_suffix(".log"))
    assert names(tmp_path) == [deep.name]


PARTS = ["**", "*", "a", "ab", "*a", "a*", "*a*b", "a*b*a", "?", "[ab]*", "[!a]*b", "*.*", "\\*a*"]


@given(
    st.lists(st.sampled_from(PARTS), min_size=1, max_size=5).map("/".join),
    st.lists(st.text("abc*.", min_size=1, max_size=5), min_size=1, max_size=5).map("/".join),
    st.sampled_from(["", "!", "/"]),
    st.sampled_from(["", "/"]),
)
def test_patterns_say_what_they_say_by_backtracking(
    pattern: str, path: str, opening: str, end: str
) -> None:
    lines = [f"{opening}{pattern}{end}"]
    expected = GitIgnoreSpec.from_lines(lines).check_file(path + end).include
    assert read_patterns(lines).check_file(path + end).include == expected


def test_patterns_take_and_leave_out(tmp_path: Path) -> None:
    for name in ("a.md", "b.txt", "old/c.md", "new/d.md", "new/e.png"):
        write(tmp_path / name)
    found, unread, left_out = searched(tmp_path, include=["*.md", "*.png"], exclude=["old/"])
    assert (found, unread) == (["a.md", "new/d.md"], {"new/e.png": ".png"})
    assert left_out == {"b.txt": "not in --include", "old": "in --exclude"}
    with pytest.raises(ConfigError, match="--exclude: "):
        FileSearch(exclude=["!"])


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *((name, "text/plain") for name in ("README", "LICENSE", "License", "CHANGELOG")),
        *((name, "text/x-dockerfile") for name in ("Dockerfile", "Dockerfile.dev")),
        *(("Makefile", "text/x-makefile"), ("README.md", "text/markdown"), ("a.CSV", "text/csv")),
        ("a.tsx", "text/x-typescript"),
        *((name, None) for name in ("core", "README.png", "a.b", "notes", "")),
    ],
)
def test_a_kind_is_told_by_the_name(name: str, kind: str | None) -> None:
    assert kind_of(name) == kind


@pytest.mark.parametrize(
    ("name", "media_type", "named"),
    [
        ("notes", "text/markdown; charset=utf-8", "notes.md"),
        ("1.2 of May", "APPLICATION/PDF", "1.2 of May.pdf"),
        ("a", "application/octet-stream", "a"),
    ],
)
def test_a_type_names_the_kind_where_the_name_does_not(
    name: str, media_type: str, named: str
) -> None:
    assert named_by_type(name, media_type) == named


def test_a_named_file_is_given_once_whatever_its_kind_and_a_missing_one_refused(
    tmp_path: Path,
) -> None:
    assert names(write(tmp_path / ".hidden.png")) == [".hidden.png"]
    file = write(tmp_path / "a.md")
    assert names(file, tmp_path, tmp_path / "." / "a.md") == ["a.md"]
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
    gone, loop = FileSearch().find([tmp_path])
    with pytest.raises(IngestError, match="cannot be read: No such file"):
        file_digest(gone)
    with pytest.raises(IngestError, match="cannot be read: Too many levels of symbolic links"):
        file_digest(loop)


def test_what_no_document_can_be_is_refused_unread(tmp_path: Path) -> None:
    with (tmp_path / "sparse.txt").open("wb") as stream:
        stream.truncate(10**12)
    with pytest.raises(IngestError, match=r"^is larger than 1,000 MB: split it$"):
        file_digest(tmp_path / "sparse.txt")


@needs_permissions
def test_a_folder_that_cannot_be_listed_is_given_itself(tmp_path: Path) -> None:
    write(tmp_path / "closed" / "a.md")
    (tmp_path / "closed").chmod(0)
    assert names(tmp_path) == ["closed"]
    (tmp_path / "closed").chmod(0o700)


def test_what_vanishes_midway_says_so_when_it_is_read(tmp_path: Path) -> None:
    for name in ("a.md", "b.md", "sub/c.md"):
        write(tmp_path / name)
    files = FileSearch().find([tmp_path])
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


@pytest.mark.parametrize("name", ["a\nb.md", 'it\'s "q".md', "%41 ü 🎉.md", NOT_UTF_8])
def test_odd_names_are_no_matter(tmp_path: Path, name: str) -> None:
    content = "some text"
    write(tmp_path / name, content)
    (file,) = FileSearch().find([tmp_path])
    assert file.name == name
    assert file_digest(file) == hashlib.sha256(content.encode()).hexdigest()
    loaded = load(file)
    assert loaded.text == content
    assert loaded.title.encode()  # no lone surrogates


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


@pytest.mark.parametrize("link", ["a.md", "in/a.md", "z/a.md"])
def test_a_link_to_what_is_passed_over_is_passed_over(tmp_path: Path, link: str) -> None:
    write(tmp_path / ".gitignore", "*.log.md\n/private/\n")
    write(tmp_path / "sub" / ".gitignore", "draft.md\n!kept.log.md\n")
    write(tmp_path / "python" / "pyvenv.cfg")
    passed_over = ("b.log.md", "private/c.md", "private/deep/d.md", "sub/draft.md", "python/e.md")
    for name in (*passed_over, "sub/kept.log.md"):
        write(tmp_path / name)
    for number, name in enumerate((*passed_over, "sub/kept.log.md", "out/f.md")):
        write(tmp_path / "out" / "f.md")
        place = tmp_path / link.replace("a.md", f"{number}.md")
        place.parent.mkdir(exist_ok=True)
        place.symlink_to(tmp_path / name)
    found = sorted(
        {
            path.relative_to(tmp_path).as_posix()
            for path in FileSearch(exclude=["out"]).find([tmp_path])
        }
    )
    assert found == ["sub/kept.log.md"]
    assert set(names(tmp_path)) == {"f.md", "kept.log.md"}
