"""Content boost: other ways in which each file may put what is asked for, as a model knows them."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace

from lexichord.db.pool import Database
from lexichord.errors import ProviderError
from lexichord.llm.ask import Ask, one_line
from lexichord.retrieve.discover import FILES
from lexichord.retrieve.rewrite import WORD
from lexichord.retrieve.stages import MakeVariants
from lexichord.retrieve.variants import FILE_WEIGHT, Variants
from lexichord.types import FileHit, Question
from lexichord.types.variants import Variant

ALIKE = 0.5  # Jaccard coefficient of two sets' words from which on they say the same


async def make_variants(
    ask: Ask,
    twin: MakeVariants,
    guidance: str,
    database: Database,
    question: Question,
    files: Sequence[FileHit],
    most: int,
) -> Variants:
    """Search inside the first files by keywords for each, in place of the twin's variants there.

    Each has no vector yet. Files for which the model fails keep what the twin makes of them.
    """
    made = await twin(database, question, files, most)
    first = files[: min(FILES, most - 1)]
    number = -(-(most - 1) // len(first)) if first else 0
    found = await asyncio.gather(*(_keywords(ask, question, f, guidance, number) for f in first))
    variants: list[Variant] = []
    for place, (file, sets) in enumerate(zip(first, found, strict=True), start=1):
        variants += [
            Variant(f"file {place} keywords {n}", text, None, FILE_WEIGHT, (file.document_id,))
            for n, text in enumerate(sets, start=1)
        ]
    done = {variant.documents for variant in variants}
    kept = [each for each in made.variants if each.documents not in done]
    chosen = (kept[0], *variants, *kept[1:])[:most]
    reason = f"{made.reason}; {len(variants)} sets of keywords" if variants else made.reason
    return replace(made, variants=chosen, reason=reason)


async def _keywords(
    ask: Ask, question: Question, file: FileHit, guidance: str, number: int
) -> list[str]:
    """Give sets of keywords for a file, each as one text; none if the model fails."""
    given = {
        "query": question.text,
        "domain": question.domain,
        "document": one_line(file.title or file.uri),
        "guidance": guidance,
        "taken": [question.text.split()],
        "number": number,
    }
    try:
        said = await ask("boost", given)
    except ProviderError as error:
        ask.degrade("keywords", error)
        return []
    texts = (one_line(" ".join(words)) for words in said["keyword_sets"])
    return diverse(texts, number, question.text)


def diverse(texts: Iterable[str], most: int, taken: str) -> list[str]:
    """Give the first `most` texts that have words other than `taken` and than one another."""
    kept, known = list[str](), [_words(taken)]
    for text in texts:
        if len(kept) == most:
            break
        words = _words(text)
        if words and not any(len(words & w) >= ALIKE * len(words | w) for w in known):
            kept.append(text)
            known.append(words)
    return kept


def _words(text: str) -> set[str]:
    return set(WORD.findall(text.casefold()))
