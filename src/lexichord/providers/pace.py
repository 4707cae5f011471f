"""How fast a service may be asked."""

from dataclasses import dataclass, field
from threading import Lock
from time import monotonic


@dataclass(slots=True)
class Pace:
    """Requests at even distances, over all threads; `interval` is in seconds."""

    interval: float
    _next: float = 0.0
    _lock: Lock = field(default_factory=Lock)

    def reserve(self) -> float:
        """Take the next place; give the seconds until then."""
        with self._lock:
            now = monotonic()
            start = max(now, self._next)
            self._next = start + self.interval
            return start - now
