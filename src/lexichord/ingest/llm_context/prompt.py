"""The prompt for a chunk's context: what of a document it shows, what is taken of a reply.

Its wording is `ContextsSignature` in providers/llm/prompts.py, a change of which raises
PROMPT_VERSION; or that of a template.
"""

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from lexichord.errors import ConfigError
from lexichord.types import Chunk, Document
from lexichord.types.documents import CONTEXT_BY
from lexichord.types.questions import enclose, mark_word

PLACEHOLDER = re.compile(r"\{(whole_document|chunk)\}")

# Anthropic's "Contextual Retrieval" (2024), as VectorChord's article on it gives it.
ANTHROPIC_TEMPLATE = (
    "<document>\n{whole_document}\n</document>"
    "Here is the chunk we want to situate within the whole document \n"
    "<chunk>\n{chunk}\n</chunk>\n"
    "Please give a short succinct context to situate this chunk within "
    "the overall document for the purposes of improving search retrieval "
    "of the chunk. Answer only with the succinct context and nothing else."
)


@dataclass(frozen=True, slots=True)
class ContextTemplate:
    """A prompt with places for the document and a chunk; `label` tells it from others."""

    label: str
    text: str

    def fill(self, document: str, chunk: str) -> str:
        """Return the prompt; a placeholder that stands in a document stays what it is."""
        values = {"whole_document": document, "chunk": chunk}
        return PLACEHOLDER.sub(lambda match: values[match[1]], self.text)


NAMED_TEMPLATES = {"anthropic": ContextTemplate("anthropic", ANTHROPIC_TEMPLATE)}


def find_template(name: str | None) -> ContextTemplate | None:
    """Return the prompt of a name or a file, None for our own. Raises ConfigError."""
    if not name or name in NAMED_TEMPLATES:
        return NAMED_TEMPLATES.get(name or "")
    try:
        text = Path(name).expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "no text in UTF-8"
        names = ", ".join(NAMED_TEMPLATES)
        raise ConfigError(
            f"context_prompt '{name}' is no prompt's name ({names}), and as a file it cannot be "
            f"read: {reason}"
        ) from None
    if lacking := {"whole_document", "chunk"}.difference(PLACEHOLDER.findall(text)):
        raise ConfigError(
            f"context_prompt: '{name}' lacks {{{min(lacking)}}}: write {{whole_document}} and "
            "{chunk} where they belong"
        )
    return ContextTemplate(f"prompt-{hashlib.sha256(text.encode()).hexdigest()[:12]}", text)


PROMPT_VERSION = 1  # raise it to have all contexts written anew

# Chunks in one call. The document is paid for once a call, so eight cost an eighth of one by one;
# twice as many would save a sixteenth more, and a list of short numbered texts is still short
# enough to be answered in full and in order. Reasoned, not measured: it needs a paid model.
MAX_CHUNKS_PER_CALL = 8
# Characters of a context: with a chunk of ours most of it fits the local model's 256.
MAX_CONTEXT_CHARS = 400
# Of the document, and on each side of the chunk: what a context depends on.
KEY_HEAD_CHARS, KEY_NEIGHBOUR_CHARS = 1000, 500
# The chunks of a call may have one part in so many of the window, on top of it.
PASSAGES_DIVISOR = 3
# The document's head is one part in so many of the window, and so is twice the overlap.
HEAD_DIVISOR = 4
JOINER_CHARACTERS = "\u200c\u200d"  # format characters that some scripts need


@dataclass(frozen=True, slots=True)
class ContextCall:
    """One call: the places of its chunks, from 0, and the fields of the prompt."""

    places: tuple[int, ...]
    document: str
    passages: str

    @property
    def inputs(self) -> dict[str, object]:
        """The inputs of the task `contexts`."""
        return {"document": self.document, "passages": self.passages}


def model_label(model: str, template: ContextTemplate | None = None) -> str:
    """Return whose a context is: the model and the prompt's version or label, in one word."""
    return f"{'_'.join(model.split())}/{template.label if template else PROMPT_VERSION}"


def context_key(text: str, chunk: Chunk, by: str) -> str:
    """Return the key under which a chunk's context is kept.

    A digest of who writes it, the document's first 1,000 characters, the chunk, and 500 characters
    on each side: what tells which document it is, and where in it. So a copy, under whatever name,
    another way to cut the text around it and a change elsewhere in the document keep the context,
    while the same clause in another document, or among other sections, gets its own.
    """
    before = text[max(0, chunk.start - KEY_NEIGHBOUR_CHARS) : chunk.start]
    after = text[chunk.end : chunk.end + KEY_NEIGHBOUR_CHARS]
    parts = json.dumps([by, text[:KEY_HEAD_CHARS], before, chunk.content, after])
    return hashlib.sha256(parts.encode()).hexdigest()


