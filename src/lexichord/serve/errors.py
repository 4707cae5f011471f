"""Errors and results as strangers may see them; values that no request may hold.

Results are without what only who runs the server may see.
"""

import logging
import re
from asyncio import CancelledError
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from math import isfinite
from typing import Any, NamedTuple
from uuid import uuid4

from lexichord.db.pool import Row
from lexichord.errors import (
    LONE_SURROGATE,
    AccessError,
    ConfigError,
    DatabaseError,
    DatabaseTimeoutError,
    ForbiddenError,
    LexichordError,
    NotFoundError,
    ProviderError,
    RateLimitError,
    TooManyRequestsError,
    bounded_message,
)
from lexichord.serve.limits import MAX_JSON_DEPTH
from lexichord.types import (
    FilesResult,
    IngestRun,
    KeywordSets,
    Response,
    SearchResult,
    Status,
    Step,
)
from lexichord.types.response import Reflection

log = logging.getLogger("lexichord")

CLIENT_GONE = 499  # the status, as nginx has it, of a request that nobody waits for any more

type ErrorForm = tuple[int, str, str | None]  # status, type, message; None = the error's own

# By class, the nearest first. What a caller can mend is told in our own words; of what happened
# behind the scenes only that it did, for a server's message may hold anything.
PUBLIC_FORMS: dict[type[BaseException], ErrorForm] = {
    NotFoundError: (404, "not_found_error", None),
    ConfigError: (400, "invalid_request_error", None),
    ForbiddenError: (403, "permission_error", None),
    TooManyRequestsError: (429, "rate_limit_error", None),
    AccessError: (401, "authentication_error", None),
    RateLimitError: (503, "provider_error", "a model's service asks for fewer requests: try later"),
    ProviderError: (502, "provider_error", "a model's service failed"),
    TimeoutError: (504, "timeout_error", "it took too long: ask for less, or try later"),
    DatabaseTimeoutError: (504, "timeout_error", None),
    DatabaseError: (503, "database_error", "the database could not answer"),
    LexichordError: (500, "server_error", "it failed"),
}

# Addresses and DSNs, the services that providers name, and paths of two parts or more; no message
# names a route such as /v1/jobs.
PRIVATE_PLACE = re.compile(
    r"(?<![a-z0-9+.-])[a-z0-9+.-]+://[^\s'\"]+"
    r"|(?<=(?:embedder|reranker) at )\S+"
    r"|(?<![\w.])~?(?:/[^\s/:;,'\"()]+){2,}/?",
    re.I,
)

SQL_HINT = re.compile(r": select \* from lexichord\.\w+\(\);$")  # for those who ask in SQL


@dataclass(frozen=True, slots=True)
class PublicError:
    """An error for a caller: HTTP's status, a kind, one line, and under what it is in the log.

    `retry_after` is in how many seconds the same may succeed, where that is known.
    """

    status: int
    type: str
    message: str
    log_id: str | None = None
    retry_after: int | None = None

    @property
    def headers(self) -> dict[str, str]:
        """The headers that HTTP wants beside the status."""
        headers = {"www-authenticate": "Bearer"} if self.status == 401 else {}
        return headers if self.retry_after is None else {"retry-after": str(self.retry_after)}

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON shape, that of OpenAI's errors."""
        shape = {"type": self.type, "message": self.message, "code": self.type, "param": None}
        return {"error": shape}


def public_error(error: BaseException) -> PublicError:
    """Return what a caller may know; what is kept from them goes to the log, under an id."""
    known = _known_class(error)
    status, kind, message = PUBLIC_FORMS[known] if known else (500, "server_error", "it failed")
    if message is None:
        wait = error.retry_after if isinstance(error, TooManyRequestsError) else None
        return PublicError(status, kind, public_line(str(error)), retry_after=wait)
    log_id = uuid4().hex[:8]
    detail = str(error) if isinstance(error, LexichordError) else repr(error)
    log.error("%s: %s", log_id, detail, exc_info=None if known else error)
    return PublicError(status, kind, f"{message} (log {log_id})", log_id)


def public_status(error: BaseException) -> int:
    """Return the status of HTTP that an error is answered with."""
    if isinstance(error, CancelledError):
        return CLIENT_GONE
    known = _known_class(error)
    return PUBLIC_FORMS[known][0] if known else 500


def _known_class(error: BaseException) -> type[BaseException] | None:
    return next((cls for cls in type(error).__mro__ if cls in PUBLIC_FORMS), None)


def public_line(line: str) -> str:
    """Return a line, bounded, without SQL and without addresses, DSNs and paths."""
    return PRIVATE_PLACE.sub("…", SQL_HINT.sub("", bounded_message(line)))


