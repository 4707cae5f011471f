"""A question in; files and fused hits out."""

import asyncio
import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add

import numpy as np

from lexichord.db import search
from lexichord.db import search as db
from lexichord.db.pool import Database, Row
from lexichord.errors import BadResponseError, ConfigError, ProviderError
from lexichord.providers import Embed, Embedder, RemoteEmbedder, Reranker, WideReranker
from lexichord.providers.rerank import rank
from lexichord.retrieve.trace import Trace
from lexichord.retrieve.understand.intent import MIN_ASKED_WORDS, find_intent
from lexichord.types import ChunkHit, FileHit, Json, Question
from lexichord.types.query_options import DEFAULT_FILES
from lexichord.types.questions import Feedback, Variant
from lexichord.work import beside, in_thread


async def with_vectors(embed: Embed | None, question: Question, degraded: list[str]) -> Question:
    """Return a question with its vector and its hint's; without, if they fail: `degraded` says why.

    Raises ProviderError if there is nothing else to search by.
    """
    if embed is None or question.mode == "keyword":
        return question
    queries = [query for query in (question.query, question.hint) if query is not None]
    vectors = await embed_queries(embed, queries, question, degraded)
    if vectors is None:
        return replace(question, space=None)
    return replace(question, vector=vectors[0], hint_vector=[*vectors, None][1])


async def embed_queries(
    embed: Embed, queries: Sequence[str], question: Question, degraded: list[str]
) -> list[list[float]] | None:
    """Embed what is asked in a question's place; None if that fails, and `degraded` says why.

    Raises ProviderError if the question's mode leaves nothing else to search by.
    """
    try:
        vectors = await in_thread(embed, queries, "query")
        if np.isnan(vectors).any():
            raise BadResponseError("the embedder refuses the text of the query: ask in other words")
        return list(vectors.tolist())
    except ProviderError as error:
        if question.mode == "dense":
            raise
        if (reason := by_words(error)) not in degraded:
            degraded.append(reason)
        return None


def by_words(error: ProviderError) -> str:
    """Return the note that words alone decide, and why."""
    return f"no vectors, by words only: {error}"


def without_waiting(embedder: Embedder) -> Embedder:
    """Return an embedder that waits for no service's retry: a query has no time for it."""
    return embedder.for_queries() if isinstance(embedder, RemoteEmbedder) else embedder


# Evidence recall within 4,000 characters on half of the NDA questions, raw / by hint:
# no boost 72.0; the top 1, 3, 5 files 81.7 / 85.6, 82.7 / 85.6, 82.9 / 84.7;
# boost .5, 1, 2, 4: 81.3 / 54.5, 82.6 / 84.4, 82.7 / 85.6, 82.8 / 85.6.
# A hint names files, a question only suggests them: there the smallest boost that does most of
# the good still lets another file's better chunk come first. Where the best chunks of several files
# differ, a question does not even suggest files: there the boost cost code 1.2 points Pass@10.
BOOSTED_FILES = 3  # whose own chunks become candidates
FILE_BOOST = 0.5  # points of fused score for a point of file score
HINT_FILE_BOOST = 2.0


async def discover(
    database: Database,
    question: Question,
    trace: Trace,
    limit: int = DEFAULT_FILES,
    reranker: Reranker | None = None,
) -> list[FileHit]:
    """Find up to `limit` documents by the hint, or else by the question, best first.

    A reranker sees four times as many, each as its title and best chunks, and chooses among them.
    If it fails, or takes more than its share of the query's time, the order stays and `degraded`
    says why.
    """
    count = limit if reranker is None else max(limit, min(4 * limit, question.depth))
    files = await search.discover_files(database, replace(question, k=count))
    if reranker is not None and files:
        try:
            files = await _rerank(database, question, files, limit, reranker, trace.allowance)
        except ProviderError as error:
            trace.degrade(f"files are not reranked: {error}")
    return files[:limit]


async def _rerank(
    database: Database,
    question: Question,
    files: Sequence[FileHit],
    limit: int,
    reranker: Reranker,
    seconds: float,
) -> list[FileHit]:
    texts = await search.file_surrogates(database, question, [file.document_id for file in files])
    ranked = await rank(reranker, question.hint or question.query, texts, limit, seconds)
    return [
        replace(
            file,
            score=reranked.score,
            scores={**file.scores, "fused": file.score, "rerank": reranked.score},
        )
        for reranked in ranked
        for file in [files[reranked.index]]
    ]


