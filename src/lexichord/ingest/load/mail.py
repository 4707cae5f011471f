"""Mails: who wrote what to whom and when, and the words; what is attached are documents itself."""

from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from email import policy
from email.message import Message
from email.parser import BytesParser
from email.utils import parsedate_to_datetime
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any

from lexichord.errors import IngestError
from lexichord.ingest.load import EML_TYPE, html
from lexichord.ingest.load.text import TextBuilder, decode, read_bytes, storable_text
from lexichord.types import LoadedText

BROKEN_MAIL = "is no mail, or a broken one: save it again"
ENCRYPTED_MAIL = "is encrypted: save it decrypted"
ENCRYPTED_TYPES = ("multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime")
HEADERS = ("from", "to", "cc", "bcc", "date", "subject")
MAX_PART_DEPTH = 50  # parts in parts
TOO_DEEP = f"holds parts more than {MAX_PART_DEPTH} deep"
# Of a mail, those of mails attached to it too: programs send some 25 MB, a digest has a hundred
# mails of a few parts each. To lay out a part takes milliseconds, in thirty bytes of a file.
MAX_MAIL_PARTS = 2000
FAR_MORE = 2  # times as many words: the plain form only says that there is another
MAX_HEADER_CHARS = 2000
# As it is written, where a letter may take several: the library takes its square to parse it.
MAX_RAW_HEADER_CHARS = 5 * MAX_HEADER_CHARS
ADDRESS_HEADERS = ("from", "to", "cc", "bcc")
parse_header = policy.default.header_factory

type Attachment = tuple[str, str, Callable[[], bytes]]  # its name, its media type


class _Headers(policy.Compat32):
    """Reads headers whose letters are not encoded, where the library has U+FFFD.

    Its newer policy raises on some broken headers, which are read one by one here.
    """

    def header_fetch_parse(self, name: str, value: str) -> str:
        """Return a header as it stands, up to what is read of it."""
        return _decoded(_cut(name, value).encode(errors="surrogateescape"))


def _cut(name: str, value: str) -> str:
    """Leave out what is beyond the most that is read of a header, from a whole word on."""
    if len(value) <= MAX_RAW_HEADER_CHARS:
        return value
    cut = value[:MAX_RAW_HEADER_CHARS]
    end = cut.rfind(">,") + 1 if name.lower() in ADDRESS_HEADERS else 0
    end = end or cut.rfind(" ")
    return cut[:end] if end > 0 else cut


class Part(Message):
    """A mail or a part of one; its words are counted once, however many alternatives hold it."""

    @cached_property
    def words(self) -> int:
        """Count the words that are read of it."""
        built = TextBuilder()
        _add_part(built, self)
        return len(built.text.split())


def load(file: Path, named: str) -> LoadedText:
    """Read a mail. Raises IngestError."""
    mail = _parsed(file)
    if mail.get_content_type() in ENCRYPTED_TYPES:
        raise IngestError(ENCRYPTED_MAIL)
    built = TextBuilder()
    headers = {name: _header(mail, name) for name in HEADERS}
    add_headers(built, headers)
    for part in _body_parts(mail):
        _add_part(built, part)
    return as_document(built, EML_TYPE, named, headers, _header(mail, "message-id"))


def eml_attachments(
    file: Path, count_part: Callable[[], object] = lambda: None
) -> Iterator[Attachment]:
    """Yield what is attached to a mail, whose parts are counted. Raises IngestError."""
    for part in _attached_parts(_parsed(file, count_part)):
        is_mail = part.get_content_type() == EML_TYPE
        name = _file_name(part) or ("attached mail.eml" if is_mail else "unnamed")
        yield name, part.get_content_type(), lambda part=part: _bytes(part)  # type: ignore[misc]


def _parsed(file: Path, count_part: Callable[[], object] = lambda: None) -> Part:
    data = read_bytes(file).removeprefix(BOM_UTF8)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        data = decode(data)[0].encode()
    try:
        mail = BytesParser(_part_maker(count_part), policy=_Headers()).parsebytes(data)
    except RecursionError:
        raise IngestError(TOO_DEEP) from None
    assert isinstance(mail, Part)
    if not any(name in mail for name in (*HEADERS, "received", "message-id", "content-type")):
        raise IngestError(BROKEN_MAIL)
    return mail


def _part_maker(count_part: Callable[[], object]) -> Callable[..., Part]:
    """Return what makes a mail's parts, as many as one may have: they are counted as they come."""
    made = count()  # the library makes one to see whether it can

    def make(**options: Any) -> Part:  # noqa: ANN401
        number = next(made)
        if number > MAX_MAIL_PARTS:
            raise IngestError(f"holds more than {MAX_MAIL_PARTS:,} parts: save them apart")
        if number:
            count_part()
        return Part(**options)

    return make


def _header(mail: Part, name: str) -> str:
    """Return a header as it is read, on one line."""
    try:
        parsed = parse_header(name, _raw(mail, name))
        text = str(parsed)
    except Exception:  # the library's parser fails on broken ones in many ways
        text = _raw(mail, name)
    return " ".join(storable_text(text).split())[:MAX_HEADER_CHARS]


