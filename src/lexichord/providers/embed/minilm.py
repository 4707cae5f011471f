"""The ONNX graph of all-MiniLM-L6-v2, built from its safetensors file: plain opset 20, no torch."""

from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from onnx import ModelProto

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
