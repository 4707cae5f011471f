"""Rerankers: a query and texts in, the most relevant out, whatever the vendor replies.

`rank` asks any of them and checks the reply. Those behind plain HTTP are here: Jina's API and all
servers of its shape, and Hugging Face's TEI.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import batched
from math import isfinite
from numbers import Integral, Real
from time import monotonic
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from lexichord.errors import BadResponseError, ProviderTimeoutError
from lexichord.providers import Reranker
from lexichord.providers.http import RetryPolicy, host, new_client, post_json, retry
from lexichord.types import Ranked
from lexichord.work import in_thread

if TYPE_CHECKING:
    from httpx import AsyncClient

RERANK_RETRY = RetryPolicy(max_tries=2)  # once more, after the pause that the service asks for


async def rank(
    reranker: Reranker, query: str, texts: Sequence[str], top_n: int, seconds: float
) -> list[Ranked]:
    """Return the `top_n` best of `texts` (all, if fewer), best first, equals in their order.

    A rate limit is waited for, once, if that fits in the `seconds`. Raises ProviderError.
    """
    wanted = min(top_n, len(texts))
    if not wanted:
        return []
    deadline = monotonic() + seconds
    try:
        async with asyncio.timeout(seconds):
            ranked = await retry(
                lambda: reranker.rerank(query, texts, wanted), RERANK_RETRY, deadline
            )
    except TimeoutError:
        message = "the reranker did not answer in time: try later, or give it more time"
        raise ProviderTimeoutError(message) from None
    return check_ranking(ranked, len(texts), wanted)


def check_ranking(ranked: Sequence[Ranked], texts: int, wanted: int) -> list[Ranked]:
    """Return the best `wanted` of a reply about so many `texts`.

    Raises BadResponseError if it ranks what it was not given, or a text twice, has a score that is
    no finite number, or ranks fewer than were `wanted`: what it left out would be lost unjudged.
    """
    if not all(_is_number(item.score) for item in ranked):
        raise BadResponseError("the reranker gave a score that is no number: check its model")
    if not all(_is_index(item.index, texts) for item in ranked):
        raise BadResponseError("the reranker ranked a text that it was not given: check its model")
    if len({item.index for item in ranked}) < len(ranked):
        raise BadResponseError("the reranker ranked a text twice: check its model")
    if len(ranked) < wanted:
        raise BadResponseError(
            f"the reranker ranked {len(ranked)} texts instead of {wanted}: check its model"
        )
    plain = [Ranked(int(item.index), float(item.score)) for item in ranked]
    return sorted(plain, key=lambda item: (-item.score, item.index))[:wanted]


def _is_number(score: object) -> bool:
    if isinstance(score, bool) or not isinstance(score, Real):
        return False
    try:
        return isfinite(score)
    except OverflowError:  # of an integer too large for a float
        return False


def _is_index(index: object, texts: int) -> bool:
    return isinstance(index, Integral) and not isinstance(index, bool) and 0 <= int(index) < texts


JINA_URL = "https://api.jina.ai/v1"

# Of each text: this shape has no option that all servers know. Twice our own chunks; about 400
# tokens of English, which with the question fit in the 512 that small rerankers read.
MAX_RERANK_CHARS = 1600
MAX_RANKING_BYTES = 2_000_000  # also where texts are sent back: parsed where all searches wait
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
        async with await in_thread(new_client, MAX_RANKING_BYTES) as client:
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
        async with await in_thread(new_client, MAX_RANKING_BYTES) as client:
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
