"""Rankings over shards: each gives raw candidates, and they are fused once.

The one fusion of what several shards propose is here too, as in `sql/search/fuse_candidates.sql`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from math import sqrt
from typing import Any

from pgvector import HalfVector

from lexichord.db.fanout import SCOPE, SPACES_DIFFER, Call, by_document, by_ids, joined
from lexichord.db.pool import Row
from lexichord.errors import EmbeddingMismatchError

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


FILE_WEIGHTS = (0.5, 0.5)  # as sql/search/discover_files.sql
OWN_CARDS = 3  # whose chunks are looked at, as there
FEEDBACK_DOCUMENTS = 20
CENTROID_CHUNKS = 10  # as sql/feedback/term_centroid.sql
ORIGINAL_WEIGHT = 0.6  # as sql/feedback/feedback_vector.sql
REPLACED_TRIES = 5  # until nothing is replaced between the candidates and their texts
MAX_DEPTH = 10_000  # that sql/search/check_search.sql allows


async def _candidates(call: Call, **others: Any) -> list[Fused]:  # noqa: ANN401
    """Return the chunks that all shards propose, fused, best first."""
    arguments = call.arguments | others
    depth = arguments.get("depth") or call.shards.defaults["depth"]
    weights = arguments.get("weights") or await _default_weights(call)
    boost = arguments.get("boost") or {}
    asked = {
        **{name: arguments.get(name) for name in ("query", "query_vector", "boost", "query_space")},
        **{name: arguments[name] for name in ("terms", *SCOPE) if name in arguments},
        "depth": depth,
        "weights": list(weights),
    }
    if asked["query_vector"] is None and weights[0] > 0:
        asked |= await _centroid(call, asked)
    own = Call(call.shards, call.how, "shard_candidates", asked)
    lists = Lists.of(joined(await own.ask_in_scope()), depth)
    points = {call.shards.ids.read("doc", text): value for text, value in boost.items()}
    fusion = arguments.get("fusion") or call.shards.defaults["fusion"]
    return lists.fuse(fusion, weights, points)


async def _default_weights(call: Call) -> list[float]:
    """Return the weights of the space that the databases are bound to now."""
    (row,) = await call.shards.home.call("default_weights")
    return list(row["default_weights"])


async def _centroid(call: Call, asked: Mapping[str, Any]) -> Row:
    """Return the direction of the ten best keyword hits, as the vector that the question lacks."""
    by_words = {"weights": [0.0, 1.0], "boost": None, "query_vector": None}
    own = Call(call.shards, call.how, "shard_candidates", {**asked, **by_words})
    lists = Lists.of(joined(await own.ask_in_scope()), asked["depth"])
    numbers = [entry[1] for entry in lists.ranked["keyword"][:CENTROID_CHUNKS]]
    sums = await _feedback_sums(call, numbers) if numbers else None
    if sums is None or not sums.amount:
        return {}
    return {"query_vector": HalfVector(sums.centroid), "query_space": sums.space}


def _written(call: Call, one: Fused) -> Row:
    write = call.shards.ids.write
    return {
        "chunk_id": write("chunk", one.chunk),
        "document_id": write("doc", one.document),
        "score": one.score,
        "dense_score": one.dense_score,
        "dense_rank": one.dense_rank,
        "keyword_score": one.keyword_score,
        "keyword_rank": one.keyword_rank,
        "fused_score": one.fused_score,
    }


async def hybrid_search(call: Call) -> list[Row]:
    """See sql/search/hybrid_search.sql. A document replaced since is searched for again."""
    for _ in range(REPLACED_TRIES):
        found = [_written(call, one) for one in (await _candidates(call))[: call.take("k")]]
        chunk_ids = [row["chunk_id"] for row in found]
        read = Call(call.shards, call.how, "read_hits", {"chunk_ids": chunk_ids})
        rows = await by_ids("chunk_ids", "chunk")(read) if found else []
        texts = {row["chunk_id"]: row for row in rows}
        if len(texts) == len(found):
            break
    return [texts[row["chunk_id"]] | row for row in found if row["chunk_id"] in texts]


async def variant_candidates(call: Call) -> list[Row]:
    """See sql/search/variant_candidates.sql."""
    found = (await _candidates(call))[: call.take("depth")]
    return [{**_written(call, one), "rank": rank} for rank, one in enumerate(found, start=1)]


async def _documents(call: Call, ids: Sequence[str], *others: str) -> dict[str, Row]:
    """Return the dataset, uri and title of documents, and other columns, by id."""
    own = Call(call.shards, call.how, "list_documents", {"documents": list(ids)})
    columns = ("document_id", "dataset", "uri", "title", *others)
    rows = joined(await own.ask_in_scope()) if ids else []
    return {row["document_id"]: {name: row[name] for name in columns} for row in rows}


async def discover_files(call: Call) -> list[Row]:
    """See sql/search/discover_files.sql."""
    depth, write = call.take("depth"), call.shards.ids.write
    cards = {"query": call.arguments["query"], "depth": depth, **call.scope()}
    own = Call(call.shards, call.how, "file_candidates", cards)
    rows = joined(await own.ask_in_scope())
    room = min(depth, sum(row["room"] for row in rows))
    pairs = (zip(row["scores"], row["document_numbers"], strict=True) for row in rows)
    best = sorted(chain(*pairs), key=lambda pair: (-pair[0], pair[1]))[:depth]
    boost = {write("doc", document): 0 for _, document in best[:OWN_CARDS]} or None
    chunks = await _candidates(call, boost=boost)
    weights = call.arguments.get("file_weights") or FILE_WEIGHTS
    files = fuse_files(best, chunks, room, weights)[: call.take("k")]
    named = await _documents(call, [write("doc", file.document) for file in files])
    return [
        {
            **named[text],
            "score": file.score,
            "card_score": file.card_score,
            "chunk_score": file.chunk_score,
            "hits": file.hits,
        }
        for file in files
        if (text := write("doc", file.document)) in named
    ]


async def similar_documents(call: Call) -> list[Row]:
    """See sql/search/similar_documents.sql."""
    source, k = call.arguments["source"], call.take("k")
    asked = {"document": source}
    (own,) = await by_document()(Call(call.shards, call.how, "document_vector", asked))
    depth = min(own["chunks"] + max(20 * k, 200), MAX_DEPTH)
    by_vector = {"query_vector": own["vector"], "query_space": own["space"]}
    asked = {"query": None, **by_vector, "weights": [1.0, 0.0], "depth": depth, **call.scope()}
    near = Call(call.shards, call.how, "shard_candidates", asked)
    lists = Lists.of(joined(await near.ask_in_scope()), depth)
    hits: dict[int, list[float]] = {}
    for score, _, document in lists.ranked["dense"]:
        hits.setdefault(document, []).append(score)
    hits.pop(call.shards.ids.read("doc", source), None)
    best = sorted(hits, key=lambda document: (-hits[document][0], document))[:k]
    texts = [call.shards.ids.write("doc", document) for document in best]
    named = await _documents(call, texts, "metadata")
    return [
        {**named[text], "score": hits[document][0], "hits": len(hits[document])}
        for document, text in zip(best, texts, strict=True)
        if text in named
    ]


@dataclass(frozen=True, slots=True)
class _Sums:
    """What is learned from chunks: the means of the vectors, of `space`, that `amount` have.

    `space` is None where none of them has a vector.
    """

    amount: int
    space: str | None
    direction: list[float]
    centroid: list[float]
    weights: dict[str, float]


async def _feedback_sums(call: Call, numbers: Sequence[int]) -> _Sums:
    asked: dict[int, dict[str, list[int]]] = {}
    for number, shard in (await call.shards.where("chunk", numbers)).items():
        asked.setdefault(shard, {"chunks": []})["chunks"].append(number)
    rows = joined(await call.ask(asked, "feedback_sums"))
    weights: dict[str, float] = {}
    for row in rows:
        for lexeme, weight in zip(row["lexemes"], row["weights"], strict=True):
            weights[lexeme] = weights.get(lexeme, 0.0) + weight
    spaces = {row["space"] for row in rows if row["amount"]}
    if len(spaces) > 1:
        raise EmbeddingMismatchError(SPACES_DIFFER)
    space, amount = next(iter(spaces), None), sum(row["amount"] for row in rows)
    return _Sums(amount, space, _mean(rows, "direction"), _mean(rows, "centroid"), weights)


def _mean(rows: Sequence[Row], name: str) -> list[float]:
    """Return the mean of rows' means, each of its `amount`."""
    held = [row for row in rows if row["amount"]]
    amount = sum(row["amount"] for row in held)
    scaled = ([row["amount"] * x / amount for x in row[name]] for row in held)
    return [sum(column) for column in zip(*scaled, strict=True)]


