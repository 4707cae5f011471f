"""What holds for the calls of a block, and what comes back of them besides rows.

How long calls may take, who asks, which keys are known. What the driver's errors mean to who
called: ours, each in one line, and what they tell. Which arguments and columns of the SQL functions
are ids: texts above, numbers in the database. Nothing else converts them; `tests/sql/test_ids.py`
holds this against the functions themselves.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from time import monotonic
from typing import Any

import psycopg
from psycopg import errors
from psycopg.types.json import Jsonb
from psycopg_pool import TooManyRequests

from lexichord.errors import (
    LONE_SURROGATE,
    ConfigError,
    DatabaseError,
    DatabaseTimeoutError,
    EmbeddingMismatchError,
    EngineUnsupportedError,
    NotFoundError,
    UnknownDatasetError,
)
from lexichord.types import Json
from lexichord.types.base import IdKind, Ids

MIN_CALL_SECONDS = 5.0
# When what is asked of a database has to be done, by the monotonic clock; tasks inherit it.
_deadline: ContextVar[float | None] = ContextVar("deadline", default=None)


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Allow the calls of the block, together, so many seconds: DatabaseTimeoutError after them.

    How many is said by `QueryOptions.budget_ms`.

    Each has MIN_CALL_SECONDS, whatever is left: what models leave undone is done without them.
    """
    token = _deadline.set(monotonic() + seconds)
    try:
        yield
    finally:
        _deadline.reset(token)


@dataclass(frozen=True, slots=True)
class Asker:
    """For which tenant a server asks, and by which of its principals."""

    tenant: str
    principals: tuple[str, ...]

    def settings(self) -> dict[str, str]:
        """Return the settings by which lexichord_data.own_datasets knows it."""
        quoted = [one.replace("\\", r"\\").replace('"', r"\"") for one in self.principals]
        principals = ",".join(f'"{one}"' for one in quoted)
        return {"lexichord.tenant": self.tenant, "lexichord.principals": f"{{{principals}}}"}


_asker: ContextVar[Asker | None] = ContextVar("asker", default=None)


@contextmanager
def asking_for(tenant: str | None, principals: tuple[str, ...] = ()) -> Iterator[None]:
    """Ask in the block for this tenant, None for none; where tenants are on, that sees nothing."""
    token = _asker.set(None if tenant is None else Asker(tenant, principals))
    try:
        yield
    finally:
        _asker.reset(token)


_keys_are_known: ContextVar[bool] = ContextVar("keys_are_known", default=False)


@contextmanager
def keys_known() -> Iterator[None]:
    """Filter in the block by keys that no document of the database may have."""
    token = _keys_are_known.set(True)
    try:
        yield
    finally:
        _keys_are_known.reset(token)


def current_asker() -> Asker | None:
    """Return for whom the block asks; None: for nobody in particular."""
    return _asker.get()


def call_settings() -> dict[str, str]:
    """Return what holds for the next call alone: how long it may take, and who asks."""
    asker, deadline = _asker.get(), _deadline.get()
    settings = {} if asker is None else asker.settings()
    if _keys_are_known.get():
        settings["lexichord.keys_are_known"] = "on"
    if deadline is not None:
        seconds = max(MIN_CALL_SECONDS, deadline - monotonic())
        settings["statement_timeout"] = str(round(1000 * seconds))
    return settings


@contextmanager
def translate_errors() -> Iterator[None]:
    """Raise the driver's errors as ours, each in one line."""
    try:
        yield
    except (psycopg.DataError, errors.ProgramLimitExceeded) as error:
        kind = EmbeddingMismatchError if error.sqlstate == "22000" else ConfigError
        raise kind(_line(error)) from error
    except errors.NoDataFound as error:
        raise _not_found(error) from error
    except UnicodeEncodeError as error:
        raise ConfigError(LONE_SURROGATE) from error
    except errors.QueryCanceled as error:
        raise DatabaseTimeoutError(
            "the database took longer than the time for it: ask with fewer words or of fewer "
            "documents, or raise budget_ms"
        ) from error
    except errors.LockNotAvailable as error:
        raise DatabaseError(
            "another session holds what this changes: try again when it has ended (the view "
            "pg_locks shows which)"
        ) from error
    except errors.FeatureNotSupported as error:  # what an engine's index.sql raises
        raise EngineUnsupportedError(_line(error)) from error
    except psycopg.Error as error:
        raise DatabaseError(_line(error)) from error


def _not_found(error: errors.NoDataFound) -> NotFoundError:
    if error.diag.table_name == "dataset":
        return UnknownDatasetError(_line(error), str(error.diag.message_primary))
    return NotFoundError(_line(error))


