"""Models behind protocols: embed/, rerank/ and llm/, `read`, and a module for each other vendor.

Here the protocols, and what those on this machine share: a model that is loaded when somebody first
needs it, and vectors of texts that were embedded before. `registry` knows which vendor a setting
names, `http` is what all share. Nothing else knows a vendor's name.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import Literal, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from lexichord.types import EmbeddingSpace, Ranked
from lexichord.types.questions import Generated, Passage, ReaderFit, Reading, Task, Usage

Vectors = NDArray[np.float32]
type EmbedKind = Literal["query", "document"]
type Embed = Callable[[Sequence[str], EmbedKind], Vectors]

# Called with the place in the draft, in characters, and the text that goes there.
type OnDraft = Callable[[int, str], None]


class Embedder(Protocol):
    """Texts in, unit vectors out."""

    @property
    def space(self) -> EmbeddingSpace:
        """Which space the vectors live in; two spaces never mix in one database."""
        ...

    def embed(self, texts: Sequence[str], kind: EmbedKind) -> Vectors:
        """Embed each text.

        Returns a float32 array of shape (len(texts), space.dimension), rows of length 1,
        in the order of `texts`; a row of NaN is that of a text that alone cannot be embedded.
        Raises ProviderError.
        """
        ...


@runtime_checkable
class RemoteEmbedder(Embedder, Protocol):
    """An embedder that asks a service, which takes time and may cost money."""

    def for_queries(self) -> Self:
        """Return the same embedder for queries: it waits for nothing that takes long."""
        ...

    def used(self) -> Usage:
        """Return what was asked of the service since it was opened."""
        ...

    def stop(self) -> None:
        """Cancel what other threads are embedding now: they raise ProviderError."""
        ...


class Reranker(Protocol):
    """A query and texts in, the most relevant of them out.

    `providers.rerank.rank` limits its time by cancelling it, and checks the reply.
    """

    async def rerank(self, query: str, texts: Sequence[str], top_n: int) -> Sequence[Ranked]:
        """Return the `top_n` best of `texts`, best first, each by its place among them, from 0.

        The score is on the vendor's scale, higher is better. Raises ProviderError.
        """
        ...


@runtime_checkable
class WideReranker(Reranker, Protocol):
    """A reranker to which what it has read before costs little, so that it looks at more."""

    @property
    def least_texts(self) -> int:
        """How many texts it is to choose among at least, where so many are found."""
        ...


class Reader(Protocol):
    """A question and passages in, what answers it out."""

    @property
    def fit(self) -> ReaderFit:
        """What was fitted with it. Raises ProviderError."""
        ...

    def read(self, question: str, passages: Sequence[Passage]) -> list[Reading]:
        """Return what is made of each passage, in their order. Raises ProviderError."""
        ...


class Generator(Protocol):
    """A language model: a task's inputs in, its outputs out."""

    @property
    def name(self) -> str:
        """As DSPy names it: openai/gpt-4o-mini."""
        ...

    async def generate(
        self,
        task: Task,
        inputs: Mapping[str, object],
        seconds: float,
        on_draft: OnDraft | None = None,
    ) -> Generated:
        """Do a task within `seconds`, which is a hard limit.

        `inputs` and the outputs are the fields that providers/llm/prompts.py lists for the task.
        `on_draft` hears the words of an answer while they are written. Raises ProviderError.
        """
        ...

    async def complete(self, prompt: str, seconds: float) -> tuple[str, Usage]:
        """Return the reply to a prompt that is sent as it is, and what it took.

        `seconds` is a hard limit. Raises ProviderError.
        """
        ...

    async def aclose(self) -> None:
        """Close the connections that were opened on this event loop."""
        ...


def size_in_bytes(vectors: NDArray[np.generic]) -> int:
    """Return what vectors take in a `DigestCache`."""
    return vectors.nbytes


class DigestCache[Kept]:
    """Keeps what was made of texts by their digest, that used last, up to a sum of sizes.

    Several threads may share one.
    """

    def __init__(self, limit: int, size: Callable[[Kept], int]) -> None:
        self._limit, self._size_of = limit, size
        self._size = 0
        self._kept: OrderedDict[bytes, Kept] = OrderedDict()
        self._lock = Lock()

    def find(self, digest: bytes) -> Kept | None:
        """Return what is kept of a text, None if nothing is."""
        with self._lock:
            if digest not in self._kept:
                return None
            self._kept.move_to_end(digest)
            return self._kept[digest]

    def keep(self, digest: bytes, made: Kept) -> None:
        """Keep what was made of a text, and let go of what was not used for longest."""
        with self._lock:
            before = self._kept.pop(digest, None)
            self._size += self._size_of(made) - (0 if before is None else self._size_of(before))
            self._kept[digest] = made
            while self._size > self._limit:
                self._size -= self._size_of(self._kept.popitem(last=False)[1])


class OnDemand[Model]:
    """Loads a model once, when it is first asked for; several threads may ask."""

    def __init__(self, load: Callable[[], Model]) -> None:
        self._load = load
        self._lock = Lock()
        self._model: Model | None = None

    def get(self) -> Model:
        """Return the model. Raises what loading it raises; the next one to ask loads it again."""
        with self._lock:
            if self._model is None:
                self._model = self._load()
            return self._model
