"""Cohere's embeddings and rerankers, through its SDK."""

import re
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from lexichord.errors import BadResponseError
from lexichord.providers import EmbedKind
from lexichord.providers.embed import EmbeddingReply, EmbedRequest
from lexichord.providers.http import (
    error_for_status,
    host,
    named_failures,
    new_client,
    told_tokens,
)
from lexichord.types import EmbeddingSpace, Ranked
from lexichord.work import in_thread

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


COHERE_INPUT_TYPES = {"query": "search_query", "document": "search_document"}
FIXED_LENGTH_MODELS = r"v[23]\.0"  # models whose vectors have one length refuse output_dimension


@dataclass(frozen=True, slots=True)
class CohereEmbeddings:
    """Asks POST {base_url}/v2/embed."""

    space: EmbeddingSpace
    key: SecretStr
    base_url: str = COHERE_URL
    max_texts: int = 96  # that the API takes at once

    @property
    def who(self) -> str:
        """Return its name in messages."""
        return f"the embedder at {host(self.base_url)}"

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[EmbedRequest]:
        """Open a connection."""
        client, sdk = open_cohere(self.key, self.base_url)
        async with client:
            yield partial(self._ask, sdk)

    async def _ask(
        self, sdk: "AsyncClientV2", texts: Sequence[str], kind: EmbedKind
    ) -> EmbeddingReply:
        shortens = not re.search(FIXED_LENGTH_MODELS, self.space.model)
        length: dict[str, Any] = {"output_dimension": self.space.dimension} if shortens else {}
        with cohere_failures(self.who, "holds no vectors"):
            reply = await sdk.embed(
                model=self.space.model,
                texts=texts,
                input_type=COHERE_INPUT_TYPES[kind],
                embedding_types=["float"],
                request_options={"max_retries": 0},
                **length,
            )
            billed = reply.meta and reply.meta.billed_units
            return EmbeddingReply(
                reply.embeddings.float_ or [], told_tokens(billed.input_tokens if billed else None)
            )


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
        client, sdk = await in_thread(open_cohere, self.key, self.base_url)
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
