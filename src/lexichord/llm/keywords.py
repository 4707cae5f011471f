"""Sets of keywords for a query, in the documents' own words and, if there is a model, in its."""

from collections import defaultdict
from collections.abc import Sequence

from lexichord.db import coverage, search
from lexichord.db.pool import Database
from lexichord.llm.ask import Ask
from lexichord.llm.boost import diverse, make_variants
from lexichord.providers.base import Generator
from lexichord.retrieve.discover import discover
from lexichord.retrieve.trace import Trace
from lexichord.retrieve.variants import Variants
from lexichord.types import FileHit, KeywordSets, Question
from lexichord.types.variants import Variant

FOUND = 20  # passages whose words are looked at
FEWEST = 2  # of them in one document, for words that they share


async def keyword_sets(
    database: Database, question: Question, generator: Generator | None, trace: Trace, most: int
) -> KeywordSets:
    """Give up to `most` sets: the query's own words, the model's, those of the best documents.

    The documents' are the telling words that several of their passages on the query share.
    """
    own = await coverage.question_coverage(database, question.text, [])
    texts = [" ".join(word for term in own for word in term.words)]
    if generator is not None:
        texts += await _by_model(Ask(generator, trace), database, question, most)
    texts += await _by_documents(database, question)
    taken = diverse(texts, most, "")
    return KeywordSets(question.text, [text.split() for text in taken], trace.degraded)


async def _by_model(ask: Ask, database: Database, question: Question, most: int) -> list[str]:
    files = await discover(database, question, ask.trace)
    made = await make_variants(ask, _original, "", database, question, files, most + 1)
    return [variant.text for variant in made.variants[1:]]


async def _original(
    _: Database, question: Question, files: Sequence[FileHit], most: int
) -> Variants:
    return Variants((Variant("original", question.text, None, 1.0),), "")


async def _by_documents(database: Database, question: Question) -> list[str]:
    by_document = defaultdict[int, list[int]](list)
    for hit in await search.hybrid_search(database, question):
        by_document[hit.document_id].append(hit.chunk_id)
    groups = [chunks for chunks in by_document.values() if len(chunks) >= FEWEST]
    whole = [chunk for chunks in by_document.values() for chunk in chunks[:1]]
    if len(whole) >= FEWEST:
        groups.append(whole)  # what the documents share with one another
    words = [await coverage.related_words(database, question.text, group) for group in groups]
    return [" ".join(each) for each in words]
