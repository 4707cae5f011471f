"""The space that a database is bound to, which may change while a worker runs."""

from collections.abc import Awaitable, Callable

from lexichord.providers.base import Embedder

# Returns the embedder of the space that the database is bound to by now, and the space.
type FollowSpace = Callable[[], Awaitable[tuple[Embedder | None, str]]]
