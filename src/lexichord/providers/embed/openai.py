"""Embeddings of any server that speaks OpenAI's: OpenAI, Jina, vLLM, TEI, Ollama and others."""

import re
from base64 import b64decode
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import SecretStr

from lexichord.errors import BadResponseError
from lexichord.providers.embed import EmbeddingReply, EmbedKind, EmbedRequest
from lexichord.providers.http import host, new_client, post_json
from lexichord.types import EmbeddingSpace

if TYPE_CHECKING:
    from httpx import AsyncClient


OPENAI_URL = "https://api.openai.com/v1"
# Texts a request: what TEI takes, unless --max-client-batch-size says otherwise.
OPENAI_BATCH_TEXTS = 32

# Models that are known to shorten their vectors. Others are asked without `dimensions`, which vLLM
# and older servers refuse; where they return another length, with it.
SHORTENING_MODELS = r"text-embedding-3|jina-embeddings-v[3-9]"

# What the makers of open models put before a query and a document, where servers do not.
MODEL_PREFIXES = (
    (r"nomic-embed-text", "search_query: ", "search_document: "),
    (r"e5-(small|base|large)(?!.*instruct)", "query: ", "passage: "),
    (r"mxbai-embed-large", "Represent this sentence for searching relevant passages: ", ""),
    (
        r"qwen3-embedding",
        "Instruct: Given a web search query, retrieve relevant passages that answer the query\n"
        "Query:",
        "",
    ),
)
JINA_TASKS = {"query": "retrieval.query", "document": "retrieval.passage"}  # Jina's field for it


class OpenAIEmbeddings:
    """Asks POST {base_url}/embeddings; several threads may share it."""

    max_texts = OPENAI_BATCH_TEXTS

    def __init__(self, space: EmbeddingSpace, key: SecretStr, base_url: str = OPENAI_URL) -> None:
        self.space = space
        self._key = key
        self._base_url = base_url
        self._shortens = re.search(SHORTENING_MODELS, space.model) is not None
        self._prefixes = next(
            (
                (query, doc)
                for name, query, doc in MODEL_PREFIXES
                if re.search(name, space.model.lower())
            ),
            ("", ""),
        )

    @property
    def who(self) -> str:
        """Return its name in messages."""
        return f"the embedder at {host(self._base_url)}"

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[EmbedRequest]:
        """Open a connection."""
        async with new_client() as client:
            yield partial(self._ask, client)

    async def _ask(
        self, client: "AsyncClient", texts: Sequence[str], kind: EmbedKind
    ) -> EmbeddingReply:
        reply = await self._embed(client, texts, kind)
        if self._shortens or _length(reply) in (0, self.space.dimension):
            return reply
        self._shortens = True  # from now on
        return await self._embed(client, texts, kind)

    async def _embed(
        self, client: "AsyncClient", texts: Sequence[str], kind: EmbedKind
    ) -> EmbeddingReply:
        prefix = self._prefixes[kind == "document"]
        body: dict[str, Any] = {
            "model": self.space.model,
            "input": [prefix + text for text in texts],
            "encoding_format": "float",
        }
        if self._shortens:
            body["dimensions"] = self.space.dimension
        if self.space.provider == "jina":
            body["task"] = JINA_TASKS[kind]
        url = f"{self._base_url}/embeddings"
        return self._read(await post_json(client, url, self._key, body, self.who))

    def _read(self, reply: Any) -> EmbeddingReply:  # noqa: ANN401 - any JSON
        try:
            data = reply["data"]
            vectors = {item["index"]: _numbers(item["embedding"]) for item in data}
            ordered = [vectors[place] for place in range(len(data))]
            tokens = (reply.get("usage") or {}).get("prompt_tokens")
        except (AttributeError, KeyError, TypeError, ValueError):
            message = f"{self.who} gave a reply that holds no vectors: check its address"
            raise BadResponseError(message) from None
        return EmbeddingReply(ordered, tokens if isinstance(tokens, int) and tokens > 0 else 0)


def _length(reply: EmbeddingReply) -> int:
    return len(reply.vectors[0]) if reply.vectors else 0


def _numbers(embedding: Any) -> Sequence[float]:  # noqa: ANN401
    """Read a vector: a list, or base64 of float32, which some servers write unasked."""
    if isinstance(embedding, str):
        return np.frombuffer(b64decode(embedding, validate=True), "<f4").tolist()
    return list(embedding)
