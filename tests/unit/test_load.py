"""Finding files, reading them, naming them."""

import hashlib
import os
from pathlib import Path

import pytest

from lexichord.errors import ConfigError, IngestError
from lexichord.ingest.find import digest, find_files, storable
from lexichord.ingest.load import media_type, title
from lexichord.ingest.load.text import read_text

needs_permissions = pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")


def names(*paths: Path) -> list[str]:
    return [file.name for file in find_files(paths)]


def write(file: Path, content: str | bytes = "text") -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


def test_a_folder_gives_its_text_files_in_order(tmp_path: Path) -> None:
    for name in (
        "b.md",
        "a.txt",
        "sub/c.markdown",
        "sub/D.TXT",
        "e.pdf",
        ".hidden.md",
        ".git/f.md",
    ):
        write(tmp_path / name)
    assert names(tmp_path) == ["a.txt", "b.md", "D.TXT", "c.markdown"]


def test_a_file_is_given_once(tmp_path: Path) -> None:
    file = write(tmp_path / "a.md")
    assert names(file, tmp_path, tmp_path / "." / "a.md") == ["a.md"]


def test_a_named_file_is_given_whatever_its_kind(tmp_path: Path) -> None:
    assert names(write(tmp_path / ".hidden.pdf")) == [".hidden.pdf"]


def test_a_missing_path_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"there is no file or folder .*absent"):
        names(tmp_path / "absent")


def test_a_link_to_a_folder_is_not_followed(tmp_path: Path) -> None:
    write(tmp_path / "real" / "a.md")
    (tmp_path / "real" / "loop").symlink_to(tmp_path / "real")
    assert names(tmp_path) == ["a.md"]


@needs_permissions
def test_a_folder_that_cannot_be_listed_is_given_itself(tmp_path: Path) -> None:
    write(tmp_path / "closed" / "a.md")
    (tmp_path / "closed").chmod(0)
    assert names(tmp_path) == ["closed"]
    (tmp_path / "closed").chmod(0o700)


def test_the_digest_is_of_the_bytes(tmp_path: Path) -> None:
    content = b"\xef\xbb\xbfa\r\n"
    assert digest(write(tmp_path / "a.md", content)) == hashlib.sha256(content).hexdigest()


@pytest.mark.timeout(20)
def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    for path in (tmp_path, tmp_path / "pipe.txt"):
        with pytest.raises(IngestError, match="is no file"):
            digest(path)
    with pytest.raises(IngestError, match="cannot be read: No such file"):
        digest(tmp_path / "absent")


def test_a_text_is_read_character_for_character(tmp_path: Path) -> None:
    text = "\ufeffa\r\nb\u2028 naïve 🎉\n"
    assert read_text(write(tmp_path / "a.md", text)) == text


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "holds no text"),
        (b" \n\t", "holds no text"),
        (b"a\0b", "holds NUL characters"),
        (b"caf\xe9", r"is not UTF-8 text \(byte 3\)"),
        ("wide".encode("utf-16"), "is not UTF-8 text"),
    ],
)
def test_what_is_no_text_is_refused(tmp_path: Path, content: bytes, reason: str) -> None:
    with pytest.raises(IngestError, match=reason):
        read_text(write(tmp_path / "a.txt", content))


def test_the_kind_is_told_by_the_ending() -> None:
    assert media_type(Path("A.MD")) == media_type(Path("a.markdown")) == "text/markdown"
    assert media_type(Path("a.txt")) == "text/plain"
    with pytest.raises(IngestError, match=r"'\.pdf' is no kind that can be read: \.txt, \.md"):
        media_type(Path("a.pdf"))


def test_a_name_that_is_not_utf_8_has_a_uri_that_is() -> None:
    assert storable(os.fsdecode(b"/a/caf\xe9.txt")) == "/a/caf\\xe9.txt"
    assert storable("/a/naïve 1.txt") == "/a/naïve 1.txt"


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("lease.md", "# Lease of a Floor\n\nText", "Lease of a Floor"),
        ("lease.md", "\ufeff\n  # Lease ##\r\nText", "Lease"),
        ("notes.md", "# Notes on C#\n", "Notes on C#"),
        ("a/office_lease  2.md", "Text\n# Later", "office lease 2"),
        ("a/office%20lease.md", "## Second level", "office lease"),
        ("a/lease.txt", "# No Markdown", "lease"),
        ("a/.md", "text", ".md"),
        ("lease.md", "# " + "long " * 50, "lease"),
        ("_.md", "text", "_.md"),
    ],
)
def test_a_title_is_the_first_heading_or_the_name(name: str, text: str, expected: str) -> None:
    kind = "text/plain" if name.endswith(".txt") else "text/markdown"
    assert title(name, text, kind) == expected


@pytest.mark.timeout(20)
@pytest.mark.parametrize("sign", ["#", " ", " #"])
def test_a_first_line_without_end_is_read_in_linear_time(sign: str) -> None:
    assert title("lease.md", "# a" + sign * 500_000 + "b", "text/markdown") == "lease"