async def name_first(
    database: Database,
    question: Question,
    files: list[FileHit],
    documents: Sequence[str],
    limit: int,
) -> list[FileHit]:
    """Put documents that a question names before what a search for their names found.

    "The Atlantic" is theatlantic.com, and is in the first lines of what tells of the sea.
    """
    first = {file.document_id for file in files[:BOOSTED_FILES]}
    missing = tuple(document for document in documents if document not in first)
    if not files or not missing or len(documents) > BOOSTED_FILES:
        return files
    inside = replace(question.scope, documents=missing)
    asked = replace(question, scope=inside, k=len(missing))
    found = await search.discover_files(database, asked)
    others = [file for file in files if file.document_id not in missing]
    others.sort(key=lambda file: file.document_id not in documents)
    return [*(_preferred(file, files) for file in found), *others][:limit]


def _preferred(file: FileHit, files: Sequence[FileHit]) -> FileHit:
    """Return a file as good as the best: in a scope of its own its score says nothing."""
    best = max(files, key=lambda each: each.scores.get("fused") or each.score)
    fused = {"fused": best.scores["fused"]} if "fused" in best.scores else {}
    return replace(file, score=max(each.score for each in files), scores={**file.scores, **fused})


async def boost_files(files: Sequence[FileHit], hint: str | None) -> dict[str, float]:
    """Return the first files' boost in points by document id, as hybrid_search takes it.

    A reranker chooses files, but its scores have another scale.
    """
    points = FILE_BOOST if hint is None else HINT_FILE_BOOST
    scores = {
        file.document_id: file.scores.get("fused", file.score) for file in files[:BOOSTED_FILES]
    }
    return {document: points * max(score or 0, 0) for document, score in scores.items()}


# Mean average precision within one document (ContractNLI dev), plain 52.4: with feedback of weight
# 2 59.8, .9 55.2. Rocchio's moved vector gave 52.6, so it stays out.
MAX_VARIANTS = 4  # ways of asking, the original among them
ORIGINAL_WEIGHT = 1.0
FEEDBACK_WEIGHT = 2.0

# Evidence recall within 4,000 characters, a third of half of the NDA questions, raw / by hint, with
# feedback over the whole scope as well: 90.0 / 89.5; and inside the best file with weight .3
# 90.9 / 89.5, .6 91.0 / 89.2, 1 91.3 / 90.0; inside the best two 91.2 / 90.0, three 91.4 / 90.0.
# With the question's own words there 88.7 / 89.4, with those of the file's best chunks 90.5 / 89.5.
# Beside these, feedback over the whole scope gives nothing: without it .4 to 1.9 points more.
FILE_WEIGHT = 1.0

# The mean cosine of the feedback chunks tells where feedback helps: half of the code questions .15
# to .42 (Pass@10 93.1 without feedback, 85.0 with it), of the NDA questions .49 to .67. A weak
# first pass alone tells nothing: among the weakest quarter feedback costs code most, 12.6 points.
MIN_COHERENCE = 0.46


@dataclass(frozen=True, slots=True)
class VariantSet:
    """The variants of a question, the original first, and in words why these.

    `least` is the coherence below which documents differ.
    """

    variants: tuple[Variant, ...]
    reason: str
    coherence: float | None = None
    least: float = MIN_COHERENCE

    @property
    def is_scattered(self) -> bool:
        """Return whether the best chunks of several documents are known to differ."""
        return self.coherence is not None and self.coherence < self.least


def least_coherence(unlike: float) -> float:
    """Return the threshold of coherence in a space where what is unlike has the cosine `unlike`.

    With e5-small-v2, all of whose coherences are above the threshold as it is, that is 70 % of code
    questions without feedback, none of the contracts' and 2 % of the policies'.
    """
    return unlike + (1 - unlike) * MIN_COHERENCE


