"""Rerankers: a query and texts in, the most relevant out, whatever the vendor replies.

`rank` asks any of them and checks the reply; the modules beside it hold the vendors.
"""

import asyncio
from collections.abc import Sequence
from math import isfinite
from numbers import Integral, Real
from time import monotonic

from lexichord.errors import BadResponseError, ProviderTimeoutError
from lexichord.providers.base import Reranker
from lexichord.providers.retry import RetryPolicy, retry
from lexichord.types import Ranked

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
