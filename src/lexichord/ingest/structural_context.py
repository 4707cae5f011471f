"""What a chunk leaves open: its document's title, headings and words; the language of it."""

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import islice
from math import log
from operator import itemgetter
from typing import TYPE_CHECKING, get_args

from lexichord.db import catalogue, store
from lexichord.db.pool import Database
from lexichord.errors import IngestError
from lexichord.ingest.chunk.outline import declared_names, is_code
from lexichord.ingest.flow import bounded_gather, yielded
from lexichord.ingest.sources import IngestSource, PreparedDocument, Spool
from lexichord.types import Chunk, ContextPart

STRUCTURE_VERSION = 2  # raise it when contexts come out differently: documents are then done again
CONTEXT_PARTS: tuple[ContextPart, ...] = get_args(ContextPart)
NEIGHBOUR_EDGE_CHARS = 150  # characters of each neighbour
MAX_KEYPHRASES = 14  # per document; chosen of 8 to 20 on half of a code set (docs/log)
# Every chunk may carry these, so that none may be large.
MAX_CONTEXT_TITLE_CHARS = 800  # characters of a title
# Of an identifier; what is longer is data, or text without spaces.
MAX_IDENTIFIER_CHARS = 200
IDENTIFIER_WORD = re.compile(r"[^\W\d_]\w{2,}")
# A run of Thai, kana, Han or hangul is no word but a whole phrase: it says nothing of other chunks.
UNPARTED_LETTER = re.compile(r"[\u0e01-\u0e4e\u3005-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
IDENTIFIER_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\dA-Z_]+")


@dataclass
class WordFrequencies:
    """How many of some texts hold a word: what is rare among them distinguishes a document."""

    texts: int = 0
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, text: str) -> None:
        """Count a text."""
        self.texts += 1
        self.counts.update({part for word in set(_identifiers(text)) for part in _parts(word)})

    def rarity(self, identifier: str) -> float:
        """Return the mean inverse document frequency of an identifier's parts."""
        parts = _parts(identifier)
        return sum(log((self.texts + 1) / (self.counts[part] + 0.5)) for part in parts) / len(parts)


def keyphrases(text: str, reference: WordFrequencies, limit: int = MAX_KEYPHRASES) -> list[str]:
    """Return the identifiers that distinguish a document from the others, best first.

    Scored by the square root of how often one occurs times its rarity.
    """
    counts = Counter(_identifiers(text))
    scores = {word: count**0.5 * reference.rarity(word) for word, count in counts.items()}
    best = sorted(scores, key=lambda word: (-scores[word], word))
    return list(islice(_distinct(best), limit))


def structural_context(
    chunks: Sequence[Chunk],
    title: str,
    phrases: Sequence[str],
    parts: Collection[ContextPart] = CONTEXT_PARTS,
) -> list[Chunk]:
    """Return a document's chunks with the chosen parts as context; one that has context keeps it.

    What helps one side of a search may blur the other (docs/log): vectors get the
    title, and code's the keyphrases; the keyword index gets the title, headings, keyphrases and
    symbols, and of code the neighbours' edges.
    """
    words = " ".join(phrases) if "keyphrases" in parts else ""
    coded = any(is_code(chunk.content) for chunk in chunks)
    context = _lines(
        title[:MAX_CONTEXT_TITLE_CHARS] if "title" in parts else "", words if coded else ""
    )
    return [
        chunk
        if chunk.context
        else replace(
            chunk,
            context=context,
            keyword_context=_lines(
                chunk.heading if "heading" in parts else "",
                "" if coded else words,
                *(_around_code(chunks, number, parts) if coded else ()),
            ),
        )
        for number, chunk in enumerate(chunks)
    ]


def _around_code(
    chunks: Sequence[Chunk], number: int, parts: Collection[ContextPart]
) -> Iterator[str]:
    """Yield the edges of the chunks beside, and twice, to weigh more, the names declared in it."""
    if "edges" in parts:
        yield from (
            chunk.content[-NEIGHBOUR_EDGE_CHARS:] for chunk in chunks[max(0, number - 1) : number]
        )
        yield from (
            chunk.content[:NEIGHBOUR_EDGE_CHARS] for chunk in chunks[number + 1 : number + 2]
        )
    if "symbols" in parts:
        yield from [" ".join(declared_names(chunks[number].content))] * 2


def _lines(*lines: str) -> str:
    return "\n".join(filter(None, lines))


def _identifiers(text: str) -> Iterator[str]:
    """Return the identifiers of a text as often as they occur."""
    return (
        word
        for word in IDENTIFIER_WORD.findall(text)
        if len(word) <= MAX_IDENTIFIER_CHARS and not UNPARTED_LETTER.search(word)
    )


def _distinct(words: Iterable[str]) -> Iterator[str]:
    """Leave out what differs from an earlier word only in case."""
    seen = set[str]()
    for word in words:
        if word.lower() not in seen:
            seen.add(word.lower())
            yield word


