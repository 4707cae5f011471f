"""The twin of variants with a language model: keywords for each file; and keyword sets."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from lexichord.db import evidence, search
from lexichord.db.pool import Database
from lexichord.errors import ProviderError
from lexichord.providers.base import Generator
from lexichord.retrieve.llm import LlmCaller, shorten_line
from lexichord.retrieve.search.discover import BOOSTED_FILES, discover
from lexichord.retrieve.search.variants import FILE_WEIGHT, VariantSet
from lexichord.retrieve.stages import MakeVariants
from lexichord.retrieve.trace import Trace
from lexichord.retrieve.understand.cues import WORD
from lexichord.types import FileHit, KeywordSets, Question
from lexichord.types.questions import Variant

DUPLICATE_KEYWORD_SHARE = (
    0.5  # Jaccard coefficient of two sets' words from which on they say the same
)


async def make_variants(
    ask: LlmCaller,
    twin: MakeVariants,
    guidance: str,
    *,
    database: Database,
    question: Question,
    files: Sequence[FileHit],
    limit: int,
) -> VariantSet:
    """Search inside the first files by keywords for each, in place of the twin's variants there.

    Each has no vector yet. Files for which the model fails keep what the twin makes of them.
    """
    twins = await twin(database=database, question=question, files=files, limit=limit)
    first = files[: min(BOOSTED_FILES, limit - 1)]
    number = -(-(limit - 1) // len(first)) if first else 0
    keywords = await asyncio.gather(*(_keywords(ask, question, f, guidance, number) for f in first))
    variants: list[Variant] = []
    for place, (file, sets) in enumerate(zip(first, keywords, strict=True), start=1):
        variants += [
            Variant(f"file {place} keywords {n}", text, None, FILE_WEIGHT, (file.document_id,))
            for n, text in enumerate(sets, start=1)
        ]
    done = {variant.documents for variant in variants}
    kept = [variant for variant in twins.variants if variant.documents not in done]
    chosen = (kept[0], *variants, *kept[1:])[:limit]
    reason = f"{twins.reason}; {len(variants)} sets of keywords" if variants else twins.reason
    return replace(twins, variants=chosen, reason=reason)


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
    own = await evidence.question_coverage(database, question.query, [])
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
    variants = await make_variants(
        ask,
        _original,
        "",
        database=database,
        question=question,
        files=files,
        limit=limit + 1,
    )
    return [variant.text for variant in variants.variants[1:]]


async def _original(
    *, database: Database, question: Question, files: Sequence[FileHit], limit: int
) -> VariantSet:
    return VariantSet((Variant("original", question.query, None, 1.0),), "")


async def _by_documents(database: Database, question: Question) -> list[str]:
    by_document = defaultdict[str, list[str]](list)
    for hit in await search.hybrid_search(database, question):
        by_document[hit.document_id].append(hit.chunk_id)
    groups = [chunks for chunks in by_document.values() if len(chunks) >= MIN_SHARED_PASSAGES]
    whole = [chunk for chunks in by_document.values() for chunk in chunks[:1]]
    if len(whole) >= MIN_SHARED_PASSAGES:
        groups.append(whole)  # what the documents share with one another
    words = [await evidence.related_words(database, question.query, group) for group in groups]
    return [" ".join(group_words) for group_words in words]
