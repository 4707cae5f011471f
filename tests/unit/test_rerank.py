"""What a reranker is asked, and what becomes of its scores."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from lexichord.errors import ProviderError
from lexichord.retrieve.search import remove_words, rerank
from lexichord.retrieve.trace import Trace
from lexichord.types import ChunkHit, HitScores, Ranked
from tests.builders import HIT


def hit(number: int, content: str, context: str = "") -> ChunkHit:
    scored = replace(HIT, score=1 / number, scores=HitScores(None, None, 1 / number))
    return replace(scored, chunk_id=f"chunk_{number}", content=content, context=context)


class ByLength:
    """Prefers long texts, and remembers the question."""

    query = ""

    async def rerank(self, query: str, texts: Sequence[str], top_n: int) -> list[Ranked]:
        self.query = query
        return [Ranked(index, float(len(text))) for index, text in enumerate(texts)]


class Away:
    async def rerank(self, query: str, texts: Sequence[str], top_n: int) -> list[Ranked]:
        raise ProviderError("the reranker is away: try later")


class Asleep:
    async def rerank(self, query: str, texts: Sequence[str], top_n: int) -> list[Ranked]:
        return await asyncio.Future[list[Ranked]]()


class WithNumpy:
    """Uses the numbers that its library gives."""

    async def rerank(self, query: str, texts: Sequence[str], top_n: int) -> list[Ranked]:
        scores = np.array([len(text) for text in texts], np.float32)
        return [Ranked(index, scores[index]) for index in np.argsort(-scores)]


class Outside:
    """Ranks a text that it was not given."""

    async def rerank(self, query: str, texts: Sequence[str], top_n: int) -> list[Ranked]:
        return [Ranked(index + 1, 0.5) for index in range(top_n)]


HITS = [hit(1, "a"), hit(2, "bb", "with its context"), hit(3, "ccc")]


async def test_content_and_context_are_scored_and_scores_kept() -> None:
    reranker = ByLength()
    found = await rerank("List the fees", HITS, 2, reranker, Trace())
    assert [each.chunk_id for each in found] == ["chunk_2", "chunk_3"]
    assert found[0].score == found[0].scores.rerank == len("with its context\nbb")
    assert found[0].scores.fused == 1 / 2
    assert reranker.query == "the fees"


async def test_equal_scores_keep_the_order() -> None:
    reranked = await rerank("x", [hit(1, "aa"), hit(2, "bb")], 2, ByLength(), Trace())
    assert [each.chunk_id for each in reranked] == ["chunk_1", "chunk_2"]


async def test_a_failure_keeps_the_order_and_is_said_once() -> None:
    trace = Trace()
    for _ in range(2):
        assert await rerank("x", HITS, 2, Away(), trace) == HITS[:2]
    assert trace.degraded == ["chunks are not reranked: the reranker is away: try later"]


async def test_what_does_not_answer_in_time_is_left() -> None:
    trace = Trace(0.02)
    assert await rerank("x", HITS, 2, Asleep(), trace) == HITS[:2]
    (reason,) = trace.degraded
    assert reason.startswith("chunks are not reranked: the reranker did not answer in time")


async def test_a_callers_own_reranker_is_checked_too() -> None:
    trace = Trace()
    assert await rerank("x", HITS, 3, Outside(), trace) == HITS
    assert "was not given" in trace.degraded[0]
    reranked = await rerank("x", HITS, 3, WithNumpy(), Trace())
    assert [each.chunk_id for each in reranked] == ["chunk_2", "chunk_3", "chunk_1"]
    assert all(type(each.score) is float for each in reranked)


async def test_nothing_is_sent_without_hits() -> None:
    assert await rerank("x", [], 2, Away(), Trace()) == []


@pytest.mark.parametrize(
    ("question", "words", "left"),
    [
        ("List all definitions of Fees", ("list", "definitions"), "all of Fees"),
        ("enlisted redefinition listing", ("list", "definition"), "enlisted redefinition listing"),
        ("c++ or c", ("c++",), "or c"),
        ("List all", (), "List all"),
    ],
)
def test_words_are_left_out_whole(question: str, words: tuple[str, ...], left: str) -> None:
    assert remove_words(question, words) == left
