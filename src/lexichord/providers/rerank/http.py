"""Rerankers behind plain HTTP: Jina's API and all servers of its shape, and Hugging Face's TEI."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import batched
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from lexichord.errors import BadResponseError
from lexichord.providers.http import host, new_client, post_json
from lexichord.providers.rerank import check_ranking
from lexichord.types import Ranked

if TYPE_CHECKING:
    from httpx import AsyncClient


JINA_URL = "https://api.jina.ai/v1"

# Of each text: this shape has no option that all servers know. Twice our own chunks; about 400
# tokens of English, which with the question fit in the 512 that small rerankers read.
MAX_RERANK_CHARS = 1600
TEI_BATCH_TEXTS = 32  # texts that TEI takes at once, unless --max-client-batch-size says otherwise


@dataclass(frozen=True, slots=True)
class JinaReranker:
    """Asks POST {base_url}/rerank in Jina's shape, which vLLM, llama.cpp and others speak too."""

    model: str
    key: SecretStr | None = None
    base_url: str = JINA_URL

    async def rerank(self, query: str, texts: Sequence[str], top_n: int) -> list[Ranked]:
        """Return the `top_n` best of `texts`, each by its first 1,600 characters.

        Raises ProviderError.
        """
        body = {
            "model": self.model,
            "query": query,
            "documents": [text[:MAX_RERANK_CHARS] for text in texts],
            "top_n": top_n,
            "return_documents": False,
        }
        async with await asyncio.to_thread(new_client) as client:
            reply = await _post(client, self.base_url, self.key, body)
        results = reply.get("results") if isinstance(reply, dict) else None
        return _read_ranking(results, "relevance_score", self.base_url)


@dataclass(frozen=True, slots=True)
class TeiReranker:
    """Asks POST {base_url}/rerank of text-embeddings-inference, which serves a single model."""

    base_url: str
    key: SecretStr | None = None

    async def rerank(self, query: str, texts: Sequence[str], top_n: int) -> list[Ranked]:
        """Return the `top_n` best of `texts`, each by as much as the model reads.

        TEI scores every text by itself, so that batches can be compared. Raises ProviderError.
        """
        ranked: list[Ranked] = []
        async with await asyncio.to_thread(new_client) as client:
            for batch in batched(texts, TEI_BATCH_TEXTS):
                body = {"query": query, "texts": batch, "truncate": True}
                reply = await _post(client, self.base_url, self.key, body)
                ranking = _read_ranking(reply, "score", self.base_url)
                before = len(ranked)
                ranked += [
                    Ranked(before + item.index, item.score)
                    for item in check_ranking(ranking, len(batch), len(batch))
                ]
        return sorted(ranked, key=lambda item: -item.score)[:top_n]


async def _post(
    client: "AsyncClient", base_url: str, key: SecretStr | None, body: dict[str, Any]
) -> object:
    return await post_json(client, f"{base_url}/rerank", key, body, _server_name(base_url))


def _server_name(base_url: str) -> str:
    return f"the reranker at {host(base_url)}"


def _read_ranking(items: object, score_field: str, base_url: str) -> list[Ranked]:
    try:
        return [Ranked(item["index"], item[score_field]) for item in items]  # type: ignore[attr-defined]
    except (TypeError, KeyError):
        message = f"{_server_name(base_url)} gave a reply that is no ranking: check its address"
        raise BadResponseError(message) from None
