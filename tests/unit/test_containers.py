"""Archives: what they contain, within limits."""

import gzip
import zipfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

import pytest
from reportlab.lib.pdfencrypt import StandardEncryption

from lexichord.errors import IngestError
from lexichord.ingest.load import containers
from lexichord.ingest.load.archive import MIN_RATIO_BYTES, check_archive
from lexichord.ingest.load.containers import ContainedFile, Unpacker, list_parts
from lexichord.ingest.load.marks import LoadOptions
from lexichord.ingest.sandbox import Sandbox
from tests.documents import draw_pdf

SYMLINK = 0o120777 << 16


def packed(parts: Mapping[str, str | bytes], links: tuple[str, ...] = ()) -> bytes:
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = SYMLINK if name in links else 0
            archive.writestr(info, content)
    return stream.getvalue()


def write(file: Path, content: bytes) -> Path:
    file.write_bytes(content)
    return file


def outcomes(parts: list[ContainedFile]) -> dict[str, str]:
    return {part.name: part.unread or part.left_out or part.error or "read" for part in parts}


def test_what_an_archive_contains_is_listed(tmp_path: Path) -> None:
    inner = packed({"deep.md": "# Deep", "x.png": b"png"})
    parts: dict[str, str | bytes] = {
        "a.md": "# A",
        "b/": "",
        "b/c.csv": "1,2",
        "b/logo.png": b"",
        "core": b"",
        "in.zip": inner,
    }
    hidden = {"__MACOSX/a.md": "x", ".git/b.md": "x"}
    file = write(tmp_path / "a.zip", packed({**parts, **hidden}))
    assert outcomes(list_parts(file, tmp_path)) == {
        "a.md": "read",
        "b/c.csv": "read",
        "b/logo.png": ".png",
        "core": "without an ending",
        "in.zip/deep.md": "read",
        "in.zip/x.png": ".png",
        "__MACOSX/a.md": "hidden",
        ".git/b.md": "hidden",
    }
    with Sandbox() as sandbox:
        read = {
            part.name: sandbox.read_part(file, part)[0].text
            for part in sandbox.list_parts(file)
            if part.sha256
        }
    assert read == {"a.md": "# A", "b/c.csv": "| 1 | 2 |", "in.zip/deep.md": "# Deep"}
    assert [path.name for path in tmp_path.iterdir()] == ["a.zip"]


def test_a_contained_file_is_read_with_the_options_of_any(tmp_path: Path) -> None:
    secret = StandardEncryption("secret", strength=128)
    draw_pdf(tmp_path / "a.pdf", [[(60, 700, "The gnu grazes.")]], encrypt=secret)
    content = (tmp_path / "a.pdf").read_bytes()
    file = write(tmp_path / "a.zip", packed({"in.zip": packed({"a.pdf": content})}))
    with Sandbox(LoadOptions(password="secret")) as sandbox:
        (part,) = sandbox.list_parts(file)
        assert sandbox.read_part(file, part)[0].text == "The gnu grazes."
    with Sandbox() as sandbox, pytest.raises(IngestError, match="is encrypted: save it without"):
        sandbox.read_part(file, part)


def test_no_name_leads_out_of_the_archive(tmp_path: Path) -> None:
    names = ["../up.md", "/root.md", "C:\\win.md", "a/../../b.md", "../up.md/../x.md", "n\0ul.md"]
    file = write(tmp_path / "a.zip", packed(dict.fromkeys(names, "x")))
    listed = list_parts(file, tmp_path)
    assert all(".." not in part.name.split("/") for part in listed)
    assert not any(part.name.startswith("/") for part in listed)
    with Unpacker(tmp_path / "").unpacked(file, listed[0]) as inner:
        assert inner.is_relative_to(tmp_path)
        assert inner.read_text() == "x"


