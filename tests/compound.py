"""Write a compound file (OLE), as Outlook keeps a mail in one: folders of small streams."""

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

type Folder = Mapping[str, bytes | "Folder"]

SECTOR, MINI = 512, 64
END, FREE, FAT, NONE = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD, 0xFFFFFFFF


@dataclass
class Entry:
    name: str
    kind: int  # 1 a folder, 2 a stream, 5 the root
    data: bytes = b""
    child: int = NONE
    right: int = NONE
    start: int = END
    size: int = 0
    inner: list["Entry"] = field(default_factory=list)

    def packed(self) -> bytes:
        name = f"{self.name}\0".encode("utf-16-le")
        head = name.ljust(64, b"\0") + struct.pack("<HBB", len(name), self.kind, 1)
        links = struct.pack("<III", NONE, self.right, self.child)
        return head + links + bytes(36) + struct.pack("<IQ", self.start, self.size)


def write_compound(root: Folder) -> bytes:
    """Return the bytes of a compound file with these folders and streams, below 4096 bytes each."""
    entries = list(_entries(Entry("Root Entry", 5), root))
    mini, mini_fat = b"", list[int]()
    for entry in entries:
        if entry.kind == 2 and entry.data:
            blocks = -(-len(entry.data) // MINI)
            entry.start, entry.size = len(mini_fat), len(entry.data)
            mini_fat += [*range(entry.start + 1, entry.start + blocks), END]
            mini += entry.data.ljust(blocks * MINI, b"\0")
    directory = b"".join(entry.packed() for entry in entries)
    parts = [_padded(_numbers(mini_fat)), _padded(mini)]
    sizes = [-(-len(directory) // SECTOR), *(len(part) // SECTOR for part in parts)]
    starts = [1, 1 + sizes[0], 1 + sizes[0] + sizes[1]]
    entries[0].start, entries[0].size = starts[2], len(mini)
    directory = b"".join(entry.packed() for entry in entries)
    fat = [FAT]
    for start, size in zip(starts, sizes, strict=True):
        fat += [*range(start + 1, start + size), END] if size else []
    assert len(fat) <= SECTOR // 4
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16)
    head += struct.pack("<HHHHH6x", 0x3E, 3, 0xFFFE, 9, 6)
    head += struct.pack("<IIIIIIIII", 0, 1, starts[0], 0, 4096, starts[1], sizes[1], END, 0)
    head += _numbers([0]).ljust(436, b"\xff")
    return head + _padded(_numbers(fat), b"\xff") + _padded(directory) + b"".join(parts)


def _entries(folder: Entry, content: Folder) -> Iterator[Entry]:
    """Yield a folder and what is in it; the entries of a folder hang on one another's right."""
    listed = [folder]

    def add(parent: Entry, inner: Folder) -> None:
        previous: Entry | None = None
        for name in sorted(inner, key=lambda name: (len(name), name.upper())):
            value = inner[name]
            entry = Entry(name, 2, value) if isinstance(value, bytes) else Entry(name, 1)
            listed.append(entry)
            number = len(listed) - 1
            if previous is None:
                parent.child = number
            else:
                previous.right = number
            previous = entry
            if not isinstance(value, bytes):
                add(entry, value)

    add(folder, content)
    yield from listed


def _numbers(values: list[int]) -> bytes:
    return struct.pack(f"<{len(values)}I", *values)


def _padded(data: bytes, filler: bytes = b"\0") -> bytes:
    return data.ljust(-(-len(data) // SECTOR) * SECTOR, filler)
