"""Compound files (OLE), as Outlook keeps a mail in one and Excel kept a workbook: read, written."""

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from lexichord.errors import IngestError
from lexichord.ingest.load.archive import OLE_SIGNATURE

FOLDER, STREAM, ROOT = 1, 2, 5  # kinds of entries
END, FREE, OF_THE_CHAINS = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD
SECTOR_BITS, MINI_BITS = 12, 6  # with sectors of 4,096 bytes the header names all that chain them
SMALL = 4096  # bytes: below, a stream lies in the small sectors of one that holds them all
CHAINED = (1 << SECTOR_BITS) // 4  # sectors whose chains a sector says
CHAINS_IN_HEADER = 109  # such sectors, enough for 450 MB

type Folder = Mapping[str, bytes | "Folder"]


def open_compound(data: bytes, broken: str) -> Any:  # noqa: ANN401 - a library without types
    """Open a compound file, whose errors are said as `broken`. Raises IngestError."""
    from olefile import OleFileIO

    if not data.startswith(OLE_SIGNATURE):
        raise IngestError(broken)
    try:
        return OleFileIO(BytesIO(data))
    except MemoryError:
        raise
    except Exception:  # of two libraries, without a common base
        raise IngestError(broken) from None


def held_bytes(compound: Any) -> int:  # noqa: ANN401
    """Return how many bytes all streams say to have: more than the file has where they share."""
    entries = filter(None, compound.direntries)
    return sum(entry.size for entry in entries if entry.entry_type == STREAM)


class Storage:
    """A folder of a compound file as the library of Outlook's mails asks for one.

    Its own reads all streams of the file at once, and looks for each among all of its folder.
    """

    def __init__(self, compound: Any, entry: Any) -> None:  # noqa: ANN401
        self._compound = compound
        self._entries = {kid.name: kid for kid in entry.kids}

    @property
    def properties_stream_bytes(self) -> bytes:
        """The list of properties, with the values of those that are short."""
        return self._read("__properties_version1.0")

    def property_stream_bytes(self, pid: int, ptyp: int) -> bytes:
        """Return the value of a property, by its number and its type."""
        return self._read(f"__substg1.0_{pid:04X}{ptyp:04X}")

    def iter_attachment_storages(self) -> Iterator["Storage"]:
        """Yield the folders of what is attached."""
        return self._folders("__attach_version1.0_#")

    def iter_recipient_storages(self) -> Iterator["Storage"]:
        """Yield the folders of the recipients."""
        return self._folders("__recip_version1.0_#")

    def content(self, name: str) -> Folder:
        """Return all that a folder in this one holds; nothing if there is no such folder."""
        entry = self._entries.get(name)
        return self._content(entry) if entry and entry.entry_type == FOLDER else {}

    def _folders(self, opening: str) -> Iterator["Storage"]:
        for name, entry in self._entries.items():
            if entry.entry_type == FOLDER and name.startswith(opening):
                yield Storage(self._compound, entry)

    def _read(self, name: str) -> bytes:
        return self._bytes(self._entries[name])

    def _bytes(self, entry: Any) -> bytes:  # noqa: ANN401
        return read_stream(self._compound, entry)

    def _content(self, entry: Any) -> Folder:  # noqa: ANN401
        return {
            kid.name: self._content(kid) if kid.entry_type == FOLDER else self._bytes(kid)
            for kid in entry.kids
        }


def read_stream(compound: Any, entry: Any) -> bytes:  # noqa: ANN401
    """Return what a stream holds."""
    data: bytes = compound._open(entry.isectStart, entry.size).read()
    return data


@dataclass(slots=True)
class _Entry:
    name: str
    kind: int
    data: bytes = b""
    start: int = 0
    left: int = FREE
    right: int = FREE
    child: int = FREE

    def packed(self) -> bytes:
        name = f"{self.name}\0".encode("utf-16-le", "surrogatepass")
        head = name.ljust(64, b"\0") + struct.pack("<HBB", len(name), self.kind, 1)
        links = struct.pack("<III", self.left, self.right, self.child)
        return head + links + bytes(36) + struct.pack("<IQ", self.start, len(self.data))


class _Sectors:
    """Sectors of one size, and which of them goes on in which."""

    def __init__(self, bits: int) -> None:
        self._size = 1 << bits
        self.data = bytearray()
        self.chains = list[int]()

    def add(self, data: bytes) -> int:
        """Add what lies in a chain of its own; return where that begins."""
        if not data:
            return END
        start, amount = len(self.chains), -(-len(data) // self._size)
        self.chains += [*range(start + 1, start + amount), END]
        self.data += data.ljust(amount * self._size, b"\0")
        return start


def write_compound(root: Folder) -> bytes:
    """Return a compound file that holds what a folder does."""
    entries = [_Entry("Root Entry", ROOT)]
    _add_entries(entries, entries[0], root)
    small, sectors = _Sectors(MINI_BITS), _Sectors(SECTOR_BITS)
    for entry in entries[1:]:
        if entry.kind == STREAM:
            entry.start = (small if len(entry.data) < SMALL else sectors).add(entry.data)
    entries[0].data = bytes(small.data)
    entries[0].start = sectors.add(entries[0].data)
    small_chains = _numbers(small.chains)
    chains_start = sectors.add(small_chains)
    directory = sectors.add(b"".join(entry.packed() for entry in entries))
    used = len(sectors.chains)
    amount = -(-used // (CHAINED - 1))  # sectors of chains, which are in a chain each themselves
    chains = _numbers([*sectors.chains, *[OF_THE_CHAINS] * amount])
    head = OLE_SIGNATURE + b"\xa1\xb1\x1a\xe1" + bytes(16)
    head += struct.pack("<HHHHH6x", 0x3E, 4, 0xFFFE, SECTOR_BITS, MINI_BITS)
    head += struct.pack("<IIIII", used - directory, amount, directory, 0, SMALL)
    head += struct.pack("<IIII", chains_start, len(small_chains) >> SECTOR_BITS, END, 0)
    numbers = struct.pack(f"<{amount}I", *range(used, used + amount))
    head += numbers.ljust(4 * CHAINS_IN_HEADER, b"\xff")
    return head.ljust(1 << SECTOR_BITS, b"\0") + bytes(sectors.data) + chains


def _add_entries(entries: list[_Entry], folder: _Entry, content: Folder) -> None:
    """Add what is in a folder, and in those in it; the names of each are a tree."""
    numbers = list[int]()
    for name in sorted(content, key=lambda name: (len(name), name.upper())):
        value = content[name]
        entry = _Entry(name, STREAM, value) if isinstance(value, bytes) else _Entry(name, FOLDER)
        numbers.append(len(entries))
        entries.append(entry)
        if not isinstance(value, bytes):
            _add_entries(entries, entry, value)
    folder.child = _top(entries, numbers)


def _top(entries: Sequence[_Entry], numbers: Sequence[int]) -> int:
    """Return the one in the midst of some entries, from which the others are reached."""
    if not numbers:
        return FREE
    midst = len(numbers) // 2
    entry = entries[numbers[midst]]
    entry.left = _top(entries, numbers[:midst])
    entry.right = _top(entries, numbers[midst + 1 :])
    return numbers[midst]


def _numbers(values: Sequence[int]) -> bytes:
    """Pack numbers that fill whole sectors."""
    packed = struct.pack(f"<{len(values)}I", *values)
    return packed.ljust(-(-len(packed) >> SECTOR_BITS) << SECTOR_BITS, b"\xff")