def plan_calls(
    text: str,
    chunks: Sequence[Chunk],
    places: Sequence[int],
    window: int,
    max_chunks: int = MAX_CHUNKS_PER_CALL,
    *,
    marks: bool = True,
) -> list[list[ContextCall]]:
    """Return what to ask, a list for each part of the document that is shown.

    A document longer than `window` characters is shown by its head and one stretch, the same for
    all chunks in that stretch: services cache a prompt's beginning. Texts stand between `marks`, or
    as they are.
    """
    show = _marked if marks else "\n\n".join
    passages_chars = window // PASSAGES_DIVISOR
    step = _step(window) if len(text) > window else len(text) + 1
    parts: list[list[ContextCall]] = []
    for part, places_in_part in groupby(places, lambda place: chunks[place].start // step):
        shown = show(_shown(text, part, window))
        parts.append(
            [
                ContextCall(
                    batch,
                    shown,
                    show([chunks[place].content[:passages_chars] for place in batch]),
                )
                for batch in _batches(chunks, places_in_part, max_chunks, passages_chars)
            ]
        )
    return parts


def with_contexts(
    document: Document,
    chunks: Sequence[Chunk],
    contexts: Mapping[int, str],
    by: str,
    *,
    is_complete: bool,
) -> tuple[Document, list[Chunk]]:
    """Put a model's contexts below those that the chunks have, by place, and name it in the recipe.

    Below, because the title that stands there is what hints and files are matched by, and what was
    measured (docs/log); a model may or may not repeat it. `is_complete`: no chunk lacks
    one.
    """
    joined = [
        _joined(chunk, contexts[place], by) if place in contexts else chunk
        for place, chunk in enumerate(chunks)
    ]
    recipe, mark = base_recipe(document.recipe), "" if is_complete else "partly:"
    if is_complete or any(has_context(chunk, by) for chunk in joined):
        own = GIVEN_CONTEXTS_DIGEST.search(recipe)  # stays at the end
        place = own.start() if own else len(recipe)
        recipe = f"{recipe[:place]} llm={mark}{by}{recipe[place:]}"
    return replace(document, recipe=recipe), joined


GIVEN_CONTEXTS_DIGEST = re.compile(
    r" [0-9a-f]{64}$"
)  # how a recipe ends whose chunks brought contexts


def base_recipe(recipe: str) -> str:
    """Return a recipe without its part on a language model."""
    return re.sub(r" llm=\S+", "", recipe)


def has_context(chunk: Chunk, by: str) -> bool:
    """Return whether a chunk has this model's context."""
    return bool(chunk.metadata.get(CONTEXT_BY) == by)


def without_context(chunk: Chunk) -> Chunk:
    """Take off what a model wrote, which is the last line."""
    if CONTEXT_BY not in chunk.metadata:
        return chunk
    metadata = {name: value for name, value in chunk.metadata.items() if name != CONTEXT_BY}
    return replace(chunk, context=chunk.context.rpartition("\n")[0], metadata=metadata)


def clean_context(reply: str) -> str:
    """Return a reply as one line of at most MAX_CONTEXT_CHARS, without control characters."""
    line = " ".join(reply.split())
    line = "".join(
        c for c in line if c in JOINER_CHARACTERS or unicodedata.category(c)[0] != "C"
    ).strip()
    if len(line) <= MAX_CONTEXT_CHARS:
        return line
    return line[:MAX_CONTEXT_CHARS].rpartition(" ")[0] or line[:MAX_CONTEXT_CHARS]


def _joined(chunk: Chunk, text: str, by: str) -> Chunk:
    bare = without_context(chunk)
    context = "\n".join(filter(None, (bare.context, text)))
    return replace(bare, context=context, metadata={**bare.metadata, CONTEXT_BY: by})


def _batches(
    chunks: Sequence[Chunk], places: Iterable[int], max_chunks: int, max_chars: int
) -> Iterator[tuple[int, ...]]:
    """Part places into batches of at most so many chunks, and so many characters."""
    batch: list[int] = []
    taken = 0
    for place in places:
        length = len(chunks[place].content)
        if batch and (len(batch) == max_chunks or taken + length > max_chars):
            yield tuple(batch)
            batch, taken = [], 0
        batch.append(place)
        taken += length
    if batch:
        yield tuple(batch)


def _step(window: int) -> int:
    return window - 2 * (window // HEAD_DIVISOR)


def _shown(text: str, part: int, window: int) -> Iterator[str]:
    """Yield the document, or its head and the stretch of a part with some text on both sides."""
    if len(text) <= window:
        yield text
        return
    margin, start = window // HEAD_DIVISOR // 2, part * _step(window)
    yield text[: window // HEAD_DIVISOR]
    yield text[max(0, start - margin) : start + _step(window) + margin]


def _marked(texts: Iterable[str]) -> str:
    """Write numbered texts between marks; their word is a digest of the texts: none can hold it."""
    numbered = list(texts)
    word = mark_word(numbered)[:12]
    return "\n".join(
        enclose(text, word, f" number={number}") for number, text in enumerate(numbered, 1)
    )
