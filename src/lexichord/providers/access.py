"""Addresses and keys of services, as the settings and the vendors' own variables name them."""

import os
from collections.abc import Sequence
from importlib.util import find_spec
from urllib.parse import urlsplit

from pydantic import SecretStr

from lexichord.errors import ConfigError


def checked_url(name: str, url: str | None) -> str | None:
    """Give a setting's URL without the slash at its end. Raises ConfigError."""
    if not url:
        return None
    if not is_address(url):
        raise ConfigError(f"{name} is no address like http://localhost:8000/v1")
    return url.rstrip("/")


def is_address(url: str) -> bool:
    """Tell whether a URL names a server that can be asked over HTTP."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def check_key(what: str, key: str) -> None:
    """Raise ConfigError for a key that no header can hold, without repeating it."""
    if not (key.isascii() and key.isprintable()) or key != key.strip():
        raise ConfigError(f"{what} holds characters that no key has: copy it anew")


def find_key(
    what: str, key: SecretStr | None, url: str | None, variables: Sequence[str]
) -> SecretStr | None:
    """Give the key; a vendor's own variable counts only where the vendor itself is asked.

    Raises ConfigError.
    """
    found = key.get_secret_value() if key else ""
    if not found and not url:
        found = next(filter(None, (os.environ.get(name) for name in variables)), "")
    check_key(f"{what}'s key", found)
    return SecretStr(found) if found else None


def has_library(name: str) -> bool:
    """Tell whether a library is installed, without loading it."""
    try:
        return find_spec(name) is not None
    except (ModuleNotFoundError, ValueError):  # what it is a part of is missing, or was taken away
        return False
