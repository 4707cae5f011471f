"""Reading plain text, Markdown and code; what all kinds of files have in common."""

import os
import sys
from pathlib import Path

import pytest

from lexichord.display.plain_text import FILES_WITHOUT_MARKUP
from lexichord.errors import IngestError
from lexichord.ingest.load import ENDINGS, LOADERS, load, media_type, title
from lexichord.serve.page.form import KIND_NAMES

JAPANESE = "本契約は、甲と乙との間の秘密保持に関する条件を定める。第1条 目的"
FRENCH = "Le présent contrat est conclu à Paris, où les parties sont “créées”."
needs_permissions = pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")


def write(file: Path, content: str | bytes) -> Path:
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


def test_a_text_is_read_character_for_character(tmp_path: Path) -> None:
    text = "a\r\nb\u2028 naïve 🎉\x0c\n"
    loaded = load(write(tmp_path / "a.md", text))
    assert (loaded.text, loaded.metadata) == (text, {})


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", "first note"),
        ("a.md", "# first note"),
        ("a.csv", "first,note\n1,2"),
        ("a.html", "<p>first note"),
        ("a.rst", "first note"),
        ("a.json", '{"first": "note"}'),
        ("a.jsonl", '{"first": "note"}'),
        ("a.ipynb", '{"cells": [{"cell_type": "markdown", "source": "first note"}]}'),
        ("a.xml", "<a>first note</a>"),
        ("a.rtf", "{\\rtf1 first note}"),
        ("a.eml", "Subject: first note\n\nfirst note"),
        ("a.py", "first = 'note'"),
        ("a.unknown", "first note"),
    ],
)
def test_the_mark_of_the_bytes_order_is_no_text(tmp_path: Path, name: str, content: str) -> None:
    loaded = load(write(tmp_path / name, f"\ufeff{content}"))
    assert "first" in loaded.text
    assert "\ufeff" not in loaded.text
    assert loaded.text == load(write(tmp_path / name, content)).text


def test_a_mark_before_a_text_of_another_encoding_is_none_either(tmp_path: Path) -> None:
    loaded = load(write(tmp_path / "a.txt", b"\xef\xbb\xbf" + FRENCH.encode("cp1252")))
    assert loaded.text == FRENCH


@pytest.mark.parametrize(
    ("text", "encoding", "named"),
    [
        (FRENCH, "cp1252", "cp1252"),
        (JAPANESE, "shift_jis", "cp932"),
        ("Настоящий договор заключён между сторонами.", "cp1251", "cp1251"),
        (FRENCH, "utf-16", "utf-16"),
        (JAPANESE, "utf-32", "utf-32"),
    ],
)
def test_an_encoding_is_found_and_named(
    tmp_path: Path, text: str, encoding: str, named: str
) -> None:
    loaded = load(write(tmp_path / "a.txt", text.encode(encoding)))
    assert (loaded.text, loaded.metadata) == (text, {"encoding": named})


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "^holds no text$"),
        (b"\xef\xbb\xbf", "^holds no text$"),
        (b"a\0b", "^holds NUL characters: it is binary"),
        (b"\x89PNG\r\n\x1a\n\x01\x02\xff\xfe\x07" * 50, "^is binary, or text in an unknown"),
        (b"\xff\xfe\x00\xd8a\x00", "^is binary, or text in an unknown encoding: save it as UTF-8$"),
    ],
)
def test_what_is_no_text_is_refused(tmp_path: Path, content: bytes, reason: str) -> None:
    with pytest.raises(IngestError, match=reason):
        load(write(tmp_path / "a.txt", content))


@pytest.mark.parametrize("name", ["a.txt", "a.html"])
def test_too_much_text_is_refused_before_it_is_read(tmp_path: Path, name: str) -> None:
    file = write(tmp_path / name, b"")
    os.truncate(file, 50_000_001)  # without taking room on the disk
    with pytest.raises(IngestError, match=r"^holds more than 50 MB of text: split it$"):
        load(file)


@needs_permissions
@pytest.mark.parametrize("name", ["a.txt", "a.html", "a.pdf", "a.docx"])
def test_what_may_not_be_read_says_so(tmp_path: Path, name: str) -> None:
    write(tmp_path / name, "text").chmod(0)
    with pytest.raises(IngestError, match=r"^cannot be read: Permission denied$"):
        load(tmp_path / name)


@pytest.mark.parametrize("name", ["a.txt", "a.html", "a.pdf", "a.docx"])
def test_what_is_gone_says_so(tmp_path: Path, name: str) -> None:
    with pytest.raises(IngestError, match=r"^cannot be read: No such file or directory$"):
        load(tmp_path / name)


@pytest.mark.parametrize("name", ["a.txt", "a.html"])
def test_invisible_characters_are_kept_and_flagged(tmp_path: Path, name: str) -> None:
    loaded = load(write(tmp_path / name, "pay\u200bment \u202ereversed\u202c"))
    assert loaded.text == "pay\u200bment \u202ereversed\u202c"
    assert loaded.metadata == {"flags": ["zero-width characters", "bidirectional characters"]}
    assert load(write(tmp_path / name, "family 👨\u200d👩\u200d👧")).metadata == {}


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(IngestError, match=r"^'\.png' is no kind that can be read: .*\.docx"):
        media_type(Path("a.png"))


def test_a_missing_library_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for loaded in [other for other in sys.modules if other.startswith("lexichord.ingest.load.")]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, "pypdfium2", None)  # as if it were not installed
    monkeypatch.delattr("lexichord.ingest.load.pdf", raising=False)
    with pytest.raises(IngestError, match=r"needs pypdfium2: pip install 'lexichord\[files\]'$"):
        load(write(tmp_path / "a.pdf", b"%PDF-1.7"))


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("lease.md", "# Lease of a Floor\n\nText", "Lease of a Floor"),
        ("lease.md", "\ufeff\n  # Lease ##\r\nText", "Lease"),
        ("a/office_lease  2.md", "Text\n# Later", "office lease 2"),
        ("a/lease.txt", "# No Markdown", "lease"),
        ("a/.md", "text", ".md"),
        ("lease.md", "# " + "long " * 50, "lease"),
    ],
)
def test_a_title_is_the_first_heading_or_the_name(name: str, text: str, expected: str) -> None:
    kind = "text/plain" if name.endswith(".txt") else "text/markdown"
    assert title(name, text, kind) == expected


@pytest.mark.timeout(20)
@pytest.mark.parametrize("sign", ["#", " ", " #"])
def test_a_first_line_without_end_is_read_in_linear_time(sign: str) -> None:
    assert title("lease.md", "# a" + sign * 500_000 + "b", "text/markdown") == "lease"


def test_every_kind_has_a_name_and_holds_markup_or_none() -> None:
    assert {*LOADERS, "text/plain"} == {*KIND_NAMES}
    for kind in KIND_NAMES:
        assert len({ending in FILES_WITHOUT_MARKUP for ending in ENDINGS[kind].split()}) == 1, kind
    assert {*FILES_WITHOUT_MARKUP} <= {one for kind in KIND_NAMES for one in ENDINGS[kind].split()}
