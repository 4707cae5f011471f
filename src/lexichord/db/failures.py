"""What the driver's errors mean to who called: ours, each in one line, and what they tell."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors
from psycopg_pool import PoolTimeout

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
    except (psycopg.Error, PoolTimeout) as error:
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
    hint = diag and diag.message_hint
    if not hint or hint.startswith("select "):  # a statement is for those who sit at psql
        return primary
    return f"{primary}: {hint[0].lower()}{hint[1:]}"


def is_gone(error: BaseException | None) -> bool:
    """Return whether an error of ours, or the driver's, means that no server answered."""
    if isinstance(error, psycopg.OperationalError):
        return is_cut(error)
    return isinstance(error, PoolTimeout) or (
        isinstance(error, DatabaseError) and is_gone(error.__cause__)
    )


def is_unknown(error: DatabaseError) -> bool:
    """Return whether the database lacks what was named, as one of another version does."""
    lacks = (errors.UndefinedFunction, errors.UndefinedTable, errors.UndefinedColumn)
    return isinstance(error.__cause__, lacks)


def is_denied(error: DatabaseError) -> bool:
    """Return whether the role may not do what was asked."""
    return isinstance(error.__cause__, errors.InsufficientPrivilege)


def is_cut(error: psycopg.OperationalError) -> bool:
    """Return whether the server is gone, or went, rather than refused."""
    gone = (errors.AdminShutdown, errors.CrashShutdown, errors.CannotConnectNow)
    return isinstance(error, gone) or error.sqlstate is None
