"""Late interaction (Khattab & Zaharia, 2020): a vector a token, compared by MaxSim.

A question's token counts by the passage's token that is nearest to it. Passages are read without
the question, so that the vectors of one that was read before serve the next question, too.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from lexichord.errors import ProviderError
from lexichord.providers.base import Vectors
from lexichord.providers.onnx_folder import (
    TOKENIZER_FILE,
    Graph,
    TokenIds,
    TokenMask,
    batches_by_length,
    clean,
    open_folder,
    open_tokenizer,
    pad_rows,
    pad_token,
    tokenize,
)
from lexichord.providers.rerank.scorer import MAX_RERANK_TOKENS, RERANK_BATCH_TEXTS, Scores
from lexichord.providers.rerank.token_form import TokenForm
from lexichord.providers.vector_cache import VectorCache

if TYPE_CHECKING:
    from tokenizers import Tokenizer

type TokenVectors = NDArray[np.float16]

MASK_TOKENS = ("[MASK]", "<mask>")
KEPT_BYTES = 64 * 2**20  # some 1,300 passages of 200 tokens and 128 numbers


@dataclass(frozen=True, slots=True)
class MarkedTokenizer:
    """Reads questions, or passages: cuts them, and puts their marker after the first token."""

    tokenizer: "Tokenizer"
    marker: int | None

    @classmethod
    def open(cls, folder: Path, prefix: str, length: int) -> Self:
        """Open a folder's tokenizer. Raises ValueError, for a prefix that is no token as well."""
        tokenizer = open_tokenizer(folder)
        marker = tokenizer.token_to_id(prefix) if prefix else None
        if prefix and marker is None:
            raise ValueError(f"{TOKENIZER_FILE} has no token '{prefix}', which marks texts")
        room = min(length, MAX_RERANK_TOKENS)
        tokenizer.enable_truncation(room if marker is None else room - 1)
        return cls(tokenizer, marker)

    def read(self, texts: Sequence[str]) -> list[TokenIds]:
        """Return each text's token ids."""
        rows = tokenize(self.tokenizer, texts)
        if self.marker is None:
            return rows
        return [np.concatenate((row[:1], [self.marker], row[1:])) for row in rows]


@dataclass(frozen=True, slots=True)
class LateInteraction:
    """A loaded model; its scores are means of cosines, -1 to 1."""

    graph: Graph
    form: TokenForm
    questions: MarkedTokenizer
    passages: MarkedTokenizer
    pad: int
    mask: int
    skipped: TokenIds
    kept: VectorCache[np.float16] = field(default_factory=lambda: VectorCache(KEPT_BYTES))

    @classmethod
    def open(cls, folder: Path, form: TokenForm) -> Self:
        """Open the model of a folder. Raises ProviderError, ImportError, OSError, ValueError."""
        questions = MarkedTokenizer.open(folder, form.query_prefix, form.query_length)
        passages = MarkedTokenizer.open(folder, form.document_prefix, form.document_length)
        tokenizer = passages.tokenizer
        skipped = (tokenizer.token_to_id(word) for word in form.skiplist_words)
        return cls(
            open_folder(folder),
            form,
            questions,
            passages,
            pad_token(tokenizer),
            _mask_token(tokenizer) if form.do_query_expansion else pad_token(tokenizer),
            np.array([token for token in skipped if token is not None], np.int64),
        )

    def score(self, query: str, texts: Sequence[str]) -> Iterator[tuple[Sequence[int], Scores]]:
        """Yield the scores of texts: first of those whose vectors are kept, then by length.

        Raises ProviderError if the model gives no vector a token.
        """
        question = self._embed_question(query)
        digests = [sha256(text.encode()).digest() for text in clean(texts)]
        found = {number: self.kept.find(digest) for number, digest in enumerate(digests)}
        known = {number: vectors for number, vectors in found.items() if vectors is not None}
        if known:
            yield list(known), max_sim(question, list(known.values()))
        new = [number for number in found if number not in known]
        for places, vectors in self._embed_passages([texts[number] for number in new]):
            numbers = [new[place] for place in places]
            for number, each in zip(numbers, vectors, strict=True):
                self.kept.keep(digests[number], each)
            yield numbers, max_sim(question, vectors)

    def _embed_question(self, query: str) -> Vectors:
        rows = self.questions.read([query])
        width = min(self.form.query_length, MAX_RERANK_TOKENS)
        ids, mask = pad_rows(rows, self.mask, width if self.form.do_query_expansion else 0)
        if self.form.attend_to_expansion_tokens:
            mask[:] = True
        # All vectors count, those of mask tokens as well: they weigh the question's other words.
        vectors: Vectors = self._run(ids, mask)[0]
        return vectors

    def _embed_passages(
        self, texts: Sequence[str]
    ) -> Iterator[tuple[Sequence[int], list[TokenVectors]]]:
        rows = self.passages.read(texts)
        for numbers in batches_by_length([len(row) for row in rows], RERANK_BATCH_TEXTS):
            ids, mask = pad_rows([rows[number] for number in numbers], self.pad)
            vectors = self._run(ids, mask).astype(np.float16)
            counted = mask & ~np.isin(ids, self.skipped)
            yield numbers, [row[kept] for row, kept in zip(vectors, counted, strict=True)]

    def _run(self, ids: TokenIds, mask: TokenMask) -> Vectors:
        """Return a vector of length 1 for each token."""
        states = self.graph.run(ids, mask).astype(np.float32)
        if states.ndim != 3 or states.shape[:2] != ids.shape:
            raise ProviderError(
                f"the model in '{self.graph.folder}' gives no vector a token, though a file there "
                "says that it is in ColBERT's form: export it again, without pooling"
            )
        if states.shape[2] != (self.form.embedding_dim or states.shape[2]):
            raise ProviderError(
                f"the model in '{self.graph.folder}' gives vectors of {states.shape[2]} numbers, "
                f"not {self.form.embedding_dim}: export it again, with its projection"
            )
        lengths = np.linalg.norm(states, axis=2, keepdims=True)
        scaled: Vectors = (states / np.maximum(lengths, 1e-12)).astype(np.float32)
        return scaled


def max_sim(question: Vectors, passages: Sequence[TokenVectors]) -> Scores:
    """Return for each passage the greatest cosine of a question's token, over these the mean."""
    # Not by @, whose threads wait for one another fifty times: on two busy cores 50 passages took
    # 100 to 420 ms (of processor time 37 to 183), so 31 to 40 (9); on quiet ones it loses 5 ms.
    cosines = [np.einsum("qn,tn->qt", question, each.astype(np.float32)) for each in passages]
    # -1 is that of a passage without a token that counts.
    nearest = [row.max(axis=1, initial=-1.0) for row in cosines]
    return np.array([row.mean(dtype=np.float64) for row in nearest])


def _mask_token(tokenizer: "Tokenizer") -> int:
    ids = (tokenizer.token_to_id(name) for name in MASK_TOKENS)
    mask = next((token for token in ids if token is not None), None)
    if mask is None:
        raise ValueError(
            f"{TOKENIZER_FILE} has no token {' or '.join(MASK_TOKENS)} to fill questions with"
        )
    return mask
