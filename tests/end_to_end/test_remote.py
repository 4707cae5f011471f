"""Buckets and servers into a real database: read, skipped, pruned, followed, cut off in between."""

import io
import json
import zipfile
from pathlib import Path

import pytest

from lexichord import SyncLexichord
from lexichord.errors import ConfigError
from lexichord.providers.embed.local import LocalEmbedder
from tests.end_to_end.hashing import Counting
from tests.end_to_end.processes import run_cli
from tests.object_servers import Bucket, SftpServer, bucket, moto, sftp

__all__ = ["bucket", "moto", "sftp"]

MAIL = """From: ann@example.com
Subject: The offer
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: text/plain

See what is attached.
--b
Content-Type: text/plain
Content-Disposition: attachment; filename="offer.txt"

Of the quokka.
--b--
"""


def zipped(**files: str) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, text in files.items():
            archive.writestr(name.replace("_", "."), text)
    return data.getvalue()


def uris(lexichord: SyncLexichord) -> list[str]:
    return sorted(row.uri for row in lexichord.list())


def test_objects_are_fetched_only_when_they_change(plain: SyncLexichord, bucket: Bucket) -> None:
    bucket.put("notes/a.md", "# A\n\nOf the numbat.")
    bucket.put("notes/b.txt", "Of the bilby.")
    bucket.put("notes/no ending", "Of the potoroo.")
    bucket.put("notes/logo.png", b"\x89PNG")
    bucket.put("notes/binary", b"\x00\x01")
    bucket.put("notes/.hidden.md", "secret")
    bucket.put("notes/drafts/c.md", "draft")
    bucket.put("notes/", b"")
    bucket.put("notes/b.txt.meta.json", '{"team": "fauna", "title": "The bilby"}')
    address = f"{bucket.uri}/notes/"
    report = plain.ingest([address], exclude=["drafts/"])
    assert (report.inserted, report.failed) == (3, {})
    assert report.unread == {f"{address}logo.png": ".png", f"{address}binary": "without an ending"}
    assert report.left_out == {
        f"{address}.hidden.md": "hidden",
        f"{address}drafts/c.md": "in --exclude",
        f"{address}b.txt.meta.json": "metadata",
    }
    (hit,) = plain.search("bilby", mode="keyword", filter={"team": "fauna"}).hits
    assert (hit.uri, hit.title) == (f"{address}b.txt", "The bilby")
    assert "notes/b.txt" in bucket.fetched
    again = plain.ingest([address], exclude=["drafts/"])
    assert (again.skipped, again.inserted) == (3, 0)
    assert bucket.fetched == ["notes/binary"]  # how it begins
    bucket.put("notes/a.md", "# A\n\nOf the woylie.")
    bucket.put("notes/b.txt.meta.json", '{"team": "birds"}')
    changed = plain.ingest([address], exclude=["drafts/"])
    assert (changed.skipped, changed.replaced) == (1, 2)
    assert "notes/no ending" not in bucket.fetched
    assert plain.search("woylie", mode="keyword").hits[0].uri == f"{address}a.md"
    assert plain.search("bilby", mode="keyword", filter={"team": "birds"}).hits[0].title == "b"
    with_metadata = plain.ingest([address], exclude=["drafts/"], metadata={"year": 2026})
    assert with_metadata.replaced == 3
    for name in ("a.md", "b.txt"):
        assert plain.ingest([f"{address}{name}"], metadata={"year": 2026}).skipped == 1


def test_what_is_gone_is_pruned_but_not_what_was_not_listed(
    plain: SyncLexichord, bucket: Bucket
) -> None:
    for key in ("in/a.txt", "in/deep", "in/deep/b.txt", "in/../d.txt", "in.txt", "other/c.txt"):
        bucket.put(key)
    assert plain.ingest([bucket.uri]).inserted == 6
    bucket.delete("in/a.txt")
    bucket.delete("in/deep/b.txt")
    bucket.delete("other/c.txt")
    assert plain.ingest([f"{bucket.uri}/in"]).deleted == 0
    bucket.faults = {"": "refused"}
    refused = plain.ingest([f"{bucket.uri}/in/"], prune=True)
    assert (refused.deleted, list(refused.failed)) == (0, [f"{bucket.uri}/in"])
    assert "may not be read" in refused.failed[f"{bucket.uri}/in"]
    bucket.faults = {}
    assert plain.ingest([f"{bucket.uri}/in/"], prune=True, exclude=["*deep"]).deleted == 2
    left = ["in.txt", "in/../d.txt", "in/deep", "other/c.txt"]
    assert uris(plain) == sorted(f"{bucket.uri}/{key}" for key in left)
    bucket.delete("in/../d.txt")
    bucket.delete("in/deep")
    with pytest.raises(ConfigError, match="is not there, or holds nothing"):
        plain.ingest([f"{bucket.uri}/in/"], prune=True)
    bucket.put("in/logo.png")
    with pytest.raises(ConfigError, match="holds no files now, 2 documents would be deleted"):
        plain.ingest([f"{bucket.uri}/in/"], prune=True)
    assert len(uris(plain)) == 4


