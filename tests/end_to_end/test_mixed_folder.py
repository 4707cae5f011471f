"""A folder as people have them: all that can be read arrives, and nothing else goes unsaid."""

import gzip
import json
import re
from pathlib import Path

import pytest

from lexichord import SyncLexichord
from tests.compound import write_compound
from tests.end_to_end.processes import run_cli
from tests.unit import (
    test_containers,
    test_load_mail,
    test_load_markup,
    test_load_office,
    test_load_outlook,
)

# What part of a made-up office's folder holds, by its names; each says a «word» of its own.
TEXTS = {
    "README": "The folder's readme speaks of «quokkas».",
    "Dockerfile": "FROM scratch\nLABEL animal=«numbat»\n",
    "LICENSE": "Licensed to any «bilby».",
    "copyright": "Copyright of a «quoll».",
    "README.Debian": "How a «potoroo» is packaged.",
    "notes.log": "2027-02-02 ERROR a «wombat» in the engine\n",
    "setup.cfg": "[animal]\nname = «dingo»\n",
    "guide.rst": "Guide\n=====\n\nOf the «echidna».\n",
    "guide.org": "* Guide\nOf the «platypus».\n",
    "guide.adoc": "= Guide\n\nOf the «taipan».\n",
    "prices.csv": "animal,price\n«kookaburra»,7\n",
    "prices.tsv": "animal\tprice\n«lorikeet»\t8\n",
    "rows.ndjson": '{"animal": "«cassowary»"}\n{"animal": "emu"}\n',
    "data.json": '{"animal": "«goanna»"}',
    "feed.rss": test_load_markup.RSS.replace("rope", "«bandicoot»"),
    "plan.rtf": test_load_markup.RTF.replace("Mooring", "«Possum»"),
    "book.ipynb": json.dumps(test_load_markup.NOTEBOOK).replace("Words.", "Of the «wallaby»."),
    "page.html": "<html><body><h1>Page</h1><p>Of the «galah».</p></body></html>",
    "paper.md": "# Paper\n\nOf the «brolga».",
    "code.py": "def «kangaroo»():\n    return 1\n",
}
OTHER_WORDS = {
    "changelog.gz/changelog": "bettong",
    "deck.pptx": "ferry",
    "sheet.xlsx": "harbour",
    "sheet.ods": "Blues",
    "novel.epub": "Mooring",
    "letter.odt": "Canoe",
    "mail.eml": "ferry",
    "mail.eml/prices.csv": "a b 1 2",
    "mail.msg": "ferry leaves",
    "mail.msg/prices.csv": "Lund",
    "files.zip/a/koala.md": "koala",
    "files.zip/in.zip/b.txt": "dugong",
}
WORDS = {name: re.split("[«»]", text)[1] for name, text in TEXTS.items()} | OTHER_WORDS