def _raw(mail: Part, name: str) -> str:
    values = mail.get_all(name, [])
    return _cut(name, ", ".join(" ".join(str(value).split()) for value in values))


def add_headers(built: TextBuilder, headers: dict[str, str]) -> None:
    """Add what headers say, a line each."""
    lines = [f"{name.capitalize()}: {text}" for name, text in headers.items() if text]
    if lines:
        built.paragraph("\n".join(lines))


def _body_parts(part: Part, depth: int = 0) -> Iterator[Part]:
    """Yield the parts that are read as the mail itself, of alternatives one with words."""
    if depth > MAX_PART_DEPTH:
        raise IngestError(TOO_DEEP)
    if _is_attached(part, depth):
        return
    if not part.is_multipart():
        if _is_text(part):
            yield part
        return
    inner = [list(_body_parts(child, depth + 1)) for child in _children(part)]
    if part.get_content_subtype() == "alternative":
        readable = [parts for parts in inner if any(_text(one).strip() for one in parts)]
        inner = [_alternative(readable)] if readable else []
    for parts in inner:
        yield from parts


def _alternative(readable: list[list[Part]]) -> list[Part]:
    """Return the plainest of a mail's forms, unless another says far more."""
    plainest = next(filter(_is_plain, readable), readable[0])
    fullest = max(readable, key=_count_words)
    return fullest if _count_words(fullest) > FAR_MORE * _count_words(plainest) else plainest


def _count_words(parts: list[Part]) -> int:
    return sum(part.words for part in parts)


def _is_text(part: Part) -> bool:
    """Return whether a part holds words; one of parts does where nothing says what parts them."""
    return part.get_content_maintype() in ("text", "multipart") and not part.is_multipart()


def _is_plain(parts: list[Part]) -> bool:
    return all(part.get_content_subtype() == "plain" for part in parts)


def _attached_parts(part: Part, depth: int = 0) -> Iterator[Part]:
    if depth > MAX_PART_DEPTH:
        return
    if _is_attached(part, depth):
        yield part
    else:
        for child in _children(part):
            yield from _attached_parts(child, depth + 1)


def _is_attached(part: Part, depth: int) -> bool:
    """Return whether a part is a document of its own; a mail may be nothing but one.

    What a mail is made of is its own, whatever it is called.
    """
    if part.get_content_type() == EML_TYPE:
        return True
    if part.get_content_disposition() == "attachment" and (depth or not part.is_multipart()):
        return True
    return not part.is_multipart() and (not _is_text(part) or bool(_file_name(part)))


def _children(part: Part) -> list[Part]:
    payload = part.get_payload()
    if part.get_content_maintype() != "multipart" or not isinstance(payload, list):
        return []
    return [child for child in payload if isinstance(child, Part)]


def _file_name(part: Part) -> str:
    try:
        return " ".join(storable_text(part.get_filename() or "").split())
    except (ValueError, LookupError, TypeError):
        return ""


def _bytes(part: Part) -> bytes:
    if part.get_content_type() == EML_TYPE:
        payload = part.get_payload()
        inner = payload[0] if isinstance(payload, list) and payload else None
        return inner.as_bytes() if isinstance(inner, Part) else b""
    data = part.get_payload(decode=True)
    return data if isinstance(data, bytes) else b""


def _text(part: Part) -> str:
    """Return a part's text, in its charset or the likeliest."""
    return storable_text(_decoded(_bytes(part), _charset(part)).replace("\r\n", "\n"))


def _decoded(data: bytes, charset: str | None = None) -> str:
    try:
        return decode(data, charset)[0]
    except IngestError:  # of no known encoding
        return data.decode("latin-1")


def _charset(part: Part) -> str | None:
    try:
        return part.get_content_charset()
    except (ValueError, LookupError, UnicodeError):
        return None


def _add_part(built: TextBuilder, part: Part) -> None:
    if part.get_content_subtype() == "html":
        add_page(built, _bytes(part), _charset(part))
    elif text := _text(part).strip("\n"):
        built.paragraph(text) if text.strip() else None


def add_page(built: TextBuilder, data: bytes, charset: str | None) -> None:
    """Add a form of a mail in HTML."""
    try:
        page = html.read_page(data, "", charset)
    except IngestError:  # nothing in it
        return
    if page.text.strip():
        built.loaded(page, deeper=1)


def as_document(
    built: TextBuilder, kind: str, named: str, headers: dict[str, str], message_id: str
) -> LoadedText:
    """Return a mail that was put together, with what its headers say of it."""
    about: dict[str, Any] = {
        "author": headers["from"],
        "to": headers["to"],
        "cc": headers["cc"],
        "created": _day(headers["date"]),
        "message_id": message_id,
    }
    return built.document(
        kind, headers["subject"] or named, {key: value for key, value in about.items() if value}
    )


def _day(date: str) -> str:
    """Return a header's date in ISO 8601, or as it stands."""
    try:
        return parsedate_to_datetime(date).isoformat()
    except (ValueError, TypeError, IndexError, OverflowError):
        return date
