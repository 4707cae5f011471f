"""The one fusion of what several shards propose: twin of `sql/search/fuse_candidates.sql`."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import sqrt
from typing import Any

RRF_CONSTANT = 60  # as sql/constants/rrf_constant.sql

type Entry = tuple[float, int, int]  # score, chunk, document
type Scale = tuple[float, float, float]  # mean, spread, lowest


@dataclass(slots=True)
class Fused:
    """A chunk, by the numbers of the database, and what each channel gave for it."""

    chunk: int
    document: int
    dense_score: float | None = None
    dense_rank: int | None = None
    keyword_score: float | None = None
    keyword_rank: int | None = None
    fused_score: float = 0.0
    score: float = 0.0


@dataclass(slots=True)
class Lists:
    """The lists of both channels in a scope, best first; `boosted` are of boosted documents."""

    depth: int
    room: int = 0
    ranked: dict[str, list[Entry]] = field(default_factory=lambda: {"dense": [], "keyword": []})
    boosted: dict[str, list[Entry]] = field(default_factory=lambda: {"dense": [], "keyword": []})

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]], depth: int) -> "Lists":
        """Put the rows of sql/shards/shard_candidates.sql together, of all shards."""
        lists = cls(depth)
        for row in rows:
            if row["channel"] is None:
                lists.room = min(depth, lists.room + row["room"])
                continue
            kind = lists.boosted if row["is_boosted"] else lists.ranked
            columns = row["scores"], row["chunk_numbers"], row["document_numbers"]
            kind[row["channel"]].extend(zip(*columns, strict=True))
        for kind in (lists.ranked, lists.boosted):
            for channel, entries in kind.items():
                kind[channel] = sorted(entries, key=_best_first)[:depth]
        return lists

    def fuse(
        self, fusion: str, weights: Sequence[float], boost: Mapping[int, float]
    ) -> list[Fused]:
        """Return every chunk of the lists, best first."""
        chunks = self._chunks()
        dense = _scale([entry[0] for entry in self.ranked["dense"]])
        scores = [entry[0] for entry in self.ranked["keyword"]]
        keyword = _scale(scores + [0.0] * (self.room - len(scores)))
        score = _by_ranks if fusion == "rrf" else _by_scores(dense, keyword)
        for one in chunks.values():
            one.fused_score = score(one, weights)
            one.score = one.fused_score + boost.get(one.document, 0.0)
        return sorted(chunks.values(), key=lambda one: (-one.score, one.chunk))

    def _chunks(self) -> dict[int, Fused]:
        chunks: dict[int, Fused] = {}
        for channel in ("dense", "keyword"):
            for score, chunk, document in self.boosted[channel]:
                setattr(chunks.setdefault(chunk, Fused(chunk, document)), f"{channel}_score", score)
            for rank, (score, chunk, document) in enumerate(self.ranked[channel], start=1):
                one = chunks.setdefault(chunk, Fused(chunk, document))
                setattr(one, f"{channel}_score", score)
                setattr(one, f"{channel}_rank", rank)
        return chunks


def _best_first(entry: Entry) -> tuple[float, int]:
    return -entry[0], entry[1]


def _scale(scores: Sequence[float]) -> Scale:
    if not scores:
        return 0.0, 0.0, 0.0
    mean = sum(scores) / len(scores)
    spread = sqrt(sum((score - mean) ** 2 for score in scores) / len(scores))
    return mean, spread, min(scores)


def standing(score: float | None, scale: Scale) -> float:
    """Return a score on the scale of its list; what the list lacks counts as its lowest."""
    mean, spread, lowest = scale
    return ((lowest if score is None else score) - mean) / spread if spread else 0.0


def _by_scores(dense: Scale, keyword: Scale) -> Callable[[Fused, Sequence[float]], float]:
    def score(one: Fused, weights: Sequence[float]) -> float:
        by_dense = weights[0] * standing(one.dense_score, dense)
        return by_dense + weights[1] * standing(one.keyword_score, keyword)

    return score


def _by_ranks(one: Fused, weights: Sequence[float]) -> float:
    ranks = zip(weights, (one.dense_rank, one.keyword_rank), strict=True)
    return sum(weight / (RRF_CONSTANT + rank) for weight, rank in ranks if rank is not None)


@dataclass(slots=True)
class FusedFile:
    """A document, and what its card and its chunks give."""

    document: int
    card_score: float | None = None
    chunk_score: float | None = None
    hits: int = 0
    score: float = 0.0


def fuse_files(
    cards: Sequence[tuple[float, int]],
    chunks: Iterable[Fused],
    room: int,
    file_weights: Sequence[float],
) -> list[FusedFile]:
    """Return documents, best first, as sql/search/discover_files.sql by each one's best chunk."""
    files = {document: FusedFile(document, score) for score, document in cards}
    for one in chunks:
        file = files.setdefault(one.document, FusedFile(one.document))
        file.hits += 1
        if file.chunk_score is None:  # they come best first
            file.chunk_score = one.score
    card_scale = _scale([score for score, _ in cards] + [0.0] * (room - len(cards)))
    found = [file.chunk_score for file in files.values() if file.chunk_score is not None]
    chunk_scale = _scale(found)
    for file in files.values():
        by_card = file_weights[0] * standing(file.card_score, card_scale)
        file.score = by_card + file_weights[1] * standing(file.chunk_score, chunk_scale)
    return sorted(files.values(), key=lambda file: (-file.score, file.document))


def best_of_each(chunks: Iterable[Fused], most: int) -> list[Fused]:
    """Return the best chunk of each of the first documents."""
    best: dict[int, Fused] = {}
    for one in chunks:
        best.setdefault(one.document, one)
    return list(islice(best.values(), most))


def relevance_model(
    weights: Mapping[str, float],
    asked: Mapping[str, int],
    most: int = 30,
    original_weight: float = 0.15,
) -> dict[str, int]:
    """Return lexemes with times, as sql/feedback/feedback_terms.sql; `asked` are the query's."""
    best = sorted(weights.items(), key=lambda each: (-each[1], each[0].encode()))[:most]
    total, length = sum(weight for _, weight in best), sum(asked.values())
    model = {lexeme: (1 - original_weight) * weight / total for lexeme, weight in best}
    for lexeme, times in asked.items():
        model[lexeme] = model.get(lexeme, 0.0) + original_weight * times / length
    return {lexeme: min(max(round(200 * part), 1), 255) for lexeme, part in model.items()}
