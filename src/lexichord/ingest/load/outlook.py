"""Mails as Outlook keeps them: their properties, in a compound file."""

import struct
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from lexichord.errors import IngestError
from lexichord.ingest.load import MSG_TYPE, kind_of, rtf
from lexichord.ingest.load.compound import (
    Storage,
    held_bytes,
    open_compound,
    write_compound,
)
from lexichord.ingest.load.mail import (
    BROKEN_MAIL,
    ENCRYPTED_MAIL,
    Attachment,
    add_headers,
    add_page,
    as_document,
)
from lexichord.ingest.load.marks import LoadOptions
from lexichord.ingest.load.text import TextBuilder, read_bytes, storable_text
from lexichord.types import LoadedText

SENDER_NAME, RECIPIENT_KIND, ATTACHED_HOW, RICH_TEXT = 0x0C1A, 0x0C15, 0x3705, 0x1009
ATTACHED_MAIL = 5
MAIL_FOLDER = "__substg1.0_3701000D"  # of an attachment, which is a mail
PROPERTIES, NAMES = "__properties_version1.0", "__nameid_version1.0"
HEADER_BYTES = 24  # before the properties of a mail; one that is a file has eight more
KINDS_OF_RECIPIENTS = {1: "to", 2: "cc", 3: "bcc"}


def load(file: Path, named: str) -> LoadedText:
    """Read a mail of Outlook's. Raises IngestError."""
    with _said_as_broken():
        message, _ = _opened(file)
        if "encrypted" in message.message_class.lower():
            raise IngestError(ENCRYPTED_MAIL)
        known = {name.lower(): value for name, value in message.message_headers.items()}
        headers = _headers(message, known)
        built = TextBuilder()
        add_headers(built, headers)
        _add_body(built, message)
    return as_document(built, MSG_TYPE, named, headers, known.get("message-id", ""))


def attachments(file: Path) -> Iterator[Attachment]:
    """Yield what is attached to a mail of Outlook's. Raises IngestError."""
    from oxmsg.attachment import Attachment as OutlookAttachment

    folder: Any
    with _said_as_broken():
        _, root = _opened(file)
        for folder in root.iter_attachment_storages():
            part = OutlookAttachment(folder)
            name = " ".join(storable_text(part.file_name or "").split())
            if part.properties.int_prop_value(ATTACHED_HOW) == ATTACHED_MAIL:
                yield _mail_name(name), MSG_TYPE, partial(_mail_file, folder, root)
            else:
                yield name, part.mime_type or "", partial(_file_bytes, part)


@contextmanager
def _said_as_broken() -> Iterator[None]:
    """Say whatever is wrong within a mail as an IngestError."""
    try:
        yield
    except (IngestError, MemoryError):
        raise
    except Exception:  # of two libraries, without a common base
        raise IngestError(BROKEN_MAIL) from None


def _opened(file: Path) -> tuple[Any, Storage]:
    """Return a mail, and the folder that holds it, whose streams are read as they are asked for."""
    from oxmsg import Message

    data = read_bytes(file)
    compound = open_compound(data, BROKEN_MAIL)
    if held_bytes(compound) > len(data):
        raise IngestError(BROKEN_MAIL)
    root = Storage(compound, compound.root)
    library_root: Any = root  # which has no names, that it does not ask for
    return Message(library_root), root


def _headers(message: Any, known: dict[str, str]) -> dict[str, str]:  # noqa: ANN401
    people = _people(message)
    sent = message.sent_date
    headers = {
        "from": message.sender or message.properties.str_prop_value(SENDER_NAME) or "",
        **{name: known.get(name, "") or people[name] for name in ("to", "cc", "bcc")},
        "date": sent.isoformat() if isinstance(sent, datetime) else known.get("date", ""),
        "subject": message.subject or "",
    }
    return {name: " ".join(storable_text(text).split()) for name, text in headers.items()}


