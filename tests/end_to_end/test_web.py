"""Pages of a real server, standard input, many readers at once: into a real database."""

import json
from pathlib import Path

import pytest

from lexichord import SyncLexichord
from lexichord.errors import ConfigError
from tests.conftest import SAMPLES
from tests.end_to_end.processes import run_cli
from tests.unit.test_web import Site, site

__all__ = ["site"]


def test_pages_are_read_again_only_when_they_change(plain: SyncLexichord, site: Site) -> None:
    site.put("/", '<h1>Animals</h1><p>Of the quokka.</p><a href="/deep">deep</a>', etag='"1"')
    site.put("/deep", "<p>Of the numbat.</p>", etag='"d"')
    site.put("/logo", b"\x89PNG", content_type="image/png")
    urls = [f"{site.url}/", f"{site.url}/deep", f"{site.url}/logo", f"{site.url}/none"]
    report = plain.ingest(urls, allow_private=True, metadata={"from": "web"})
    assert report.inserted == 2
    assert report.unread == {urls[2]: "image/png"}
    assert report.failed == {urls[3]: "the server answers 404"}
    (hit,) = plain.search("quokka", mode="keyword", filter={"from": "web"}).hits
    assert (hit.uri, plain.show(hit.document_id).document.metadata["etag"]) == (urls[0], '"1"')
    again = plain.ingest(urls[:2], allow_private=True, metadata={"from": "web"})
    assert (again.skipped, again.inserted, again.replaced) == (2, 0, 0)
    assert [one.headers.get("if-none-match") for one in site.asked[-2:]] == ['"1"', '"d"']
    site.put("/", "<h1>Animals</h1><p>Of the quokka.</p>", etag='"2"')  # the same but for its tag
    site.put("/deep", "<p>Of the bilby.</p>", etag='"e"')
    changed = plain.ingest(urls[:2], allow_private=True, metadata={"from": "web"})
    assert (changed.skipped, changed.replaced) == (0, 2)
    assert plain.search("bilby", mode="keyword").hits[0].uri == urls[1]
    site.put("/deep", "<p>Of the bilby.</p>")  # without tags the digest tells
    first = plain.ingest([urls[1]], allow_private=True)
    assert (first.skipped, first.replaced) == (0, 1)  # other metadata
    assert plain.ingest([urls[1]], allow_private=True).skipped == 1


def test_a_private_address_is_named_and_not_read(plain: SyncLexichord, site: Site) -> None:
    site.put("/", "secret")
    report = plain.ingest([f"{site.url}/"])
    assert "private address" in report.failed[f"{site.url}/"]
    assert site.asked == []
    with pytest.raises(ConfigError, match="no address"):
        plain.ingest(["http://"])


def test_links_are_followed_by_the_command_line(dsn: str, tmp_path: Path, site: Site) -> None:
    site.put("/", '<p>Of the quokka.</p><a href="/deep">deep</a>')
    site.put("/deep", "<p>Of the numbat.</p>")
    options = ["--depth", "1", "--allow-private"]
    done = run_cli(dsn, tmp_path, "ingest", f"{site.url}/", *options, "--json")
    assert json.loads(done.stdout)["inserted"] == 2, done.stderr
    site.pages.pop("/deep")
    again = run_cli(dsn, tmp_path, "ingest", f"{site.url}/", *options)
    dead = f"dead links: 1 page\n  the server answers 404: {site.url}/deep\n"
    assert (again.exit_code, dead in again.stderr) == (0, True), again.stderr
    assert run_cli(dsn, tmp_path, "ingest", f"{site.url}/deep", *options).exit_code == 1


def test_standard_input_is_read_by_its_name(dsn: str, tmp_path: Path) -> None:
    sheet = "animal,price\nkookaburra,7\n"
    done = run_cli(dsn, tmp_path, "ingest", "-", "--name", "prices.csv", stdin=sheet)
    assert done.exit_code == 0, done.stderr
    shown = json.loads(run_cli(dsn, tmp_path, "list", "--json").stdout)["documents"]
    assert [(row["uri"], row["media_type"]) for row in shown] == [
        ("stdin://prices.csv", "text/csv")
    ]
    again = run_cli(dsn, tmp_path, "ingest", "-", "--name", "prices.csv", stdin=sheet)
    assert again.stdout.startswith("0 inserted, 0 replaced, 1 skipped")
    for arguments in (["-"], ["-", str(tmp_path), "--name", "a.csv"], ["--name", "a.csv"]):
        assert run_cli(dsn, tmp_path, "ingest", *arguments).exit_code == 2


def test_the_results_are_the_same_with_more_readers(plain: SyncLexichord) -> None:
    estimates: list[int] = []
    for workers in (1, 3):
        report = plain.ingest(
            [SAMPLES / "agreements", SAMPLES / "policies"],
            dataset=f"by {workers}",
            workers=workers,
            on_estimate=estimates.append,
        )
        assert estimates[-1] == report.chunks

    def stored(dataset: str) -> list[object]:
        return [
            (row.uri, [(c.content, c.context, c.keyword_context, c.heading) for c in shown.chunks])
            for row in plain.list(datasets=[dataset])
            for shown in [plain.show(row.document_id)]
        ]

    assert stored("by 1") == stored("by 3")
    with pytest.raises(ConfigError, match="workers"):
        plain.ingest([SAMPLES], workers=0)