def _line(error: Exception) -> str:
    if isinstance(error, errors.UntranslatableCharacter) or "cannot contain NUL" in str(error):
        return "a text holds a NUL character, which Postgres cannot hold: remove it"
    diag = error.diag if isinstance(error, psycopg.Error) else None
    primary = (diag and diag.message_primary) or str(error).strip().split("\n")[0]
    primary = primary.replace("\n\t", "; ")  # as libpq tells of a server that another asked
    hint = diag and diag.message_hint
    if not hint or hint.startswith("select "):  # a statement is for those who sit at psql
        return primary
    return f"{primary}: {hint[0].lower()}{hint[1:]}"


def is_cut(error: psycopg.Error) -> bool:
    """Return whether the server is gone, or went, rather than refused."""
    if isinstance(error, errors.AdminShutdown | errors.CrashShutdown | errors.CannotConnectNow):
        return True
    is_silent = isinstance(error, psycopg.OperationalError) and error.sqlstate is None
    return is_silent and not isinstance(error, TooManyRequests)


def is_timeout(error: psycopg.Error) -> bool:
    """Return whether a call took longer than the time that it had."""
    return isinstance(error, errors.QueryCanceled)


ID_ARGUMENTS: Mapping[str, IdKind] = {
    **dict.fromkeys(("document", "documents", "files", "source", "twin", "rereads"), "doc"),
    **dict.fromkeys(("chunk_ids", "after"), "chunk"),
}
ID_COLUMNS: Mapping[str, IdKind] = {
    "document_id": "doc",
    **dict.fromkeys(("chunk_id", "current_chunk_id", "chunk_ids"), "chunk"),
}
TABLE_FUNCTIONS = (  # whose `source` is a table of the user's
    *("index_table", "alter_index_table", "drop_index_table", "search_table"),
    *("list_table_failures", "retry_table_failures"),
)
# Of these functions the names mean something else.
OTHER_ARGUMENTS = {
    ("sample_documents", "documents"),  # how many
    ("start_run", "source"),  # a folder
    *((function, "source") for function in TABLE_FUNCTIONS),
    ("vechord_digests", "after"),  # a key of vechord's
}
OTHER_COLUMNS: Mapping[tuple[str, str], IdKind] = {
    ("question_coverage", "chunks"): "chunk",  # elsewhere how many
}


def with_numbers(ids: Ids, function: str, arguments: Mapping[str, object]) -> dict[str, object]:
    """Return a function's arguments as the database takes them.

    Raises NotFoundError, ConfigError.
    """
    return {name: _argument(ids, function, name, value) for name, value in arguments.items()}


def _argument(ids: Ids, function: str, name: str, value: Any) -> object:  # noqa: ANN401
    if value is None or (function, name) in OTHER_ARGUMENTS:
        return value
    if name in JSON_ARGUMENTS:
        return Jsonb(JSON_ARGUMENTS[name](ids, value))
    kind = ID_ARGUMENTS.get(name)
    if kind is None:
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise ConfigError(f"{name} is too large a number")
        return value
    return ids.read(kind, value) if isinstance(value, str) else [ids.read(kind, v) for v in value]


def with_texts(ids: Ids, function: str, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a function's rows as others may see them."""
    names = rows[0] if rows else ()
    kinds = {name: kind for name in names if (kind := _column(function, name)) is not None}
    return [
        row | {name: _text(ids, kind, row[name]) for name, kind in kinds.items()} for row in rows
    ]


def _column(function: str, name: str) -> IdKind | None:
    return ID_COLUMNS.get(name) or OTHER_COLUMNS.get((function, name))


def _text(ids: Ids, kind: IdKind, value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, list):
        return [ids.write(kind, number) for number in value]
    return None if value is None else ids.write(kind, value)


def _boost(ids: Ids, boost: Json) -> Json:
    """Read points by document id. Raises ConfigError, as SQL's check would with numbers."""
    for document, points in boost.items():
        if isinstance(points, bool) or not isinstance(points, int | float):
            raise ConfigError(f"boost must be points by document id, not {document}: {points!r}")
    return {str(ids.read("doc", document)): points for document, points in boost.items()}


def _variants(ids: Ids, variants: Sequence[Json]) -> Sequence[Json]:
    return [
        {**variant, "documents": [ids.read("doc", document) for document in variant["documents"]]}
        if variant["documents"] is not None
        else variant
        for variant in variants
    ]


def _hits(ids: Ids, hits: Sequence[Json]) -> Sequence[Json]:
    return [{**hit, "chunk_id": ids.read("chunk", hit["chunk_id"])} for hit in hits]


JSON_ARGUMENTS: Mapping[str, Callable[[Ids, Any], object]] = {
    "boost": _boost,
    "variants": _variants,
    "hits": _hits,
}
