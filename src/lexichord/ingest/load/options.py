"""How files are loaded, beyond what stands in them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """The password of those that are encrypted."""

    password: str | None = None
