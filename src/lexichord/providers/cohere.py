"""Cohere's rerankers and embeddings, through its SDK."""

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from lexichord.errors import BadResponseError
from lexichord.providers.embed.batching import Ask, Kind, Reply
from lexichord.providers.http import failures_named, host, new_client, refusal
from lexichord.types import EmbeddingSpace, Ranked

if TYPE_CHECKING:
    from cohere import AsyncClientV2
    from httpx import AsyncClient

URL = "https://api.cohere.com"

# Of each text. Cohere counts every 500 tokens as a document, and 100 documents as one search: the
# 30 candidates of a query are one search however long they are.
MAX_TOKENS = 1000

TYPES = {"query": "search_query", "document": "search_document"}
FIXED = r"v[23]\.0"  # models whose vectors have one length: they refuse output_dimension


@dataclass(frozen=True, slots=True)
class CohereReranker:
    """Asks POST {base_url}/v2/rerank; the scores are between 0 and 1."""

    model: str
    key: SecretStr
    base_url: str = URL

    async def rerank(self, query: str, texts: Sequence[str], top_n: int) -> list[Ranked]:
        """Give the top_n best of `texts`, each by its first 1,000 tokens. Raises ProviderError."""
        # The SDK loads for a second when it is first used.
        client, sdk = await asyncio.to_thread(_connect, self.key, self.base_url)
        async with client:
            return await self._ask(sdk, query, texts, top_n)

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


@dataclass(frozen=True, slots=True)
class CohereEmbeddings:
    """Asks POST {base_url}/v2/embed."""

    space: EmbeddingSpace
    key: SecretStr
    base_url: str = URL
    most: int = 96  # that the API takes at once

    @property
    def who(self) -> str:
        """Name it in messages."""
        return f"the embedder at {host(self.base_url)}"

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[Ask]:
        """Open a connection."""
        client, sdk = _connect(self.key, self.base_url)
        async with client:
            yield partial(self._ask, sdk)

    async def _ask(self, sdk: "AsyncClientV2", texts: Sequence[str], kind: Kind) -> Reply:
        from cohere.core import ApiError

        shortens = not re.search(FIXED, self.space.model)
        length: dict[str, Any] = {"output_dimension": self.space.dimension} if shortens else {}
        try:
            with failures_named(self.who):
                reply = await sdk.embed(
                    model=self.space.model,
                    texts=texts,
                    input_type=TYPES[kind],
                    embedding_types=["float"],
                    request_options={"max_retries": 0},
                    **length,
                )
            billed = reply.meta and reply.meta.billed_units
            return Reply(reply.embeddings.float_ or [], int((billed and billed.input_tokens) or 0))
        except ApiError as error:
            raise refusal(self.who, error.status_code, error.headers or {}) from None
        except (AttributeError, TypeError, ValueError, RecursionError):
            message = f"{self.who} gave a reply that holds no vectors: check its address"
            raise BadResponseError(message) from None


def _connect(key: SecretStr, base_url: str) -> "tuple[AsyncClient, AsyncClientV2]":
    import cohere

    client = new_client()
    # The address is always given: else the SDK takes CO_API_URL's.
    sdk = cohere.AsyncClientV2(key.get_secret_value(), base_url=base_url, httpx_client=client)
    return client, sdk
