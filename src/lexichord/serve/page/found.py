"""What was found while a browser was shown its stages, kept until it loads the page of it."""

from collections.abc import Hashable
from time import monotonic

from lexichord.serve.limits import FOUND_SECONDS, MAX_FOUND
from lexichord.types import Response


class FoundResponses:
    """Responses by who asked for what, each for a moment, and given out once.

    Where another process answers, or the moment is over, the question is asked again.
    """

    def __init__(self) -> None:
        self._kept = dict[Hashable, tuple[float, Response, float]]()  # oldest first

    def keep(self, asked: Hashable, response: Response, seconds: float) -> None:
        """Keep a response and the seconds that it took."""
        self._kept.pop(asked, None)
        while len(self._kept) >= MAX_FOUND:
            del self._kept[next(iter(self._kept))]
        self._kept[asked] = (monotonic() + FOUND_SECONDS, response, seconds)

    def take(self, asked: Hashable) -> tuple[Response, float] | None:
        """Return a response and the seconds that it took, None where there is none now."""
        until, response, seconds = self._kept.pop(asked, (0.0, None, 0.0))
        return (response, seconds) if response is not None and monotonic() < until else None