def _people(message: Any) -> defaultdict[str, str]:  # noqa: ANN401
    """Return the recipients, those of each kind in a line."""
    people = defaultdict[str, list[str]](list)
    for one in message.recipients:
        address = f"<{one.email_address}>" if one.email_address else ""
        number = one.properties.int_prop_value(RECIPIENT_KIND)
        people[KINDS_OF_RECIPIENTS.get(number, "to")].append(f"{one.name} {address}".strip())
    return defaultdict(
        str, {kind: ", ".join(filter(None, those)) for kind, those in people.items()}
    )


def _add_body(built: TextBuilder, message: Any) -> None:  # noqa: ANN401
    body = storable_text((message.body or "").replace("\r\n", "\n")).strip("\n")
    if body.strip():
        built.paragraph(body)
    elif page := message.html_body:
        add_page(built, page.encode(errors="replace"), "utf-8")
    elif packed := message.properties.binary_prop_value(RICH_TEXT):
        _add_rich_text(built, unpacked_rtf(packed))


def _add_rich_text(built: TextBuilder, source: bytes) -> None:
    if page := rtf.enclosed_page(source):
        add_page(built, page.encode(errors="replace"), "utf-8")
        return
    try:
        loaded = rtf.read(source, "", LoadOptions())
    except IngestError:  # it is the mail that is to be saved again
        raise IngestError(BROKEN_MAIL) from None
    if loaded.text.strip():
        built.loaded(loaded, deeper=1)


def _mail_name(name: str) -> str:
    """Name an attached mail, whatever ending its subject seems to have."""
    name = name or "attached mail"
    return name if kind_of(name) == MSG_TYPE else f"{name}.msg"


@_said_as_broken()
def _file_bytes(part: Any) -> bytes:  # noqa: ANN401
    data: bytes | None = part.file_bytes
    return data or b""


@_said_as_broken()
def _mail_file(attached: Storage, root: Storage) -> bytes:
    """Return an attached mail as a file, which knows the names of its properties itself."""
    mail, names = attached.content(MAIL_FOLDER), root.content(NAMES)
    listed = mail[PROPERTIES]
    assert isinstance(listed, bytes)
    longer = listed[:HEADER_BYTES].ljust(HEADER_BYTES + 8, b"\0") + listed[HEADER_BYTES:]
    return write_compound({**mail, NAMES: names, PROPERTIES: longer})


# Compressed RTF (MS-OXRTFCP): what may be repeated from the first letter on, and how much back.
OPENING = (
    rb"{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript "
    rb"\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\colortbl\red0\green0\blue0"
    b"\r\n"
    rb"\par \pard\plain\f0\fs20\b\i\u\tab\tx"
)
BACK = 4096
PACKED, PLAIN = b"LZFu", b"MELA"
RTF_HEAD = struct.Struct("<II4sI")


def unpacked_rtf(data: bytes) -> bytes:
    """Unpack compressed RTF, which grows to at most eight times its size. Raises IngestError."""
    if len(data) < RTF_HEAD.size:
        raise IngestError(BROKEN_MAIL)
    packed_bytes, size, form, _ = RTF_HEAD.unpack_from(data)
    data = data[RTF_HEAD.size : packed_bytes + 4]  # what counts the bytes does not count itself
    if form == PLAIN:
        return data[:size]
    if form != PACKED:
        raise IngestError(BROKEN_MAIL)
    return _unpacked(data)


def _unpacked(data: bytes) -> bytes:
    """Take letters as they are, and what repeats up to 17 of them from where these stand."""
    text, place = bytearray(OPENING), 0
    while place < len(data):
        signs, place = data[place], place + 1
        for bit in range(8):
            if not signs >> bit & 1:
                text += data[place : place + 1]
                place += 1
                continue
            repeat = int.from_bytes(data[place : place + 2])
            place += 2
            back = (len(text) - (repeat >> 4)) % BACK
            if not back or place > len(data):
                return bytes(text[len(OPENING) :])
            if back > len(text):
                raise IngestError(BROKEN_MAIL)
            length = (repeat & 0xF) + 2
            again = text[len(text) - back :][:length] if back > length else text[-back:]
            text += (again * (length // len(again) + 1))[:length]
    return bytes(text[len(OPENING) :])