def test_archives_and_mails_are_looked_into_once(plain: SyncLexichord, bucket: Bucket) -> None:
    bucket.put("all.zip", zipped(a_txt="Of the numbat.", b_txt="Of the bilby.", c_png="no"))
    bucket.put("all.zip.meta.json", '{"team": "fauna"}')
    bucket.put("broken.zip", "no archive")
    bucket.put("offer.eml", MAIL)
    report = plain.ingest([bucket.uri], prune=True)
    names = ["all.zip/a.txt", "all.zip/b.txt", "offer.eml", "offer.eml/offer.txt"]
    assert uris(plain) == [f"{bucket.uri}/{name}" for name in names]
    assert list(report.failed) == [f"{bucket.uri}/broken.zip"]
    assert len(plain.list(filter={"team": "fauna"})) == 2
    assert sorted(bucket.fetched)[:2] == ["all.zip", "all.zip.meta.json"]
    again = plain.ingest([bucket.uri], prune=True)
    assert (again.skipped, again.deleted, bucket.fetched) == (4, 0, ["broken.zip"])
    assert plain.ingest([bucket.uri], keep_originals=True).skipped == 4
    assert plain.original(f"{bucket.uri}/offer.eml").content == MAIL.encode()
    assert plain.original(f"{bucket.uri}/offer.eml/offer.txt").content == b"Of the quokka."
    assert plain.original(f"{bucket.uri}/all.zip/b.txt").content == b"Of the bilby."
    assert bucket.fetched.count("all.zip") == 1
    bucket.put("all.zip", zipped(b_txt="Of the bilby.", d_txt="Of the woylie."))
    changed = plain.ingest([bucket.uri], prune=True, keep_originals=True)
    assert (changed.inserted, changed.replaced, changed.deleted) == (1, 1, 1)
    assert bucket.fetched.count("all.zip") == 1
    assert plain.original(f"{bucket.uri}/all.zip/d.txt").content == b"Of the woylie."
    assert plain.ingest([bucket.uri]).skipped == 4
    assert plain.reread(f"{bucket.uri}/offer.eml").replaced == 1


def test_one_object_s_failure_stops_no_other_and_goes_on_where_it_ended(
    plain: SyncLexichord, bucket: Bucket
) -> None:
    for number in range(12):
        bucket.put(f"{number:02}.txt")
    bucket.put("large.txt", "a" * 50_000_001)
    bucket.faults = {"03.txt": "refused"}
    report = plain.ingest([bucket.uri])
    assert report.inserted == 11
    assert report.failed == {
        f"{bucket.uri}/03.txt": "may not be read: Forbidden",
        f"{bucket.uri}/large.txt": "holds more than 50 MB of text: split it",
    }
    assert "large.txt" not in bucket.fetched
    bucket.faults = {}
    assert (plain.ingest([bucket.uri]).inserted, bucket.fetched) == (1, ["03.txt"])

    class CutOffError(Exception):
        pass

    def cut(uri: str, *_: str) -> None:
        if uri.endswith("/07.txt"):
            raise CutOffError

    with pytest.raises(CutOffError):
        plain.ingest([bucket.uri], dataset="cut", listener=cut)
    before = len(plain.list(datasets=["cut"]))
    assert 0 < before < 12
    bucket.fetched  # noqa: B018 - forgets them
    assert plain.ingest([bucket.uri], dataset="cut").inserted == 12 - before
    assert len(bucket.fetched) == 12 - before


def test_originals_are_kept_and_read_again(plain: SyncLexichord, bucket: Bucket) -> None:
    bucket.put("a.txt", "Of the numbat.")
    plain.ingest([bucket.uri])
    with pytest.raises(ConfigError, match="it was not kept"):
        plain.original("a.txt")
    assert plain.ingest([bucket.uri], keep_originals=True).skipped == 1
    assert plain.original("a.txt").content == b"Of the numbat."
    assert plain.reread("a.txt").replaced == 1
    assert plain.ingest([bucket.uri]).skipped == 1
    long = "l" * 900 + ".txt"
    bucket.put(long)
    plain.ingest([bucket.uri], keep_originals=True)
    assert plain.reread(f"{bucket.uri}/{long}").replaced == 1


