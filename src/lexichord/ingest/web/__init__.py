"""Pages of the web as files: fetched within limits, from no private address; `crawl` follows links.

What addresses are private say IANA's registries of special-purpose addresses, as data:
https://www.iana.org/assignments/iana-ipv4-special-registry and iana-ipv6-special-registry, as they
stood in 2025, with what the registries of all addresses have besides: multicast, and that of
version 6 only 2000::/3 is given out. Where clouds tell of themselves stands beside them.
"""

import re
import socket
import ssl
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from threading import Timer
from typing import Literal, Self
from urllib.parse import quote, urljoin, urlsplit, urlunsplit

from lexichord.errors import ConfigError, IngestError

type Network = IPv4Network | IPv6Network

# Each with whether it is globally reachable; None where the registry says that this depends.
_ROWS: tuple[tuple[str, str, bool | None], ...] = (
    ("0.0.0.0/8", "this network", False),
    ("10.0.0.0/8", "private use", False),
    ("100.64.0.0/10", "shared address space", False),
    ("127.0.0.0/8", "loopback", False),
    ("169.254.0.0/16", "link local", False),
    ("172.16.0.0/12", "private use", False),
    ("192.0.0.0/24", "IETF protocol assignments", False),
    ("192.0.0.0/29", "IPv4 service continuity prefix", False),
    ("192.0.0.8/32", "IPv4 dummy address", False),
    ("192.0.0.9/32", "Port Control Protocol anycast", True),
    ("192.0.0.10/32", "TURN anycast", True),
    ("192.0.0.170/32", "NAT64/DNS64 discovery", False),
    ("192.0.0.171/32", "NAT64/DNS64 discovery", False),
    ("192.0.2.0/24", "documentation", False),
    ("192.31.196.0/24", "AS112", True),
    ("192.52.193.0/24", "AMT", True),
    ("192.88.99.0/24", "6to4 relay anycast, deprecated", None),
    ("192.88.99.2/32", "6a44 relay anycast", False),
    ("192.168.0.0/16", "private use", False),
    ("192.175.48.0/24", "AS112 by direct delegation", True),
    ("198.18.0.0/15", "benchmarking", False),
    ("198.51.100.0/24", "documentation", False),
    ("203.0.113.0/24", "documentation", False),
    ("224.0.0.0/4", "multicast", False),
    ("240.0.0.0/4", "reserved", False),
    ("255.255.255.255/32", "limited broadcast", False),
    ("::/0", "not given out", False),
    ("::/128", "unspecified address", False),
    ("::1/128", "loopback", False),
    ("::ffff:0:0/96", "IPv4-mapped", False),
    ("64:ff9b::/96", "translated by NAT64", True),
    ("64:ff9b:1::/48", "translated by NAT64 of a network's own", False),
    ("100::/64", "discard only", False),
    ("100:0:0:1::/64", "dummy prefix", False),
    ("2000::/3", "global unicast", True),
    ("2001::/23", "IETF protocol assignments", False),
    ("2001::/32", "Teredo", None),
    ("2001:1::1/128", "Port Control Protocol anycast", True),
    ("2001:1::2/128", "TURN anycast", True),
    ("2001:1::3/128", "DNS-SD service registration anycast", True),
    ("2001:2::/48", "benchmarking", False),
    ("2001:3::/32", "AMT", True),
    ("2001:4:112::/48", "AS112", True),
    ("2001:10::/28", "ORCHID, deprecated", None),
    ("2001:20::/28", "ORCHIDv2", True),
    ("2001:30::/28", "drones' remote identification", True),
    ("2001:db8::/32", "documentation", False),
    ("2002::/16", "6to4", None),
    ("2620:4f:8000::/48", "AS112 by direct delegation", True),
    ("3fff::/20", "documentation", False),
    ("5f00::/16", "segment routing", False),
    ("fc00::/7", "unique local", False),
    ("fe80::/10", "link local", False),
    ("fec0::/10", "site local, deprecated", False),
    ("ff00::/8", "multicast", False),
)
SPECIAL_NETWORKS: dict[Network, bool | None] = {
    ip_network(prefix): is_global for prefix, _, is_global in _ROWS
}
# In their last 32 bits these hold an address of version 4: as it is compatible with version 6,
# mapped into it, translated without state, and translated by NAT64.
IPV4_HOLDERS = tuple(
    IPv6Network(prefix) for prefix in ("::/96", "::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96")
)
# What a machine in a cloud is told here, such as its keys, is for itself.
METADATA_ADDRESSES = {
    ip_address(address): cloud
    for address, cloud in (
        ("169.254.169.254", "most clouds"),
        ("169.254.169.250", "Rancher"),
        ("169.254.170.2", "Amazon ECS"),
        ("169.254.170.23", "Amazon EKS"),
        ("169.254.0.23", "Tencent"),
        ("169.254.42.42", "Scaleway"),
        ("100.100.100.200", "Alibaba"),
        ("168.63.129.16", "Azure"),
        ("192.0.0.192", "Oracle"),
        ("fd00:ec2::254", "Amazon EC2"),
        ("fd00:ec2::23", "Amazon EKS"),
        ("fd20:ce::254", "Google"),
        ("fd00:42::42", "Scaleway"),
    )
}
METADATA_NAMES = frozenset(
    (
        "metadata.google.internal",
        "metadata.goog",
        "metadata.azure.internal",
        "instance-data.ec2.internal",
        "metadata.tencentyun.com",
        "metadata.packet.net",
        "metadata.platformequinix.com",
        "api.metadata.cloud.ibm.com",
    )
)


