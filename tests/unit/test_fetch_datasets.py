"""Downloads of public sets: a server of our own breaks off, lies and sends too much."""

import hashlib
import importlib
import io
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from tests.conftest import ROOT
from tests.http_server import Manner, Reply, Request, http_server

BODY = bytes(range(256)) * 40


@dataclass
class Site:
    """Sends `body`, from where it is asked to; at most `cut` bytes a request."""

    url: str = ""
    body: bytes = BODY
    cut: int | None = None
    manner: Manner = "whole"
    starts: list[int] = field(default_factory=list)

    def reply(self, request: Request) -> Reply:
        start = int(request.headers.get("range", "bytes=0-").removeprefix("bytes=").rstrip("-"))
        self.starts.append(start)
        body = self.body[start:]
        if request.path == "/missing" or not body:
            return Reply(404 if request.path == "/missing" else 416)
        return Reply(206 if start else 200, body[: self.cut], manner=self.manner)


@pytest.fixture
def server() -> Iterator[Site]:
    site = Site()
    with http_server(Request, site.reply) as site.url:
        yield site


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(ROOT / "scripts/data")
    return importlib.import_module("fetch_datasets")


@pytest.fixture
def part(script: Any, server: Site) -> Any:
    return script.Part("a.bin", f"{server.url}/a.bin", len(BODY), hashlib.sha256(BODY).hexdigest())


def zipped(**files: str) -> bytes:
    stream = io.BytesIO()
    with ZipFile(stream, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def below(folder: Path) -> list[str]:
    return sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*"))


def test_a_set_is_downloaded_once(script: Any, server: Site, part: Any, tmp_path: Path) -> None:
    target = script.fetch("set", [part], tmp_path, None)
    assert (target / "a.bin").read_bytes() == BODY
    assert script.fetch("set", [part], tmp_path, None) == target
    assert server.starts == [0]
    assert below(tmp_path) == ["set", "set/a.bin"]


def test_what_broke_off_goes_on(script: Any, server: Site, part: Any, tmp_path: Path) -> None:
    server.cut, server.manner = 1000, "drop"
    with pytest.raises(script.FetchError, match="broke off at 1000 of 101000 bytes"):
        script.fetch("set", [part], tmp_path, None)
    assert not (tmp_path / "set").exists()
    server.cut, server.manner = None, "whole"
    script.fetch("set", [part], tmp_path, None)
    assert server.starts == [0, 1000]
    assert (tmp_path / "set" / "a.bin").read_bytes() == BODY


def test_without_a_digest_nothing_is_joined(
    script: Any, server: Site, part: Any, tmp_path: Path
) -> None:
    (tmp_path / ".a.bin.part").write_bytes(b"half of something else")
    script.fetch("set", [replace(part, sha256=None)], tmp_path, None)
    assert server.starts == [0]
    assert (tmp_path / "set" / "a.bin").read_bytes() == BODY


def test_another_file_is_refused_and_not_kept(
    script: Any, server: Site, part: Any, tmp_path: Path
) -> None:
    server.body = BODY[::-1]
    with pytest.raises(script.FetchError, match="is not the file that is known"):
        script.fetch("set", [part], tmp_path, None)
    server.body = BODY
    script.fetch("set", [part], tmp_path, None)
    assert server.starts == [0, 0]


@pytest.mark.parametrize("manner", ["whole", "unmeasured"])
def test_too_much_is_refused(
    script: Any, server: Site, part: Any, tmp_path: Path, manner: Manner
) -> None:
    server.manner = manner
    with pytest.raises(script.FetchError, match="sends more than 5000 bytes"):
        script.fetch("set", [replace(part, limit=5000)], tmp_path, None)
    assert below(tmp_path) == [".set.making"]


def test_a_server_that_has_it_not_or_is_gone(
    script: Any, server: Site, part: Any, tmp_path: Path
) -> None:
    missing = replace(part, address=part.address.replace("a.bin", "missing"))
    with pytest.raises(script.FetchError, match="answers 404 Not Found"):
        script.fetch("set", [missing], tmp_path, None)
    nobody = replace(part, address="http://127.0.0.1:1/a.bin")
    with pytest.raises(script.FetchError, match=r"cannot be had: .*refused"):
        script.fetch("set", [nobody], tmp_path, None)


def test_from_a_folder(script: Any, part: Any, tmp_path: Path) -> None:
    source = tmp_path / "downloads"
    source.mkdir()
    with pytest.raises(script.FetchError, match=r"a\.bin cannot be read: No such file"):
        script.fetch("set", [part], tmp_path, source)
    (source / "a.bin").write_bytes(BODY[1:])
    with pytest.raises(script.FetchError, match="is not the file that is known"):
        script.fetch("set", [part], tmp_path, source)
    (source / "a.bin").write_bytes(BODY)
    script.fetch("set", [part], tmp_path, source)
    assert (tmp_path / "set" / "a.bin").read_bytes() == BODY
    assert (source / "a.bin").exists()


def unpack(script: Any, folder: Path, content: bytes, limit: int = 1000) -> list[str]:
    archive = folder / "a.zip"
    archive.write_bytes(content)
    script.unpack(archive, folder / "out", limit)
    return [name for name in below(folder / "out") if (folder / "out" / name).is_file()]


def test_one_folder_around_all_is_left_out(script: Any, tmp_path: Path) -> None:
    content = zipped(**{"nli/": "", "nli/dev.json": "1", "nli/a/b": "2", "__MACOSX/nli/x": "3"})
    assert unpack(script, tmp_path, content) == ["a/b", "dev.json"]


def test_several_folders_stay(script: Any, tmp_path: Path) -> None:
    content = zipped(**{"/": "", "corpus/a.txt": "1", "benchmarks/b.json": "2"})
    assert unpack(script, tmp_path, content) == ["benchmarks/b.json", "corpus/a.txt"]


@pytest.mark.parametrize("name", ["../evil", "/etc/evil", "a\\..\\evil"])
def test_nothing_is_written_elsewhere(script: Any, tmp_path: Path, name: str) -> None:
    with pytest.raises(script.FetchError, match="which would lie elsewhere"):
        unpack(script, tmp_path, zipped(**{"a/good": "1", name: "2"}))
    assert below(tmp_path) == ["a.zip"]


def test_a_zip_that_is_too_large_or_broken(script: Any, tmp_path: Path) -> None:
    content = zipped(**{"a/b": "x" * 600, "a/c": "x" * 600})
    with pytest.raises(script.FetchError, match="unpacks to more than 1000 bytes"):
        unpack(script, tmp_path, content)
    with pytest.raises(script.FetchError, match="cannot be unpacked"):
        unpack(script, tmp_path, content[:-30])
    with pytest.raises(script.FetchError, match="cannot be unpacked: Bad CRC-32"):
        unpack(script, tmp_path, content.replace(b"xxxx", b"xxyx", 1), 2000)


def test_every_set_has_limits_and_a_secure_address(script: Any) -> None:
    for parts in script.SETS.values():
        for part in parts:
            assert part.address.startswith("https://")
            assert part.limit > 0
            assert bool(part.unpacked) == part.name.endswith(".zip")
