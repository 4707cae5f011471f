"""A server that speaks as the Hugging Face hub does, and the command line that fetches from it.

with hub({"owner/name": {"onnx/model.onnx": graph}}) as shop:
    fetch(shop, home, "owner/name")
"""

import hashlib
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler
from pathlib import Path

from tests.http_server import running

COMMIT = "c0ffee" * 6 + "beef"
LARGE = 1000  # bytes from which on a file is in LFS


@dataclass
class Hub:
    """Repositories by name, each its files; and what goes wrong.

    `served` holds, by repository and name, other bytes than are told of; `cut` sends that many
    bytes of a file and hangs up, once, and with `shuts` refuses it from then on; `refusals` answers
    a repository's files, or those of a name, `strangers` a repository that is not there.
    """

    repositories: Mapping[str, Mapping[str, bytes]]
    served: dict[str, bytes] = field(default_factory=dict)
    cut: dict[str, int] = field(default_factory=dict)
    shuts: bool = False
    refusals: dict[str, tuple[int, str]] = field(default_factory=dict)
    strangers: dict[str, tuple[int, str]] = field(default_factory=dict)
    asked: Counter[str] = field(default_factory=Counter)
    ranges: list[str] = field(default_factory=list)
    tokens: set[str] = field(default_factory=set)
    url: str = ""


@contextmanager
def hub(repositories: Mapping[str, Mapping[str, bytes]]) -> Iterator[Hub]:
    """Run a hub for the length of a with statement."""
    shop = Hub(repositories)
    with running(partial(_Handler, shop)) as url:
        shop.url = url
        yield shop


def lexichord(
    url: str, home: Path, *arguments: str, limit: int | None = None, **environment: str
) -> "subprocess.CompletedProcess[str]":
    """Run the command line in a process of its own: the hub's library reads HF_ENDPOINT once.

    `limit` is the most bytes that a file of its may have.
    """
    code = "from lexichord.cli import main; main()"
    if limit:
        code = f"import resource as r; r.setrlimit(r.RLIMIT_FSIZE, ({limit}, {limit})); {code}"
    outside = {name: os.environ[name] for name in os.environ if not name.startswith("HF_")}
    own = {"HF_ENDPOINT": url, "HF_HOME": str(home / "hf"), "LEXICHORD_HOME": str(home)}
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=outside | own | environment,
    )


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, shop: Hub, *arguments: object) -> None:
        self.shop = shop
        super().__init__(*arguments)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        path = self.path.partition("?")[0].strip("/")
        self.shop.tokens.add(self.headers.get("Authorization", ""))
        if path.startswith("api/models/"):
            self._tell(path.removeprefix("api/models/"))
        elif "/resolve/" not in path:
            self._answer(404, b"{}", {})
        else:
            repository, _, rest = path.partition("/resolve/")
            self._give(repository, rest.partition("/")[2])

    def _tell(self, repository: str) -> None:
        """Answer what a repository holds."""
        if repository not in self.shop.repositories:
            status, code = self.shop.strangers.get(repository, (404, "RepoNotFound"))
            self._answer(status, b"{}", {"X-Error-Code": code} if code else {})
            return
        files = self.shop.repositories[repository]
        told = {
            "id": repository,
            "sha": COMMIT,
            "siblings": [_told(*each) for each in files.items()],
        }
        self._answer(200, json.dumps(told).encode(), {"Content-Type": "application/json"})

    def _give(self, repository: str, name: str) -> None:
        """Answer a file, or how large it is."""
        refusals = self.shop.refusals
        status, code = refusals.get(name) or refusals.get(repository, (200, ""))
        if status != 200:
            self._answer(status, b"{}", {"X-Error-Code": code} if code else {})
            return
        whole = self.shop.repositories[repository][name]
        content = self.shop.served.get(f"{repository}/{name}", whole)
        told = {"ETag": f'"{_etag(whole)}"', "X-Repo-Commit": COMMIT, "Accept-Ranges": "bytes"}
        self.shop.asked[name] += 1
        start = 0
        if wanted := self.headers.get("Range"):
            self.shop.ranges.append(wanted)
            start = int(wanted.removeprefix("bytes=").partition("-")[0])
            told["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
        self._answer(206 if wanted else 200, content[start:], told, self._cut(name))

    def _cut(self, name: str) -> int | None:
        sent = self.shop.cut.pop(name, None)
        if sent is not None and self.shop.shuts:
            self.shop.refusals[name] = (403, "")
        return sent

    def _answer(
        self, status: int, body: bytes, headers: Mapping[str, str], cut: int | None = None
    ) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body if cut is None else body[:cut])
        self.close_connection = cut is not None

    def log_message(self, *_: object) -> None:
        pass


def _told(name: str, content: bytes) -> dict[str, object]:
    """Return what the hub says of a file: of a large one its sha256, of all git's digest."""
    told: dict[str, object] = {"rfilename": name, "size": len(content), "blobId": _blob(content)}
    if len(content) >= LARGE:
        sha256 = hashlib.sha256(content).hexdigest()
        told["lfs"] = {"sha256": sha256, "size": len(content), "pointerSize": 134}
    return told


def _blob(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def _etag(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest() if len(content) >= LARGE else _blob(content)
