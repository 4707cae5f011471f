"""Rankings over shards: each gives raw candidates, and they are fused once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import sqrt
from typing import Any

from pgvector import HalfVector

from lexichord.db.fanout import SCOPE, SPACES_DIFFER, Call, by_document, by_ids, joined
from lexichord.db.fusion import Fused, Lists, best_of_each, fuse_files, relevance_model
from lexichord.db.pool import Row
from lexichord.errors import EmbeddingMismatchError

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