def test_a_server_is_read_with_a_password_that_is_nowhere_kept(
    dsn: str, tmp_path: Path, sftp: SftpServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG", "lexichord")
    (sftp.folder / "a b#.txt").write_text("Of the numbat.")
    address, shown = sftp.address(), f"sftp://127.0.0.1:{sftp.port}"
    done = run_cli(dsn, tmp_path, "ingest", address, "--prune", "--verbose")
    assert (done.exit_code, "1 inserted" in done.stdout) == (0, True), done.stderr
    again = run_cli(dsn, tmp_path, "ingest", address, "--json")
    assert json.loads(again.stdout)["skipped"] == 1
    refused = run_cli(dsn, tmp_path, "ingest", sftp.address(login="walter:wr%6Fng@"), "--json")
    assert refused.exit_code == 1
    assert list(json.loads(refused.stdout)["failed"]) == [shown]
    listed = run_cli(dsn, tmp_path, "list", "--json")
    assert json.loads(listed.stdout)["documents"][0]["uri"] == f"{shown}/a b#.txt"
    status = run_cli(dsn, tmp_path, "status", "--json")
    texts = [each.stdout + each.stderr for each in (done, again, refused, listed, status)]
    assert not any(word in "".join([*texts, caplog.text]) for word in ("p@ss", "p%40ss", "wrong"))


def test_a_bucket_is_followed(dsn: str, tmp_path: Path, bucket: Bucket, folder: Path) -> None:
    bucket.put("a.txt")
    (folder / "local.txt").write_text("Of a file.")
    with SyncLexichord(dsn=dsn, home=tmp_path / "home", watch_seconds=0.2) as lexichord:
        reports = lexichord.watch([bucket.uri, str(folder)], prune=True)
        assert next(reports).inserted == 2
        bucket.put("b.txt")
        assert next(reports).inserted == 1
        bucket.delete("a.txt")
        assert next(reports).deleted == 1
        bucket.delete("b.txt")
        assert "is not there" in next(reports).degraded[0]
        bucket.put("c.txt")
        assert next(reports).inserted == 1
        (folder / "local.txt").write_text("Of another.")
        assert next(reports).replaced == 1
        reports.close()
        alone = lexichord.watch([bucket.uri])
        assert next(alone).skipped == 1
        alone.close()
        with pytest.raises(ConfigError, match="is not there"):
            next(lexichord.watch(["s3://no-such-bucket-here"]))


def test_an_object_that_is_renamed_or_changed_in_part_keeps_its_vectors(
    embedding_dsn: str, home: Path, embedder: LocalEmbedder, bucket: Bucket
) -> None:
    clauses = [f"## {n}. Clause {n}\n\n" + f"To be fed at {n} o'clock. " * 30 for n in range(5)]
    bucket.put("contract.md", "# Contract\n\n" + "\n\n".join(clauses))
    with SyncLexichord(dsn=embedding_dsn, home=home) as lexichord:
        counting = lexichord.core.embedder = Counting(embedder)
        first = lexichord.ingest([bucket.uri])
        assert first.embedded == first.chunks == len(counting.taken()) > 4
        clauses[2] += "And at night."
        bucket.put("contract.md", "# Contract\n\n" + "\n\n".join(clauses))
        changed = lexichord.ingest([bucket.uri])
        assert 0 < changed.embedded == len(counting.taken()) <= 2
        bucket.put("renamed.md", "# Contract\n\n" + "\n\n".join(clauses))
        bucket.delete("contract.md")
        renamed = lexichord.ingest([bucket.uri], prune=True)
        assert (renamed.inserted, renamed.deleted, renamed.embedded) == (1, 1, 0)
        assert counting.taken() == []


def test_who_asks_over_a_network_names_no_buckets(plain: SyncLexichord, bucket: Bucket) -> None:
    bucket.put("a.txt")
    with pytest.raises(ConfigError, match="not for a request"):
        plain.ingest([bucket.uri], fetch_hosts=["*"])
    assert bucket.asked == []


def test_any_address_of_fsspec_is_read(plain: SyncLexichord) -> None:
    import fsspec

    memory = fsspec.filesystem("memory")
    memory.pipe_file("/notes/a.txt", b"Of the numbat.")
    memory.pipe_file("/notes/in/b.md", b"Of the bilby.")
    assert plain.ingest(["memory://notes"], prune=True).inserted == 2
    assert uris(plain) == ["memory://notes/a.txt", "memory://notes/in/b.md"]
    assert plain.ingest(["memory://notes"]).skipped == 2
    memory.pipe_file("/notes/a.txt", b"Of the woylie.")
    memory.rm("/notes/in/b.md")
    report = plain.ingest(["memory://notes"], prune=True)
    assert (report.replaced, report.deleted) == (1, 1)
    memory.rm("/notes", recursive=True)