async def make_variants(
    database: Database,
    question: Question,
    files: Sequence[FileHit] = (),
    limit: int = MAX_VARIANTS,
    *,
    always: bool = False,
) -> VariantSet:
    """Return the original and up to `limit` - 1 variants by relevance feedback, each inside a file.

    Where the scope pins documents there is one for all of them. They are made where the best chunks
    of several documents are alike, or `always`. Feedback comes from all documents, also where the
    scope pins some: within one it is known to hurt.
    """
    original = Variant("original", question.query, question.vector, ORIGINAL_WEIGHT)
    if question.mode == "dense":
        return VariantSet((original,), "words make variants, and only vectors are searched")
    everywhere = replace(question, scope=replace(question.scope, documents=()))
    least = least_coherence(question.unlike)
    feedback = await db.relevance_feedback(database, everywhere, None if always else least)
    measured = (feedback.coherence, least)
    if not feedback.terms:
        reason = f"the best chunks of {len(feedback.chunk_ids)} documents are not alike"
        if feedback.coherence is None:
            reason = "fewer than two documents with vectors have chunks to learn from"
        return VariantSet((original,), reason, *measured)
    if limit < 2:
        return VariantSet((original,), "no variants are asked for", *measured)
    pinned = bool(question.scope.documents)
    others = [_by_feedback(question, feedback)] if pinned else _inside(question, feedback, files)
    return VariantSet((original, *others[: limit - 1]), _why(feedback, always), *measured)


def _by_feedback(question: Question, feedback: Feedback) -> Variant:
    query, vector = question.query, question.vector
    return Variant("feedback", query, vector, FEEDBACK_WEIGHT, terms=feedback.terms)


def _inside(question: Question, feedback: Feedback, files: Sequence[FileHit]) -> list[Variant]:
    return [
        replace(
            _by_feedback(question, feedback),
            name=f"file {place}",
            weight=FILE_WEIGHT,
            documents=(file.document_id,),
        )
        for place, file in enumerate(files, start=1)
    ]


def _why(feedback: Feedback, always: bool) -> str:
    if always:
        return "variants were asked for"
    return f"the best chunks of {len(feedback.chunk_ids)} documents are alike"


CANDIDATES_PER_HIT = 3  # of a reranker, for each hit that is asked for
KEPT_FIRST = 2  # of the question's own hits, whatever others say: sql/search/search_variants.sql
# They say what to make of the evidence, not what it is about: rerankers then prefer glossaries.
NEUTRAL_WORDS = (
    *("list", "lists", "listing", "enumerate", "extract"),
    *("definition", "definitions", "define", "defines", "glossary", "glossaries"),
)
RRF_CONSTANT = 60  # of Cormack et al. (2009), as in sql/search/search_variants.sql


@dataclass(slots=True)
class FusedChunk:
    """A chunk's rank in each variant's list, and what each adds to its score."""

    ranks: dict[str, int] = field(default_factory=dict)
    parts: dict[str, float] = field(default_factory=dict)

    @property
    def score(self) -> float:
        """Add the parts as SQL does; Python's sum would correct the last digit."""
        return reduce(add, self.parts.values())


async def search_variants(
    database: Database,
    question: Question,
    variants: Sequence[Variant],
    boost: Json | None = None,
) -> list[ChunkHit]:
    """Find the question's k best chunks by all variants, the original first.

    Each is a hybrid search of its own over the whole scope and, by the boost (document id to
    points), inside the boosted documents. They run at once, as many as the pool has connections.
    `sql/search/search_variants.sql` gives the same in one call. Raises ConfigError.
    """
    _check(question, variants)
    lists = await asyncio.gather(
        *(db.variant_candidates(database, question, variant, boost) for variant in variants)
    )
    fused = fuse_ranks(variants, [[row["chunk_id"] for row in rows] for rows in lists])
    kept = {row["chunk_id"] for row in lists[0][:KEPT_FIRST]}
    likely = sorted(fused, key=lambda chunk: (chunk not in kept, -fused[chunk].score))
    best = sorted(
        filter(set(likely[: question.k]).__contains__, fused), key=lambda chunk: -fused[chunk].score
    )
    first: Mapping[str, Row] = {row["chunk_id"]: row for row in lists[0]}
    rows = await db.read_hits(database, best) if best else []
    if len(rows) < len(best):  # replaced since they were found: in one call all is of one moment
        return await db.search_variants(database, question, variants, boost)
    return [
        db.variant_hit(row, first.get(chunk, {}), one.score, one.ranks, one.parts)
        for row in rows
        for chunk in [row["chunk_id"]]
        for one in [fused[chunk]]
    ]


