"""Servers of objects on this machine: moto's S3, with faults in front of it, and SFTP."""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from threading import Event, Thread
from typing import Any, ClassVar, Literal
from urllib.parse import unquote, urlsplit

import asyncssh
import pytest
import s3fs
from moto.server import ThreadedMotoServer

from tests.http_server import running

type Fault = Literal["silent", "cut", "refused", "changing", "half"]

SIGN_IN = {
    "AWS_ACCESS_KEY_ID": "a-key",
    "AWS_SECRET_ACCESS_KEY": "hidden",
    "AWS_DEFAULT_REGION": "us-east-1",
}
KEPT_HEADERS = ("content-type", "etag", "last-modified", "accept-ranges", "content-range")


@dataclass
class Bucket:
    """A bucket; `faults` are by object's name, or "" for its listing. What was asked is kept."""

    fs: s3fs.S3FileSystem
    name: str
    faults: dict[str, Fault] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    closed: Event = field(default_factory=Event)

    @property
    def uri(self) -> str:
        return f"s3://{self.name}"

    def put(self, key: str, body: str | bytes = "") -> None:
        data = (body or f"Of {key}.").encode() if isinstance(body, str) else body
        self.fs.call_s3("put_object", Bucket=self.name, Key=key, Body=data)

    def delete(self, key: str) -> None:
        self.fs.call_s3("delete_object", Bucket=self.name, Key=key)

    @property
    def fetched(self) -> list[str]:
        """The names of the objects that were fetched since this was asked last."""
        names = [name.removeprefix("GET ") for name in self.asked if name.startswith("GET ")]
        self.asked.clear()
        return [name for name in names if name]


class _Proxy(BaseHTTPRequestHandler):
    """Passes on what is asked, except for what is to fail."""

    protocol_version = "HTTP/1.1"

    def __init__(self, bucket: Bucket, to: str, *arguments: Any) -> None:
        self.bucket, self.to = bucket, to
        super().__init__(*arguments)

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path).lstrip("/")
        name = path.partition("/")[2] if path.startswith(self.bucket.name) else ""
        self.bucket.asked.append(f"{self.command} {name}")
        fault = self.bucket.faults.get(name)
        if fault == "silent":
            self.bucket.closed.wait(30)
            self.close_connection = True
        elif fault == "refused" or (fault == "half" and "continuation-token" in self.path):
            said = b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"
            self._send(403, {"content-type": "application/xml"}, said, len(said))
        else:
            self._pass_on(cut=fault == "cut" and self.command == "GET")
        if fault == "changing" and self.command == "GET":
            self.bucket.put(name, f"{len(self.bucket.asked)}" * 450)

    do_HEAD = do_GET  # noqa: N815 - the name that is called

    def _pass_on(self, *, cut: bool) -> None:
        connection = HTTPConnection(self.to, timeout=10)
        length = int(self.headers.get("content-length") or 0)
        connection.request(self.command, self.path, self.rfile.read(length), dict(self.headers))
        answer = connection.getresponse()
        body = answer.read()
        headers = {name: value for name in KEPT_HEADERS if (value := answer.headers[name])}
        size = int(answer.headers["content-length"] or len(body))
        connection.close()
        self._send(answer.status, headers, body[: len(body) // 2] if cut else body, size)
        self.close_connection = cut

    def _send(self, status: int, headers: Mapping[str, str], body: bytes, size: int) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(size))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="session")
def moto() -> Iterator[str]:
    """The address of a server of S3."""
    logging.getLogger("werkzeug").disabled = True
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"{host}:{port}"
    server.stop()


@pytest.fixture
def bucket(
    moto: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[Bucket]:
    """An empty one, which the environment's sign-in reaches through the faults."""
    for name, value in SIGN_IN.items():
        monkeypatch.setenv(name, value)
    fs = s3fs.S3FileSystem(endpoint_url=f"http://{moto}", skip_instance_cache=True)
    own = Bucket(fs, f"bucket-{abs(hash(request.node.name))}")
    fs.call_s3("create_bucket", Bucket=own.name)
    with running(lambda *arguments: _Proxy(own, moto, *arguments)) as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        yield own
        own.closed.set()


@dataclass
class SftpServer:
    """A server of a folder, its root, to which `walter` logs in with a password."""

    port: int
    folder: Path

    def address(self, path: str = "/", login: str = "walter:p%40ss@") -> str:
        return f"sftp://{login}127.0.0.1:{self.port}{path}"


class _Login(asyncssh.SSHServer):
    connections: ClassVar[list[asyncssh.SSHServerConnection]] = []

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self.connections.append(conn)

    def begin_auth(self, username: str) -> bool:
        return True

    def password_auth_supported(self) -> bool:
        return True

    def validate_password(self, username: str, password: str) -> bool:
        return (username, password) == ("walter", "p@ss")


class _Files(asyncssh.SFTPServer):
    """Lets nobody list a folder named closed, and never answers of a file named silent.txt."""

    async def scandir(self, path: bytes) -> AsyncIterator[asyncssh.SFTPName]:
        if path.endswith(b"closed"):
            raise asyncssh.SFTPPermissionDenied("Permission denied")
        async for name in super().scandir(path):
            yield name

    async def open(self, path: bytes, *arguments: Any) -> object:
        if path.endswith(b"silent.txt"):
            await asyncio.sleep(30)
        return super().open(path, *arguments)


@contextmanager
def sftp_server(folder: Path, home: Path) -> Iterator[SftpServer]:
    """Serve a folder; a home's known_hosts trusts the server."""
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever)
    thread.start()
    key = asyncssh.generate_private_key("ssh-ed25519")

    async def start() -> asyncssh.SSHAcceptor:
        return await asyncssh.create_server(
            _Login,
            "127.0.0.1",
            0,
            server_host_keys=[key],
            sftp_factory=lambda channel: _Files(channel, chroot=os.fsencode(folder)),
        )

    async def stop() -> None:
        server.close()
        while _Login.connections:
            _Login.connections.pop().abort()
        await asyncio.sleep(0)
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    server = asyncio.run_coroutine_threadsafe(start(), loop).result(10)
    port = server.get_port()
    known = home / ".ssh" / "known_hosts"
    known.parent.mkdir(parents=True, exist_ok=True)
    known.write_text(f"[127.0.0.1]:{port} {key.export_public_key().decode()}")
    try:
        yield SftpServer(port, folder)
    finally:
        asyncio.run_coroutine_threadsafe(stop(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@pytest.fixture
def sftp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SftpServer]:
    """An empty folder, served; whose host key this user knows."""
    folder, home = tmp_path / "served", tmp_path / "user"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(home))
    with sftp_server(folder, home) as server:
        yield server
