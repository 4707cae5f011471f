"""Buckets and servers as folders: their addresses; listed, and read in pieces into a file."""

import re
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from importlib import import_module
from pathlib import Path
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple
from urllib.parse import quote, unquote, urlsplit

from lexichord.errors import ConfigError, IngestError
from lexichord.ingest.load.text import CHANGED
from lexichord.ingest.web.crawl import is_address

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

# Also chains of them, as fsspec writes them: zip://a.md::s3://bucket/all.zip
REMOTE = re.compile(
    r"(?:[a-z][a-z0-9+.-]*::)*([a-z][a-z0-9+.-]*)://(.*)", re.IGNORECASE | re.DOTALL
)
CHAINED = re.compile(r"::[a-z][a-z0-9+.-]*(://|::)", re.IGNORECASE)
ALIASES = {"s3a": "s3", "s3n": "s3", "gcs": "gs", "ssh": "sftp"}
LOCAL = ("file", "local", "asynclocal")
HOSTED = ("sftp", "ftp", "smb")  # whose addresses name a server, and who logs in there
NAMED_BEFORE = ("github", "gitlab")  # of which owner:repository@version is no login
# What a signed address, or one with a key, carries behind its question mark.
SIGNED = re.compile(
    r"[?&;](x-amz-|x-goog-|(sig|signature|delegation|password|googleaccessid|[a-z_-]*key(id)?|"
    r"[a-z_-]*token|[a-z_-]*secret[a-z_-]*)(=|%3d))",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class RemoteAddress:
    """An address without what logs in; `uri` is how it is stored and shown.

    `options` are for the driver, and may hold a password. With `is_folder` it ended with a slash,
    and an object of the same name is not meant.
    """

    scheme: str
    uri: str
    is_folder: bool
    options: Mapping[str, str | int] = field(default_factory=dict, repr=False)

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must not be shown: the password as it is, and as addresses write it."""
        password = str(self.options.get("password", ""))
        return (password, quote(password, safe="")) if password else ()


def is_remote(path: str) -> bool:
    """Return whether it is an address of a bucket or a server, no file and no page."""
    return REMOTE.match(path) is not None and not is_address(path)


def split_remote(paths: Iterable[str]) -> tuple[list[RemoteAddress], list[str]]:
    """Part the addresses of buckets and servers from all else. Raises ConfigError."""
    addresses, others = list[RemoteAddress](), list[str]()
    for path in paths:
        if is_remote(path.lstrip()):
            addresses.append(parse_address(path.lstrip()))
        else:
            others.append(path)
    return addresses, others


def parse_address(address: str) -> RemoteAddress:
    """Return an address with its login taken out. Raises ConfigError, which does not show it."""
    match = REMOTE.fullmatch(address)
    assert match is not None
    scheme = ALIASES.get(match[1].lower(), match[1].lower())
    if match.start(1) or CHAINED.search(match[2]):
        raise ConfigError(f"{scheme}://… chains addresses by ::, which is not taken: name the last")
    if scheme in LOCAL:
        raise ConfigError(f"{scheme}://… is a file of this machine: name its path alone")
    if SIGNED.search(match[2]):
        raise ConfigError(
            f"{scheme}://… holds a signature or a key behind its ?: leave it out, the driver logs "
            "in by its own settings"
        )
    place, options = _hosted(scheme, match[2]) if scheme in HOSTED else (match[2], {})
    login = place.partition("/")[0]  # no bucket's name has a colon, but a secret may have a slash
    login = login.rpartition("@")[0] if scheme in HOSTED else login
    if ":" in login and scheme not in NAMED_BEFORE:
        raise ConfigError(
            f"{scheme}://… holds a password: leave it out, the driver logs in by its own settings"
        )
    trimmed = place.rstrip("/")
    return RemoteAddress(scheme, f"{scheme}://{trimmed}", trimmed != place, options)


def _hosted(scheme: str, rest: str) -> tuple[str, dict[str, str | int]]:
    """Part who logs in from the server and its path. Raises ConfigError."""
    authority, slash, path = rest.partition("/")
    login, _, server = authority.rpartition("@")
    try:
        parts = urlsplit(f"//{server}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or (":" in server and not login and "@" in path.partition("/")[0]):
        raise ConfigError(
            f"{scheme}://… names no server that can be read: it is {scheme}://user@host:port/path, "
            "and in a password : / @ are written as %3A %2F %40"
        )
    user, _, password = login.partition(":")
    known = {"username": unquote(user), "password": unquote(password)}
    options: dict[str, str | int] = {"host": host}
    options |= {name: value for name, value in known.items() if value}
    if port:
        options["port"] = port
    return f"{server}{slash}{path}", options


UNSTORABLE = re.compile(r"[\0\ud800-\udfff]")
ATTEMPTS = 2  # of what may pass: the second over a new connection
# Where drivers say which version of an object it is, and when it was last changed.
ETAG = "etag "  # before one, in a version
ETAGS = ("ETag", "etag", "sha", "blob_id")
TIMES = ("LastModified", "last_modified", "updated", "mtime", "modify", "modified", "created")


@dataclass(frozen=True, slots=True)
class RemoteLimits:
    """How long is waited, for what, and how much is taken at most."""

    connect_seconds: float = 30.0
    place_seconds: float = 3600.0  # for all keys of a bucket; its driver limits each request
    seconds: float = 60.0  # for a folder's listing, or a piece of an object
    piece_bytes: int = 8 * 2**20
    object_bytes: int = 1_000_000_000
    silences: int = 10  # one after another; then nothing more is asked


REMOTE_LIMITS = RemoteLimits()


@dataclass(frozen=True, slots=True)
class RemoteObject:
    """An object of a place: its path for the driver, its `name` below the place, its uri.

    `size` is in bytes. Without a `version` nobody says whether it has changed. `error` is why it
    is known by name only: a folder that could not be listed, too.
    """

    path: str
    name: str
    uri: str
    size: int | None = None
    version: str = ""
    left_out: str = ""
    error: str = ""


@dataclass
class RemotePlace:
    """A bucket, a server, or a folder there; several threads may read."""

    address: RemoteAddress
    limits: RemoteLimits = REMOTE_LIMITS
    _system: "AbstractFileSystem | None" = field(init=False, default=None, repr=False)
    _lock: Lock = field(init=False, default_factory=Lock, repr=False)
    _silences: int = field(init=False, default=0)

    @property
    def uri(self) -> str:
        """The address, without what logs in."""
        return self.address.uri

    def list(self) -> Iterator[RemoteObject]:
        """Yield what there is, by path; also what could not be listed. Raises ConfigError.

        Raises IngestError where nothing can be listed, MissingError where nothing is there.
        """
        path, driver = base_path(self.address), DRIVERS.get(self.address.scheme)
        is_flat = driver is not None and driver.is_flat
        is_whole = self.address.is_folder or (is_flat and "/" not in path)
        # Asked of a bucket, too: a silent server is known soon, while a listing may take long.
        single = self._single(path, self.uri) if is_flat or not is_whole else None
        if single and not is_whole:
            yield single
            return
        listed = self._bucket(path) if is_flat else self._walk(path)
        found = sorted(listed, key=lambda each: each.path)
        if not found:
            raise MissingError("is not there, or holds nothing")
        yield from found

    def read(self, of: RemoteObject, file: Path) -> None:
        """Write an object's bytes into a file. Raises IngestError, also where it has changed."""
        if of.size is not None and of.size > self.limits.object_bytes:
            raise self._too_large()
        for attempt in range(ATTEMPTS):
            try:
                with file.open("wb") as stream:
                    self._copy(of, stream)
                return
            except RefusedError:
                raise
            except IngestError:
                self._system = None
                if attempt + 1 == ATTEMPTS:
                    raise
            except OSError as error:
                raise IngestError(f"cannot be kept meanwhile: {error.strerror}") from None

    def head(self, of: RemoteObject, most: int) -> bytes:
        """Return how an object begins. Raises IngestError."""
        return self._asked(lambda system: _read_head(system, of.path, most))

    def beside(self, of: RemoteObject, ending: str) -> RemoteObject | None:
        """Return the object that is named as another with an ending, if there is one."""
        return self._single(f"{of.path}{ending}", f"{of.uri}{ending}")

    def _single(self, path: str, uri: str) -> RemoteObject | None:
        """Return the object of a path, unless there is none, or a folder."""
        try:
            info = self._asked(lambda system: system.info(path))
        except RefusedError:  # who may list may not be let look at what is not there
            return None
        if info.get("type") == "directory":
            return None
        return RemoteObject(path, path.rpartition("/")[2], uri, info.get("size"), _version(info))

    def _bucket(self, path: str) -> Iterator[RemoteObject]:
        seconds = self.limits.place_seconds
        found = self._asked(lambda system: system.find(path, detail=True), seconds)
        if not isinstance(found, Mapping):  # of Azure, where an object has the folder's name
            raise IngestError("cannot be listed: an object there has the folder's name")
        for name, info in found.items():
            if name.rstrip("/") != path:
                yield from self._object(path, name, info)

    def _walk(self, path: str) -> Iterator[RemoteObject]:
        folders = deque([path])
        deadline = time.monotonic() + self.limits.place_seconds
        while folders:
            if time.monotonic() > deadline:
                raise IngestError(f"cannot be listed within {self.limits.place_seconds:g} s")
            folder = folders.popleft()
            try:
                found = self._asked(partial(_entries, folder))
            except IngestError as error:
                if folder == path:
                    raise
                yield self._named(path, folder, error=f"was not listed: it {error}")
                continue
            for info in found:
                name = str(info["name"]).rstrip("/")
                if name == folder or not name.startswith(_prefix(folder)):
                    continue  # the folder itself, as some list it
                if info.get("type") == "directory":
                    folders.append(name)
                else:
                    yield from self._object(path, name, info)

    def _object(self, root: str, path: str, info: Mapping[str, Any]) -> Iterator[RemoteObject]:
        """Yield what an entry of a listing is, unless it only marks a folder."""
        if path.endswith("/"):
            if info.get("size"):
                yield replace(self._named(root, path), left_out="named like a folder")
            return
        if info.get("type") == "link":
            try:
                info = self._asked(lambda system: system.info(path))
            except IngestError as error:
                yield self._named(root, path, error=str(error))
                return
        if info.get("type") == "directory":
            yield replace(self._named(root, path), left_out="a link to a folder")
        elif info.get("type") != "file":
            yield replace(self._named(root, path), left_out="no file")
        else:
            named = self._named(root, path)
            yield replace(named, size=info.get("size"), version=_version(info))

    def _named(self, root: str, path: str, error: str = "") -> RemoteObject:
        name = path.removeprefix(_prefix(root)).removeprefix("/" if not root else "")
        return RemoteObject(path, name, _storable(f"{self.uri}/{name}"), error=error)

    def _copy(self, of: RemoteObject, stream: BinaryIO) -> None:
        limits, size = self.limits, 0
        # What comes at once, and of a version, is of one version.
        is_checked = (of.size or 0) > limits.piece_bytes or not of.version.startswith(ETAG)
        before = self._version_now(of) if is_checked else ""
        opened = self._asked(lambda system: system.open(of.path, "rb", cache_type="none"))
        try:
            while piece := self._asked(lambda _: opened.read(limits.piece_bytes)):
                stream.write(piece)
                size += len(piece)
                if size > limits.object_bytes:
                    raise self._too_large()
        finally:
            self._close(opened)
        if of.size is not None and size < of.size:
            raise IngestError(f"ended too early, or {CHANGED}")
        if is_checked and self._version_now(of) != before:
            raise IngestError(CHANGED)

    def _version_now(self, of: RemoteObject) -> str:
        return _version(self._asked(lambda system: system.info(of.path)))

    def _too_large(self) -> IngestError:
        return RefusedError(f"is larger than {self.limits.object_bytes // 10**6} MB")

    def _close(self, opened: Any) -> None:  # noqa: ANN401 - of each driver's own kind
        try:
            asked(self.address, self.limits.seconds, opened.close)
        except IngestError:  # what has come has come
            self._system = None

    def _asked[T](
        self, call: "Callable[[AbstractFileSystem], T]", seconds: float | None = None
    ) -> T:
        """Ask the driver. Raises IngestError; at once where nothing was answered many times."""
        if self._silences >= self.limits.silences:
            raise RefusedError("was not asked for: the server has answered nothing for a while")
        try:
            system = self._connected()
            answer = asked(self.address, seconds or self.limits.seconds, lambda: call(system))
        except SilentError:
            self._silences += 1
            raise
        except IngestError:
            self._silences = 0
            raise
        self._silences = 0
        return answer

    def _connected(self) -> "AbstractFileSystem":
        with self._lock:
            if self._system is None:
                seconds = self.limits.connect_seconds
                self._system = asked(self.address, seconds, lambda: connect(self.address))
            return self._system


def _entries(folder: str, system: "AbstractFileSystem") -> list[dict[str, Any]]:
    return list(system.ls(folder, detail=True))


def _read_head(system: "AbstractFileSystem", path: str, most: int) -> bytes:
    with system.open(path, "rb", cache_type="none") as opened:
        return bytes(opened.read(most))


def _version(info: Mapping[str, Any]) -> str:
    """Return what tells an object's versions apart: its etag, else its time and size."""
    for name in ETAGS:
        if info.get(name):
            return f"{ETAG}{info[name]}"
    for name in TIMES:
        if changed := info.get(name):
            told = changed.isoformat() if isinstance(changed, datetime) else str(changed)
            return f"{told} {info.get('size')}"
    return ""


def _storable(uri: str) -> str:
    """Return a uri that can be stored: bytes that are no UTF-8 are written as \\x and digits."""
    return UNSTORABLE.sub(lambda sign: f"\\x{ord(sign[0]) & 0xFF:02x}", uri)


def _prefix(folder: str) -> str:
    """Return what the paths in a folder begin with; of some drivers the root has no slash."""
    return f"{folder.rstrip('/')}/" if folder else ""


if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

MAX_REASON_CHARS = 300
DENIED = "permission denied"  # what SFTP's servers say
SIGNATURE = re.compile(r"((?:sig|signature|token|x-amz-\w+|x-goog-\w+|password)=)[^&\s\"']+", re.I)


class Driver(NamedTuple):
    """The module of a driver, the extra that brings it, and whether it lists a bucket at once."""

    module: str
    extra: str
    is_flat: bool = True


DRIVERS = {
    "s3": Driver("s3fs", "s3"),
    "gs": Driver("gcsfs", "gcs"),
    **dict.fromkeys(("az", "abfs", "abfss"), Driver("adlfs", "azure")),
    # Not fsspec's own over paramiko, which trusts any server that answers.
    "sftp": Driver("sshfs", "sftp", is_flat=False),
}
OWN_OPTIONS: dict[str, dict[str, Any]] = {
    # ~/.ssh/known_hosts decides, which sshfs alone would not ask; names may be no UTF-8.
    "sftp": {"known_hosts": (), "sftp_client_kwargs": {"path_errors": "surrogateescape"}},
}


class RefusedError(IngestError):
    """What will not come however often it is asked for: it is not there, or not for us."""


class SilentError(IngestError):
    """A server that does not answer."""


class MissingError(RefusedError):
    """What is not there."""


def driver_class(scheme: str) -> "type[AbstractFileSystem]":
    """Return the class of a scheme's driver. Raises ConfigError where it is not installed."""
    driver = DRIVERS.get(scheme)
    try:
        if driver:
            import_module(driver.module)
        import fsspec
        from fsspec.implementations.local import LocalFileSystem
    except ModuleNotFoundError as error:
        needed = f"'lexichord[{driver.extra}]'" if driver else f"fsspec and what reads {scheme}://"
        raise ConfigError(f"{scheme}:// needs {error.name}: pip install {needed}") from None
    try:
        found: type[AbstractFileSystem] = fsspec.get_filesystem_class(scheme)
    except (ImportError, ValueError) as error:
        raise ConfigError(f"{scheme}:// cannot be read: {one_line(error)}") from None
    if issubclass(found, LocalFileSystem):
        raise ConfigError(f"{scheme}://… is a file of this machine: name its path alone")
    return found


def connect(address: RemoteAddress) -> "AbstractFileSystem":
    """Return a driver that is logged in, and keeps no listing. Raises what the driver raises."""
    from fsspec.dircache import DirCache

    found = driver_class(address.scheme)
    given = address.options
    if address.scheme not in HOSTED:
        given = found._get_kwargs_from_urls(address.uri)
    options = {**OWN_OPTIONS.get(address.scheme, {}), **given}
    system = found(**options, skip_instance_cache=True)
    system.dircache = DirCache(use_listings_cache=False)
    return system


def base_path(address: RemoteAddress) -> str:
    """Return the path that an address names, as its driver writes it."""
    if address.scheme in HOSTED:
        return "/" + address.uri.partition("://")[2].partition("/")[2]
    return str(driver_class(address.scheme)._strip_protocol(address.uri))


def asked[T](address: RemoteAddress, seconds: float, call: Callable[[], T]) -> T:
    """Return what a driver returns within so long. Raises IngestError, ConfigError.

    Some drivers wait for ever; the thread of one that does is left behind.
    """
    done = Future[T]()
    Thread(target=_run, args=(done, call), daemon=True).start()
    if not wait([done], seconds).done:
        raise SilentError(f"does not come: the server has not answered for {seconds:g} s")
    try:
        return done.result()
    except (ConfigError, IngestError):
        raise
    except FileNotFoundError:
        raise MissingError("is not there") from None
    except PermissionError as error:
        raise RefusedError(f"may not be read: {one_line(error, address.secrets)}") from None
    except TimeoutError:
        raise SilentError("does not come: the server does not answer") from None
    except Exception as error:  # of each driver's own kinds
        said = one_line(error, address.secrets)
        if DENIED in said.lower():
            raise RefusedError(f"may not be read: {said}") from None
        raise IngestError(f"cannot be read: {said}") from None


def _run[T](done: "Future[T]", call: Callable[[], T]) -> None:
    try:
        done.set_result(call())
    except BaseException as error:  # handed on to who waits
        done.set_exception(error)


def one_line(error: BaseException, secrets: tuple[str, ...] = ()) -> str:
    """Return the first line of what an error says, without signatures and `secrets`."""
    said = next((line for line in str(error).splitlines() if line.strip()), "")
    for secret in secrets:
        said = said.replace(secret, "***")
    shown = SIGNATURE.sub(r"\1***", " ".join(said.split()))[:MAX_REASON_CHARS]
    return shown or type(error).__name__
