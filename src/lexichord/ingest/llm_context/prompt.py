"""Contexts by a language model: what it is shown of a document, and what is taken of its reply."""

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from lexichord.types import Chunk, Document
from lexichord.types.documents import CONTEXT_BY
from lexichord.types.generation import enclose, mark_word

VERSION = (
    1  # of the prompt; raise it when other contexts are to be had: all are then asked for anew
)

# Chunks in one call. The document is paid for once a call, so eight cost an eighth of one by one;
# twice as many would save a sixteenth more, and a list of short numbered texts is still short
# enough to be answered in full and in order. Reasoned, not measured: it needs a paid model.
CHUNKS = 8
LONGEST = 400  # characters of a context: with a chunk of ours most of it fits the local model's 256
HEAD, AROUND = 1000, 500  # characters of the document, and on each side, that a context depends on
PASSAGES = 3  # of a window, one part in so many is what the chunks of a call may have on top of it
SHARE = 4  # of a window, one part in so many is the document's head, as much twice its overlap
JOINERS = "\u200c\u200d"  # format characters that some scripts need


@dataclass(frozen=True, slots=True)
class Call:
    """What is asked for at once: chunks by their places, from 0, and the fields of the prompt."""

    places: tuple[int, ...]
    document: str
    passages: str

    @property
    def inputs(self) -> dict[str, object]:
        """The inputs of the task `contexts`."""
        return {"document": self.document, "passages": self.passages}


def label(model: str) -> str:
    """Say whose a context is: the model and the prompt's version, in one word."""
    return f"{'_'.join(model.split())}/{VERSION}"


def context_key(text: str, chunk: Chunk, by: str) -> str:
    """Give the key under which a chunk's context is kept.

    A digest of who writes it, the document's first 1,000 characters, the chunk, and 500 characters
    on each side: what says which document it is, and where in it. So a copy, under whatever name,
    another way to cut the text around it and a change elsewhere in the document keep the context,
    while the same clause in another document, or among other sections, gets its own.
    """
    before = text[max(0, chunk.start - AROUND) : chunk.start]
    after = text[chunk.end : chunk.end + AROUND]
    parts = json.dumps([by, text[:HEAD], before, chunk.content, after])
    return hashlib.sha256(parts.encode()).hexdigest()


def calls(
    text: str, chunks: Sequence[Chunk], places: Sequence[int], window: int, most: int = CHUNKS
) -> list[list[Call]]:
    """Give what to ask, a list for each part of the document that is shown.

    A document longer than `window` characters is shown by its head and one stretch, the same for
    all chunks in that stretch: services cache a prompt's beginning.
    """
    room = window // PASSAGES
    step = _step(window) if len(text) > window else len(text) + 1
    found: list[list[Call]] = []
    for part, own in groupby(places, lambda place: chunks[place].start // step):
        shown = _marked(_shown(text, part, window))
        found.append(
            [
                Call(some, shown, _marked([chunks[place].content[:room] for place in some]))
                for some in _batches(chunks, own, most, room)
            ]
        )
    return found


def with_contexts(
    document: Document, chunks: Sequence[Chunk], said: Mapping[int, str], by: str, *, all_said: bool
) -> tuple[Document, list[Chunk]]:
    """Put a model's contexts below those that the chunks have, by place, and say so in the recipe.

    Below, because the title that stands there is what hints and files are matched by, and what was
    measured (docs/benchmarks.md); a model may or may not repeat it. `all_said` tells whether no
    chunk is without.
    """
    joined = [
        _joined(chunk, said[place], by) if place in said else chunk
        for place, chunk in enumerate(chunks)
    ]
    recipe, mark = base_recipe(document.recipe), "" if all_said else "partly:"
    if all_said or any(has_context(chunk, by) for chunk in joined):
        own = OWN.search(recipe)  # stays at the end
        place = own.start() if own else len(recipe)
        recipe = f"{recipe[:place]} llm={mark}{by}{recipe[place:]}"
    return replace(document, recipe=recipe), joined


OWN = re.compile(r" [0-9a-f]{64}$")  # how a recipe ends whose chunks brought contexts


def base_recipe(recipe: str) -> str:
    """Give a recipe without its part on a language model."""
    return re.sub(r" llm=\S+", "", recipe)


def has_context(chunk: Chunk, by: str) -> bool:
    """Tell whether a chunk has this model's context."""
    return bool(chunk.metadata.get(CONTEXT_BY) == by)


def without_context(chunk: Chunk) -> Chunk:
    """Take off what a model wrote, which is the last line."""
    if CONTEXT_BY not in chunk.metadata:
        return chunk
    metadata = {name: value for name, value in chunk.metadata.items() if name != CONTEXT_BY}
    return replace(chunk, context=chunk.context.rpartition("\n")[0], metadata=metadata)


def tidy(said: str) -> str:
    """Give a model's text as one line of at most LONGEST characters, without control characters."""
    line = " ".join(said.split())
    line = "".join(c for c in line if c in JOINERS or unicodedata.category(c)[0] != "C").strip()
    if len(line) <= LONGEST:
        return line
    return line[:LONGEST].rpartition(" ")[0] or line[:LONGEST]


def _joined(chunk: Chunk, said: str, by: str) -> Chunk:
    bare = without_context(chunk)
    context = "\n".join(filter(None, (bare.context, said)))
    return replace(bare, context=context, metadata={**bare.metadata, CONTEXT_BY: by})


def _batches(
    chunks: Sequence[Chunk], places: Iterable[int], most: int, room: int
) -> Iterator[tuple[int, ...]]:
    """Part places into batches of at most so many chunks, and so many characters."""
    batch: list[int] = []
    taken = 0
    for place in places:
        length = len(chunks[place].content)
        if batch and (len(batch) == most or taken + length > room):
            yield tuple(batch)
            batch, taken = [], 0
        batch.append(place)
        taken += length
    if batch:
        yield tuple(batch)


def _step(window: int) -> int:
    return window - 2 * (window // SHARE)


def _shown(text: str, part: int, window: int) -> Iterator[str]:
    """Give the document, or its head and the stretch of a part with some text on both sides."""
    if len(text) <= window:
        yield text
        return
    margin, start = window // SHARE // 2, part * _step(window)
    yield text[: window // SHARE]
    yield text[max(0, start - margin) : start + _step(window) + margin]


def _marked(texts: Iterator[str] | Sequence[str]) -> str:
    """Write numbered texts between marks; their word is a digest of the texts: none can hold it."""
    given = list(texts)
    word = mark_word(given)[:12]
    return "\n".join(
        enclose(text, word, f" number={number}") for number, text in enumerate(given, 1)
    )