@cache
def _parts(identifier: str) -> tuple[str, ...]:
    return tuple(part.lower() for part in IDENTIFIER_PART.findall(identifier)) or (
        identifier.lower(),
    )


SAMPLE_DOCUMENTS = 300  # texts at most that word frequencies are counted over
SAMPLE_CHARS = 2**26  # characters of text set down from the sample until their turn comes


@dataclass
class DocumentSample:
    """The reference; the documents that were read for it wait in a file."""

    database: Database
    dataset: str
    reference: WordFrequencies = field(default_factory=WordFrequencies)
    kept: dict[str, Callable[[], PreparedDocument]] = field(default_factory=dict)
    room: int = SAMPLE_CHARS

    async def count(self, todo: Sequence[IngestSource], spool: Spool, workers: int = 1) -> None:
        """Count words over the SAMPLE_DOCUMENTS documents of the smallest digests.

        These are the same whichever documents an earlier, interrupted run has stored already.
        """
        uris = [source.uri for source in todo]
        stored = await store.sample_documents(self.database, self.dataset, SAMPLE_DOCUMENTS, uris)
        known = [(row["sha256"], row["uri"], row["document_id"]) for row in stored]
        digests = [source.sha256 or source.stand_in for source in todo]
        new = [(one, each.uri, each) for one, each in zip(digests, todo, strict=True) if one]
        chosen = sorted([*known, *new], key=itemgetter(0, 1))[:SAMPLE_DOCUMENTS]
        items = yielded(item for _, _, item in chosen)
        async with aclosing(bounded_gather(items, self._look_at, workers)) as looked_at:
            async for item, found in looked_at:
                if isinstance(item, IngestSource) and isinstance(found, PreparedDocument):
                    await asyncio.to_thread(self._keep, item.uri, found, spool)
                    self.reference.add(found.document.text)
                elif isinstance(found, str):
                    self.reference.add(found)

    def read(self, source: IngestSource) -> PreparedDocument:
        """Return a document as it was set down, else read it. Raises IngestError."""
        return self.kept.pop(source.uri, source.read)()

    async def _look_at(self, item: IngestSource | str) -> PreparedDocument | str | None:
        """Read a document, or the text of one that is stored, by its id."""
        if isinstance(item, str):
            return await catalogue.document_text(self.database, item)
        with suppress(IngestError):  # reported when its turn comes
            return await asyncio.to_thread(item.read)
        return None

    def _keep(self, uri: str, prepared: PreparedDocument, spool: Spool) -> None:
        size = len(prepared.document.text)
        if size <= self.room:
            with suppress(IngestError):  # no room for it: it is read again
                self.kept[uri] = spool.keep(prepared)
                self.room -= size


if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

LANGUAGE = "language"  # the key in a document's metadata: a code of ISO 639
# What is read of a text: its beginning may be in another language.
SLICES, SLICE_CHARS = 3, 1500
# Of 960 paragraphs of XQuAD 2 are not told, of 210 pages of documentation 5; none is told wrong.
LEAST_PROBABILITY = 0.7
NO_LANGUAGE = "zxx"  # what py3langid says of figures
VARIETIES = {
    "wuu": "zh",
    "yue": "zh",
    "pcm": "en",
    "nn": "no",
    "uzs": "uz",
    "arz": "ar",
    "ary": "ar",
}
# Those that every Postgres since 15 has; for all others there is `simple`, which knows no endings.
TEXT_CONFIGS = {
    "ar": "arabic",
    "ca": "catalan",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "eu": "basque",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "ne": "nepali",
    "nl": "dutch",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
}


def tell_language(text: str) -> str | None:
    """Return the code of a text's language, None where it tells too little."""
    probabilities: dict[str, float] = {}
    for code, probability in _identifier().rank(_sample(text)):
        language = VARIETIES.get(code, code)
        probabilities[language] = probabilities.get(language, 0.0) + probability
    best = max(probabilities, key=lambda language: probabilities[language])
    is_told = best != NO_LANGUAGE and probabilities[best] >= LEAST_PROBABILITY
    return best if is_told else None


def find_text_config(language: str | None) -> str | None:
    """Return Postgres' text configuration of a language, None for the database's own."""
    if language is None:
        return None
    return f"pg_catalog.{TEXT_CONFIGS.get(language, 'simple')}"


def _sample(text: str) -> str:
    """Return the beginning, the middle and the end of a text that is longer than they are."""
    if len(text) <= SLICES * SLICE_CHARS:
        return text
    step = (len(text) - SLICE_CHARS) // (SLICES - 1)
    return "\n".join(text[start : start + SLICE_CHARS] for start in range(0, SLICES * step, step))


@cache
def _identifier() -> "LanguageIdentifier":
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
