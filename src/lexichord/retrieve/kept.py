"""What functions of a text alone made of the last texts: a query looks at each sentence twice."""

from collections.abc import Callable
from functools import lru_cache, wraps

from lexichord.db.call_settings import Asker, current_asker


def kept[Made](count: int) -> Callable[[Callable[[str], Made]], Callable[[str], Made]]:
    """Keep what a function made of so many texts; what it makes must not be changed.

    Each tenant has its own: how long a query takes tells nothing of others.
    """

    def decorate(function: Callable[[str], Made]) -> Callable[[str], Made]:
        @lru_cache(count)
        def by_asker(asker: Asker | None, text: str) -> Made:
            return function(text)

        @wraps(function)
        def call(text: str) -> Made:
            return by_asker(current_asker(), text)

        return call

    return decorate
