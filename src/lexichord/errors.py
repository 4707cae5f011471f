"""What can go wrong, as one tree.

LexichordError
├── ConfigError               a setting, a flag or an argument is wrong
│   └── NotFoundError         a dataset, a document or a chunk that is not there
│       └── UnknownDatasetError   a dataset, with those like it that are there
├── AccessError               an API key is missing, unknown, revoked or over
│   ├── KeyExpiredError       an API key's time is over
│   ├── ForbiddenError        an API key does not reach that far
│   │   └── MissingScopeError a key that may not read, write or delete would
│   └── TooManyRequestsError  an API key was used more often a minute than it may be
├── DatabaseError             the server refused, is gone, or was never there
│   ├── DatabaseTimeoutError  it was stopped amid a call, for its time was over
│   ├── SchemaOutdatedError   program and database do not fit each other
│   ├── EngineUnsupportedError  an extension is missing or of the wrong version
│   └── EmbeddingMismatchError  a vector from another space than the database's
├── ProviderError             an embedding model or a vendor failed
│   ├── AuthError
│   ├── RateLimitError
│   ├── ProviderTimeoutError
│   └── BadResponseError
└── IngestError               a file could not be read or stored

Every message is one line: what is wrong, then what to do.
"""

from collections.abc import Iterable

LONE_SURROGATE = "a text holds a lone surrogate, which UTF-8 cannot hold: remove it"
MAX_MESSAGE_CHARS = 2_000  # of a line: what a caller sent may be in it, however long
MOST_NAMES = 5  # in an error's line, as in sql/scope/name_choices.sql
LEAST_LIKENESS = 0.4  # of what may be a misspelling, as in sql/scope/name_likeness.sql
COMPARED_CHARS = 100  # of a name, as in sql/scope/name_likeness.sql


def bounded_message(message: str) -> str:
    """Return an error's line, no longer than one is shown or sent."""
    return message if len(message) <= MAX_MESSAGE_CHARS else f"{message[:MAX_MESSAGE_CHARS]}…"


def plain_reason(message: str) -> str:
    """Return what pydantic says of a value without the exception by which it was told so."""
    return message.removeprefix("Value error, ")


class LexichordError(Exception):
    """Base of every error that lexichord raises on purpose."""


class ConfigError(LexichordError):
    """A setting, a flag or an argument is wrong."""


class NotFoundError(ConfigError):
    """A dataset, a document or a chunk is not there."""


class UnknownDatasetError(NotFoundError):
    """A dataset is not there; the message names some that are, `bare` is it without these."""

    def __init__(self, message: str, bare: str) -> None:
        super().__init__(message)
        self.bare = bare


def some_names(names: Iterable[str], wanted: Iterable[str] = ()) -> str:
    """Return a few names for an error's line, the nearest first, and how many more there are."""
    listed = nearest_first(sorted(names), wanted)
    more = len(listed) - MOST_NAMES
    few = ", ".join(map(repr, listed[:MOST_NAMES]))
    return few + (f" and {more} more" if more > 0 else "")


def nearest_first(names: Iterable[str], wanted: Iterable[str]) -> list[str]:
    """Return names by how like they are to one that was wanted, else in their order."""
    among = list(wanted)
    return sorted(names, key=lambda name: -max((likeness(one, name) for one in among), default=0.0))


def likeness(one: str, other: str) -> float:
    """Return how alike two names' pairs of letters are, 0 to 1, as sql/scope/name_likeness.sql.

    It is the coefficient of Dice; a name's ends are pairs of their own.
    """
    left, right = _pairs(one), _pairs(other)
    share = 2 * len(left & right) / (len(left) + len(right))
    return share if share >= LEAST_LIKENESS else 0.0


def _pairs(name: str) -> set[str]:
    text = f" {name[:COMPARED_CHARS].lower()} "
    return {text[at : at + 2] for at in range(len(text) - 1)}


class AccessError(LexichordError):
    """An API key is missing, unknown, revoked or over."""


class KeyExpiredError(AccessError):
    """An API key's time is over; `key_id` is its number."""

    def __init__(self, message: str, key_id: int) -> None:
        super().__init__(message)
        self.key_id = key_id


class ForbiddenError(AccessError):
    """An API key does not reach that far."""


class MissingScopeError(ForbiddenError):
    """An API key may not do that kind of thing: read, write or delete."""


class TooManyRequestsError(AccessError):
    """An API key was used too often, or a server does too much; again in `retry_after` seconds."""

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class DatabaseError(LexichordError):
    """The server refused, is gone, or was never there."""


class DatabaseTimeoutError(DatabaseError):
    """The server was stopped amid a call, for its time was over."""


class SchemaOutdatedError(DatabaseError):
    """The program and the database's schema do not fit each other."""


class EngineUnsupportedError(DatabaseError):
    """An extension is missing, or its version is not a supported one."""


class EmbeddingMismatchError(DatabaseError):
    """A vector was made in another space than the database's."""


class ProviderError(LexichordError):
    """An embedding model or a vendor's service failed; `status` is HTTP's, where it gave one.

    `is_transient`: the same request may succeed later.
    """

    status: int | None = None
    is_transient: bool = False


class AuthError(ProviderError):
    """The provider refused the credentials."""


class RateLimitError(ProviderError):
    """The provider asks for fewer requests."""

    is_transient = True


class ProviderTimeoutError(ProviderError):
    """The provider did not answer in time."""

    is_transient = True


class BadResponseError(ProviderError):
    """The provider answered with something that cannot be used."""


class IngestError(LexichordError):
    """A file could not be read or stored."""
