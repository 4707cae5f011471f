"""Any sentence model from a folder: `local/FOLDER`, embedded on this machine.

One in ONNX, as sentence-transformers writes it: model.onnx (or onnx/model.onnx) and tokenizer.json.
What stands beside them is kept to: 1_Pooling/config.json, sentence_bert_config.json for the number
of tokens, config_sentence_transformers.json for what is put before queries and documents.
`local/FOLDER-int8` is the model in 8 bits: dynamically, a scale a column, made once and kept.

Or a static one, a vector a token, whose mean is a text's, in the form that model2vec writes:
model.safetensors, whose `embeddings` are the tokens' vectors, and tokenizer.json; `weights` of
tokens and a `mapping` of tokens to vectors are kept to where they are there.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lexichord.errors import ProviderError
from lexichord.providers import EmbedKind, OnDemand, Vectors
from lexichord.providers.embed.local import GRAPH_VERSION, LOCAL_BATCH_TEXTS, kept_graph, quantise
from lexichord.providers.models import INT8
from lexichord.providers.onnx_folder import (
    STATIC_FILE,
    USUAL_MAX_TOKENS,
    Graph,
    TokenIds,
    batches_by_length,
    graph_file,
    open_folder,
    open_tokenizer,
    opening,
    pad_rows,
    pad_token,
    read_settings,
    tokenize,
)
from lexichord.types import EmbeddingSpace

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


SENTENCE_OUTPUTS = (
    "sentence_embedding",
    "embedding",
)  # the names of a vector that is pooled already
PROMPTS = {"query": ("query",), "document": ("document", "passage")}


class FolderEmbedder:
    """Embeds with the model of a folder on this machine's cores; several threads may share one.

    The model is loaded at the first embedding. With a `home` it is put into 8 bits, and what comes
    of it kept there.
    """

    def __init__(self, folder: Path, space: EmbeddingSpace, home: Path | None = None) -> None:
        self.space = space
        self._folder = folder
        self._model = OnDemand(partial(_load, folder, home))

    def embed(self, texts: Sequence[str], kind: EmbedKind) -> Vectors:
        """Embed each text by as many tokens as the model reads, in the order of `texts`.

        Returns float32, rows of length 1. Raises ProviderError if the model cannot be loaded or its
        vectors have another dimension than the space.
        """
        model = self.load()
        rows = model.tokenize([model.prompts.get(kind, "") + text for text in texts])
        vectors = np.empty((len(rows), self.space.dimension), np.float32)
        for batch in batches_by_length([len(row) for row in rows], LOCAL_BATCH_TEXTS):
            pooled = model.run([rows[index] for index in batch])
            if pooled.shape[1] != self.space.dimension:
                raise ProviderError(
                    f"the model in '{self._folder}' makes vectors of {pooled.shape[1]} numbers: "
                    f"name the space local/{self.space.model}/{pooled.shape[1]}"
                )
            vectors[batch] = pooled
        return vectors

    def load(self) -> "FolderModel | StaticModel":
        """Load the model now, or return the loaded one. Raises ProviderError as `embed` does."""
        return self._model.get()


@dataclass(frozen=True, slots=True)
class FolderModel:
    """A loaded model, and what its folder says of pooling and of what stands before a text."""

    tokenizer: "Tokenizer"
    graph: Graph
    takes_first: bool
    prompts: dict[str, str]
    pad: int

    def tokenize(self, texts: Sequence[str]) -> list[TokenIds]:
        """Return each text's token ids, cut where the model stops reading."""
        return tokenize(self.tokenizer, texts)

    def run(self, rows: Sequence[TokenIds]) -> Vectors:
        """Embed one batch of token ids: float32, a row of length 1 for each."""
        ids, mask = pad_rows(rows, self.pad)
        output = self.graph.run(ids, mask, output=_output(self.graph))
        pooled = self._pool(output, mask) if output.ndim == 3 else output
        lengths = np.linalg.norm(pooled, axis=1, keepdims=True)
        scaled: Vectors = (pooled / np.maximum(lengths, 1e-12)).astype(np.float32)
        return scaled

    def _pool(self, states: Any, mask: Any) -> Any:  # noqa: ANN401
        if self.takes_first:
            return states[:, 0]
        kept = mask[:, :, np.newaxis]
        return (states * kept).sum(axis=1) / kept.sum(axis=1)


def _output(graph: Graph) -> str:
    names = [each.name for each in graph.session.get_outputs()]
    return next((name for name in SENTENCE_OUTPUTS if name in names), names[0])


def _load(folder: Path, home: Path | None) -> FolderModel | StaticModel:
    with opening(folder, "embedder"):
        if holds_static_model(folder):
            return _load_static(folder, home)
        tokenizer = _tokenizer(folder)
        graph = open_folder(folder, home and _int8_graph(folder, home))
        pooling = read_settings(folder / "1_Pooling/config.json")
        prompts = read_settings(folder / "config_sentence_transformers.json").get("prompts") or {}
        return FolderModel(
            tokenizer,
            graph,
            _takes_first(pooling),
            {
                kind: next((prompts[name] for name in names if prompts.get(name)), "")
                for kind, names in PROMPTS.items()
            },
            pad_token(tokenizer),
        )


def _load_static(folder: Path, home: Path | None) -> StaticModel:
    if home:
        raise ProviderError(
            f"the model in '{folder}' is static, a table of vectors, which has no twin in 8 bits: "
            f"name it without {INT8}"
        )
    return load_static_model(folder)


def _int8_graph(folder: Path, home: Path) -> Path | bytes:
    """Return the path of a model's graph in 8 bits, or the graph where none can be kept.

    Raises ProviderError for a model that is in 8 or 4 bits already.
    """
    graph = graph_file(folder)
    # The weights' digest tells models of one name apart, old from new: 83 ms for 133 MB.
    name = f"{folder.name}{INT8}-{_weights_digest(graph)}-{GRAPH_VERSION}.onnx"
    try:
        return kept_graph(home / "models" / name, partial(quantise, graph))
    except ImportError:
        raise
    except Exception as error:  # onnx's errors have no narrower base
        reason = str(error).partition("\n")[0]
        raise ProviderError(
            f"the model in '{folder}' cannot be put into 8 bits ({reason}): name it without {INT8}"
        ) from error


def _weights_digest(graph: Path) -> str:
    """Return a digest of a graph and of the weights beside it, if there are any: 12 hex digits."""
    digest = hashlib.sha256()
    for file in sorted(graph.parent.glob(f"{graph.name}*")):
        with file.open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()[:12]


def _takes_first(pooling: Mapping[str, Any]) -> bool:
    """Return whether a vector is the first token's, as older and newer exports say it."""
    return bool(pooling.get("pooling_mode_cls_token")) or pooling.get("pooling_mode") == "cls"


def _tokenizer(folder: Path) -> "Tokenizer":
    tokenizer = open_tokenizer(folder)
    most = read_settings(folder / "sentence_bert_config.json").get("max_seq_length")
    own = (tokenizer.truncation or {}).get("max_length")
    tokenizer.enable_truncation(most or own or USUAL_MAX_TOKENS)
    return tokenizer
