"""Compound files (OLE), as Outlook keeps a mail in one and Excel kept a workbook."""

from collections.abc import Iterator
from io import BytesIO
from typing import Any

from lexichord.errors import IngestError
from lexichord.ingest.load.archive import OLE_SIGNATURE

FOLDER, STREAM = 1, 2  # kinds of entries


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

    def attached_mail(self) -> "Storage":
        """Return the mail that what is attached is. Raises KeyError if it is none."""
        return _AttachedMail(self._compound, self._entries["__substg1.0_3701000D"])

    def _folders(self, opening: str) -> Iterator["Storage"]:
        for name, entry in self._entries.items():
            if entry.entry_type == FOLDER and name.startswith(opening):
                yield Storage(self._compound, entry)

    def _read(self, name: str) -> bytes:
        return read_stream(self._compound, self._entries[name])


class _AttachedMail(Storage):
    @property
    def properties_stream_bytes(self) -> bytes:
        """The list of properties, with the longer head that the library knows, of a mail alone."""
        listed = super().properties_stream_bytes
        return listed[:24].ljust(32, b"\0") + listed[24:]


def read_stream(compound: Any, entry: Any) -> bytes:  # noqa: ANN401
    """Return what a stream holds."""
    data: bytes = compound._open(entry.isectStart, entry.size).read()
    return data