# In the last half of an address of ISATAP, before one of version 4.
ISATAP_MARKS = (0x0000_5EFE, 0x0200_5EFE)
OWN_NAT64 = IPv6Network("64:ff9b:1::/48")  # translated within a network, mostly by the last bits
LOW_BITS = 0xFFFF_FFFF

type Address = IPv4Address | IPv6Address
type Standing = Literal["public", "private", "metadata"]


def standing(address: Address) -> Standing:
    """Tell a public address from all others, and where a cloud tells a machine of itself.

    What holds an address of version 4, in whatever form, is no more than that one is.
    """
    if isinstance(address, IPv6Address):
        address = IPv6Address(int(address))  # without its zone
    judged = _judged(address)
    if any(one in METADATA_ADDRESSES for one in (address, *judged)):
        return "metadata"
    return "public" if all(map(_is_global, judged)) else "private"


def _judged(address: Address) -> tuple[Address, ...]:
    """Return what an address leads to: it is that, or those that it holds, or both."""
    if isinstance(address, IPv4Address):
        return (address,)
    if address.teredo:
        return address.teredo
    if address.sixtofour:
        return (address.sixtofour,)
    last = IPv4Address(int(address) & LOW_BITS)
    if any(address in holder for holder in IPV4_HOLDERS):
        return (last,)
    is_isatap = int(address) >> 32 & LOW_BITS in ISATAP_MARKS
    return (address, last) if is_isatap or address in OWN_NAT64 else (address,)


def _is_global(address: Address) -> bool:
    """Return what the smallest network says that an address is in."""
    networks = (one for one in SPECIAL_NETWORKS if one.version == address.version)
    found = [network for network in networks if address in network]
    smallest = max(found, key=lambda network: network.prefixlen, default=None)
    return smallest is None or SPECIAL_NETWORKS[smallest] is True


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
        self._opened: socket.socket | None = None  # http.client forgets that of its last answer
        self.is_cut = False

    def connect(self) -> None:
        self.sock = socket.create_connection((self._address, self.port), self.timeout)
        if self._context is not None:
            self.sock = self._context.wrap_socket(self.sock, server_hostname=self.host)
        self._opened = self.sock

    def cut(self) -> None:
        """End it from another thread."""
        self.is_cut = True
        if self._opened is not None:
            with suppress(OSError):
                self._opened.shutdown(socket.SHUT_RDWR)


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
