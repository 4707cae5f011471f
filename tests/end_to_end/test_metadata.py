"""Metadata of files: from the file, from beside it, from who ingests, and later."""

import json
from functools import partial
from pathlib import Path

import pytest

from lexichord import SyncLexichord
from lexichord.errors import ConfigError
from tests.end_to_end.processes import run_cli


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "office"
    folder.mkdir()
    (folder / "leave.md").write_text(
        "---\ntitle: Days off\nyear: 2026\n---\n# Leave\n\nZebra days."
    )
    (folder / "pay.txt").write_text("Zebra pay.")
    (folder / "pay.txt.meta.json").write_text('{"year": 2027, "title": "Wages", "tags": ["a"]}')
    return folder


def titles(plain: SyncLexichord, **filter: object) -> list[str]:
    hits = plain.search("zebra", mode="keyword", filter=filter).hits
    return sorted(hit.title for hit in hits)


def test_front_matter_sidecars_and_options_can_be_filtered_on(
    plain: SyncLexichord, folder: Path
) -> None:
    report = plain.ingest([folder], metadata={"team": "hr", "year": 2000})
    assert (report.inserted, report.failed) == (2, {})
    assert report.left_out == {f"{folder}/pay.txt.meta.json": "metadata"}
    assert titles(plain, team="hr") == ["Days off", "Wages"]
    assert titles(plain, year=2027, tags=["a"]) == ["Wages"]
    assert titles(plain, title="Days off", year=2000) == ["Days off"]
    assert titles(plain, media_type="text/markdown") == ["Days off"]
    counted = plain.count_by("media_type")
    assert {facet.value: facet.documents for facet in counted} == {
        "text/markdown": 1,
        "text/plain": 1,
    }


def test_other_metadata_is_stored_without_embedding_again(
    plain: SyncLexichord, folder: Path
) -> None:
    plain.ingest([folder])
    assert plain.ingest([folder]).skipped == 2
    (folder / "pay.txt.meta.json").write_text('{"year": 2028}')
    report = plain.ingest([folder])
    assert (report.replaced, report.skipped) == (1, 1)
    assert titles(plain, year=2028) == ["pay"]
    assert plain.ingest([folder], metadata={"team": "hr"}).replaced == 2


def test_a_broken_sidecar_fails_its_file_alone(plain: SyncLexichord, folder: Path) -> None:
    (folder / "pay.txt.meta.json").write_text("[1]")
    report = plain.ingest([folder])
    assert report.inserted == 1
    reason = report.failed[f"{folder}/pay.txt"]
    assert reason.startswith("pay.txt.meta.json holds no metadata in JSON: ")


@pytest.mark.parametrize("metadata", [{"a": float("nan")}, {"a": object()}, {"a": "x\0y"}, ["a"]])
def test_metadata_that_json_has_not_is_refused(
    plain: SyncLexichord, folder: Path, metadata: object
) -> None:
    with pytest.raises(ConfigError, match="metadata"):
        plain.ingest([folder], metadata=metadata)  # type: ignore[arg-type]


def test_metadata_is_set_later(plain: SyncLexichord, folder: Path) -> None:
    plain.ingest([folder])
    assert plain.set_metadata("pay.txt", {"year": None, "checked": True}) == {
        "tags": ["a"],
        "checked": True,
    }
    assert titles(plain, checked=True) == ["Wages"]
    assert plain.ingest([folder]).skipped == 2


def test_the_command_line_sets_and_counts(dsn: str, tmp_path: Path, folder: Path) -> None:
    run = partial(run_cli, dsn, tmp_path / "home")
    assert run("ingest", str(folder), "--metadata", "team=hr", "--metadata", "n=3").exit_code == 0
    done = run("metadata", "set", "pay.txt", 'tags=["b"]', "n=null", "by=Ada L", "--json")
    assert json.loads(done.stdout)["metadata"] == {
        "team": "hr",
        "year": 2027,
        "tags": ["b"],
        "by": "Ada L",
    }
    assert done.stderr == ""
    misspelt = run("metadata", "set", "pay.txt", "yer=null", "zz=1", "zz=null")
    assert misspelt.exit_code == 0
    assert "pay.txt has no key 'yer': take one of 'year', " in misspelt.stderr
    assert misspelt.stderr.count("\n") == 2
    assert run("metadata", "count", "team").stdout == "      2  hr\n"
    assert run("list", "--filter", '{"title": "Wages"}').stdout.count("\n") == 1
    wrong = run("metadata", "set", "pay.txt", "nothing")
    assert (wrong.exit_code, wrong.stderr) == (
        2,
        "lexichord: 'nothing' is no metadata: write KEY=VALUE\n",
    )


def test_a_filters_value_of_another_type_is_told(plain: SyncLexichord, folder: Path) -> None:
    plain.ingest([folder])
    told = 'no document in scope has a string as "year": there it is a number, such as 2026'
    for ask in (plain.search, plain.files, plain.query):
        result = ask("zebra", mode="keyword", filter={"year": "2026"})
        assert [line for line in result.degraded if "in scope" in line] == [told]
    both = {"and": [{"tags": "a"}, {"key": "year", "op": "in", "value": ["2027", True]}]}
    tags, year = plain.search("zebra", mode="keyword", filter=both).degraded
    assert tags == told.replace("year", "tags").replace(
        "a number, such as 2026", 'an array, such as ["a"]'
    )
    assert year.startswith(told.replace("a string", "a boolean or a string")[:-1])
    for fitting in ({"year": 1999}, {"or": [{"year": "2026"}, {"year": 2026}]}):
        assert plain.search("zebra", mode="keyword", filter=fitting).degraded == []
    with pytest.raises(ConfigError, match=r"has the key \"yaer\": take one of 'year'"):
        plain.search("zebra", mode="keyword", filter={"yaer": 2026})
