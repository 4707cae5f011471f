"""Mails as Outlook keeps them: their properties, in a compound file."""

import struct
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from email.mime.application import MIMEApplication
from email.mime.message import MIMEMessage
from email.mime.multipart import MIMEMultipart
from email.mime.nonmultipart import MIMENonMultipart
from email.mime.text import MIMEText
from functools import partial
from pathlib import Path
from typing import Any

from lexichord.errors import IngestError
from lexichord.ingest.load import EML_TYPE, MSG_TYPE, kind_of, rtf
from lexichord.ingest.load.archive import FOLDER_ENTRY, held_bytes, open_compound, read_stream
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
KINDS_OF_RECIPIENTS = {1: "to", 2: "cc", 3: "bcc"}


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
            if entry.entry_type == FOLDER_ENTRY and name.startswith(opening):
                yield Storage(self._compound, entry)

    def _read(self, name: str) -> bytes:
        return read_stream(self._compound, self._entries[name])


class _AttachedMail(Storage):
    @property
    def properties_stream_bytes(self) -> bytes:
        """The list of properties, with the longer head that the library knows, of a mail alone."""
        listed = super().properties_stream_bytes
        return listed[:24].ljust(32, b"\0") + listed[24:]


def load(file: Path, named: str) -> LoadedText:
    """Read a mail of Outlook's. Raises IngestError."""
    with _said_as_broken():
        message = _message(_opened(file))
        known = _sent_headers(message)
        headers = _headers(message, known)
        built = TextBuilder()
        add_headers(built, headers)
        _add_body(built, message)
    return as_document(built, MSG_TYPE, named, headers, known.get("message-id", ""))


def attachments(file: Path) -> Iterator[Attachment]:
    """Yield what is attached to a mail of Outlook's. Raises IngestError."""
    with _said_as_broken():
        for name, kind, part in _attached(_opened(file)):
            yield name, kind, partial(_bytes, part)


def _attached(mail: Storage) -> Iterator[tuple[str, str, Any]]:
    """Yield the name, the media type and the file of what is attached, of a mail its folder."""
    from oxmsg.attachment import Attachment as OutlookAttachment

    folder: Any  # the library's folders have names, that it does not ask for
    for folder in mail.iter_attachment_storages():
        part = OutlookAttachment(folder)
        name = " ".join(storable_text(part.file_name or "").split())
        if part.properties.int_prop_value(ATTACHED_HOW) == ATTACHED_MAIL:
            yield _mail_name(name), EML_TYPE, folder
        else:
            yield name, part.mime_type or "", part


@contextmanager
def _said_as_broken() -> Iterator[None]:
    """Say whatever is wrong within a mail as an IngestError."""
    try:
        yield
    except (IngestError, MemoryError):
        raise
    except Exception:  # of two libraries, without a common base
        raise IngestError(BROKEN_MAIL) from None


def _opened(file: Path) -> Storage:
    """Return the folder that holds a mail, whose streams are read as they are asked for."""
    data = read_bytes(file)
    compound = open_compound(data, BROKEN_MAIL)
    if held_bytes(compound) > len(data):
        raise IngestError(BROKEN_MAIL)
    return Storage(compound, compound.root)


def _message(folder: Any) -> Any:  # noqa: ANN401
    from oxmsg import Message

    message = Message(folder)
    if "encrypted" in message.message_class.lower():
        raise IngestError(ENCRYPTED_MAIL)
    return message


def _sent_headers(message: Any) -> dict[str, str]:  # noqa: ANN401
    """Return the headers that a mail was sent with, none of one that never was."""
    return {name.lower(): value for name, value in message.message_headers.items()}


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


def _people(message: Any) -> dict[str, str]:  # noqa: ANN401
    """Return the recipients, those of each kind in a line."""
    people = defaultdict[str, list[str]](list)
    for one in message.recipients:
        address = f"<{one.email_address}>" if one.email_address else ""
        number = one.properties.int_prop_value(RECIPIENT_KIND)
        people[KINDS_OF_RECIPIENTS.get(number, "to")].append(f"{one.name} {address}".strip())
    return {kind: ", ".join(filter(None, people[kind])) for kind in KINDS_OF_RECIPIENTS.values()}


def _add_body(built: TextBuilder, message: Any) -> None:  # noqa: ANN401
    form, body = _body(message)
    if form == "html":
        add_page(built, body.encode(errors="replace"), "utf-8")
    elif form == "rtf":
        loaded = _rich_text(body)
        if loaded.text.strip():
            built.loaded(loaded, deeper=1)
    elif body:
        built.paragraph(body)


def _body(message: Any) -> tuple[str, str]:  # noqa: ANN401
    """Return a mail's body and its form: plain where it has one, else html, else rtf."""
    body = storable_text((message.body or "").replace("\r\n", "\n")).strip("\n")
    if body.strip():
        return "plain", body
    if page := message.html_body:
        return "html", page
    packed = message.properties.binary_prop_value(RICH_TEXT)
    source = unpacked_rtf(packed) if packed else b""
    if page := rtf.enclosed_page(source):
        return "html", page
    return ("rtf", source.decode("latin-1")) if source else ("plain", "")


def _rich_text(source: str) -> LoadedText:
    try:
        return rtf.read(source.encode("latin-1"), "", LoadOptions())
    except IngestError:  # it is the mail that is to be saved again
        raise IngestError(BROKEN_MAIL) from None


def _mail_name(name: str) -> str:
    """Name an attached mail, whatever ending its subject seems to have."""
    name = name or "attached mail"
    return name if kind_of(name) == EML_TYPE else f"{name.removesuffix('.msg')}.eml"


@_said_as_broken()
def _bytes(part: Any) -> bytes:  # noqa: ANN401
    if isinstance(part, Storage):
        return _as_sent(part.attached_mail()).as_bytes()
    data: bytes | None = part.file_bytes
    return data or b""


def _as_sent(folder: Storage, depth: int = 0) -> MIMEMultipart:
    """Return an attached mail as one that is sent, for a part of a compound file is no file.

    The same each time: of what parts it nothing is by chance, nor in the parts, all in base64.
    """
    message, sent = _message(folder), MIMEMultipart(boundary=f"=_{depth}")
    known = _sent_headers(message)
    headers = _headers(message, known) | {"message-id": known.get("message-id", "")}
    for name, text in headers.items():
        if text:
            sent[name] = text.encode().decode("ascii", "surrogateescape")  # as it is, not in code
    sent.attach(_body_part(message))
    for name, _, part in _attached(folder):
        sent.attach(_named(_as_part(part, depth + 1), name))
    return sent


def _body_part(message: Any) -> MIMENonMultipart:  # noqa: ANN401
    """Return a mail's body; RTF that cannot be read as a file, which is told of by itself."""
    form, body = _body(message)
    if form != "rtf":
        return MIMEText(storable_text(body), form, "utf-8")
    try:
        return MIMEText(_rich_text(body).text, "plain", "utf-8")
    except IngestError:
        return _named(MIMEApplication(body.encode("latin-1")), "body.rtf")


def _as_part(part: Any, depth: int) -> MIMENonMultipart:  # noqa: ANN401
    """Return what is attached; a mail that cannot be read as none, which is told of by itself."""
    if not isinstance(part, Storage):
        return MIMEApplication(_bytes(part))
    try:
        with _said_as_broken():
            return MIMEMessage(_as_sent(part.attached_mail(), depth))
    except IngestError:
        return MIMEApplication(b"")


def _named[Part: MIMENonMultipart](part: Part, name: str) -> Part:
    part.add_header("Content-Disposition", "attachment", filename=("utf-8", "", name))
    return part


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
