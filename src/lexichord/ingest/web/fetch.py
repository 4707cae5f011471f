"""Fetch what an address names: within limits, and from hosts that may be asked alone."""

import re
import socket
import ssl
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse
from ipaddress import ip_address
from threading import Timer
from typing import Self
from urllib.parse import quote, urljoin, urlsplit, urlunsplit

from lexichord.errors import ConfigError, IngestError
from lexichord.ingest.web.registries import METADATA_NAMES, standing

ANY = "*"
PORTS: Mapping[str, int] = {"http": 80, "https": 443}
WITH_PORT = re.compile(r"(?P<name>\[[^\]]*\]|[^:]*):(?P<port>\d{1,5})")


@dataclass(frozen=True, slots=True)
class HostRule:
    """A host that may be asked: on the `port` that it was named with, else on those of the web."""

    name: str
    port: int | None = None

    @classmethod
    def of(cls, named: str) -> Self:
        """Read a host as a setting names it; one that cannot be read allows none."""
        match = WITH_PORT.fullmatch(named.strip())
        return cls(_normal(match["name"]), int(match["port"])) if match else cls(_normal(named))

    def allows(self, host: str, port: int) -> bool:
        """Return whether a host may be asked on a port."""
        own = self.name.startswith(".") and (host == self.name[1:] or host.endswith(self.name))
        return (own or self.name == ANY or self.names(host, port)) and self._has(port)

    def names(self, host: str, port: int) -> bool:
        """Return whether it is this host in full."""
        return host == self.name and self._has(port)

    def _has(self, port: int) -> bool:
        return port in PORTS.values() if self.port is None else port == self.port


@dataclass(frozen=True, slots=True)
class Reach:
    """Any host at a public address, private ones if they are allowed; or the `hosts` alone.

    Of those `.example.com` and `*.example.com` are example.com and all below it, `*` is any, and
    a port other than the web's is named with the host: example.com:8080. At a private address only
    a host is asked that is named in full. Where clouds tell machines of themselves nobody is.
    """

    allow_private: bool = False
    hosts: tuple[HostRule, ...] | None = None

    @classmethod
    def of(cls, hosts: Iterable[str]) -> Self:
        """Return the reach of hosts as a setting names them."""
        return cls(hosts=tuple(map(HostRule.of, hosts)))

    def check(self, url: str) -> None:
        """Raise IngestError for an address whose host may not be asked."""
        host, port = host_and_port(url)
        if host in METADATA_NAMES:
            raise _metadata_error(host)
        if self.hosts is not None and not any(rule.allows(host, port) for rule in self.hosts):
            raise IngestError(
                f"is not fetched: {_place(host, port)} is not among LEXICHORD_FETCH_HOSTS, where "
                "who runs this names the hosts that may be asked"
            )

    def choose(self, host: str, port: int, addresses: Sequence[str]) -> str:
        """Return the address of a host to connect to. Raises IngestError where none may be."""
        standings = {address: standing(ip_address(address)) for address in addresses}
        for address, each in standings.items():
            if each == "public":
                return address
        for address, each in standings.items():
            if each == "private":
                self._check_private(host, port, address)
                return address
        raise _metadata_error(addresses[0])

    def _check_private(self, host: str, port: int, address: str) -> None:
        """Raise IngestError for a host at a private address that may not be asked."""
        if self.hosts is None and not self.allow_private:
            raise IngestError(f"is at a private address, {address}: allow it by --allow-private")
        if self.hosts is not None and not any(rule.names(host, port) for rule in self.hosts):
            raise IngestError(
                f"is at a private address, {address}: LEXICHORD_FETCH_HOSTS has to name "
                f"{_place(host, port)} in full"
            )


def host_and_port(url: str) -> tuple[str, int]:
    """Return where an address leads that has its normal form."""
    parts = urlsplit(url)
    return parts.hostname or "", parts.port or PORTS[parts.scheme]