def fuse_ranks(
    variants: Sequence[Variant], lists: Sequence[Sequence[str]]
) -> dict[str, FusedChunk]:
    """Fuse each variant's chunk ids, best first, by weighted Reciprocal Rank Fusion.

    The chunks are in the order in which the lists have them, so that of two with the same score
    the earlier variant's better one comes first.
    """
    fused: defaultdict[str, FusedChunk] = defaultdict(FusedChunk)
    for variant, chunks in zip(variants, lists, strict=True):
        for place, chunk in enumerate(chunks, start=1):
            fused[chunk].ranks[variant.name] = place
            fused[chunk].parts[variant.name] = variant.weight / (RRF_CONSTANT + place)
    return dict(fused)


def _check(question: Question, variants: Sequence[Variant]) -> None:
    names = [variant.name for variant in variants]
    if not names or len(names) != len(set(names)):
        raise ConfigError("a search takes at least one variant, and each name once")
    if {"dense", "keyword"}.intersection(names):
        raise ConfigError("dense and keyword name channels, not variants")
    if any(variant.weight <= 0 for variant in variants):
        raise ConfigError("the weight of a variant must be above 0")
    if not 1 <= question.k <= question.depth:
        raise ConfigError("k must be at least 1 and at most the depth")


def count_candidates(reranker: Reranker, k: int) -> int:
    """Return among how many hits a reranker chooses k."""
    least = reranker.least_texts if isinstance(reranker, WideReranker) else 0
    return max(CANDIDATES_PER_HIT * k, least)


async def rerank(
    question: str,
    hits: Sequence[ChunkHit],
    k: int,
    reranker: Reranker,
    trace: Trace,
) -> list[ChunkHit]:
    """Return the k hits that the reranker scores best by their content and context.

    It sees the question without `NEUTRAL_WORDS`. The score becomes the hit's, and is kept as
    `rerank`. If it fails, or takes more than its share of the query's time, the order stays and
    `degraded` says why.
    """
    texts = ["\n".join(filter(None, (hit.context, hit.content))) for hit in hits]
    try:
        ranked = await rank(
            reranker, remove_words(question, NEUTRAL_WORDS), texts, k, trace.allowance
        )
    except ProviderError as error:
        trace.degrade(f"chunks are not reranked: {error}")
        return list(hits[:k])
    return [
        replace(hit, score=reranked.score, scores=replace(hit.scores, rerank=reranked.score))
        for reranked in ranked
        for hit in [hits[reranked.index]]
    ]


def remove_words(question: str, words: Collection[str]) -> str:
    """Return a question without some words, whole words in any case; itself if nothing is left."""
    either = "|".join(map(re.escape, words))
    text = re.sub(rf"(?<!\w)(?:{either})(?!\w)", " ", question, flags=re.I) if words else question
    return " ".join(text.split()) if re.search(r"\w", text) else question


async def search_chunks(
    database: Database, embed: Embed | None, question: Question, degraded: list[str]
) -> tuple[Question, list[ChunkHit]]:
    """Find chunks by plain search, and return with what question; a hint prefers files it names.

    A clause that only names a document becomes the hint. Nothing waits for the look at the names:
    the question is searched meanwhile as it was asked, which is given up where a clause leaves it.
    A caller's own hint stays, and the question with it. Of a few words no clause can go: these are
    not looked up. `degraded` gets why there are no vectors.
    """
    if question.hint is not None or len(question.query.split()) <= MIN_ASKED_WORDS:
        return await _search_chunks(database, embed, question, degraded)
    notes: list[str] = []
    async with beside(_search_chunks(database, embed, question, notes)) as as_asked:
        intent = await find_intent(database, question.query, scope=question.scope)
        if intent.question == question.query:
            found = await as_asked
            degraded += notes
            return found
    named = replace(question, query=intent.question, hint=intent.hint)
    return await _search_chunks(database, embed, named, degraded)


async def _search_chunks(
    database: Database, embed: Embed | None, question: Question, degraded: list[str]
) -> tuple[Question, list[ChunkHit]]:
    question = await with_vectors(embed, question, degraded)
    files: list[FileHit] = []
    if question.hint:
        files = await search.discover_files(database, replace(question, k=DEFAULT_FILES))
    boost = await boost_files(files, question.hint)
    return question, await search.hybrid_search(database, question, boost)
