"""Buckets and servers as folders: their addresses, what may be asked of them and shown."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, unquote, urlsplit

from lexichord.errors import ConfigError
from lexichord.ingest.web.crawl import is_address

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
