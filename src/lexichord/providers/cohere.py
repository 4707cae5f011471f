"""What Cohere's embedder and reranker share: its address, its SDK's client and its failures."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pydantic import SecretStr

from lexichord.errors import BadResponseError
from lexichord.providers.http import error_for_status, named_failures, new_client

if TYPE_CHECKING:
    from cohere import AsyncClientV2
    from httpx import AsyncClient

COHERE_URL = "https://api.cohere.com"


def open_cohere(key: SecretStr, base_url: str) -> "tuple[AsyncClient, AsyncClientV2]":
    """Open the SDK's client, and the HTTP client that it uses, which the caller closes.

    The SDK loads for a second when it is first used.
    """
    import cohere

    client = new_client()
    # The address is always given: else the SDK takes CO_API_URL's.
    sdk = cohere.AsyncClientV2(key.get_secret_value(), base_url=base_url, httpx_client=client)
    return client, sdk


@contextmanager
def cohere_failures(who: str, bad_reply: str) -> Iterator[None]:
    """Raise ProviderError for what goes wrong in a request, or in reading its reply.

    `who` names the server in errors, `bad_reply` says what a reply is that cannot be read.
    """
    from cohere.core import ApiError

    try:
        with named_failures(who):
            yield
    except ApiError as error:
        raise error_for_status(who, error.status_code, error.headers or {}) from None
    except (AttributeError, TypeError, ValueError, RecursionError):
        raise BadResponseError(f"{who} gave a reply that {bad_reply}: check its address") from None
