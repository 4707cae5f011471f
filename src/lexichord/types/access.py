"""Who may do what."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lexichord.types.json import Shaped


@dataclass(frozen=True, slots=True)
class Rights(Shaped):
    """What a caller may do: read these datasets, None means all, and write to them or not.

    `key_id` is that of the API key, None where no key is needed.
    """

    datasets: tuple[str, ...] | None = None
    writes: bool = True
    key_id: int | None = None


@dataclass(frozen=True, slots=True)
class ApiKey(Shaped):
    """An API key without its secret, of which the database has a digest only.

    `datasets` None means all; `revoked_at` None, that it is valid.
    """

    key_id: int
    name: str
    datasets: tuple[str, ...] | None
    writes: bool
    created_at: datetime
    revoked_at: datetime | None


@dataclass(frozen=True, slots=True)
class NewApiKey:
    """An API key just made, the only time that its `secret` is known."""

    key: ApiKey
    secret: str

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON shape, with the secret."""
        return {**self.key.to_dict(), "secret": self.secret}
