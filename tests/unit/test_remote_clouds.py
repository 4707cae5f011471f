"""Google's and Azure's storage, and any other, as they list and read: emulators on this machine."""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lexichord.errors import ConfigError, IngestError
from lexichord.ingest.remote import RemotePlace, driver_class, parse_address

# Read when gcsfs is imported: the emulator does not speak gRPC, by which it asks for more.
os.environ.setdefault("GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false")

KEYS = ["a.txt", "dir/b.txt", "dir//c.txt", "h#a?q.txt", "sp ace%25.txt", "ünï.txt", "a#123.txt"]
# The account that every emulator of Azure's has.
AZURE = (
    "DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey=Eby8vdM02xNOcqFlqUwJPLlm"
    "EtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;"
    "BlobEndpoint=http://127.0.0.1:{port}/devstoreaccount1;"
)


def free_port() -> int:
    with socket.socket() as own:
        own.bind(("127.0.0.1", 0))
        return int(own.getsockname()[1])


@pytest.fixture
def google(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    from gcp_storage_emulator.server import create_server

    port = free_port()
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", f"http://127.0.0.1:{port}")
    server = create_server("127.0.0.1", port, in_memory=True)
    server.start()
    import fsspec
    import gcsfs

    monkeypatch.setitem(fsspec.config.conf, "gs", {"token": "anon"})
    yield gcsfs.GCSFileSystem(token="anon", skip_instance_cache=True)
    server.stop()


@pytest.fixture
def azure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    command = os.environ.get("LEXICHORD_TEST_AZURITE") or shutil.which("azurite-blob")
    if not command:
        pytest.skip("no Azurite: azurite-blob is not on PATH, LEXICHORD_TEST_AZURITE names none")
    port = free_port()
    options = ["--inMemoryPersistence", "--silent", "--skipApiVersionCheck", "--disableTelemetry"]
    started = [command, *options, "--blobPort", str(port)]
    with subprocess.Popen(started, cwd=tmp_path, stdout=subprocess.DEVNULL) as process:
        _wait_for(port)
        monkeypatch.setenv("AZURE_STORAGE_CONNECTION_STRING", AZURE.format(port=port))
        import adlfs

        yield adlfs.AzureBlobFileSystem(skip_instance_cache=True)
        process.kill()


def _wait_for(port: int) -> None:
    for _ in range(300):
        try:
            return socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.1)
    raise TimeoutError


@pytest.mark.parametrize(("scheme", "cloud"), [("gs", "google"), ("az", "azure")])
def test_a_cloud_s_bucket_is_listed_and_read(
    scheme: str, cloud: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    filled = request.getfixturevalue(cloud)
    filled.mkdir("filled")
    for key in KEYS:
        filled.pipe_file(f"filled/{key}", f"Of {key}.".encode())
    one = RemotePlace(parse_address(f"{scheme}://filled"))
    listed = {each.name: each for each in one.list()}
    assert [each.uri for each in listed.values()] == [
        f"{scheme}://filled/{k}" for k in sorted(KEYS)
    ]
    for name, each in listed.items():
        one.read(each, tmp_path / "file")
        assert (tmp_path / "file").read_bytes() == f"Of {name}.".encode()
    filled.pipe_file("filled/a.txt", b"Of another.")
    now = {each.name: each for each in RemotePlace(parse_address(f"{scheme}://filled/")).list()}
    assert {name for name in KEYS if now[name].version != listed[name].version} == {"a.txt"}
    within = RemotePlace(parse_address(f"{scheme}://filled/dir/")).list()
    assert [each.name for each in within] == ["/c.txt", "b.txt"]
    (single,) = RemotePlace(parse_address(f"{scheme}://filled/a.txt")).list()
    assert single.version == now["a.txt"].version
    with pytest.raises(IngestError, match="is not there"):
        list(RemotePlace(parse_address(f"{scheme}://no-such-bucket")).list())


def test_a_driver_of_this_machine_s_files_under_another_name_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import fsspec

    known = sys.modules["fsspec.registry"]._registry  # fsspec.registry is a read-only view of it
    monkeypatch.setitem(known, "mine", fsspec.get_filesystem_class("file"))
    with pytest.raises(ConfigError, match="is a file of this machine"):
        driver_class("mine")
