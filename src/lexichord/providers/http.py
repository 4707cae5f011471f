"""What providers that speak HTTP share: addresses, keys, the client, and its failures as errors.

When a request is made again, too: after which errors, after what pause, how often. An error says
itself whether the same request may succeed later (`ProviderError.is_transient`). How often:
`EMBEDDING_RETRY` in embed, `RERANK_RETRY` in rerank, `CONTEXT_RETRY` in ingest.flow.
"""

import asyncio
import json
import os
import random
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from importlib.util import find_spec
from math import inf
from time import monotonic
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pydantic import SecretStr

from lexichord.errors import AuthError, BadResponseError, ConfigError, ProviderError, RateLimitError
from lexichord.settings import Settings

if TYPE_CHECKING:
    from ssl import SSLContext

    from httpx import AsyncClient

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
    except (ValueError, OverflowError):
        return None
    return max((date - datetime.now(UTC)).total_seconds(), 0.0) if date.tzinfo else None


def checked_url(name: str, url: str | None) -> str | None:
    """Return a setting's URL without the slash at its end. Raises ConfigError."""
    if not url:
        return None
    if not is_http_url(url):
        raise ConfigError(f"{name} is no address like http://localhost:8000/v1")
    return url.rstrip("/")


def is_http_url(url: str) -> bool:
    """Return whether a URL names a server that can be asked over HTTP."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def check_key(what: str, key: str) -> None:
    """Raise ConfigError for a key that no header can hold, without repeating it."""
    if not (key.isascii() and key.isprintable()) or key != key.strip():
        raise ConfigError(f"{what} holds characters that no key has: copy it anew")


def find_key(
    what: str, key: SecretStr | None, url: str | None, variables: Sequence[str]
) -> SecretStr | None:
    """Return the key; a vendor's own variable counts only where the vendor itself is asked.

    Raises ConfigError.
    """
    value = key.get_secret_value() if key else ""
    if not value and not url:
        value = next(filter(None, (os.environ.get(name) for name in variables)), "")
    check_key(f"{what}'s key", value)
    return SecretStr(value) if value else None


def has_library(name: str) -> bool:
    """Return whether a library is installed, without loading it."""
    try:
        return find_spec(name) is not None
    except (ModuleNotFoundError, ValueError):  # what it is a part of is missing, or was taken away
        return False


PLACEHOLDER_KEY = "none"  # what a server gets that is configured without a key


def llm_connection(settings: Settings) -> dict[str, str]:
    """Return where the model is served, and with which key.

    A vendor's key in the environment is sent to the address that goes with it and to no other.
    """
    key = settings.llm_api_key.get_secret_value() if settings.llm_api_key else ""
    check_key("llm_api_key", key)
    if url := settings.llm_base_url:
        if not is_http_url(url):
            raise ConfigError("llm_base_url is no address like http://localhost:11434/v1")
        return {"api_base": url.rstrip("/"), "api_key": key or PLACEHOLDER_KEY}
    vendor = (settings.llm or "").partition("/")[0].upper()
    url = os.environ.get(f"{vendor}_API_BASE") or os.environ.get(f"{vendor}_BASE_URL")
    return ({"api_base": url.rstrip("/")} if url else {}) | ({"api_key": key} if key else {})


MAX_TOLD_TOKENS = 10**9  # no request has more
MAX_TOLD_SECONDS = 7 * 86_400  # nobody means more who wants to be asked again
HTTP_TIMEOUT_SECONDS = 60.0  # seconds without a byte before a server is given up


def new_client(most: int | None = None) -> "AsyncClient":
    """Return a client for one exchange; its caller limits the time of all its steps together.

    It follows no redirect: neither a key nor a text goes to an address that no setting names. A
    reply of more bytes, by default than any has, is a BadResponseError, also of what an SDK asks.
    """
    from lexichord.providers.transport import BoundedClient

    return BoundedClient(
        most, verify=certificates(), timeout=HTTP_TIMEOUT_SECONDS, follow_redirects=False
    )


async def post_json(
    client: "AsyncClient", url: str, key: SecretStr | None, body: Mapping[str, object], who: str
) -> object:
    """Return the JSON of a successful reply; `who` names the server in errors.

    Without a key, or with an empty one, none is sent. Raises ProviderError.
    """
    bearer = key.get_secret_value() if key else ""
    headers = {"Authorization": f"Bearer {bearer}"} if bearer else {}
    with named_failures(who):
        async with client.stream("POST", url, json=body, headers=headers) as reply:
            if not reply.is_success:
                raise error_for_status(who, reply.status_code, reply.headers)
            text = await reply.aread()
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise error_for_status(who, reply.status_code, reply.headers) from None


@cache
def certificates() -> "SSLContext":
    """Return whom clients trust: read once, for it takes 20 ms, too long for each request."""
    import httpx

    return httpx.create_ssl_context()


@contextmanager
def named_failures(who: str) -> Iterator[None]:
    """Raise ProviderError for a server that cannot be reached, or breaks off."""
    import httpx

    try:
        yield
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        kind = type(error).__name__  # its message may hold the key
        failure = ProviderError(f"{who} cannot be reached or broke off ({kind}): check its address")
        failure.is_transient = True
        raise failure from None


def error_for_status(who: str, status: int | None, headers: Mapping[str, str]) -> ProviderError:
    """Return the error for a reply that is not a success; its body is never repeated."""
    error = _refusal(who, status, headers)
    error.status = status
    if status is not None and (status == 408 or status >= 500):
        error.is_transient = True
    return error


def _refusal(who: str, status: int | None, headers: Mapping[str, str]) -> ProviderError:
    if status in (401, 403):
        return AuthError(f"{who} refuses the key ({status}): check it and its rights")
    if status == 429:
        return _rate_limit(who, headers)
    if status is None or status < 300:
        return BadResponseError(f"{who} gave a reply that is not valid JSON: check its address")
    if status >= 500:
        return ProviderError(f"{who} failed ({status}): try later")
    return ProviderError(f"{who} refuses the request ({status}): check its address and model")


def told_tokens(number: float | None) -> int:
    """Return how many tokens a service says that it took; 0 for what is no number of them."""
    return int(min(number, MAX_TOLD_TOKENS)) if number and number > 0 else 0


def host(url: str) -> str:
    """Return a URL's host and port, without the user and password that it may hold."""
    return urlsplit(url).netloc.rpartition("@")[2]


def _rate_limit(who: str, headers: Mapping[str, str]) -> RateLimitError:
    header = next((v for k, v in headers.items() if k.lower() == "retry-after"), "")
    seconds = retry_after_seconds(header)
    if seconds is None:
        return RateLimitError(f"{who} asks for fewer requests (429): try later")
    when = f"in {seconds:.0f} seconds" if seconds <= MAX_TOLD_SECONDS else "later"
    return RetryLaterError(f"{who} asks for fewer requests (429): try again {when}", seconds)
