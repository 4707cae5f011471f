"""multilingual-e5-small as an ONNX graph and a tokenizer, of what packed_e5.py reads.

The weights stay in the 4 bits that they have, in onnxruntime's own operators: MatMulNBits and
GatherBlockQuantized. No other runtime knows them.
"""

from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

from packed_e5 import BLOCK, PackedE5

type Attribute = float | str

ONNX_OPSET, ONNX_IR_VERSION = 21, 10  # the first with integers of 4 bits
OWN = "com.microsoft"  # the domain of onnxruntime's operators
INT8_INPUTS = 4  # accuracy level at which inputs are rounded to 8 bits, a scale a block
# XLM-R's normal form is NFKC but for these characters: what the file replaces was compared.
DELETED = "[\x01-\x08\x0b\x0e-\x1f\x7f\x8f\x9f]"
SPACES = "[\t\n\f\r\u1680\u200b-\u200f\u2028\u2029\u2581\ufeff\ufffd]"
KEPT, STAND_IN = "\uff5e", "\ue000"  # a wide tilde, and what it is while the others change


def build_tokenizer(packed: PackedE5) -> Tokenizer:
    """Return XLM-R's tokenizer: likeliest pieces, of words that begin with a mark for the space."""
    tokenizer = Tokenizer(models.Unigram(packed.pieces, packed.unknown, byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Replace(Regex(DELETED), ""),
            normalizers.Replace(Regex(SPACES), " "),
            normalizers.Replace(KEPT, STAND_IN),
            normalizers.NFKC(),
            normalizers.Replace(STAND_IN, KEPT),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    marks = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    tokenizer.add_special_tokens([AddedToken(mark, special=True) for mark in marks])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[(mark, tokenizer.token_to_id(mark)) for mark in ("<s>", "</s>")],
    )
    return tokenizer


def build_graph(packed: PackedE5) -> bytes:
    """Return the encoder as a file's bytes.

    It takes int64 `input_ids` and `attention_mask` of shape (batch, tokens), at most 512 tokens,
    and returns float32 `last_hidden_state` of shape (batch, tokens, 384).
    """
    graph = _Graph(packed)
    x = graph.embeddings()
    mask = graph.node("Cast", "attention_mask", to=onnx.TensorProto.INT32)
    for number in range(packed.sizes.layers):
        x = graph.layer(x, mask, f"l{number}")
    graph.node("Identity", x, output="last_hidden_state")
    return graph.serialize()


class _Graph:
    """An ONNX model that grows in place: methods append nodes, and take and return values' names.

    x is (batch, tokens, hidden); mask is (batch, tokens), 1 for a token and 0 for padding.
    """

    def __init__(self, packed: PackedE5) -> None:
        self._packed, self._sizes = packed, packed.sizes
        self._model = onnx.helper.make_model(
            onnx.GraphProto(name="multilingual-e5-small"),
            opset_imports=[
                onnx.helper.make_opsetid("", ONNX_OPSET),
                onnx.helper.make_opsetid(OWN, 1),
            ],
            ir_version=ONNX_IR_VERSION,
        )

    def serialize(self) -> bytes:
        """Declare the inputs and the output, and return the whole."""
        graph, kinds = self._model.graph, onnx.TensorProto
        value = onnx.helper.make_tensor_value_info
        for name in ("input_ids", "attention_mask"):
            graph.input.append(value(name, kinds.INT64, ["batch", "tokens"]))
        output = ("batch", "tokens", self._sizes.hidden)
        graph.output.append(value("last_hidden_state", kinds.FLOAT, output))
        return bytes(self._model.SerializeToString())

    def node(self, operator: str, *inputs: str, output: str = "", **attributes: Attribute) -> str:
        return self.nodes(operator, *inputs, outputs=(output,), **attributes)[0]

    def nodes(
        self,
        operator: str,
        *inputs: str,
        outputs: tuple[str, ...],
        **attributes: Attribute,
    ) -> list[str]:
        """Append a node of several outputs; those that are not named get a name."""
        number = len(self._model.graph.node)
        names = [name or f"n{number}.{place}" for place, name in enumerate(outputs)]
        helper: Any = onnx.helper  # its types know no attributes
        self._model.graph.node.append(helper.make_node(operator, inputs, names, **attributes))
        return names

    def constant(self, array: NDArray[Any]) -> str:
        name = f"c{len(self._model.graph.initializer)}"
        tensor = onnx.numpy_helper.from_array(np.ascontiguousarray(array), name)
        self._model.graph.initializer.append(tensor)
        return name

    def floats(self, *names: str) -> str:
        """Add tensors that are not packed, one behind the other."""
        return self.constant(np.concatenate([self._packed.floats(name) for name in names]))

    def norm(self, x: str, name: str) -> str:
        scale, shift = self.floats(f"{name}.w"), self.floats(f"{name}.b")
        return self.node("LayerNormalization", x, scale, shift, epsilon=self._sizes.epsilon)

    def dense(self, x: str, width: int, *names: str) -> str:
        """Multiply x, `width` wide, with matrices that stand one behind the other."""
        parts = [self._packed.blocks(f"{name}.w", width) for name in names]
        nibbles = np.concatenate([part.nibbles for part in parts])
        scales = np.concatenate([part.scales for part in parts])
        return self.node(
            "MatMulNBits",
            *(x, self.constant(nibbles), self.constant(scales.ravel()), "", ""),
            self.floats(*(f"{name}.b" for name in names)),
            domain=OWN,
            K=width,
            N=len(nibbles),
            bits=4,
            block_size=BLOCK,
            accuracy_level=INT8_INPUTS,
        )

    def words(self) -> str:
        """Add the table of words in 4 bits, and look the tokens up in it."""
        table = self._packed.blocks("emb.word", self._sizes.hidden)
        rows = len(self._packed.pieces)  # the table has more, which no token names
        # Signed: a nibble less 8 is the same nibble with its highest bit turned.
        signed = table.nibbles[:rows] ^ 0x88
        name, shape = "words", (rows, self._sizes.hidden)
        kind = onnx.TensorProto.INT4
        self._model.graph.initializer.append(
            onnx.helper.make_tensor(name, kind, shape, signed.tobytes(), raw=True)
        )
        scales = self.constant(table.scales[:rows])
        return self.node(
            "GatherBlockQuantized",
            *(name, "input_ids", scales),
            domain=OWN,
            gather_axis=0,
            quantize_axis=1,
            block_size=BLOCK,
        )

    def embeddings(self) -> str:
        # Every token is of type 0, so that type's row is added to the positions here, once.
        kind = self._packed.floats("emb.type")[: self._sizes.hidden]
        places = self._packed.floats("emb.pos").reshape(-1, self._sizes.hidden) + kind
        tokens = self.node("Shape", "input_ids", start=1, end=2)
        start = self.constant(np.array([0], np.int64))
        used = self.node("Slice", self.constant(places), start, tokens)
        return self.norm(self.node("Add", self.words(), used), "emb.ln")

    def layer(self, x: str, mask: str, name: str) -> str:
        hidden, inner = self._sizes.hidden, self._sizes.inner
        mixed = self.dense(self.attention(x, mask, name), hidden, f"{name}.ao")
        x = self.norm(self.node("Add", x, mixed), f"{name}.aln")
        wide = self.node("Gelu", self.dense(x, hidden, f"{name}.fi"))
        outer = self.dense(wide, inner, f"{name}.fo")
        return self.norm(self.node("Add", x, outer), f"{name}.oln")

    def attention(self, x: str, mask: str, name: str) -> str:
        """Return what each token takes of the others; one product makes all three inputs."""
        all_three = self.dense(x, self._sizes.hidden, *(f"{name}.{part}" for part in "qkv"))
        parts = self.nodes("Split", all_three, outputs=("", "", ""), axis=2, num_outputs=3)
        return self.node(
            "MultiHeadAttention",
            *(*parts, "", mask),
            domain=OWN,
            num_heads=self._sizes.heads,
        )
