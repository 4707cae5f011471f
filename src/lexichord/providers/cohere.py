"""Cohere's rerankers, through its SDK."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import SecretStr

from lexichord.errors import BadResponseError
from lexichord.providers.http import failures_named, host, new_client, refusal
from lexichord.types import Ranked

if TYPE_CHECKING:
    from cohere import AsyncClientV2
    from httpx import AsyncClient

URL = "https://api.cohere.com"

# Of each text. Cohere counts every 500 tokens as a document, and 100 documents as one search: the
# 30 candidates of a query are one search however long they are.
MAX_TOKENS = 1000


@dataclass(frozen=True, slots=True)
class CohereReranker:
    """Asks POST {base_url}/v2/rerank; the scores are between 0 and 1."""

    model: str
    key: SecretStr
    base_url: str = URL

    async def rerank(self, query: str, texts: Sequence[str], top_n: int) -> list[Ranked]:
        """Give the top_n best of `texts`, each by its first 1,000 tokens. Raises ProviderError."""
        # The SDK loads for a second when it is first used.
        client, sdk = await asyncio.to_thread(self._connect)
        async with client:
            return await self._ask(sdk, query, texts, top_n)

    def _connect(self) -> "tuple[AsyncClient, AsyncClientV2]":
        import cohere

        client = new_client()
        key = self.key.get_secret_value()
        # The address is always given: else the SDK takes CO_API_URL's.
        return client, cohere.AsyncClientV2(key, base_url=self.base_url, httpx_client=client)

    async def _ask(
        self, sdk: "AsyncClientV2", query: str, texts: Sequence[str], top_n: int
    ) -> list[Ranked]:
        from cohere.core import ApiError

        who = f"the reranker at {host(self.base_url)}"
        try:
            with failures_named(who):
                reply = await sdk.rerank(
                    model=self.model,
                    query=query,
                    documents=texts,
                    top_n=top_n,
                    max_tokens_per_doc=MAX_TOKENS,
                    request_options={"max_retries": 0},
                )
            return [Ranked(each.index, each.relevance_score) for each in reply.results]
        except ApiError as error:
            raise refusal(who, error.status_code, error.headers or {}) from None
        except (AttributeError, TypeError, ValueError, RecursionError):
            message = f"{who} gave a reply that is no ranking: check its address"
            raise BadResponseError(message) from None
