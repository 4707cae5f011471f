"""Gemini's embeddings, through google-genai."""

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from lexichord.errors import BadResponseError, ProviderError
from lexichord.providers.embed import EmbeddingReply, EmbedKind, EmbedRequest
from lexichord.providers.http import (
    HTTP_TIMEOUT_SECONDS,
    error_for_status,
    host,
    named_failures,
    new_client,
)
from lexichord.types import EmbeddingSpace

if TYPE_CHECKING:
    from google.genai import Client


GEMINI_URL = "https://generativelanguage.googleapis.com"
GEMINI_TASK_TYPES = {"query": "RETRIEVAL_QUERY", "document": "RETRIEVAL_DOCUMENT"}


@dataclass(frozen=True, slots=True)
class GeminiEmbeddings:
    """Asks POST {base_url}/v1/models/{model}:batchEmbedContents."""

    space: EmbeddingSpace
    key: SecretStr
    base_url: str = GEMINI_URL
    max_texts: int = 100  # that the API takes at once

    @property
    def who(self) -> str:
        """Return its name in messages."""
        return f"the embedder at {host(self.base_url)}"

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[EmbedRequest]:
        """Open a connection."""
        from google import genai
        from google.genai import types

        async with new_client() as http:
            # Set all that the SDK would else take from variables: the address, and whose service.
            client = genai.Client(
                vertexai=False,
                api_key=self.key.get_secret_value(),
                http_options=types.HttpOptions(
                    base_url=self.base_url,
                    timeout=int(HTTP_TIMEOUT_SECONDS * 1000),
                    httpx_async_client=http,
                ),
            )
            yield partial(self._ask, client)

    async def _ask(self, client: "Client", texts: Sequence[str], kind: EmbedKind) -> EmbeddingReply:
        from google.genai import types
        from google.genai.errors import APIError

        # Of a list of texts newer models make a single vector.
        contents = [types.Content(parts=[types.Part(text=text)]) for text in texts]
        config = types.EmbedContentConfig(
            task_type=GEMINI_TASK_TYPES[kind], output_dimensionality=self.space.dimension
        )
        try:
            with named_failures(self.who):
                reply = await client.aio.models.embed_content(
                    model=self.space.model, contents=list(contents), config=config
                )
        except APIError as error:
            raise self._refusal(error) from None
        except (AttributeError, TypeError, ValueError, RecursionError):
            message = f"{self.who} gave a reply that holds no vectors: check its address"
            raise BadResponseError(message) from None
        vectors = [embedding.values or [] for embedding in reply.embeddings or []]
        usage = reply.usage_metadata
        return EmbeddingReply(vectors, (usage and usage.prompt_token_count) or 0)

    def _refusal(self, error: Any) -> ProviderError:  # noqa: ANN401 - its class is loaded late
        headers = dict(getattr(error.response, "headers", None) or {})
        # Gemini says in the body how long to wait: {"@type": …RetryInfo, "retryDelay": "34s"}.
        if delay := re.search(r"'retryDelay': '(\d+)(?:\.\d+)?s'", str(error.details)):
            headers.setdefault("retry-after", str(int(delay[1]) + 1))
        if error.code == 400 and "API_KEY_INVALID" in str(error.details):
            return error_for_status(self.who, 401, headers)
        return error_for_status(self.who, error.code, headers)