# What such values are written with, and what other encodings than UTF-8 have: each by itself, for
# as one expression they take seven times as long.
SUSPECT_SIGNS = (b"NaN", b"Infinity", b"\0")
SUSPECT_FORMS = tuple(
    map(
        re.compile,
        (rb"e\+?0*[1-9]\d\d", rb"E\+?0*[1-9]\d\d", rb"\\u[dD][89a-fA-F]", rb"\xed[\xa0-\xbf]"),
    )
)
AS_ZEROS = bytes.maketrans(b"123456789", b"000000000")
LONG_NUMBER = b"0" * 300
SURROGATE = re.compile("[\ud800-\udfff]")

type Place = tuple[str, ...]


class InvalidValue(NamedTuple):
    """A value that no field takes: where it stands, () for the body itself, and why."""

    place: Place
    reason: str

    @property
    def param(self) -> str:
        """The field's name, "" for the body itself."""
        return ".".join(self.place)

    @property
    def message(self) -> str:
        """Both in one line."""
        return f"{self.param}: {self.reason}" if self.place else self.reason


# Of a body: what is wrong with each of a million values takes half a minute to say, in which
# nobody else is answered. A body of 5 MB holds at most 500,000 numbers of vectors.
MAX_BODY_VALUES = 600_000
MAX_OBJECT_MEMBERS = 1_000


def check_depth[V](value: V) -> V:
    """Return a value as it is. Raises ValueError where it is nested too deep for others to read."""
    level: list[Any] = [value]
    for _ in range(MAX_JSON_DEPTH):
        members = [one.values() if isinstance(one, dict) else one for one in level]
        level = [member for some in members for member in some if isinstance(member, dict | list)]
        if not level:
            return value
    raise ValueError(f"holds more than {MAX_JSON_DEPTH} objects or lists inside each other")


def find_invalid_value(body: bytes, value: object) -> InvalidValue | None:
    """Return the first value in a body that no field takes; `value` is what was read of it."""
    if body.count(b",") >= MAX_OBJECT_MEMBERS and (excess := _find_excess(value)):
        return InvalidValue((), excess)
    return next(_invalid_values(value, ()), None) if _is_suspect(body) else None


def _find_excess(value: object) -> str | None:
    """Return what there is too much of, looking no deeper than it takes to tell."""
    total, level = 0, [value]
    while level:
        objects = [one for one in level if isinstance(one, dict)]
        lists = [one for one in level if isinstance(one, list)]
        if any(len(one) > MAX_OBJECT_MEMBERS for one in objects):
            return f"an object has more than {MAX_OBJECT_MEMBERS:,} members: send fewer"
        total += sum(map(len, objects)) + sum(map(len, lists))
        if total > MAX_BODY_VALUES:
            return f"the body has more than {MAX_BODY_VALUES:,} values: send it in parts"
        level = [*chain.from_iterable(one.values() for one in objects), *chain(*lists)]
    return None


def _is_suspect(body: bytes) -> bool:
    return (
        any(sign in body for sign in SUSPECT_SIGNS)
        or any(form.search(body) for form in SUSPECT_FORMS)
        or LONG_NUMBER in body.translate(AS_ZEROS)
    )


def _invalid_values(value: object, place: Place) -> Iterator[InvalidValue]:
    if isinstance(value, float) and not isfinite(value):
        yield InvalidValue(
            place, "NaN and infinite numbers are no JSON: give a finite one, or null"
        )
    elif isinstance(value, str) and SURROGATE.search(value):
        yield InvalidValue(place, LONE_SURROGATE)
    elif isinstance(value, list):
        for number, member in enumerate(value):
            yield from _invalid_values(member, (*place, str(number)))
    elif isinstance(value, dict):
        for name, member in value.items():
            yield from _invalid_values(name, place)
            yield from _invalid_values(member, (*place, name))


def public_result(result: object) -> object:
    """Return a result without what only who runs the server may see."""
    if not isinstance(result, SearchResult | FilesResult | KeywordSets | Response):
        return result
    public = replace(result, degraded=[public_line(line) for line in result.degraded])
    if isinstance(public, Response):
        trace = [_public_step(step) for step in public.trace]
        return replace(public, trace=trace, reflection=_public_reflection(public.reflection))
    return public


def _public_step(step: Step) -> Step:
    output = step.made
    if not isinstance(output, dict) or not output.get("error"):
        return step
    return replace(step, made={**output, "error": public_line(output["error"])})


def _public_reflection(reflection: Reflection | None) -> Reflection | None:
    if reflection is None:
        return None
    rounds = [replace(one, error=one.error and public_line(one.error)) for one in reflection.rounds]
    errors = [public_line(error) for error in reflection.errors]
    return replace(reflection, rounds=tuple(rounds), errors=tuple(errors))


def public_status_report[S: Status](status: S) -> S:
    """Return a status without what only who runs the server may see."""
    degraded = [public_line(line) for line in status.degraded]
    return replace(status, degraded=degraded, runs=[_public_run(run) for run in status.runs])


def public_run_of(row: Row) -> IngestRun:
    """Return an ingest on record without what only who runs the server may see."""
    return _public_run(IngestRun(**row))


def _public_run(run: IngestRun) -> IngestRun:
    failures = {uri: public_line(reason) for uri, reason in run.failures.items()}
    return replace(run, failures=failures)
