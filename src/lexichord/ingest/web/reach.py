"""Which hosts may be asked for pages, on which ports, and at which addresses."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Self
from urllib.parse import urlsplit

from lexichord.errors import IngestError
from lexichord.ingest.web.addresses import standing
from lexichord.ingest.web.registries import METADATA_NAMES

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
