"""The stages that a language model does in place of the default ones, and the grades it gives."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from lexichord.db import search
from lexichord.db.pool import Database
from lexichord.errors import ProviderError
from lexichord.providers import Generator
from lexichord.retrieve.llm import (
    MAX_LINE_CHARS,
    LlmCaller,
    NumberedQuote,
    mark,
    number_sources,
    shorten_line,
    write_answer,
)
from lexichord.retrieve.search import BOOSTED_FILES, FILE_WEIGHT, VariantSet, discover
from lexichord.retrieve.stages import FindIntent, MakeVariants, RewriteQuestion, Stages
from lexichord.retrieve.trace import Trace
from lexichord.retrieve.understand import WORD
from lexichord.retrieve.understand.intent import MAX_EXPANDED_CHARS
from lexichord.types import (
    ChunkHit,
    FileHit,
    KeywordSets,
    LlmStage,
    QueryOptions,
    Question,
    Response,
    Scope,
)
from lexichord.types.evidence import Quote
from lexichord.types.questions import Intent, Variant
from lexichord.types.response import Grade, Grading, Rewrite, Wording

MAX_QUESTION_PARTS = 10  # entities or sub-questions that are heeded; each of these is searched for
EMPTY_FIELD_WORDS = ("none", "null", "n/a")  # what models write where a field is to be empty


async def find_intent(
    ask: LlmCaller,
    default: FindIntent,
    *,
    database: Database,
    query: str,
    hint: str | None,
    scope: Scope,
) -> Intent:
    """Read a query; a hint that the model finds in it is linked to documents by their titles."""
    try:
        outputs = await ask("intent", {"query": query, "given_hint": hint or ""})
    except ProviderError as error:
        ask.degrade("intent", error)
        return await default(database=database, query=query, hint=hint, scope=scope)
    meant = hint or _text(outputs["hint"]) or None
    read = await default(database=database, query=query, hint=meant, scope=scope)
    question, parts = (
        shorten_line(outputs["question"], max(MAX_LINE_CHARS, len(query))),
        _texts(outputs["sub_questions"]),
    )
    return replace(
        read,
        kind=outputs["kind"],
        aspects=() if hint is None else read.aspects,  # they are those of its own question
        question=(question or query) if hint is None else read.question,
        entities=_texts(outputs["entities"]),
        sub_questions=parts if len(parts) > 1 else (),
        domain=_text(outputs["domain"]) or read.domain,
        reason=f"{outputs['kind']}: {shorten_line(outputs['reason'])}",
    )


def _text(output: str) -> str:
    text = shorten_line(output)
    return "" if text.casefold() in EMPTY_FIELD_WORDS else text


def _texts(outputs: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, map(_text, outputs))))[:MAX_QUESTION_PARTS]


REWRITE_PASSAGES = 5  # of the passages that were found


async def rewrite(
    ask: LlmCaller,
    default: RewriteQuestion,
    *,
    database: Database,
    question: str,
    hits: Sequence[ChunkHit],
    scope: Scope,
    kind: Wording | None,
) -> Rewrite:
    """Expand or relax a question after a look at what it found.

    The model chooses the kind. Who is not content with its choice and asks for a relaxation gets
    the default's: asked the same once more, the model would say the same. Where it fails, the
    default rewrites for reflection alone: else its words measured no gain (docs/evaluation.md).
    """
    if kind == "relaxation":
        return await default(
            database=database, question=question, hits=hits, scope=scope, kind=kind
        )
    terms = await search.question_coverage(database, question, [hit.chunk_id for hit in hits])
    missing = [word for term in terms if not term.chunks for word in term.words]
    shown = [NumberedQuote(n, Quote.of(hit)) for n, hit in enumerate(hits[:REWRITE_PASSAGES], 1)]
    inputs = {"query": question, "passages": mark(shown), "missing": missing}
    try:
        outputs = await ask("rewrite", inputs)
    except ProviderError as error:
        ask.degrade("rewrite", error)
        if kind is None:
            return Rewrite("none", question, "the language model gave no words")
        return await default(
            database=database, question=question, hits=hits, scope=scope, kind=kind
        )
    text, reason = (
        shorten_line(outputs["text"], MAX_EXPANDED_CHARS),
        shorten_line(outputs["reason"]),
    )
    if outputs["kind"] == "none" or not text or text == question:
        return Rewrite("none", question, reason)
    if not await search.question_coverage(database, text, []):
        return Rewrite("none", question, "the model's words are none to search for")
    return Rewrite(outputs["kind"], text, f"{reason} (confidence {outputs['confidence']:.2f})")


DUPLICATE_KEYWORD_SHARE = (
    0.5  # Jaccard coefficient of two sets' words from which on they say the same
)


async def make_variants(
    ask: LlmCaller,
    default: MakeVariants,
    guidance: str,
    *,
    database: Database,
    question: Question,
    files: Sequence[FileHit],
    limit: int,
) -> VariantSet:
    """Search inside the first files by keywords for each, in place of the default's variants there.

    Each has no vector yet. Files for which the model fails keep what the default makes of them.
    """
    made = await default(database=database, question=question, files=files, limit=limit)
    keywords = await _each_keywords(ask, question, files, guidance, limit - 1)
    variants = [
        Variant(f"file {place} keywords {n}", text, None, FILE_WEIGHT, (file.document_id,))
        for place, (file, sets) in enumerate(keywords, start=1)
        for n, text in enumerate(sets, start=1)
    ]
    done = {variant.documents for variant in variants}
    kept = [variant for variant in made.variants if variant.documents not in done]
    chosen = (kept[0], *variants, *kept[1:])[:limit]
    reason = f"{made.reason}; {len(variants)} sets of keywords" if variants else made.reason
    return replace(made, variants=chosen, reason=reason)


async def _each_keywords(
    ask: LlmCaller, question: Question, files: Sequence[FileHit], guidance: str, count: int
) -> list[tuple[FileHit, list[str]]]:
    """Return the first files, each with sets of keywords, so many in all or some more."""
    first = files[: min(BOOSTED_FILES, count)]
    number = -(-count // len(first)) if first else 0
    sets = await asyncio.gather(*(_keywords(ask, question, f, guidance, number) for f in first))
    return list(zip(first, sets, strict=True))


async def _keywords(
    ask: LlmCaller, question: Question, file: FileHit, guidance: str, number: int
) -> list[str]:
    """Return sets of keywords for a file, each as one text; none if the model fails."""
    inputs = {
        "query": question.query,
        "domain": question.domain,
        "document": shorten_line(file.title or file.uri),
        "guidance": guidance,
        "taken": [question.query.split()],
        "number": number,
    }
    try:
        outputs = await ask("boost", inputs)
    except ProviderError as error:
        ask.degrade("keywords", error)
        return []
    texts = (shorten_line(" ".join(words)) for words in outputs["keyword_sets"])
    return choose_diverse(texts, number, question.query)


def choose_diverse(texts: Iterable[str], limit: int, taken: str) -> list[str]:
    """Return the first `limit` texts that have words other than `taken` and than one another."""
    kept, known = list[str](), [_words(taken)]
    for text in texts:
        if len(kept) == limit:
            break
        words = _words(text)
        if words and not any(
            len(words & w) >= DUPLICATE_KEYWORD_SHARE * len(words | w) for w in known
        ):
            kept.append(text)
            known.append(words)
    return kept


def _words(text: str) -> set[str]:
    return set(WORD.findall(text.casefold()))


KEYWORD_PASSAGES = 20  # passages whose words are looked at
MIN_SHARED_PASSAGES = 2  # of them in one document, for words that they share


async def keyword_sets(
    database: Database, question: Question, generator: Generator | None, trace: Trace, limit: int
) -> KeywordSets:
    """Return up to `limit` sets: the query's own words, the model's, those of the best documents.

    The documents' are the telling words that several of their passages on the query share.
    """
    own = await search.question_coverage(database, question.query, [])
    texts = [" ".join(word for term in own for word in term.words)]
    if generator is not None:
        texts += await _by_model(LlmCaller(generator, trace), database, question, limit)
    texts += await _by_documents(database, question)
    taken = choose_diverse(texts, limit, "")
    return KeywordSets(question.query, [text.split() for text in taken], trace.degraded)


async def _by_model(
    ask: LlmCaller, database: Database, question: Question, limit: int
) -> list[str]:
    files = await discover(database, question, ask.trace)
    keywords = await _each_keywords(ask, question, files, "", limit)
    return [text for _, sets in keywords for text in sets][:limit]


async def _by_documents(database: Database, question: Question) -> list[str]:
    by_document = defaultdict[str, list[str]](list)
    for hit in await search.hybrid_search(database, question):
        by_document[hit.document_id].append(hit.chunk_id)
    groups = [chunks for chunks in by_document.values() if len(chunks) >= MIN_SHARED_PASSAGES]
    whole = [chunk for chunks in by_document.values() for chunk in chunks[:1]]
    if len(whole) >= MIN_SHARED_PASSAGES:
        groups.append(whole)  # what the documents share with one another
    words = [await search.related_words(database, question.query, group) for group in groups]
    return [" ".join(group_words) for group_words in words]


GRADED_RESPECTS = ("grounding", "completeness", "consistency", "specificity")


async def grade(ask: LlmCaller, *, response: Response) -> Grading:
    """Grade a response's answer. Raises ProviderError: what was not graded has no grade."""
    sources = mark(_sources(response))
    inputs = {"question": response.query, "answer": response.answer, "sources": sources}
    try:
        outputs = await ask("grade", inputs)
    except ProviderError as error:
        ask.degrade("reflection", error)
        raise
    grades = (
        Grade(name, outputs[name]["score"], shorten_line(outputs[name]["reason"]))
        for name in GRADED_RESPECTS
    )
    return Grading(tuple(grades), shorten_line(outputs["missing"]))


