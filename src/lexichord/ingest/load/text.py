"""Text of any format: opened safely, decoded, freed of what cannot be stored, put together.

Also what in it is Markdown: headings, tables and fenced blocks.
"""

import codecs
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from io import BufferedReader
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

from lexichord.display.plain_text import plain_text
from lexichord.errors import IngestError
from lexichord.types import Heading, Json, LoadedText, Table

# Behind anchors, as MyST has them: (name)=
OPENING_HEADING = re.compile(
    r"\A\ufeff?\s*(?:\([^()\n]{1,200}\)=\s+)*# +(\S[^\n]{0,200})$", re.MULTILINE
)
CLOSING_HASHES = re.compile(r"[ \t]+#+$")  # of a heading
CODE_FENCE = re.compile(r"^ {0,3}(?P<fence>`{3,}|~{3,})[^\n]*$", re.MULTILINE)
BACKTICKS = re.compile("`+")
HEADING_LINE = re.compile(
    r"^\ufeff? {0,3}(?P<marks>#{1,6})[ \t]+(?P<name>\S[^\n]{0,200})$"
    r"|^(?P<under>\S[^\n]{0,200})\n(?P<line>=+|-{2,})[ \t]*\r?$",
    re.MULTILINE,
)
TABLE_RULE = re.compile(r"^[ \t|:-]+$", re.MULTILINE)  # what parts a table's header from its rows
TABLE_BODY = re.compile(r"(?:[^\n|]*\|[^\n]*(?:\n|\Z))*")


def markdown_headings(text: str) -> Iterator[Heading]:
    """Yield the headings in order."""
    fenced = fenced_blocks(text)
    for match in _outside(HEADING_LINE, text, fenced):
        level = len(match["marks"]) if match["marks"] else 1 + match["line"].startswith("-")
        name = heading_name(match["name"] or match["under"])
        yield Heading(match.start(), match.end(), level, name)


def heading_name(line: str) -> str:
    """Return a heading's words: without closing signs, links' addresses and the like."""
    return plain_text(CLOSING_HASHES.sub("", line.strip()))


def markdown_tables(text: str) -> Iterator[Table]:
    """Yield the tables in order; the line below the header belongs to it.

    A further such line amid the rows is a row.
    """
    fenced, end = fenced_blocks(text), 0
    for match in _outside(TABLE_RULE, text, fenced):
        start = text.rfind("\n", 0, max(0, match.start() - 1)) + 1
        is_rule = "|" in match[0] and "-" in match[0]
        if start >= end and is_rule and "|" in text[start : match.start()]:
            body = min(match.end() + 1, len(text))
            rows = TABLE_BODY.match(text, body)
            end = rows.end() if rows else body
            yield Table(start, end, body)


def fenced_blocks(text: str) -> list[tuple[int, int]]:
    """Return where fenced blocks begin and end; one that is never closed ends with the text."""
    blocks: list[tuple[int, int]] = []
    opened: re.Match[str] | None = None
    for match in CODE_FENCE.finditer(text):
        if opened is None:
            opened = match
        elif match[0].strip() == match["fence"] and match["fence"].startswith(opened["fence"]):
            blocks.append((opened.start(), match.end()))
            opened = None
    return [*blocks, (opened.start(), len(text))] if opened else blocks


