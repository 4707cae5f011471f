"""What the SQL functions compute, once more and in Python."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean, pstdev

type Scores = Mapping[int, float]


def z_scores(scores: Scores, candidates: set[int]) -> dict[int, float]:
    """Put scores on the scale of their list; who is missing counts as the lowest."""
    if not scores:
        return dict.fromkeys(candidates, 0.0)
    mean, spread, lowest = fmean(scores.values()), pstdev(scores.values()), min(scores.values())
    return {
        each: (scores.get(each, lowest) - mean) / spread if spread else 0.0 for each in candidates
    }


def fuse(dense: Scores, keyword: Scores, weights: Sequence[float]) -> dict[int, float]:
    """Fuse two lists by z-score."""
    candidates = {*dense, *keyword}
    scales = z_scores(dense, candidates), z_scores(keyword, candidates)
    return {
        each: sum(weight * scale[each] for weight, scale in zip(weights, scales, strict=True))
        for each in candidates
    }


def fuse_ranks(dense: Scores, keyword: Scores, weights: Sequence[float]) -> dict[int, float]:
    """Fuse two lists, best first, by Reciprocal Rank Fusion."""
    fused: Counter[int] = Counter()
    for scores, weight in zip((dense, keyword), weights, strict=True):
        for rank, each in enumerate(scores, start=1):
            fused[each] += weight / (60 + rank)  # type: ignore[assignment]
    return dict(fused)


def bm25(texts: Mapping[int, str], query: str, k1: float = 0.9, b: float = 0.4) -> dict[int, float]:
    """Score texts of words that no analyzer changes."""
    bags = {each: Counter(text.split()) for each, text in texts.items()}
    average = fmean(bag.total() for bag in bags.values())
    scores: dict[int, float] = {}
    for word in query.split():
        frequency = sum(word in bag for bag in bags.values())
        idf = math.log(1 + (len(bags) - frequency + 0.5) / (frequency + 0.5))
        for each, bag in bags.items():
            if word in bag:
                length = k1 * (1 - b + b * bag.total() / average)
                part = idf * bag[word] * (k1 + 1) / (bag[word] + length)
                scores[each] = scores.get(each, 0) + part
    return scores
