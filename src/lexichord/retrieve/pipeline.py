"""The order of the stages: intent, discover, variants, search, reflect, aggregate."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import get_args

from lexichord.db import search
from lexichord.db.pool import Database
from lexichord.errors import ConfigError
from lexichord.providers.base import Embedder, Reranker
from lexichord.retrieve.aspects import find_aspects
from lexichord.retrieve.discover import SHOWN, discover
from lexichord.retrieve.intent import find_intent
from lexichord.retrieve.reflect import ENOUGH
from lexichord.retrieve.rerank import CANDIDATES, NEUTRAL, rerank
from lexichord.retrieve.respond import respond
from lexichord.retrieve.rounds import Searcher, fall_back, reflect, rewritten
from lexichord.retrieve.trace import Trace
from lexichord.retrieve.variants import VARIANTS, make_variants
from lexichord.retrieve.words import find_listed
from lexichord.types import ChunkHit, FileHit, QueryOptions, Question, Response
from lexichord.types.intent import Intent, IntentKind
from lexichord.types.reflection import Budget, Reflection

# Evidence recall within 4,000 characters on half of the NDA questions, raw / by hint:
# no boost 72.0; the top 1, 3, 5 files 81.7 / 85.6, 82.7 / 85.6, 82.9 / 84.7;
# boost .5, 1, 2, 4: 81.3 / 54.5, 82.6 / 84.4, 82.7 / 85.6, 82.8 / 85.6.
# A hint names files, a question only suggests them: there the smallest boost that does most of
# the good still lets another file's better chunk come first. Where the best chunks of several files
# differ, a question does not even suggest files: there the boost cost code 1.2 points Pass@10.
FILES = 3  # whose own chunks become candidates
BOOST = 0.5  # points of fused score for a point of file score
HINT_BOOST = 2.0
ROUNDS = 2  # of reflection, as kbbridge has it
BUDGET_MS = 5000.0
SCORES = ("dense", "keyword", "fused", "variants", "rerank")


async def search_chunks(database: Database, question: Question) -> list[ChunkHit]:
    """Find chunks; a hint prefers the files that it names."""
    files = await discover(database, question, [], SHOWN) if question.hint else []
    return await search.hybrid_search(database, question, _boost(files, question.hint))


async def query(
    database: Database,
    embedder: Embedder | None,
    question: Question,
    options: QueryOptions,
    degraded: list[str],
    reranker: Reranker | None = None,
) -> Response:
    """Find the files, then evidence in the whole scope and inside them, by the query's intent.

    `question` holds the query as it was asked, without vectors. Raises ConfigError, DatabaseError,
    ProviderError.
    """
    _check(options)
    trace = Trace()
    with trace.stage("intent", query=question.text, hint=question.hint) as step:
        intent = await _intent(database, question, options)
        step["made"] = {"kind": intent.kind, "hint": intent.hint, "reason": intent.reason}
    with trace.stage("embed"):
        asked, about = await _asked(embedder, question, intent)
    with trace.stage("discover", hint=asked.hint) as step:
        shown = options.get("files", SHOWN)
        files = await discover(database, asked, degraded, shown, reranker)
        step["made"] = [{"document_id": f.document_id, "score": f.score} for f in files]
    searcher = Searcher(
        database,
        embedder,
        asked,
        about,
        _boost(files, asked.hint),
        trace,
        question.text,
        options.get("min_score", {}),
    )
    if reranker is not None and intent.kind != "list_all":
        _rerank(searcher, reranker, options, degraded)
    hits, reflection = await _search(searcher, intent, files, options)
    sure = await searcher.judge(hits)
    if intent.kind not in ("comparison", "summary"):
        hits, sure = await fall_back(searcher, hits, sure, options.get("fallbacks", ()))
    return await respond(searcher, intent, files, hits, sure, reflection, options, degraded)


def _check(options: QueryOptions) -> None:
    """Raise ConfigError for what cannot be meant."""
    given: Mapping[str, object] = {**options}
    for name in ("variants", "files", "max_length"):
        if (value := given.get(name, 1)) < 1:  # type: ignore[operator]
            raise ConfigError(f"{name} must be at least 1, not {value}")
    if (kind := options.get("intent")) not in (None, *get_args(IntentKind)):
        raise ConfigError(f"there is no intent {kind}: {', '.join(get_args(IntentKind))}")
    if unknown := set(options.get("min_score", {})).difference(SCORES):
        named = ", ".join(sorted(unknown))
        raise ConfigError(f"there is no score {named}: {', '.join(SCORES)}")


async def _intent(database: Database, question: Question, options: QueryOptions) -> Intent:
    intent = await find_intent(database, question.text, question.hint, question.scope)
    given = options.get("intent")
    return intent if given is None else replace(intent, kind=given, reason="given")


async def _asked(
    embedder: Embedder | None, question: Question, intent: Intent
) -> tuple[Question, Question]:
    """Give what is searched, and what its evidence is judged by, with their vectors."""
    k = question.depth if intent.kind == "list_all" else question.k
    asked = replace(question, text=intent.question, hint=intent.hint, k=k)
    about = replace(asked, text=_about(intent))
    if embedder is None or question.mode == "keyword":
        return asked, about
    texts = list(dict.fromkeys([asked.text, about.text, *filter(None, [asked.hint])]))
    rows = (await asyncio.to_thread(embedder.embed, texts, "query")).tolist()
    vectors: dict[str | None, list[float]] = dict(zip(texts, rows, strict=True))
    asked = replace(asked, vector=vectors[asked.text], hint_vector=vectors.get(asked.hint))
    return asked, replace(about, vector=vectors[about.text])


def _about(intent: Intent) -> str:
    """Give what the evidence should speak of, without the order to list or to compare it."""
    if intent.kind == "list_all":
        return find_listed(intent.question)
    if intent.kind == "comparison":
        return ", ".join(find_aspects(intent.question, intent.hint))
    return intent.question


def _boost(files: Sequence[FileHit], hint: str | None) -> dict[str, float]:
    """Give points by document; a reranker chooses files, but its scores have another scale."""
    points = BOOST if hint is None else HINT_BOOST
    scores = {file.document_id: file.scores.get("fused", file.score) for file in files[:FILES]}
    return {str(document): points * max(score, 0) for document, score in scores.items()}


def _rerank(
    searcher: Searcher, reranker: Reranker, options: QueryOptions, degraded: list[str]
) -> None:
    """Let the search find more, and the reranker choose among them."""
    question = searcher.question
    searcher.question = replace(question, k=min(CANDIDATES * question.k, question.depth))
    neutral = options.get("neutral", NEUTRAL)
    searcher.rerank = partial(
        rerank, question.text, k=question.k, reranker=reranker, degraded=degraded, neutral=neutral
    )


async def _search(
    searcher: Searcher, intent: Intent, files: Sequence[FileHit], options: QueryOptions
) -> tuple[list[ChunkHit], Reflection | None]:
    with searcher.trace.stage("variants") as step:
        most = options.get("variants", VARIANTS)
        made = await make_variants(searcher.database, searcher.question, files, most=most)
        step["made"] = {
            "names": [each.name for each in made.variants],
            "coherence": made.coherence,
            "reason": made.reason,
        }
    searcher.variants += made.variants
    if made.is_scattered and intent.hint is None:
        searcher.boost = {}
    if instructions := options.get("instructions"):
        await searcher.add("instructions", f"{searcher.question.text} {instructions}")
    hits = await searcher.search()
    if options.get("rewrite"):
        hits = await rewritten(searcher, hits)
    if not options.get("reflect"):
        return hits, None
    budget = Budget(options.get("rounds", ROUNDS), options.get("budget_ms", BUDGET_MS))
    enough = options.get("min_coverage", ENOUGH)
    return await reflect(searcher, intent, hits, budget, enough)