def fenced(code: str) -> str:
    """Return code between fences that are longer than any row of backticks in it."""
    longest = max(map(len, BACKTICKS.findall(code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{code}\n{fence}"


def part_by_fences(text: str) -> Iterator[tuple[str, str]]:
    """Yield what stands before each fenced block with the block; what follows the last with ""."""
    start = 0
    for at, end in [*fenced_blocks(text), (len(text), len(text))]:
        yield text[start:at], text[at:end]
        start = end


def _outside(
    pattern: re.Pattern[str], text: str, blocks: list[tuple[int, int]]
) -> Iterator[re.Match[str]]:
    start = 0
    for block_start, block_end in [*blocks, (len(text), len(text))]:
        yield from pattern.finditer(text, start, block_start)
        start = block_end


CHANGED = "changed while it was read: ingest it again"

type OpenFile = Callable[[Path], BufferedReader]


def open_regular(file: Path) -> BufferedReader:
    """Open a file to read. Raises IngestError for what is no file; OSError.

    It is looked at before, since to open a device may do something, and after, since a pipe may
    have come into its place, which would be waited for.
    """
    if file.exists() and not file.is_file():
        raise IngestError("is no file")
    stream = os.fdopen(os.open(file, os.O_RDONLY | os.O_NONBLOCK), "rb")
    if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
        stream.close()
        raise IngestError("is no file")
    return stream


def open_in_place(file: Path) -> BufferedReader:
    """Open a file that no link leads to, as it was found. Raises IngestError; OSError.

    Opened first, then looked at: a link that comes in between has opened another file.
    """
    stream = open_regular(file)
    try:
        is_in_place = _is_in_place(file, stream.fileno())
        is_linked = file.resolve() != file
    except BaseException:
        stream.close()
        raise
    if is_linked or not is_in_place:
        stream.close()
        raise IngestError(
            "is behind a link by now, which is not followed" if is_linked else CHANGED
        )
    return stream


def _is_in_place(file: Path, descriptor: int) -> bool:
    """Return whether what is open is the file of this path, by what the system says of it."""
    try:
        opened = str(_held(descriptor).readlink())
    except OSError:  # a system that says nothing: another look, which may be deceived
        return os.path.samestat(os.fstat(descriptor), file.lstat())
    return _folded(opened) == _folded(str(file))


def _held(descriptor: int) -> Path:
    """Return a path to what is open, where the system has one."""
    return Path(f"/proc/self/fd/{descriptor}")


def _folded(path: str) -> str:
    """Return a path as file systems compare it for which small and large letters are the same."""
    return normalize("NFKC", path).casefold()


@contextmanager
def held_in_place(file: Path, scratch: Path) -> Iterator[Path]:
    """Yield a path to a file as it was opened in its place, whatever comes there meanwhile.

    It has the file's name, by which its kind is told. Raises IngestError; OSError.
    """
    with open_in_place(file) as stream, TemporaryDirectory(dir=scratch) as folder:
        held = _held(stream.fileno())
        if not held.exists():  # a system that has no such paths
            yield file
            return
        link = Path(folder, file.name)
        link.symlink_to(held)
        yield link


if TYPE_CHECKING:
    from charset_normalizer import CharsetMatch

MAX_TEXT_BYTES = 50_000_000  # bytes of a text file; characters of another's text
HEAD_BYTES = 1 << 16  # of a file, which tell whether it is a text
BYTE_ORDER_MARKS = {  # byte order marks; UTF-32's begins with UTF-16's
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# What texts that are not Unicode are written in. Rarer encodings are left out: a short text
# fits many of them.
LEGACY_ENCODINGS = [
    *("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258"),
    *("iso8859_2", "iso8859_5", "iso8859_7", "koi8_r", "cp874"),
    *("cp932", "euc_jp", "iso2022_jp", "gb18030", "big5", "cp949"),
]
# Of charset-normalizer's measure of mess: cp1252, the commonest, wins in this range.
MESS_TOLERANCE = 0.05
BINARY_BYTES = re.compile(rb"[\0-\x08\x0e-\x1a\x1c-\x1f\x7f]")  # in none of LEGACY_ENCODINGS


def read_text(file: Path, opening: OpenFile = open_regular) -> tuple[str, Json]:
    """Decode a file, without its byte order mark; return its encoding where it is not UTF-8.

    Raises IngestError.
    """
    text, encoding = decode(read_bytes(file, opening))
    if "\0" in text:
        raise IngestError("holds NUL characters: it is binary, or in an encoding without a mark")
    return text.removeprefix("\ufeff"), {} if encoding == "utf-8" else {"encoding": encoding}


def read_bytes(file: Path, opening: OpenFile = open_regular) -> bytes:
    """Read a file of text. Raises IngestError."""
    try:
        with opening(file) as stream:
            content = stream.read(MAX_TEXT_BYTES + 1)
    except OSError as error:
        raise IngestError(f"cannot be read: {error.strerror}") from error
    if len(content) > MAX_TEXT_BYTES:
        raise too_long_error()
    return content


def is_text(head: bytes) -> bool:
    """Return whether what begins so is UTF-8 with something to read in it, and nothing else."""
    if BINARY_BYTES.search(head) or not head.strip():
        return False
    try:
        is_cut = len(head) >= HEAD_BYTES  # within a letter, maybe
        codecs.getincrementaldecoder("utf-8")().decode(head, final=not is_cut)
    except UnicodeDecodeError:
        return False
    return True


def too_long_error() -> IngestError:
    """Make the error for a text that is longer than a document may be."""
    return IngestError(f"holds more than {MAX_TEXT_BYTES // 10**6} MB of text: split it")


def decode(data: bytes, declared: str | None = None) -> tuple[str, str]:
    """Return the text and its encoding: UTF-8, that of a mark or the file, or the likeliest.

    The mark that tells the order of bytes is no text.
    """
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        return data.decode(), "utf-8"
    except UnicodeDecodeError:
        marked = next(
            (name for mark, name in BYTE_ORDER_MARKS.items() if data.startswith(mark)), declared
        )
    try:
        if marked:
            return data.decode(marked), codecs.lookup(marked).name
    except (UnicodeError, LookupError):
        pass
    encoding = _detect(data)
    return data.decode(encoding), encoding


def _detect(data: bytes) -> str:
    from charset_normalizer import from_bytes

    matches = (
        [] if BINARY_BYTES.search(data) else list(from_bytes(data, cp_isolation=LEGACY_ENCODINGS))
    )
    if not matches:
        raise IngestError("is binary, or text in an unknown encoding: save it as UTF-8")
    lowest = min(match.chaos for match in matches)
    near = {
        name
        for match in matches
        if match.chaos <= lowest + MESS_TOLERANCE
        for name in _names(match)
    }
    return "cp1252" if "cp1252" in near else matches[0].encoding


def _names(match: "CharsetMatch") -> list[str]:
    """List the encodings in which a text is the same."""
    return [match.encoding, *match.could_be_from_charset]


INVISIBLE_CHARACTERS = {
    # zero-width joiners are part of emoji and of Indic and Persian words, so they are not flagged
    "zero-width characters": re.compile("[\u200b\u2060\u180e]|(?<!^)\ufeff"),
    "bidirectional characters": re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"),
}
SURROGATE_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
UNSTORABLE_CHARACTERS = re.compile("[\0\ud800-\udfff]")
DROPPED_FLAG = "characters that cannot be stored were dropped"


def invisible_flags(text: str) -> list[str]:
    """Name the kinds of invisible characters that a text holds."""
    return [name for name, pattern in INVISIBLE_CHARACTERS.items() if pattern.search(text)]


def storable_text(text: str) -> str:
    """Put halves of characters together, drop those that stay alone, and NUL."""
    return UNSTORABLE_CHARACTERS.sub("", SURROGATE_PAIR.sub(_whole, text))


def _whole(pair: re.Match[str]) -> str:
    return pair[0].encode("utf-16", "surrogatepass").decode("utf-16")


class TextBuilder:
    """Paragraphs and tables, parted by blank lines, with the headings and pages among them."""

    def __init__(self) -> None:
        self.headings = list[Heading]()
        self.tables = list[Table]()
        self._pages = list[int]()
        self._parts = list[str]()
        self._length = 0
        self._waiting = list[tuple[int, str, bool]]()
        self._waiting_pages = 0

    @property
    def text(self) -> str:
        """Return all that was put in."""
        return "".join(self._parts)

    @property
    def pages(self) -> tuple[int, ...]:
        """Return where each page begins; one without text where the next does."""
        return (*self._pages, *[self._length] * self._waiting_pages)

    def document(
        self, kind: str, title: str, metadata: Mapping[str, Any] = MappingProxyType({})
    ) -> LoadedText:
        """Return all that was put in as a document."""
        parts = tuple(self.headings), tuple(self.tables), self.pages
        return LoadedText(self.text, kind, title, *parts, dict(metadata))

    def paragraph(self, text: str, level: int | None = None, apart: bool = False) -> None:
        """Add a paragraph, or a heading of a level."""
        start, end = self._add(text)
        if level is not None:
            self.headings.append(Heading(start, end, level, " ".join(text.split()), apart))

    def place(self, level: int, name: str, apart: bool = False) -> None:
        """Name the place where what comes next begins, with a heading that is not in the text."""
        self._waiting.append((level, name, apart))

    def drop_place(self) -> None:
        """Name no place where nothing has come after it was named."""
        self._waiting = []

    def page(self) -> None:
        """Begin a page."""
        self._waiting_pages += 1

    def lines(self, text: str, first: int | None = None) -> None:
        """Add lines that are cut at their ends and hold no clauses: code, records.

        `first` is the number of the first, if they have numbers.
        """
        start, end = self._add(text)
        self.tables.append(Table(start, end, start, first))

    def table(self, rows: Iterable[Sequence[str]], header_rows: int) -> None:
        """Add a table, a line a row; empty rows are left out."""
        head, body = split_table(rows, header_rows)
        if head or body:
            start, end = self._add("".join(head + body).removesuffix("\n"))
            self.tables.append(Table(start, end, min(start + len("".join(head)), end)))

    def markdown_table(
        self, rows: Sequence[Sequence[str]], header_rows: int, first: int | None
    ) -> None:
        """Add a table as Markdown has it; `first` is the number of its first row, if it has one."""
        lines = [markdown_row(row) for row in rows]
        if header_rows:
            lines.insert(header_rows, f"|{' --- |' * len(rows[0])}\n")
        start, end = self._add("".join(lines).removesuffix("\n"))
        head = len("".join(lines[: header_rows + 1])) if header_rows else 0
        body = min(start + head, end)
        numbered = None if first is None else first + header_rows
        self.tables.append(Table(start, end, body, first_row=numbered))

    def markdown(self, text: str, deeper: int = 0) -> None:
        """Add Markdown with its headings and tables, the headings so many levels deeper."""
        self.loaded(
            LoadedText(
                text,
                "text/markdown",
                "",
                tuple(markdown_headings(text)),
                tuple(markdown_tables(text)),
            ),
            deeper,
        )

    def loaded(self, loaded: LoadedText, deeper: int = 0) -> None:
        """Add a text with its headings, so many levels deeper, and its tables."""
        moved, _ = self._add(loaded.text)
        for heading in loaded.headings:
            start, end, level = heading.start + moved, heading.end + moved, heading.level + deeper
            self.headings.append(replace(heading, start=start, end=end, level=level))
        for table in loaded.tables:
            start, end, head = table.start + moved, table.end + moved, table.header_end + moved
            self.tables.append(replace(table, start=start, end=end, header_end=head))

    def _add(self, text: str) -> tuple[int, int]:
        if self._parts:
            text = f"\n\n{text}"
        start = self._length + (2 if self._parts else 0)
        self._parts.append(text)
        self._length += len(text)
        self.headings += [Heading(start, start, *waiting) for waiting in self._waiting]
        self._pages += [start] * self._waiting_pages
        self._waiting, self._waiting_pages = [], 0
        return start, self._length


def markdown_row(cells: Iterable[str]) -> str:
    """Return a table's row as Markdown has it."""
    shown = (" ".join(cell.split()).replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(shown)} |\n"


def split_table(rows: Iterable[Sequence[str]], header_rows: int) -> tuple[list[str], list[str]]:
    """Return the lines of a table's head and of its body, their ends included."""
    lines = ["\t".join(row) for row in rows]
    head, body = lines[:header_rows], lines[header_rows:]
    return [f"{line}\n" for line in head if line.strip()], [
        f"{line}\n" for line in body if line.strip()
    ]
