"""What other records are made of: JSON, texts as they may be shown, files' languages, ids.

The database counts its rows, and a count would tell whoever reaches one dataset how much is in the
others, as would positions in its write-ahead log. So an id is what a keyed permutation makes of the
number: a Feistel network of four rounds (Luby and Rackoff, 1988), its key the database's own. A
number has 63 bits, the block 80: where the others do not come back as 0, the text was mistyped, or
is of another kind or database (Bellare and Rogaway, 2000, encode-then-encipher). In base32 all of
it is 16 small letters and digits.
"""

import re
import unicodedata
from base64 import b32decode, b32encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from functools import lru_cache
from hashlib import blake2b
from html import escape
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args

from lexichord.errors import ConfigError, NotFoundError, plain_reason

if TYPE_CHECKING:
    import pandas
    from pydantic import ValidationError

Json = Mapping[str, Any]


@dataclass(slots=True)
class Renderers:
    """What writes records for people; `lexichord.display` puts itself here."""

    text: Callable[[object], str] = repr
    html: Callable[[object], str] = lambda record: f"<pre>{escape(repr(record))}</pre>"


renderers = Renderers()


class Shaped:
    """A record whose JSON shape is its fields; `lexichord.display` writes it as text."""

    __slots__ = ()

    def __str__(self) -> str:
        return renderers.text(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON shape: a member for each field; times are in ISO 8601."""
        return shape_of(self)


class Sparse(Shaped):
    """A record whose JSON shape leaves out the fields that are None by default and still are."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON shape: a member for each field that was set."""
        assert is_dataclass(self)
        optional = {field.name for field in fields(self) if field.default is None}
        unset = {name for name in optional if getattr(self, name) is None}
        return {name: value for name, value in shape_of(self).items() if name not in unset}


class Shown(Shaped):
    """A record that notebooks show as HTML, which `lexichord.display` writes."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return renderers.html(self)


def shape_of(record: object) -> dict[str, Any]:
    """Return a dataclass's fields by name, as JSON has them."""
    assert is_dataclass(record)
    return {field.name: plain(getattr(record, field.name)) for field in fields(record)}


def frame_of(kind: type, records: Iterable[Shaped]) -> "pandas.DataFrame":
    """Return records of a kind as a frame, a row each; `scores.dense` is a member of `scores`.

    Raises ConfigError where pandas is not there.
    """
    try:
        import pandas
    except ModuleNotFoundError:
        raise ConfigError("to_frame needs pandas: pip install pandas") from None
    rows = [record.to_dict() for record in records]
    if rows:
        return pandas.json_normalize(rows)
    return pandas.DataFrame(columns=[field.name for field in fields(kind)])


def plain(value: object) -> Any:  # noqa: ANN401
    """Return a value as JSON has it: records and mappings as objects, sequences as lists."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if is_dataclass(value):
        return shape_of(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [plain(item) for item in value]
    return value


TITLE_CHARS = 60  # characters of a title or a question on one line
MISSING = "–"
OBEYED_UNSEEN = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
SHORT_ESCAPES = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
MAX_NAME_BYTES = 2000  # an index takes 2,700
LINES_AND_CONTROLS = {"Cc", "Cs", "Zl", "Zp"}  # kinds of signs, as Unicode calls them
UNSEEN = {"Cf", "Zs"}  # between others they have their sense


def visible(text: str) -> str:
    """Return text with U+FFFD in place of what no one could see, but for spaces and line ends."""
    shown = text.replace("\ufeff", "").replace("\r\n", "\n")
    return "".join(c if _is_seen(c) else "\ufffd" for c in shown)


def escaped(text: str) -> str:
    """Return text on one line in which what no one could see, and would be obeyed, is written out.

    As JSON has it: \\u and four digits for controls, for signs that turn the direction of text
    and for halves of characters. Signs that join letters stay, for words and emoji need them.
    """
    return OBEYED_UNSEEN.sub(_written_out, text)


def check_name(whose: str, name: str) -> None:
    """Raise ConfigError for a name that nobody could read, or that is too long for an index."""
    kinds = {unicodedata.category(c) for c in name or ""}
    if kinds & LINES_AND_CONTROLS or not kinds - UNSEEN:
        raise ConfigError(f"{whose} needs a name that can be read")
    if len(name.encode()) > MAX_NAME_BYTES:
        raise ConfigError(f"{whose} needs a name of at most {MAX_NAME_BYTES:,} bytes")


def counted(amount: int, name: str, digits: str = "") -> str:
    """Return how many there are of something, in words: "1 file", "2 files", "3 queries".

    `digits` is how the number is written, as format() takes it: "," for 1,000.
    """
    return f"{amount:{digits}} {_plural(name) if amount != 1 else name}"


def one_line(text: str, max_chars: int) -> str:
    """Return visible text on one line, cut where it is longer than `max_chars`."""
    line = " ".join(visible(text).split())
    return line if len(line) <= max_chars else f"{line[: max_chars - 1]}…"


def file_name(uri: str) -> str:
    """Return the last part of a uri; one without parts as it is."""
    return PurePosixPath(uri).name or uri


def short_uri(uri: str) -> str:
    """Return a path relative to the current folder, if it lies under it, escaped: on one line."""
    return escaped(uri.removeprefix(Path.cwd().as_posix() + "/"))


class Named(Protocol):
    """What knows the title, which may be empty, and the uri of a document."""

    @property
    def title(self) -> str: ...  # noqa: D102

    @property
    def uri(self) -> str: ...  # noqa: D102


def document_name(document: Named) -> str:
    """Return what a document is called: its title, or else the last part of its uri."""
    return document.title or file_name(document.uri)


def cite(title: str, heading: str) -> str:
    """Name a passage by its document's title and its heading."""
    return " › ".join(filter(None, (title, heading)))


def place(uri: str, start: int, end: int, page: int | None = None) -> str:
    """Write where a passage stands, in characters of the stored text, and on which page."""
    return f"{uri}:{start}-{end}" + (f" page {page}" if page else "")


def write_number(value: float | None, digits: int = 4) -> str:
    """Write a number, or that it is missing."""
    return MISSING if value is None else f"{value:.{digits}f}"


def _written_out(match: re.Match[str]) -> str:
    return SHORT_ESCAPES.get(match[0]) or f"\\u{ord(match[0]):04x}"


def _is_seen(character: str) -> bool:
    if character.isprintable() or character in "\n\t":
        return True
    return unicodedata.category(character) == "Zs"


def _plural(noun: str) -> str:
    """Return files for file, queries for query, keys for key."""
    return re.sub(r"(?<=[^aeiou])y$", "ie", noun) + "s"


LANGUAGE_ENDINGS = {
    "c": ".c .h",
    "c++": ".cpp .cc .cxx .hpp .hh",
    "clojure": ".clj",
    "csharp": ".cs",
    "dart": ".dart",
    "elixir": ".ex .exs",
    "erlang": ".erl",
    "go": ".go",
    "groovy": ".groovy",
    "haskell": ".hs",
    "java": ".java",
    "javascript": ".js .jsx .mjs .cjs",
    "julia": ".jl",
    "kotlin": ".kt .kts",
    "lua": ".lua",
    "objective-c": ".m",
    "ocaml": ".ml",
    "perl": ".pl .pm",
    "php": ".php",
    "powershell": ".ps1",
    "python": ".py .pyi",
    "r": ".r",
    "ruby": ".rb",
    "rust": ".rs",
    "scala": ".scala",
    "shellscript": ".sh .bash .zsh",
    "sql": ".sql",
    "swift": ".swift",
    "typescript": ".ts .tsx",
    "zig": ".zig",
}
CODE_ENDINGS = tuple(" ".join(LANGUAGE_ENDINGS.values()).split())


def is_code_file(uri: str) -> bool:
    """Return whether a uri's ending is that of a programming language."""
    return uri.lower().endswith(CODE_ENDINGS)


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


def unknown_id(kind: IdKind, text: str, remedy: str = "") -> str:
    """Return the line that nothing has this id, with the remedy or where ids stand."""
    noun = "document" if kind == "doc" else kind
    return f"there is no {noun} {text}: {remedy or WHERE_IDS_STAND[kind]}"


def _mix(keyed: blake2b, half: int) -> int:
    mixed = keyed.copy()
    mixed.update(half.to_bytes(HALF_BYTES))
    return int.from_bytes(mixed.digest())


def explain_invalid(error: "ValidationError") -> str:
    """Return in one line what is wrong first."""
    first = error.errors(include_input=False, include_url=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    reason = plain_reason(first["msg"])
    return f"{place}: {reason}" if place else reason
