"""What the command line says of links, and of names and texts that a terminal would obey."""

import json
import zipfile
from pathlib import Path

from tests.end_to_end.processes import run_cli

NAME = "cv\u202efdp\x9b31m.md"
WRITTEN = r"cv\u202efdp\u009b31m.md"


def test_names_and_texts_are_written_out_and_the_same_to_programs(dsn: str, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / NAME).write_text("# Zebra \u202e\x9b\n\nA zebra has stripes: naïve, 斑马.")
    (folder / f"empty {NAME}").write_text("")
    done = run_cli(dsn, tmp_path, "ingest", str(folder))
    assert (done.exit_code, f"empty {WRITTEN}: holds no text" in done.stderr) == (1, True)
    listed = run_cli(dsn, tmp_path, "list", "--json").stdout
    assert json.loads(listed)["documents"][0]["uri"] == f"{folder}/{NAME}"
    found = run_cli(dsn, tmp_path, "search", "zebra", "--mode", "keyword", "--json").stdout
    assert "naïve, 斑马" in found
    gone = run_cli(dsn, tmp_path, "show", NAME.replace("cv", "no"))
    assert gone.exit_code != 0
    state = run_cli(dsn, tmp_path, "status").stdout
    for shown in (listed, found, done.stderr, gone.stderr, state):
        assert "\x9b" not in shown
        assert "\u202e" not in shown
    assert WRITTEN in listed


def test_an_archive_of_failures_is_summed_up(dsn: str, tmp_path: Path) -> None:
    file = tmp_path / "blank.zip"
    with zipfile.ZipFile(file, "w") as archive:
        for number in range(300):
            archive.writestr(f"{number:03}.md", " ")
    done = run_cli(dsn, tmp_path, "ingest", str(file))
    lines = done.stderr.splitlines()
    assert "and 280 more failed" in lines
    assert len(lines) < 30
    assert "not read, failed: 300 files" in lines
    assert run_cli(dsn, tmp_path, "status").stdout.count("holds no text") <= 20
    failed = json.loads(run_cli(dsn, tmp_path, "ingest", str(file), "--json").stdout)["failed"]
    assert len(failed) == 300


def test_links_out_of_a_folder_are_named_and_followed_where_that_is_said(
    dsn: str, tmp_path: Path
) -> None:
    folder, outside = tmp_path / "folder", tmp_path / "outside"
    for each in (folder, outside):
        each.mkdir()
    (folder / "a.md").write_text("A zebra has stripes.")
    (outside / "key.md").write_text("The walrus is secret.")
    (folder / "b.md").symlink_to(outside / "key.md")
    (folder / "more").symlink_to(outside)
    done = run_cli(dsn, tmp_path, "ingest", str(folder), "--verbose")
    assert done.exit_code == 0, done.stderr
    assert f"  {folder}/b.md: a link out of the folder" in done.stderr.splitlines()
    assert f"  {folder}/more: a link to a folder" in done.stderr.splitlines()
    report = json.loads(run_cli(dsn, tmp_path, "ingest", str(folder), "--json").stdout)
    assert report["left_out"][f"{folder}/b.md"] == "a link out of the folder"
    walrus = ("search", "walrus", "--mode", "keyword", "--json")
    assert json.loads(run_cli(dsn, tmp_path, *walrus).stdout)["hits"] == []
    followed = run_cli(dsn, tmp_path, "ingest", str(folder), "--follow-links", "--json")
    assert json.loads(followed.stdout)["inserted"] == 1
    (hit,) = json.loads(run_cli(dsn, tmp_path, *walrus).stdout)["hits"]
    assert hit["uri"] == f"{outside}/key.md"