def normal_host(name: str) -> str:
    """Return a host's name, or its number, in the form that is compared. Raises ValueError."""
    host = name.encode("idna").decode().lower().removesuffix(".")
    if ":" in host:
        return str(ip_address(host))
    if not re.fullmatch(r"[a-z0-9._-]+", host):
        raise ValueError
    return host


def _normal(name: str) -> str:
    """Return a host's name as addresses have it; one that cannot be read names none."""
    plain = name.strip().lower().strip("[]")
    if plain == ANY:
        return ANY
    if plain.startswith("*."):
        plain = plain[1:]
    dot = "." if plain.startswith(".") else ""
    try:
        return dot + normal_host(plain.removeprefix("."))
    except ValueError:
        return ""


def _place(host: str, port: int) -> str:
    if port in PORTS.values():
        return host
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _metadata_error(where: str) -> IngestError:
    return IngestError(f"is a cloud's metadata service, {where}, which is never fetched")


USER_AGENT = "lexichord"
REDIRECT_STATUSES = (301, 302, 303, 307, 308)
UNCHANGED_STATUS = 304
READ_BYTES = 1 << 16
LOGIN = re.compile(r"//\S*@")  # in an address, which is not shown


@dataclass(frozen=True, slots=True)
class WebLimits:
    """How much is fetched at most: of one ingest, of one page, and how long that may take."""

    pages: int = 1000
    depth: int = 0  # links followed from the pages that were named
    total_bytes: int = 2_000_000_000
    total_seconds: float = 3600.0
    page_bytes: int = 50_000_000
    page_seconds: float = 60.0
    connect_seconds: float = 10.0
    redirections: int = 5


WEB_LIMITS = WebLimits()
PUBLIC = Reach()


@dataclass(frozen=True, slots=True)
class Validators:
    """What a server said of a page's version, by which it can say that it is the same."""

    etag: str = ""
    last_modified: str = ""

    def headers(self) -> dict[str, str]:
        """Return the headers of a request for a page only if it has changed."""
        headers = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        return {name: value for name, value in headers.items() if value}


@dataclass(frozen=True, slots=True)
class Fetched:
    """What an address gave; `url` is where the redirections led. `is_unchanged` has no content."""

    url: str
    content: bytes
    media_type: str = ""
    validators: Validators = Validators()
    is_unchanged: bool = False


class StatusError(IngestError):
    """An answer with a status that is no page."""

    def __init__(self, status: int) -> None:
        super().__init__(f"the server answers {status}")
        self.status = status


def fetch(
    url: str,
    known: Mapping[str, Validators],
    limits: WebLimits = WEB_LIMITS,
    reach: Reach = PUBLIC,
) -> Fetched:
    """Fetch a page; one of the `known` ones only if it has changed. Raises IngestError."""
    for _ in range(limits.redirections + 1):
        reach.check(url)
        with _answer(url, known.get(url), limits, reach) as response:
            if response.status in REDIRECT_STATUSES and (to := response.headers["location"]):
                url = normal_url(urljoin(url, to))
                continue
            return _fetched(url, response, limits)
    raise IngestError(f"is redirected more than {limits.redirections} times")


def normal_url(url: str) -> str:
    """Return an address in the form that is compared and asked. Raises IngestError."""
    try:
        parts = urlsplit(url.strip())
        host, port = normal_host(parts.hostname or "") if parts.netloc else "", parts.port
    except ValueError:
        raise IngestError("is no address that can be read") from None
    if parts.scheme not in PORTS or not host:
        raise IngestError("is no address of http or https")
    if parts.username is not None:
        raise IngestError("holds a user's name: addresses with passwords are not asked")
    place = f"[{host}]" if ":" in host else host
    if port not in (None, PORTS[parts.scheme]):
        place = f"{place}:{port}"
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._")
    query = quote(parts.query, safe="/%:@!$&'()*+,;=~-._?")
    return urlunsplit((parts.scheme, place, path, query, ""))


