"""How many files are relevant: those that are named, or that stand out."""

import pytest

from lexichord.retrieve.judged_hits import find_relevant
from lexichord.types import FileHit


def files(*scores: float) -> list[FileHit]:
    return [
        FileHit(f"doc_{n}", "d", f"{n}.md", f"{n}", score, {"chunks": score}, 1)
        for n, score in enumerate(scores)
    ]


@pytest.mark.parametrize(
    ("scores", "number"),
    [
        ((6.4, 3.7, 2.0), 2),
        ((2.8, 2.8, 2.7, 2.7), 4),
        ((4.0, 2.0, 1.9), 2),
        ((0.0, -0.1), 0),
        ((), 0),
    ],
)
def test_a_file_is_relevant_that_scores_half_of_the_best(
    scores: tuple[float, ...], number: int
) -> None:
    assert find_relevant(files(*scores)) == tuple(f"doc_{n}" for n in range(number))


def test_a_named_document_alone_is_relevant() -> None:
    assert find_relevant(files(6.9, 6.8, 6.7), ["doc_1"]) == ("doc_1",)


def test_a_rerankers_scale_decides_nothing() -> None:
    reranked = [
        FileHit("doc_b", "d", "b", "b", 0.9, {"fused": 2.0, "rerank": 0.9}, 1),
        FileHit("doc_a", "d", "a", "a", 0.1, {"fused": 6.0, "rerank": 0.1}, 1),
    ]
    assert find_relevant(reranked) == ("doc_a",)
