"""Retries of a provider's requests: which errors, how many tries, what pauses."""

from collections.abc import Awaitable, Callable
from time import monotonic

import pytest

from lexichord.errors import (
    AuthError,
    BadResponseError,
    ProviderError,
    ProviderTimeoutError,
    RateLimitError,
)
from lexichord.providers.http import RetryLaterError, RetryPolicy, error_for_status, retry

POLICY = RetryPolicy(3, base_seconds=0.002, max_seconds=0.003)


def failing(errors: list[ProviderError]) -> tuple[Callable[[], Awaitable[int]], list[int]]:
    """Return a request that raises these errors, one a call, then returns; and its calls."""
    calls: list[int] = []

    async def request() -> int:
        calls.append(len(calls))
        if len(calls) <= len(errors):
            raise errors[len(calls) - 1]
        return len(calls)

    return request, calls


async def test_a_transient_error_is_tried_again() -> None:
    request, _ = failing([RateLimitError("busy"), ProviderTimeoutError("late")])
    assert await retry(request, POLICY) == 3


async def test_tries_have_an_end() -> None:
    request, calls = failing([RateLimitError("busy")] * 9)
    with pytest.raises(RateLimitError):
        await retry(request, POLICY)
    assert len(calls) == 3


@pytest.mark.parametrize("error", [AuthError("key"), BadResponseError("no"), ProviderError("no")])
async def test_what_would_fail_again_is_not_tried_again(error: ProviderError) -> None:
    request, calls = failing([error])
    with pytest.raises(type(error)):
        await retry(request, POLICY)
    assert len(calls) == 1


async def test_requested_pauses_may_count_or_not() -> None:
    errors: list[ProviderError] = [RetryLaterError("busy", 0.0)] * 5
    request, calls = failing(errors)
    with pytest.raises(RetryLaterError):
        await retry(request, POLICY)
    assert len(calls) == 3
    request, _ = failing(errors)
    assert await retry(request, RetryPolicy(3, 0.001, requested_pauses_count=False)) == 6


async def test_a_pause_that_is_too_long_is_not_made() -> None:
    for policy, deadline in (
        (RetryPolicy(3, max_requested_seconds=5), monotonic() + 60),
        (RetryPolicy(3), monotonic() + 5),
    ):
        request, calls = failing([RetryLaterError("busy", 6.0)])
        with pytest.raises(RetryLaterError):
            await retry(request, policy, deadline)
        assert len(calls) == 1


def test_pauses_double_up_to_the_longest() -> None:
    policy = RetryPolicy(9, base_seconds=1.0, max_seconds=6.0)
    for failures, longest in ((1, 1), (2, 2), (3, 4), (4, 6), (9, 6)):
        for _ in range(50):
            pause = policy.pause_seconds(RateLimitError("busy"), failures)
            assert pause is not None
            assert longest / 2 <= pause <= longest


def test_without_a_first_pause_only_requested_ones_are_made() -> None:
    policy = RetryPolicy(2)
    assert policy.pause_seconds(RateLimitError("busy"), 1) is None
    assert policy.pause_seconds(RetryLaterError("busy", 3.0), 1) == 3.0


@pytest.mark.parametrize(
    ("status", "transient"),
    [
        (200, False),
        (400, False),
        (401, False),
        (404, False),
        (408, True),
        (429, True),
        (500, True),
        (503, True),
    ],
)
def test_a_status_says_whether_it_is_transient(status: int, transient: bool) -> None:
    assert error_for_status("it", status, {}).is_transient == transient
