"""Cohere's rerankers, through its SDK."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import SecretStr

from lexichord.providers.cohere import COHERE_URL, cohere_failures, open_cohere
from lexichord.providers.http import host
from lexichord.types import Ranked

# Of each text. Cohere counts every 500 tokens as a document, and 100 documents as one search: the
# 30 candidates of a query are one search however long they are.
MAX_RERANK_TOKENS = 1000


@dataclass(frozen=True, slots=True)
class CohereReranker:
    """Asks POST {base_url}/v2/rerank; the scores are between 0 and 1."""

    model: str
    key: SecretStr
    base_url: str = COHERE_URL

    async def rerank(self, query: str, texts: Sequence[str], top_n: int) -> list[Ranked]:
        """Return the `top_n` best of `texts`, each by its first 1,000 tokens.

        Raises ProviderError.
        """
        client, sdk = await asyncio.to_thread(open_cohere, self.key, self.base_url)
        async with client:
            with cohere_failures(f"the reranker at {host(self.base_url)}", "is no ranking"):
                reply = await sdk.rerank(
                    model=self.model,
                    query=query,
                    documents=texts,
                    top_n=top_n,
                    max_tokens_per_doc=MAX_RERANK_TOKENS,
                    request_options={"max_retries": 0},
                )
                return [Ranked(item.index, item.relevance_score) for item in reply.results]