async def relevance_feedback(call: Call) -> list[Row]:
    """See sql/feedback/relevance_feedback.sql."""
    least = call.arguments.get("least_coherence")
    chunks = best_of_each(await _candidates(call), FEEDBACK_DOCUMENTS)
    ids = [call.shards.ids.write("chunk", one.chunk) for one in chunks]
    row: Row = {"chunk_ids": ids, "coherence": None, "terms": None, "vector": None}
    if not chunks:
        return [row]
    sums = await _feedback_sums(call, [one.chunk for one in chunks])
    squared = sum(x * x for x in sums.direction)
    if sums.amount > 1:
        row["coherence"] = (sums.amount * squared - 1) / (sums.amount - 1)
    if least is None or (row["coherence"] is not None and row["coherence"] >= least):
        asked = await call.shards.read("weigh_terms", texts=[call.arguments["query"]])
        times = {term["lexeme"]: term["frequencies"][0] for term in asked}
        row["terms"] = relevance_model(sums.weights, times) or None
        row["vector"] = _moved(call.arguments, sums)
    return [row]


def _moved(question: Mapping[str, Any], sums: _Sums) -> HalfVector | None:
    """Move a question's vector towards the chunks', as sql/feedback/feedback_vector.sql does."""
    asked: HalfVector | None = question.get("query_vector")
    if not sums.amount:
        return asked
    mean = _unit(sums.direction)
    if asked is None:
        return HalfVector(mean)
    space = question.get("query_space")
    if space and space != sums.space:
        raise EmbeddingMismatchError(SPACES_DIFFER)
    pairs = zip(_unit(asked.to_list()), mean, strict=True)
    return HalfVector(_unit([ORIGINAL_WEIGHT * x + (1 - ORIGINAL_WEIGHT) * y for x, y in pairs]))


def _unit(vector: Sequence[float]) -> list[float]:
    length = sqrt(sum(x * x for x in vector)) or 1.0
    return [x / length for x in vector]
