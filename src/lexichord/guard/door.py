"""Who may come in: by which address, with which key."""

from dataclasses import dataclass
from ipaddress import ip_address
from typing import Self

from lexichord.app import Lexichord
from lexichord.errors import AccessError, ConfigError
from lexichord.guard.limited import Limited

HERE = ("localhost", "127.0.0.1", "[::1]", "::1")  # names that reach nobody but this machine


@dataclass(frozen=True, slots=True)
class Door:
    """Where a server listens, and whether those who come need a key.

    They need none where only this machine can reach it and only by its own names: a page elsewhere
    that has its name point here, or a proxy in front, comes by another (DNS rebinding).
    """

    core: Lexichord
    host: str
    hosts: tuple[str, ...]
    needs_key: bool

    @classmethod
    async def open(cls, core: Lexichord, host: str) -> Self:
        """Raise ConfigError where a key is needed and there is none."""
        others = tuple(core.settings.allowed_hosts)
        needs_key = not is_loopback(host) or bool(others)
        if needs_key and not any(key.revoked_at is None for key in await core.list_keys()):
            raise ConfigError(
                f"whoever reaches {', '.join(others) or host} could read everything: make a key "
                "with lexichord keys create NAME, or listen on 127.0.0.1"
            )
        # A name is checked to keep off pages that point theirs here; with a key they get nowhere.
        hosts = (*HERE, *others) if others or is_loopback(host) else ("*",)
        return cls(core, host, hosts, needs_key)

    async def enter(self, authorization: str | None) -> Limited:
        """Give what the sender of an Authorization header may use. Raises AccessError."""
        if authorization is None and not self.needs_key:
            return Limited(self.core)
        kind, _, secret = (authorization or "").partition(" ")
        if kind.lower() != "bearer" or not secret.strip():
            raise AccessError("send an API key: Authorization: Bearer KEY")
        return Limited(self.core, await self.core.check_key(secret.strip()))


def is_loopback(host: str) -> bool:
    """Tell whether an address to listen on is reached from this machine alone."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
