"""When a request to a provider is made again: after which errors, after what pause, how often.

An error says itself whether the same request may succeed later (`ProviderError.is_transient`).
How often: `EMBEDDING_RETRY` in embed.batching, `RERANK_RETRY` in rerank, `CONTEXT_RETRY` in
ingest.flow.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import inf
from time import monotonic

from lexichord.errors import ProviderError, RateLimitError

type OnPause = Callable[[ProviderError, float], Awaitable[None]]


class RetryLaterError(RateLimitError):
    """The provider asks for fewer requests, and says in how many seconds to come back."""

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds


class TransientError(ProviderError):
    """The provider failed or broke off, by no fault of what it was asked: ask it again."""

    is_transient = True


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often a request is made, and how long to pause in between.

    Pauses double with each failure, from `base_seconds` up to `max_seconds`, and are shortened by
    up to half at random, so that calls that failed together come back one by one. Without
    `base_seconds` only the pauses that a provider asks for are made. Those may be as long as
    `max_requested_seconds`, and count as tries unless `requested_pauses_count` is false.
    """

    max_tries: int
    base_seconds: float | None = None
    max_seconds: float = inf
    max_requested_seconds: float = inf
    requested_pauses_count: bool = True

    def counts(self, error: ProviderError) -> bool:
        """Return whether a try that failed so is one of `max_tries`."""
        return self.requested_pauses_count or not isinstance(error, RetryLaterError)

    def pause_seconds(self, error: ProviderError, failures: int) -> float | None:
        """Return the pause before the next try; None where it would fail in the same way."""
        if isinstance(error, RetryLaterError):
            spread = random.uniform(0.1, 1) * (self.base_seconds or 0.0)  # noqa: S311 - not all at once
            return error.seconds + spread if error.seconds <= self.max_requested_seconds else None
        if self.base_seconds is None or not error.is_transient:
            return None
        longest = min(self.base_seconds * 2.0 ** (failures - 1), self.max_seconds)
        return random.uniform(0.5, 1) * longest  # noqa: S311


async def _sleep(_: ProviderError, seconds: float) -> None:
    await asyncio.sleep(seconds)


async def retry[T](
    request: Callable[[], Awaitable[T]],
    policy: RetryPolicy,
    deadline: float = inf,
    on_pause: OnPause = _sleep,
) -> T:
    """Make a request until it succeeds, or another try is of no use or no longer allowed.

    `deadline`, on the clock of `time.monotonic`, is when the last try must have begun. Raises the
    last try's ProviderError.
    """
    failures = 0
    while True:
        try:
            return await request()
        except ProviderError as error:
            failures += policy.counts(error)
            seconds = policy.pause_seconds(error, failures)
            if seconds is None or failures >= policy.max_tries or not fits(seconds, deadline):
                raise
            failure = error
        await on_pause(failure, seconds)


def fits(seconds: float, deadline: float) -> bool:
    """Return whether a pause of `seconds` is over before a deadline of `time.monotonic`."""
    return monotonic() + seconds < deadline


def retry_after_seconds(header: str) -> float | None:
    """Read Retry-After: seconds or a date (RFC 9110, 10.2.3); None for anything else."""
    if header.strip().isdecimal():
        return float(header)
    try:
        date = parsedate_to_datetime(header)
    except ValueError:
        return None
    return max((date - datetime.now(UTC)).total_seconds(), 0.0) if date.tzinfo else None