class _PinnedConnection(HTTPConnection):
    """A connection to an address, whatever the host's name means by now."""

    def __init__(
        self, host: str, port: int, address: str, context: ssl.SSLContext | None, seconds: float
    ) -> None:
        super().__init__(host, port, timeout=seconds)
        self._address, self._context = address, context
        self.is_cut = False

    def connect(self) -> None:
        self.sock = socket.create_connection((self._address, self.port), self.timeout)
        if self._context is not None:
            self.sock = self._context.wrap_socket(self.sock, server_hostname=self.host)

    def cut(self) -> None:
        """End it from another thread."""
        self.is_cut = True
        with suppress(OSError, AttributeError):
            self.sock.shutdown(socket.SHUT_RDWR)


@contextmanager
def _answer(
    url: str, validators: Validators | None, limits: WebLimits, reach: Reach
) -> Iterator[HTTPResponse]:
    """Ask once. Raises IngestError, also where that takes too long."""
    parts = urlsplit(url)
    host, port = host_and_port(url)
    address = _resolved(host, port, reach)
    context = ssl.create_default_context() if parts.scheme == "https" else None
    connection = _PinnedConnection(host, port, address, context, limits.connect_seconds)
    timer = Timer(limits.page_seconds, connection.cut)  # a server may send a byte now and then
    timer.start()
    headers = {
        "Host": parts.netloc,
        "User-Agent": USER_AGENT,
        "Accept-Encoding": "gzip, deflate",
        **(validators.headers() if validators else {}),
    }
    target = urlunsplit(("", "", parts.path, parts.query, ""))
    try:
        with closing(connection):
            connection.request("GET", target, headers=headers)
            with connection.getresponse() as response:
                yield response
    except (OSError, HTTPException) as error:
        if not connection.is_cut:
            raise IngestError(f"cannot be fetched: {_reason(error)}") from None
    finally:
        timer.cancel()
    if connection.is_cut:  # what has come may look whole
        raise IngestError(f"took longer than {limits.page_seconds:g} s to fetch")


def _reason(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "the server does not answer"
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def _resolved(host: str, port: int, reach: Reach) -> str:
    """Return the address to connect to. Raises IngestError."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise IngestError(f"cannot be fetched: {host} is not known ({error.strerror})") from None
    return reach.choose(host, port, [str(place[0]) for *_, place in found])


def _fetched(url: str, response: HTTPResponse, limits: WebLimits) -> Fetched:
    headers = response.headers
    validators = Validators(headers["etag"] or "", headers["last-modified"] or "")
    if response.status == UNCHANGED_STATUS:
        return Fetched(url, b"", validators=validators, is_unchanged=True)
    if response.status != 200:
        raise StatusError(response.status)
    media_type = (headers["content-type"] or "").partition(";")[0].strip().lower()
    encoding = (headers["content-encoding"] or "identity").strip().lower()
    return Fetched(url, _content(response, encoding, limits.page_bytes), media_type, validators)


def _content(response: HTTPResponse, encoding: str, most: int) -> bytes:
    """Return an answer's content, unpacked. Raises IngestError where it is too much."""
    unpacker = None
    if encoding in ("gzip", "x-gzip", "deflate"):
        unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)  # either header
    elif encoding != "identity":
        raise IngestError(f"comes packed by {encoding}, which was not asked for")
    content = bytearray()
    try:
        while piece := response.read1(READ_BYTES):
            content += unpacker.decompress(piece, most + 1 - len(content)) if unpacker else piece
            if len(content) > most:
                raise IngestError(f"is larger than {most // 10**6} MB")
    except zlib.error:
        raise IngestError("cannot be unpacked") from None
    if response.length:  # what was announced and did not come
        raise IngestError("ended too early")
    return bytes(content)


def check_url(url: str, reach: Reach) -> str:
    """Return an address as it is asked. Raises ConfigError, also where its host may not be."""
    try:
        normal = normal_url(url)
        reach.check(normal)
    except IngestError as error:
        raise ConfigError(f"{LOGIN.sub('//', url)} {error}") from None
    return normal
