"""Asking a reranker, whoever's it is: within the time, and believing only a reply that fits."""

import asyncio
from collections.abc import Sequence
from math import isfinite
from numbers import Integral, Real

from lexichord.errors import BadResponseError, ProviderTimeoutError
from lexichord.providers.base import Reranker
from lexichord.providers.http import RetryLaterError
from lexichord.types import Ranked


async def rank(
    reranker: Reranker, query: str, texts: Sequence[str], top_n: int, seconds: float
) -> list[Ranked]:
    """Give the `top_n` best of `texts` (all, if they are fewer), best first, equals in their order.

    A rate limit is waited for, once, if that fits in the `seconds`. Raises ProviderError.
    """
    wanted = min(top_n, len(texts))
    if not wanted:
        return []
    try:
        async with asyncio.timeout(seconds) as limit:
            ranked = await _rank(reranker, query, texts, wanted, limit)
    except TimeoutError:
        message = "the reranker did not answer in time: try later, or give it more time"
        raise ProviderTimeoutError(message) from None
    return checked(ranked, len(texts), wanted)


async def _rank(
    reranker: Reranker, query: str, texts: Sequence[str], top_n: int, limit: asyncio.Timeout
) -> Sequence[Ranked]:
    try:
        return await reranker.rerank(query, texts, top_n)
    except RetryLaterError as error:
        end = limit.when()
        if end is not None and asyncio.get_running_loop().time() + error.seconds >= end:
            raise
        await asyncio.sleep(error.seconds)
    return await reranker.rerank(query, texts, top_n)


def checked(ranked: Sequence[Ranked], texts: int, wanted: int) -> list[Ranked]:
    """Give the best `wanted` of a reply about so many `texts`.

    Raises BadResponseError if it ranks what it was not given, or a text twice, has a score that is
    no finite number, or ranks fewer than were `wanted`: what it left out would be lost unjudged.
    """
    if not all(_is_number(each.score) for each in ranked):
        raise BadResponseError("the reranker gave a score that is no number: check its model")
    if not all(_is_index(each.index, texts) for each in ranked):
        raise BadResponseError("the reranker ranked a text that it was not given: check its model")
    if len({each.index for each in ranked}) < len(ranked):
        raise BadResponseError("the reranker ranked a text twice: check its model")
    if len(ranked) < wanted:
        raise BadResponseError(
            f"the reranker ranked {len(ranked)} texts instead of {wanted}: check its model"
        )
    plain = [Ranked(int(each.index), float(each.score)) for each in ranked]
    return sorted(plain, key=lambda each: (-each.score, each.index))[:wanted]


def _is_number(score: object) -> bool:
    if isinstance(score, bool) or not isinstance(score, Real):
        return False
    try:
        return isfinite(score)
    except OverflowError:  # of an integer too large for a float
        return False


def _is_index(index: object, texts: int) -> bool:
    return isinstance(index, Integral) and not isinstance(index, bool) and 0 <= int(index) < texts
