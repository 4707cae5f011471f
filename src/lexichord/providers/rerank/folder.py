"""Any reranker in ONNX from a folder: `local/FOLDER`, asked on this machine.

A folder as sentence-transformers, PyLate and Hugging Face's optimum write it: model.onnx (or
onnx/model.onnx) and tokenizer.json. Where a file beside them says that the model is in ColBERT's
form it is late interaction, else a cross-encoder.

ColBERT writes its form, how the model reads questions and passages, to artifact.metadata, PyLate to
config_sentence_transformers.json, and its export to ONNX to onnx_config.json; the names differ,
what they say does not.

In a cross-encoder question and text are read together, one number a pair. Late interaction (Khattab
& Zaharia, 2020) has a vector a token, compared by MaxSim: a question's token counts by the
passage's token that is nearest to it. Passages are read without the question, so that the vectors
of one that was read before serve the next question, too.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from string import punctuation
from typing import TYPE_CHECKING, Annotated, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from lexichord.errors import ProviderError, plain_reason
from lexichord.providers import DigestCache, OnDemand, Vectors, size_in_bytes
from lexichord.providers.onnx_folder import (
    TOKENIZER_FILE,
    USUAL_MAX_TOKENS,
    Graph,
    TokenIds,
    TokenMask,
    batches_by_length,
    clean,
    open_folder,
    open_tokenizer,
    opening,
    pad_rows,
    pad_token,
    read_settings,
    tokenize,
)
from lexichord.types import Ranked
from lexichord.work import in_thread

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

RERANK_BATCH_TEXTS = 8  # a run: between two runs it can be stopped
MAX_RERANK_TOKENS = 512  # of a run's row: more than a chunk of ours has

Scores = NDArray[np.float64]


class Scorer(Protocol):
    """A loaded model."""

    def score(self, query: str, texts: Sequence[str]) -> Iterator[tuple[Sequence[int], Scores]]:
        """Yield scores as they are made, each batch with its places among the texts.

        Raises ProviderError.
        """
        ...


PYLATE_NAMES = {
    name: name
    for name in (
        *("query_prefix", "document_prefix", "query_length", "document_length"),
        *("do_query_expansion", "attend_to_expansion_tokens", "skiplist_words", "embedding_dim"),
    )
}
COLBERT_NAMES = {
    "query_prefix": "query_token_id",
    "document_prefix": "doc_token_id",
    "query_length": "query_maxlen",
    "document_length": "doc_maxlen",
    "attend_to_expansion_tokens": "attend_to_mask_tokens",
    "skiplist_words": "mask_punctuation",
    "embedding_dim": "dim",
}
# What the export says comes first: it was written with the graph.
FORM_FILES: dict[str, Mapping[str, str]] = {
    "onnx_config.json": PYLATE_NAMES,
    "config_sentence_transformers.json": PYLATE_NAMES,
    "artifact.metadata": COLBERT_NAMES,
}
FEWEST_TOKENS = 8  # of a length: what encloses a text, its marker and a few words


def _skipped(value: object) -> object:
    """Read ColBERT's yes or no about punctuation as the words that PyLate lists."""
    if isinstance(value, bool):
        return tuple(punctuation) if value else ()
    return value


class TokenForm(BaseModel, frozen=True):
    """How a model of token vectors reads texts, in PyLate's names.

    A prefix is a token of its own after the first one; empty: there is none. Lengths are in tokens,
    all counted. With `do_query_expansion` a question is filled with mask tokens, whose vectors
    count; the others see them with `attend_to_expansion_tokens`. Passages' `skiplist_words` do not
    count. `embedding_dim` is what a vector has, where the folder says it.
    """

    query_prefix: str
    document_prefix: str
    query_length: int = Field(ge=FEWEST_TOKENS)
    document_length: int = Field(ge=FEWEST_TOKENS)
    do_query_expansion: bool = True
    attend_to_expansion_tokens: bool = False
    skiplist_words: Annotated[tuple[str, ...], BeforeValidator(_skipped)] = tuple(punctuation)
    embedding_dim: int | None = None


def find_token_form(folder: Path) -> TokenForm | None:
    """Return what a folder says of ColBERT's form; None where it says nothing.

    Raises ValueError, with the file's name, if it says only a part, or what cannot be, and OSError.
    """
    for file, names in FORM_FILES.items():
        said = read_settings(folder / file)
        if any(names[needed] in said for needed in TokenForm.model_fields if _is_needed(needed)):
            form = _read(file, {name: said[own] for name, own in names.items() if own in said})
            return form.model_copy(
                update={"embedding_dim": form.embedding_dim or _projection(folder)}
            )
    return None


