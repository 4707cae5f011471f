"""What a reranker is asked, and what becomes of its scores."""

from collections.abc import Sequence

import pytest

from lexichord.errors import ProviderError
from lexichord.retrieve.rerank import rerank, without
from lexichord.types import ChunkHit


def hit(number: int, content: str, context: str = "") -> ChunkHit:
    return ChunkHit(
        chunk_id=number,
        document_id=1,
        dataset="d",
        uri="u",
        title="t",
        heading="",
        start=0,
        end=len(content),
        page=None,
        content=content,
        context=context,
        score=1 / number,
        scores={"fused": 1 / number},
        ranks={},
    )


class ByLength:
    """Prefers long texts, and remembers the question."""

    asked = ""

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        self.asked = query
        return [float(len(text)) for text in texts]


class Away:
    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        raise ProviderError("the reranker is away: try later")


HITS = [hit(1, "a"), hit(2, "bb", "with its context"), hit(3, "ccc")]


async def test_content_and_context_are_scored_and_scores_kept() -> None:
    reranker = ByLength()
    found = await rerank("List the fees", HITS, 2, reranker, [])
    assert [each.chunk_id for each in found] == [2, 3]
    assert found[0].score == found[0].scores["rerank"] == len("with its context\nbb")
    assert found[0].scores["fused"] == 1 / 2
    assert reranker.asked == "the fees"


async def test_equal_scores_keep_the_order() -> None:
    found = await rerank("x", [hit(1, "aa"), hit(2, "bb")], 2, ByLength(), [])
    assert [each.chunk_id for each in found] == [1, 2]


async def test_a_failure_keeps_the_order_and_is_said_once() -> None:
    degraded: list[str] = []
    for _ in range(2):
        assert await rerank("x", HITS, 2, Away(), degraded) == HITS[:2]
    assert degraded == ["chunks are not reranked: the reranker is away: try later"]


async def test_nothing_is_sent_without_hits() -> None:
    assert await rerank("x", [], 2, Away(), []) == []


@pytest.mark.parametrize(
    ("question", "words", "left"),
    [
        ("List all definitions of Fees", ("list", "definitions"), "all of Fees"),
        ("enlisted redefinition listing", ("list", "definition"), "enlisted redefinition listing"),
        ("list", ("list",), "list"),
        ("c++ or c", ("c++",), "or c"),
        ("List all", (), "List all"),
    ],
)
def test_words_are_left_out_whole(question: str, words: tuple[str, ...], left: str) -> None:
    assert without(question, words) == left