def make_folder(folder: Path) -> Path:
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / name).write_text(re.sub("[«»]", "", text))
    test_load_office.make_pptx(folder / "deck.pptx")
    test_load_office.make_xlsx(folder / "sheet.xlsx")
    test_load_office.make_ods(folder / "sheet.ods")
    test_load_markup.make_epub(folder / "novel.epub")
    test_load_markup.make_odt(folder / "letter.odt")
    mail = test_load_mail.attached()
    (folder / "mail.eml").write_bytes(mail.as_bytes())
    outlook = write_compound(test_load_outlook.OUTLOOK)
    (folder / "mail.msg").write_bytes(outlook)
    inner = test_containers.packed({"b.txt": "Of the dugong."})
    parts: dict[str, str | bytes] = {"a/koala.md": "# Koala", "in.zip": inner, "x.bin": b"\0"}
    (folder / "files.zip").write_bytes(test_containers.packed(parts))
    (folder / "changelog.gz").write_bytes(gzip.compress(b"Mends the bettong."))
    for name in ("photo.PNG", "logo.png", "core", ".hidden/x.md", "node_modules/y.js"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(b"\x89")
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_folder(tmp_path / "office").resolve()


def test_all_that_can_be_read_arrives(plain: SyncLexichord, folder: Path) -> None:
    report = plain.ingest([folder])
    assert report.failed == {}
    stored = {row.uri.removeprefix(f"{folder}/"): row for row in plain.list()}
    assert set(WORDS) <= set(stored)
    for name, word in WORDS.items():
        document = stored[name].document_id
        assert plain.search(word, documents=[document], mode="keyword").hits, name
    for row in stored.values():
        shown = plain.show(row.document_id)
        for chunk in shown.chunks:
            assert shown.text[chunk.start : chunk.end] == chunk.content
    assert plain.ingest([folder]).skipped == len(stored)


def test_what_was_not_read_is_named_by_kind(plain: SyncLexichord, folder: Path) -> None:
    report = plain.ingest([folder])
    unread = {name.removeprefix(f"{folder}/"): kind for name, kind in report.unread.items()}
    assert unread == {
        "photo.PNG": ".png",
        "logo.png": ".png",
        "core": "without an ending",
        "mail.eml/logo.png": ".png",
        "files.zip/x.bin": ".bin",
    }
    left_out = {name.removeprefix(f"{folder}/"): why for name, why in report.left_out.items()}
    assert left_out == {".hidden": "hidden", "node_modules": "filled by a tool"}
    (run,) = plain.status().runs
    assert run.unread == {".png": 3, ".bin": 1, "without an ending": 1}
    assert run.done == run.total == report.inserted


def test_a_hit_names_the_slide_the_sheet_and_the_rows(plain: SyncLexichord, folder: Path) -> None:
    plain.ingest([folder])

    def found(words: str, name: str) -> tuple[str, int | None]:
        uri = f"{folder}/{name}"
        hit = plain.search(words, documents=[uri], mode="keyword", k=1).hits[0]
        return hit.heading, hit.page

    assert found("mention the ferry", "deck.pptx") == ("Slide 1: Plan for 2027", 1)
    assert found("grouped words", "deck.pptx") == ("Slide 2", 2)
    heading, _ = found("Boat 77", "sheet.xlsx")
    assert heading.startswith("Sheet Budget › rows ")
    assert found("kookaburra", "prices.csv")[0] == "rows 1–2"


def test_parts_that_are_gone_are_pruned_and_a_broken_archive_is_not(
    plain: SyncLexichord, folder: Path
) -> None:
    plain.ingest([folder])
    archive = folder / "files.zip"
    whole = archive.read_bytes()
    archive.write_bytes(whole[:30])
    report = plain.ingest([folder], prune=True)
    assert (list(report.failed), report.deleted) == ([archive.as_posix()], 0)
    archive.write_bytes(test_containers.packed({"a/koala.md": "# Koala"}))
    report = plain.ingest([folder], prune=True)
    assert (report.failed, report.deleted) == ({}, 1)


def test_a_part_that_failed_can_be_taken_up_again(plain: SyncLexichord, folder: Path) -> None:
    archive = folder / "more.zip"
    archive.write_bytes(test_containers.packed({"a.md": "  ", "b.md": "good"}))
    report = plain.ingest([archive])
    assert report.failed == {f"{archive}/a.md": "holds no text"}
    archive.write_bytes(test_containers.packed({"a.md": "mended", "b.md": "good"}))
    assert plain.retry_failed().inserted == 1
    assert plain.show(f"{archive}/a.md").text == "mended"


def run(dsn: str, home: Path, *arguments: str, expected: int = 0) -> tuple[str, str]:
    done = run_cli(dsn, home, *arguments)
    assert done.exit_code == expected, done.stderr
    return done.stdout, done.stderr


def test_the_command_line_says_what_was_not_read(dsn: str, tmp_path: Path, folder: Path) -> None:
    home = tmp_path / "home"
    _, said = run(dsn, home, "ingest", str(folder))
    assert "not read, of no kind that can be: 3 .png, 1 without an ending, 1 .bin" in said
    assert "photo.PNG" in said
    assert "left out: 1 hidden, 1 filled by a tool (--verbose names them)" in said
    assert "node_modules" not in said
    _, said = run(dsn, home, "ingest", str(folder), "--verbose")
    assert "node_modules: filled by a tool" in said
    shown, _ = run(dsn, home, "status")
    assert "not read, of no kind that can be: " in shown
    written, _ = run(dsn, home, "ingest", str(folder), "--include", "*.md", "--json")
    report = json.loads(written)
    assert report["left_out"][f"{folder}/prices.csv"] == "not in --include"


def test_a_folder_that_gives_nothing_ends_with_a_hint(dsn: str, tmp_path: Path) -> None:
    folder = tmp_path / "pictures"
    folder.mkdir()
    (folder / "a.png").write_bytes(b"\x89")
    _, said = run(dsn, tmp_path / "home", "ingest", str(folder), expected=1)
    assert "nothing was read" in said
