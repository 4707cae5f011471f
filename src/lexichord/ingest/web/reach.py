"""Which hosts may be asked for pages."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self
from urllib.parse import urlsplit

from lexichord.errors import IngestError

ANY = "*"


@dataclass(frozen=True, slots=True)
class Reach:
    """Any host at a public address, private ones if they are allowed; or the `hosts` alone.

    Of those `.example.com` and `*.example.com` are example.com and all below it, `*` is any. At a
    private address only a host is asked that is named in full.
    """

    allow_private: bool = False
    hosts: tuple[str, ...] | None = None

    @classmethod
    def of(cls, hosts: Iterable[str]) -> Self:
        """Return the reach of hosts as a setting names them."""
        return cls(hosts=tuple(_normal(host) for host in hosts))

    def check(self, url: str) -> None:
        """Raise IngestError for an address whose host may not be asked."""
        host = urlsplit(url).hostname or ""
        if self.hosts is not None and not any(_is_of(host, name) for name in self.hosts):
            raise IngestError(
                f"is not fetched: {host} is not among LEXICHORD_FETCH_HOSTS, where who runs this "
                "names the hosts that may be asked"
            )

    def check_private(self, host: str, address: str) -> None:
        """Raise IngestError for a host at a private address that may not be asked."""
        if self.hosts is None and not self.allow_private:
            raise IngestError(f"is at a private address, {address}: allow it by --allow-private")
        if self.hosts is not None and host not in self.hosts:
            raise IngestError(
                f"is at a private address, {address}: LEXICHORD_FETCH_HOSTS has to name {host} in "
                "full"
            )


def _is_of(host: str, name: str) -> bool:
    if not name.startswith("."):
        return name in (ANY, host)
    return host == name[1:] or host.endswith(name)


def _normal(name: str) -> str:
    """Return a host's name as addresses have it; one that cannot be read names none."""
    plain = name.strip().lower().strip("[]")
    if plain.startswith("*."):
        plain = plain[1:]
    dot = "." if plain.startswith(".") else ""
    try:
        return dot + plain.removeprefix(".").encode("idna").decode()
    except UnicodeError:
        return plain
