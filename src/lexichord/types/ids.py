"""The ids of documents and chunks as they are outside the database: texts that tell nothing.

So are positions in its write-ahead log, which would tell how much all others write.

The database counts its rows, and a count would tell whoever reaches one dataset how much is in the
others. So an id is what a keyed permutation makes of the number: a Feistel network of four rounds
(Luby and Rackoff, 1988), its key the database's own. A number has 63 bits, the block 80: where the
others do not come back as 0, the text was mistyped, or is of another kind or database (Bellare and
Rogaway, 2000, encode-then-encipher). In base32 all of it is 16 small letters and digits.
"""

import re
from base64 import b32decode, b32encode
from functools import lru_cache
from hashlib import blake2b
from typing import Literal, get_args

from lexichord.errors import NotFoundError

IdKind = Literal["doc", "chunk", "position", "query"]
ID_PATTERN: dict[IdKind, str] = {kind: f"^{kind}_[a-z2-7]{{16}}$" for kind in get_args(IdKind)}
ID_EXAMPLE: dict[IdKind, str] = {
    "doc": "doc_vhsvemia3hqupzas",
    "chunk": "chunk_borwjinzzbr3ms7v",
    "position": "position_qmv2ydzk4wa6hj3t",
    "query": "query_dk5nw3vbm2xq7zta",
}
WHERE_IDS_STAND = {
    "doc": "see lexichord list",
    "chunk": "take the id of a hit",
    "position": "take that of the database's latest write",
    "query": "ask once more",
}

BLOCK_BYTES, HALF_BYTES = 10, 5
HALF_BITS = 8 * HALF_BYTES
ROUNDS = 4
NUMBERS = 2**63  # that a bigint has
SHARD_BITS = 48  # of a number that count on its shard; above them stands the shard's own number
KEPT_IDS = 2**14  # of the latest, for a search names the same ones many times


class Ids:
    """Writes and reads the ids of one database."""

    def __init__(self, secret: bytes) -> None:
        self._rounds = {
            kind: tuple(
                blake2b(key=secret, person=kind.encode(), salt=bytes([n]), digest_size=HALF_BYTES)
                for n in range(ROUNDS)
            )
            for kind in get_args(IdKind)
        }
        self.write = lru_cache(KEPT_IDS)(self._write)

    def _write(self, kind: IdKind, number: int) -> str:
        """Return the text of a number."""
        left, right = divmod(number, 1 << HALF_BITS)
        for keyed in self._rounds[kind]:
            left, right = right, left ^ _mix(keyed, right)
        block = (left << HALF_BITS | right).to_bytes(BLOCK_BYTES)
        return f"{kind}_{b32encode(block).decode().lower()}"

    def read(self, kind: IdKind, text: str) -> int:
        """Return the number of a text. Raises NotFoundError."""
        number = self.find(kind, text)
        if number is None:
            raise NotFoundError(unknown_id(kind, text))
        return number

    def find(self, kind: IdKind, text: str) -> int | None:
        """Return the number of a text, None if no such id was ever written."""
        if not re.fullmatch(ID_PATTERN[kind], text):
            return None
        block = int.from_bytes(b32decode(text.partition("_")[2].upper()))
        left, right = divmod(block, 1 << HALF_BITS)
        for keyed in reversed(self._rounds[kind]):
            left, right = right ^ _mix(keyed, left), left
        number = left << HALF_BITS | right
        return number if number < NUMBERS else None


def shard_of(number: int) -> int:
    """Return which shard made the document or chunk of a number."""
    return number >> SHARD_BITS


def unknown_id(kind: IdKind, text: str, remedy: str = "") -> str:
    """Return the line that nothing has this id, with the remedy or where ids stand."""
    noun = "document" if kind == "doc" else kind
    return f"there is no {noun} {text}: {remedy or WHERE_IDS_STAND[kind]}"


def _mix(keyed: blake2b, half: int) -> int:
    mixed = keyed.copy()
    mixed.update(half.to_bytes(HALF_BYTES))
    return int.from_bytes(mixed.digest())