def _is_needed(name: str) -> bool:
    return TokenForm.model_fields[name].is_required()


def _read(file: str, said: Mapping[str, object]) -> TokenForm:
    try:
        return TokenForm.model_validate(said)
    except ValidationError as error:
        first = error.errors()[0]
        name = FORM_FILES[file][str(first["loc"][0])]
        raise ValueError(f"{file}: {name}: {plain_reason(first['msg'])}") from error


def _projection(folder: Path) -> int | None:
    """Return the numbers of a vector after the last of PyLate's projections, if there is one."""
    files = sorted(folder.glob("*_Dense/config.json"))
    return read_settings(files[-1]).get("out_features") if files else None


@dataclass(frozen=True, slots=True)
class CrossEncoder:
    """A loaded model; its scores are between 0 and 1."""

    tokenizer: "Tokenizer"
    graph: Graph

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Open the model of a folder. Raises ProviderError, ImportError, OSError, ValueError."""
        tokenizer = open_tokenizer(folder)
        tokenizer.enable_truncation(_max_tokens(folder, tokenizer))
        return cls(tokenizer, open_folder(folder))

    def score(self, query: str, texts: Sequence[str]) -> Iterator[tuple[Sequence[int], Scores]]:
        """Yield the scores of texts by length. Raises ProviderError if the model gives no such."""
        question, *passages = clean((query, *texts))
        pairs = self.tokenizer.encode_batch([(question, passage) for passage in passages])
        for numbers in batches_by_length([len(pair.ids) for pair in pairs], RERANK_BATCH_TEXTS):
            yield numbers, self._run([pairs[number] for number in numbers])

    def _run(self, pairs: "Sequence[Encoding]") -> Scores:
        ids, mask = pad_rows([pair.ids for pair in pairs], pad_token(self.tokenizer))
        types, _ = pad_rows([pair.type_ids for pair in pairs], 0)
        output = self.graph.run(ids, mask, types).astype(np.float64)
        if output.size != len(pairs):
            raise ProviderError(
                f"the model in '{self.graph.folder}' gives {output.size // len(pairs)} numbers a "
                "pair of texts, not one, and no file there says that it is in ColBERT's form "
                f"({', '.join(FORM_FILES)}): take a model that was made for ranking"
            )
        return 1 / (1 + np.exp(-output.reshape(-1)))


def _max_tokens(folder: Path, tokenizer: "Tokenizer") -> int:
    """Return how many tokens of a pair the model reads, as far as we let it."""
    cut = (tokenizer.truncation or {}).get("max_length")
    own = read_settings(folder / "tokenizer_config.json").get("model_max_length")
    return int(min(cut or USUAL_MAX_TOKENS, own or USUAL_MAX_TOKENS, MAX_RERANK_TOKENS))


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
    kept: DigestCache[TokenVectors] = field(
        default_factory=lambda: DigestCache(KEPT_BYTES, size_in_bytes)
    )

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


LATE_TEXTS = 50  # of late interaction; those that a question shares with an earlier one are kept


class FolderReranker:
    """Scores with the model of a folder on this machine's cores; several queries may share one.

    The model is loaded at the first question. Its scores are at most 1.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._model = OnDemand(self._load)

    @property
    def least_texts(self) -> int:
        """How many texts it is to choose among at least: more where it keeps what it has read."""
        try:
            return LATE_TEXTS if self._form else 0
        except (OSError, ValueError):  # said when it is asked
            return 0

    async def rerank(self, query: str, texts: Sequence[str], top_n: int) -> list[Ranked]:
        """Return the `top_n` best of `texts`, each by as many tokens as the model reads.

        Stops after the batch that it is at if it is cancelled. Raises ProviderError.
        """
        scores = await in_thread(self._score, query, texts)
        order = np.argsort(-scores, kind="stable")[:top_n]
        return [Ranked(int(index), float(scores[index])) for index in order]

    def _score(self, query: str, texts: Sequence[str]) -> Scores:
        scores = np.zeros(len(texts))
        for numbers, batch in self._model.get().score(query, texts):
            scores[list(numbers)] = batch
        return scores

    @cached_property
    def _form(self) -> TokenForm | None:
        """What the folder says of ColBERT's form; read once, for each query asks."""
        return find_token_form(self._folder)

    def _load(self) -> Scorer:
        with opening(self._folder, "reranker"):
            if self._form is None:
                return CrossEncoder.open(self._folder)
            return LateInteraction.open(self._folder, self._form)