def test_two_of_the_same_name_are_told_apart(tmp_path: Path) -> None:
    file = write(tmp_path / "a.zip", packed({"a.md": "first", "./a.md": "second"}))
    assert outcomes(list_parts(file, tmp_path)) == {
        "a.md": "read",
        "a.md (again)": "has the name of another in there",
    }


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is no ZIP archive"),
        (packed({"a.md": "words " * 500})[:60], "is no ZIP archive"),
        (packed({"a/": ""}), "is an archive without files"),
    ],
)
def test_a_broken_archive_is_refused(tmp_path: Path, content: bytes, reason: str) -> None:
    with pytest.raises(IngestError, match=reason):
        list_parts(write(tmp_path / "a.zip", content), tmp_path)


def test_what_is_packed_by_gzip_is_read(tmp_path: Path) -> None:
    content = "Closes the gap.\n"
    file = write(tmp_path / "changelog.Debian.gz", gzip.compress(content.encode()))
    (part,) = list_parts(file, tmp_path)
    assert (part.name, part.size) == ("changelog.Debian", len(content))
    with Sandbox() as sandbox:
        loaded = sandbox.read_part(file, part)[0]
    assert (loaded.text, loaded.title) == (content, "changelog.Debian")
    parts: dict[str, str | bytes] = {"doc/a.md.gz": gzip.compress(b"# A"), "copyright": "Mine."}
    file = write(tmp_path / "a.zip", packed(parts))
    assert outcomes(list_parts(file, tmp_path)) == {"doc/a.md.gz/a.md": "read", "copyright": "read"}
    file = write(tmp_path / "all.tar.gz", gzip.compress(b"a" + bytes(600)))
    assert outcomes(list_parts(file, tmp_path)) == {"all.tar": ".tar"}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"words", "is no gzip file"),
        (gzip.compress(b"words " * 500, mtime=0)[:30], "is a broken gzip file"),
        (gzip.compress(bytes(2 * MIN_RATIO_BYTES), mtime=0), "unpacks to more than 20 MB"),
    ],
    ids=["another", "broken", "bomb"],
)
def test_a_gzip_file_that_cannot_be_unpacked_says_so(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    (part,) = list_parts(write(tmp_path / "a.txt.gz", content), tmp_path)
    assert reason in part.error


def test_what_cannot_be_unpacked_says_so_and_stops_no_other(tmp_path: Path) -> None:
    content = packed(
        {"good.md": "x", "bomb.md": b"a" * 25_000_000, "link.md": "/etc/passwd"}, ("link.md",)
    )
    broken = packed({"good.md": "x"})
    nested = packed({"in.zip": broken[: len(broken) // 2], "cut.md": "words"})
    found = outcomes(list_parts(write(tmp_path / "a.zip", content), tmp_path))
    assert found["good.md"] == "read"
    assert found["bomb.md"] == "unpacks to 25 MB, which is no document"
    assert found["link.md"] == "is a link in an archive: unpack it"
    found = outcomes(list_parts(write(tmp_path / "b.zip", nested), tmp_path))
    assert found["in.zip"].startswith("is no ZIP archive")
    assert found["cut.md"] == "read"


def test_an_encrypted_part_says_so(tmp_path: Path) -> None:
    content = bytearray(packed({"a.md": "words"}))
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(signature) + offset] |= 1
    (found,) = list_parts(write(tmp_path / "a.zip", bytes(content)), tmp_path)
    assert found.error == "is encrypted: unpack it with its password"


def test_spoilt_bytes_say_so(tmp_path: Path) -> None:
    content = bytearray(packed({"a.md": "words " * 100}))
    content[45] ^= 0xFF
    (found,) = list_parts(write(tmp_path / "a.zip", bytes(content)), tmp_path)
    assert found.error.startswith("cannot be unpacked: ")


def test_a_document_that_grows_too_much_is_not_unpacked(tmp_path: Path) -> None:
    file = write(tmp_path / "a.odt", packed({"content.xml": b"a" * 25_000_000}))
    with pytest.raises(IngestError, match="unpacks to 25 MB"):
        check_archive(file, "broken")


def test_archives_in_archives_have_a_bottom(tmp_path: Path) -> None:
    content = packed({"a.md": "x"})
    for _ in range(5):
        content = packed({"n.zip": content})
    (found,) = list_parts(write(tmp_path / "a.zip", content), tmp_path)
    assert found.error == "lies in more than 3 files: unpack it"


@pytest.mark.parametrize(
    ("limit", "amount", "reason"),
    [
        ("MAX_PARTS", 3, "contains more than 3 files: unpack it"),
        ("MAX_PARTS_BYTES", 1_000_000, "unpacks to more than 1 MB: unpack it"),
    ],
)
def test_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, amount: int, reason: str
) -> None:
    monkeypatch.setattr(containers, limit, amount)
    parts = {f"{n}.md": f"{n} words " * 100_000 for n in range(4)}
    with pytest.raises(IngestError, match=reason):
        list_parts(write(tmp_path / "a.zip", packed(parts)), tmp_path)


def test_parts_of_mails_are_counted_over_all_that_a_file_contains(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = "--b\nContent-Type: text/plain\n\nwords\n"
    mail = f"From: a@b\nContent-Type: multipart/mixed; boundary=b\n\n{part * 9}--b--\n"
    mails: dict[str, str | bytes] = {f"{number}.eml": mail for number in range(4)}
    outer = packed({"in.zip": packed(mails)})
    file = write(tmp_path / "a.zip", outer)
    monkeypatch.setattr(containers, "MAX_MAILS_PARTS", 4 * 10)
    assert [part.error for part in list_parts(file, tmp_path)] == [""] * 4
    monkeypatch.setattr(containers, "MAX_MAILS_PARTS", 4 * 10 - 1)
    with pytest.raises(IngestError, match=r"^holds mails of more than 39 parts: unpack it$"):
        list_parts(file, tmp_path)


def test_what_changed_since_it_was_listed_says_so(tmp_path: Path) -> None:
    file = write(tmp_path / "a.zip", packed({"a.md": "x"}))
    (part,) = list_parts(file, tmp_path)
    write(file, packed({"a.md": "y"}))
    with (
        pytest.raises(IngestError, match="changed while it was read"),
        Unpacker(tmp_path).unpacked(file, part),
    ):
        pass


def test_an_archive_is_opened_once_for_all_that_it_contains(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each time takes as long as it has files, which made 5,000 of them take minutes."""
    opened = list[str]()

    class CountedArchive(zipfile.ZipFile):
        def __init__(self, file: Path) -> None:
            opened.append(file.name)
            super().__init__(file)

    inner = packed({f"{number}.md": f"inner {number}" for number in range(20)})
    outer = {f"{number}.md": f"outer {number}" for number in range(20)}
    file = write(tmp_path / "a.zip", packed({**outer, "in.zip": inner, "z.md": "last"}))
    another = packed({**outer, "0.md": "another"})
    listed = list_parts(file, tmp_path)
    unpacker = Unpacker(tmp_path)
    monkeypatch.setattr(zipfile, "ZipFile", CountedArchive)
    texts = list[str]()
    for part in listed:
        with unpacker.unpacked(file, part) as unpacked:
            texts.append(unpacked.read_text())
    assert texts == [*outer.values(), *(f"inner {number}" for number in range(20)), "last"]
    assert opened == ["a.zip", "in.zip"]
    write(file, another)
    with pytest.raises(IngestError, match="changed while it was read"):
        unpacker.unpacked(file, listed[0]).__enter__()
    assert opened == ["a.zip", "in.zip", "a.zip"]
    with unpacker.unpacked(file, listed[1]) as unpacked:
        assert unpacked.read_text() == "outer 1"
    unpacker.close()
    assert [one.name for one in tmp_path.iterdir()] == ["a.zip"]


def test_a_folder_that_is_named_as_an_archive_is_none(tmp_path: Path) -> None:
    parts: dict[str, str | bytes] = {
        "in.zip/a.md": "in a folder",
        "b/in.zip": packed({"a.md": "x"}),
    }
    file = write(tmp_path / "a.zip", packed(parts))
    with Sandbox() as sandbox:
        texts = [sandbox.read_part(file, part)[0].text for part in sandbox.list_parts(file)]
    assert texts == ["in a folder", "x"]
