"""Cohere's embeddings, through its SDK."""

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from lexichord.providers.cohere import COHERE_URL, cohere_failures, open_cohere
from lexichord.providers.embed.batching import EmbeddingReply, EmbedRequest, Kind
from lexichord.providers.http import host
from lexichord.types import EmbeddingSpace

if TYPE_CHECKING:
    from cohere import AsyncClientV2

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

    async def _ask(self, sdk: "AsyncClientV2", texts: Sequence[str], kind: Kind) -> EmbeddingReply:
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
                reply.embeddings.float_ or [], int((billed and billed.input_tokens) or 0)
            )
