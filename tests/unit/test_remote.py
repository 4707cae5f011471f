"""Buckets and servers: what is asked, what is not, what is shown of it; against real servers."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lexichord.errors import ConfigError, IngestError
from lexichord.ingest.remote import (
    REMOTE_LIMITS,
    RemoteObject,
    RemotePlace,
    asked,
    driver_class,
    is_remote,
    one_line,
    parse_address,
    split_remote,
)
from lexichord.ingest.remote.objects import ArchiveRoom, FetchedArchive
from tests.object_servers import Bucket, SftpServer, bucket, moto, sftp

__all__ = ["bucket", "moto", "sftp"]

SHORT = replace(REMOTE_LIMITS, seconds=1.5, connect_seconds=5.0, silences=3, object_bytes=1000)
ODD_KEYS = [
    *("../up.txt", "x/../y.txt", "/abs.txt", "a//b.txt", "d/./e.txt", "dir", "dir/in.txt"),
    *("sp ace.txt", "100%25.txt", "h#a?q.txt", "ünï.txt", "a::b.txt", "s3://q.txt", "star*[x].txt"),
    "l" * 1000 + ".txt",
]


def place(address: str, **limits: Any) -> RemotePlace:
    return RemotePlace(parse_address(address), replace(SHORT, **limits))


def read(one: RemotePlace, of: RemoteObject, folder: Path) -> bytes:
    one.read(of, folder / "file")
    return (folder / "file").read_bytes()


@pytest.mark.parametrize(
    ("address", "uri"),
    [
        ("s3://bucket/a/", "s3://bucket/a"),
        ("S3A://bucket/what?.txt", "s3://bucket/what?.txt"),
        ("gcs://bucket", "gs://bucket"),
        ("sftp://me:p%40%2F@host:22/a b", "sftp://host:22/a b"),
        ("ssh://me@[::1]/a", "sftp://[::1]/a"),
        ("abfs://container@account.dfs.core.windows.net/a", ""),
        ("github://owner:repository@main/docs", ""),
    ],
)
def test_an_address_is_stored_without_who_logs_in(address: str, uri: str) -> None:
    assert is_remote(address)
    parsed = parse_address(address)
    assert parsed.uri == (uri or address)
    assert "p@" not in repr(parsed)


def test_a_login_goes_to_the_driver() -> None:
    options = parse_address("sftp://me:p%40%2F@host:22/a").options
    assert options == {"username": "me", "password": "p@/", "host": "host", "port": 22}


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("file:///etc/passwd", "name its path alone"),
        ("LOCAL:///etc/passwd", "name its path alone"),
        ("simplecache::s3://bucket/a", "chains addresses"),
        ("zip://a.md::s3://bucket/all.zip", "chains addresses"),
        ("zip://a.md::file:///tmp/all.zip", "chains addresses"),
        ("s3://key:hunter2@bucket/a", "holds a password"),
        ("s3://key:hunt/er2@bucket/a", "holds a password"),
        (" sftp://me:2024/hunter2@host/a", "names no server that can be read"),
        ("s3://bucket/a?api_key=hunter2", "holds a signature or a key"),
        ("az://bucket/a;AccountKey=hunter2", "holds a signature or a key"),
        ("s3://bucket/a?Signature%3dhunter2", "holds a signature or a key"),
        ("s3://bucket/a?X-Amz-Signature=hunter2", "holds a signature"),
        ("az://container/a?sp=r&sig=hunter2", "holds a signature"),
        ("sftp://me:hunter2/x@host/a", "names no server"),
        ("sftp:///a", "names no server"),
    ],
)
def test_what_is_no_address_to_ask_is_refused_without_its_secrets(
    address: str, reason: str
) -> None:
    with pytest.raises(ConfigError, match=reason) as raised:
        split_remote([address])
    assert "hunter2" not in str(raised.value)
    assert "\n" not in str(raised.value)


def test_files_and_pages_are_none() -> None:
    names = [
        "notes/a.md",
        "C:\\a.md",
        "https://example.com/s3://a",
        "HTTP://example.com",
        "-",
        "a:b",
    ]
    assert split_remote(names) == ([], names)


def test_a_driver_that_is_not_there_is_named() -> None:
    with pytest.raises(ConfigError, match=r"nope:// cannot be read: Protocol not known: nope"):
        driver_class("nope")
    with pytest.raises(ConfigError, match=r"oci:// cannot be read: Install ocifs"):
        driver_class("oci")


def test_what_drivers_say_is_one_line_without_secrets() -> None:
    error = ValueError("\nno: http://x/a?sig=hunter2&b=1 for hunter3\nRequest ID: 1")
    assert one_line(error, ("hunter3",)) == "no: http://x/a?sig=***&b=1 for ***"
    assert one_line(ValueError()) == "ValueError"

    def fail() -> None:
        raise OSError("wrong password p@ss, sent as p%40ss")

    with pytest.raises(IngestError, match=r"wrong password \*\*\*, sent as \*\*\*"):
        asked(parse_address("sftp://walter:p%40ss@host/"), 5, fail)


def test_odd_names_are_listed_and_read_as_they_are(bucket: Bucket, tmp_path: Path) -> None:
    for key in [*ODD_KEYS, "dir/", "tail/./"]:
        bucket.put(key)
    bucket.put("marker/", b"")
    one = place(bucket.uri, seconds=30)
    listed = list(one.list())
    assert [each.uri for each in listed] == [
        f"{bucket.uri}/{key}" for key in sorted([*ODD_KEYS, "dir/", "tail/./"])
    ]
    assert {each.name for each in listed if each.left_out} == {"dir/", "tail/./"}
    for each in listed:
        if not each.left_out and each.size and each.size < 1000:
            assert read(one, each, tmp_path) == f"Of {each.name}.".encode()
    within = list(place(f"{bucket.uri}/dir/", seconds=30).list())
    assert [each.uri for each in within] == [f"{bucket.uri}/dir/in.txt"]
    (single,) = place(f"{bucket.uri}/dir", seconds=30).list()
    assert (single.uri, single.name) == (f"{bucket.uri}/dir", "dir")


def test_ten_thousand_keys_are_listed(bucket: Bucket, moto: str) -> None:
    from moto.core.models import DEFAULT_ACCOUNT_ID
    from moto.s3.models import s3_backends

    backend = s3_backends[DEFAULT_ACCOUNT_ID]["aws"]
    for number in range(10_000):
        backend.put_object(bucket.name, f"{number // 100}/{number}.txt", b"a")
    listed = list(place(bucket.uri, seconds=60).list())
    assert len({each.uri for each in listed}) == 10_000
    assert all(each.version and each.size == 1 for each in listed)
    bucket.faults = {"": "half"}
    with pytest.raises(IngestError, match="may not be read"):
        list(place(bucket.uri, seconds=60).list())


def test_a_fault_is_told_in_one_line(bucket: Bucket, tmp_path: Path) -> None:
    for key in ("silent.txt", "cut.txt", "refused.txt", "whole.txt"):
        bucket.put(key, "a" * 900)
    bucket.put("large.txt", "a" * 1001)
    bucket.faults = {"silent.txt": "silent", "refused.txt": "refused"}
    one = place(bucket.uri, seconds=4)
    listed = {each.name: each for each in one.list()}
    bucket.asked.clear()

    def reason(name: str) -> str:
        with pytest.raises(IngestError) as raised:
            read(one, listed[name], tmp_path)
        return str(raised.value)

    assert reason("large.txt") == "is larger than 0 MB"
    assert bucket.asked == []
    assert reason("refused.txt") == "may not be read: Forbidden"
    assert reason("silent.txt") == "does not come: the server has not answered for 4 s"
    assert read(one, listed["whole.txt"], tmp_path) == b"a" * 900
    bucket.delete("whole.txt")
    assert reason("whole.txt") == "is not there"


def test_what_is_cut_off_or_changes_meanwhile_is_not_taken(bucket: Bucket, tmp_path: Path) -> None:
    bucket.put("a.txt", "a" * 900)
    one = place(bucket.uri, seconds=30, piece_bytes=400)
    (of,) = one.list()
    assert read(one, of, tmp_path) == b"a" * 900
    bucket.faults = {"a.txt": "cut"}
    with pytest.raises(IngestError, match=r"cannot be read|ended too early"):
        read(one, of, tmp_path)
    bucket.faults = {"a.txt": "changing"}
    with pytest.raises(IngestError, match=r"cannot be read|changed while it was read"):
        read(one, of, tmp_path)


def test_a_server_that_is_silent_is_not_asked_for_ever(bucket: Bucket, tmp_path: Path) -> None:
    bucket.put("a.txt")
    one = place(bucket.uri)
    (of,) = place(bucket.uri, seconds=30).list()
    bucket.faults = {"a.txt": "silent"}
    for _ in range(2):
        with pytest.raises(IngestError):
            read(one, of, tmp_path)
    with pytest.raises(IngestError, match="answered nothing for a while"):
        read(one, of, tmp_path)


def test_a_bucket_that_may_not_be_listed_or_is_not_there(bucket: Bucket) -> None:
    bucket.put("a.txt")
    bucket.faults = {"": "refused"}
    with pytest.raises(IngestError, match="may not be read"):
        list(place(bucket.uri, seconds=30).list())
    bucket.faults = {}
    for address in (f"{bucket.uri}/none/", f"{bucket.uri}/none", "s3://no-such-bucket"):
        with pytest.raises(IngestError, match="is not there"):
            list(place(address, seconds=30).list())


def test_a_folder_of_an_sftp_server_is_walked(sftp: SftpServer, tmp_path: Path) -> None:
    inner = sftp.folder / "in" / "deep er"
    inner.mkdir(parents=True)
    (inner / "ä#?%.txt").write_text("odd")
    (sftp.folder / "in" / "a.txt").write_text("a")
    (inner / "link.txt").symlink_to("../a.txt")
    (inner / "loop").symlink_to("..")
    os.mkfifo(inner / "pipe")
    (sftp.folder / "in" / os.fsdecode(b"\xff.txt")).write_text("no UTF-8")
    one = place(sftp.address("/in"), seconds=10)
    listed = {each.name: each for each in one.list()}
    shown = {each.uri.removeprefix(f"sftp://127.0.0.1:{sftp.port}/in/") for each in listed.values()}
    odd = {f"deep er/{name}" for name in ("ä#?%.txt", "link.txt", "loop", "pipe")}
    assert shown == {"a.txt", r"\xff.txt", *odd}
    assert {name: each.left_out for name, each in listed.items() if each.left_out} == {
        "deep er/loop": "a link to a folder",
        "deep er/pipe": "no file",
    }
    assert read(one, listed["deep er/ä#?%.txt"], tmp_path) == b"odd"
    assert read(one, listed["deep er/link.txt"], tmp_path) == b"a"
    assert read(one, listed["\udcff.txt"], tmp_path) == b"no UTF-8"
    (sftp.folder / "in" / "a.txt").write_text("")
    with pytest.raises(IngestError, match="ended too early, or changed"):
        read(one, listed["a.txt"], tmp_path)


def test_a_folder_that_cannot_be_listed_stops_no_other(sftp: SftpServer) -> None:
    (sftp.folder / "closed").mkdir()
    (sftp.folder / "a.txt").write_text("a")
    listed = {each.name: each.error for each in place(sftp.address(), seconds=30).list()}
    assert listed["a.txt"] == ""
    assert listed["closed"] == "was not listed: it may not be read: Permission denied"


def test_a_file_of_which_an_sftp_server_says_nothing(sftp: SftpServer, tmp_path: Path) -> None:
    (sftp.folder / "silent.txt").write_text("a")
    (sftp.folder / "a.txt").write_text("a")
    one = place(sftp.address())
    listed = {each.name: each for each in one.list()}
    with pytest.raises(IngestError, match="has not answered for"):
        read(one, listed["silent.txt"], tmp_path)
    assert read(one, listed["a.txt"], tmp_path) == b"a"


def test_a_wrong_password_and_an_unknown_server_are_told_without_the_password(
    sftp: SftpServer, tmp_path: Path
) -> None:
    (sftp.folder / "a.txt").write_text("a")
    with pytest.raises(IngestError, match="may not be read") as raised:
        list(place(sftp.address(login="walter:hunter2@"), seconds=30).list())
    assert "hunter2" not in str(raised.value)
    (tmp_path / "user" / ".ssh" / "known_hosts").write_text("")
    with pytest.raises(IngestError, match="Host key is not trusted"):
        list(place(sftp.address(), seconds=30).list())


def test_an_archive_that_finds_no_room_is_fetched_again(tmp_path: Path) -> None:
    fetched: list[Path] = []

    def fetch(file: Path) -> None:
        file.write_bytes(b"half")
        if len(fetched) == 2:
            fetched.append(file)
            raise IngestError("cut off")
        fetched.append(file)
        file.write_bytes(b"whole")

    def look(archive: FetchedArchive) -> bytes:
        with archive.opened() as file:
            return file.read_bytes()

    room = ArchiveRoom(5)
    kept = FetchedArchive(tmp_path / "kept" / "a.zip", fetch, room, left=3)
    other = FetchedArchive(tmp_path / "other" / "a.zip", fetch, room, left=4)
    assert (look(kept), look(other), len(fetched)) == (b"whole", b"whole", 2)
    assert (kept.file.exists(), other.file.exists(), room.left) == (True, False, 0)
    with pytest.raises(IngestError, match="cut off"):
        look(other)
    assert not other.file.exists()
    assert (look(other), len(fetched)) == (b"whole", 4)
    assert (look(kept), look(kept), len(fetched)) == (b"whole", b"whole", 4)
    assert (kept.file.exists(), room.left) == (False, 5)