def _sources(response: Response) -> list[NumberedQuote]:
    """Return what the context shows, and after it the quotes of a table that are not in there."""
    shown = number_sources(response.quotes, response.sources)
    cells = () if response.comparison is None else response.comparison.cells
    known = {source.quote for source in shown}
    more = dict.fromkeys(quote for cell in cells for quote in cell.quotes if quote not in known)
    return [
        *shown,
        *(NumberedQuote(n, quote) for n, quote in enumerate(more, len(response.sources) + 1)),
    ]


def with_llm_stages(
    stages: Stages, generator: Generator | None, trace: Trace, options: QueryOptions
) -> Stages:
    """Return the stages with a model's twins in place of those that it does.

    The twins belong to one query: they write into its trace, and take from its time.
    """
    if generator is None:
        return stages
    ask, guidance = LlmCaller(generator, trace), options.instructions or ""
    twins: dict[LlmStage, dict[str, Callable[..., Any]]] = {
        "intent": {"find_intent": partial(find_intent, ask, stages.find_intent)},
        "boost": {"make_variants": partial(make_variants, ask, stages.make_variants, guidance)},
        "rewrite": {"rewrite": partial(rewrite, ask, stages.rewrite)},
        "answer": {"write_answer": partial(write_answer, ask, stages.write_answer)},
        "reflect": {"grade": partial(grade, ask)},
    }
    for name in options.llm_stages:
        stages = replace(stages, **twins[name])
    return stages
