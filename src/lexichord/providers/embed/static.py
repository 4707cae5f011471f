"""Static models: a vector a token, whose mean is a text's, in the form that model2vec writes.

A folder with model.safetensors, whose `embeddings` are the tokens' vectors, and tokenizer.json;
`weights` of tokens and a `mapping` of tokens to vectors are kept to where they are there.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lexichord.providers.base import Vectors
from lexichord.providers.onnx_folder import (
    STATIC_FILE,
    USUAL_MAX_TOKENS,
    TokenIds,
    open_tokenizer,
    tokenize,
)

if TYPE_CHECKING:
    from tokenizers import Tokenizer

TABLE = "embeddings"  # the name of the tokens' vectors


@dataclass(frozen=True, slots=True)
class StaticModel:
    """A loaded model: `table` has a row a token, already weighed.

    `unknown` is the token of what the tokenizer does not know, which does not count.
    """

    tokenizer: "Tokenizer"
    table: NDArray[np.float32]
    unknown: int | None
    prompts: Mapping[str, str] = field(default_factory=dict)

    def tokenize(self, texts: Sequence[str]) -> list[TokenIds]:
        """Return each text's token ids, without markers and unknown ones, cut where others are."""
        rows = tokenize(self.tokenizer, texts, marked=False)
        return [row[row != self.unknown][:USUAL_MAX_TOKENS] for row in rows]

    def run(self, rows: Sequence[TokenIds]) -> Vectors:
        """Embed token ids: float32, a row of length 1 for each.

        A text without a known token gets the mean of all tokens, which is as near to any as to
        others.
        """
        vectors = np.empty((len(rows), self.table.shape[1]), np.float32)
        for number, row in enumerate(rows):
            vectors[number] = (self.table[row] if len(row) else self.table).mean(axis=0)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        scaled: Vectors = (vectors / np.maximum(lengths, 1e-12)).astype(np.float32)
        return scaled


def holds_static_model(folder: Path) -> bool:
    """Return whether the weights in a folder are tokens' vectors. Raises OSError, ImportError."""
    return (folder / STATIC_FILE).is_file() and TABLE in _names(folder)


def load_static_model(folder: Path) -> StaticModel:
    """Load the model of a folder. Raises ValueError, OSError, ImportError."""
    tensors = _tensors(folder)
    table = tensors[TABLE].astype(np.float32)
    if "mapping" in tensors:
        table = table[tensors["mapping"]]
    if "weights" in tensors:
        table = table * tensors["weights"].astype(np.float32)[:, np.newaxis]
    tokenizer = open_tokenizer(folder)
    tokenizer.no_truncation()
    count = tokenizer.get_vocab_size()
    if len(table) != count:
        raise ValueError(f"{STATIC_FILE} has vectors of {len(table)} tokens, of {count} there are")
    name = json.loads(tokenizer.to_str())["model"].get("unk_token")
    return StaticModel(tokenizer, table, name and tokenizer.token_to_id(name))


def _names(folder: Path) -> list[str]:
    with _opened(folder) as file:
        return list(file.keys())


def _tensors(folder: Path) -> dict[str, NDArray[Any]]:
    with _opened(folder) as file:
        return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118


@contextmanager
def _opened(folder: Path) -> Iterator[Any]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(folder / STATIC_FILE, framework="numpy") as file:
            yield file
    except SafetensorError as error:
        raise ValueError(f"{STATIC_FILE}: {error}") from error
