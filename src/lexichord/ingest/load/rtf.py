"""RTF: its text with its tables; margins, notes, comments and hidden passages are set apart."""

import re
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import batched
from pathlib import Path

from striprtf.striprtf import font_table_group, remove_pict_groups, rtf_to_text

from lexichord.errors import IngestError
from lexichord.ingest.load import RTF_TYPE
from lexichord.ingest.load.marks import PASSAGE, LoadOptions, Marks, described, picture, within
from lexichord.ingest.load.tables import SpanningCell, even_rows, filled_rows
from lexichord.ingest.load.text import TextBuilder, read_bytes, storable_text
from lexichord.types import LoadedText

PART_START = re.compile(
    r"\{\s*(?:\\\*\s*)?\\(?P<kind>header|footer|footnote|annotation|atnauthor|shppict|pict|shp)"
    r"[lrf]?(?![a-z])"
)
TOKEN = re.compile(r"\\(?P<word>[a-z]{1,32})(?P<number>-?\d{1,10})?|\\.|[{}]", re.DOTALL)
ANY_PART = re.compile(r"\\(?:header|footer|footnote|annotation|shptxt|v(?![a-z]))|Description")
BOX_START = re.compile(r"\{\s*\\shptxt(?![a-z])")
COLUMN_END = re.compile(r"\\column(?![a-z])")  # which the library does not know
DESCRIPTION = re.compile(r"\\sn\s+\w*Description\s*\}\s*\{\\sv\s++(?P<words>[^{}]{1,5000})\}")
DATE = re.compile(r"\{\s*\\\*\s*\\atndate\s+(\d{1,10})\s*\}")
NO_SIGNS = dict.fromkeys(range(2, 7), "?")  # what the signs are made of
PLACE = re.compile("\x02(\\d+)\x03")
# From each field the library searches for a link's address to the line's end; with a line's end in
# it, which means nothing, it finds none.
FIELD_CODE = re.compile(r"\\\*\\fldinst", re.IGNORECASE)
HIDDEN = re.compile("\x04([^\x04]*)\x05", re.DOTALL)


@dataclass(frozen=True, slots=True)
class RtfPart:
    """A part: its kind, its source and, of a comment, who made it and when."""

    kind: str
    source: str
    author: str = ""
    day: str = ""


def part_rtf(source: str) -> tuple[str, list[RtfPart]]:
    """Return the source of the running text, with signs where parts were taken out, and these."""
    source = remove_pict_groups(source).translate(NO_SIGNS)  # type: ignore[no-untyped-call]
    source, parts = COLUMN_END.sub(r"\\line", source), list[RtfPart]()
    if "\\deleted" in source:
        source = "".join(_without_deletions(source))
    if ANY_PART.search(source):
        source = "".join(_with_hidden_signs(source))
        source = "".join(_body(source, parts))
    return source, parts


def _with_hidden_signs(source: str) -> Iterator[str]:
    r"""Yield the source with signs around what \v hides: up to \v0, \plain or its group's end."""
    place, depth = 0, 0
    opened: int | None = None
    for token in TOKEN.finditer(source):
        depth += {"{": 1, "}": -1}.get(token[0], 0)
        shows = token["word"] == "plain" or (token["word"] == "v" and token["number"] == "0")
        if opened is not None and (shows or depth < opened):
            yield f"{source[place : token.start()]}\x05"
            place, opened = token.start(), None
        elif opened is None and token["word"] == "v" and not shows:
            yield f"{source[place : token.end()]} \x04"
            place, opened = token.end() + source.startswith(" ", token.end()), depth
    yield source[place:]


def _without_deletions(source: str) -> Iterator[str]:
    r"""Yield the source without what \deleted marks: up to \deleted0, \plain or its group's end."""
    place, depth = 0, 0
    opened: int | None = None
    for token in TOKEN.finditer(source):
        depth += {"{": 1, "}": -1}.get(token[0], 0)
        word, is_off = token["word"], token["number"] == "0"
        if opened is None and word == "deleted" and not is_off:
            yield source[place : token.start()]
            opened = depth
        elif opened is not None and (
            depth < opened
            or (depth == opened and (word == "plain" or (word == "deleted" and is_off)))
        ):
            place, opened = token.start(), None
    yield "" if opened is not None else source[place:]


def _body(source: str, parts: list[RtfPart]) -> Iterator[str]:
    """Yield the source without its parts, which are added to `parts`."""
    place, author = 0, ""
    while start := PART_START.search(source, place):
        end = _group_end(source, start.start())
        inner = source[start.end() : end - 1]
        yield source[place : start.start()]
        place = end
        kind = start["kind"]
        if kind == "atnauthor":
            author = inner
        elif kind in ("shppict", "pict", "shp"):
            found = [RtfPart("box", box) for box in _boxes(inner)]
            if said := DESCRIPTION.search(inner):
                found.append(RtfPart("picture", said["words"]))
            for part in found:
                parts.append(part)
                yield f"\x02{len(parts) - 1}\x03"
        else:
            dated = DATE.search(inner)
            parts.append(RtfPart(kind, inner, author, _day(int(dated[1])) if dated else ""))
            yield f"\x02{len(parts) - 1}\x03"
    yield source[place:]


def _boxes(shape: str) -> Iterator[str]:
    """Yield the sources of the text in a shape."""
    place = 0
    while start := BOX_START.search(shape, place):
        place = _group_end(shape, start.start())
        yield shape[start.end() : place - 1]


def _group_end(source: str, start: int) -> int:
    depth = 0
    for token in TOKEN.finditer(source, start):
        if token[0] in "{}":
            depth += 1 if token[0] == "{" else -1
            if depth == 0:
                return token.end()
    return len(source)


def _day(packed: int) -> str:
    """Read a day as Word packs it, bit by bit."""
    year, month, day = 1900 + (packed >> 20 & 0x1FF), packed >> 16 & 0xF, packed >> 11 & 0x1F
    return f"{year}-{month:02}-{day:02}"


START, CELL_END, ROW_END = "\x0e", "\x0f", "\x10"
TABLE_SIGNS = dict.fromkeys(range(0x0E, 0x11), "?")
SIGNED_ROW = re.compile(
    f"{START}(?P<cells>[^{START}{ROW_END}]*){ROW_END}(?P<number>\\d+){ROW_END}[ \t]*\n?"
)
ROW_SIGNS = f"{START}|{CELL_END}|{ROW_END}\\d+{ROW_END}"
LEFT_SIGNS = re.compile(ROW_SIGNS)  # of rows that are none
NEAR_EDGES = 60  # twips, a millimetre: edges of rows that are as far apart are one

type CellTexts = tuple[int, list[str]]  # the number of a row's layout, and its cells' texts


@dataclass(slots=True)
class RowLayout:
    """The right edges of a row's cells, and which go on with the one before or above."""

    edges: list[int] = field(default_factory=list)
    beside: list[bool] = field(default_factory=list)
    above: list[bool] = field(default_factory=list)


def sign_rows(source: str) -> tuple[str, list[RowLayout]]:
    """Return a source with signs in its tables, and the layouts that these number."""
    if "\\trowd" not in source:
        return source, []
    signer = _Signer(source.translate(TABLE_SIGNS))
    return "".join(signer.signed()), signer.layouts


class _Signer:
    """Goes through a source once; a layout holds until the next one."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._words = set[str]()
        self._is_in_row = False
        self.layouts = [RowLayout()]

    def signed(self) -> Iterator[str]:
        place = 0
        for token in TOKEN.finditer(self._source):
            sign = self._sign(token["word"] or "", token["number"])
            if sign:
                yield f"{self._source[place : token.start()]}{{}}{sign}"
                place = token.end() + self._source.startswith(" ", token.end())
        yield self._source[place:]

    def _sign(self, word: str, number: str | None) -> str:
        """Take a control word in; return what stands in its place, if anything else does."""
        if word == "trowd":
            self.layouts.append(RowLayout())
            self._words.clear()
        elif word in ("clmrg", "clvmrg"):
            self._words.add(word)
        elif word == "cellx":
            self.layouts[-1].edges.append(int(number or 0))
            self.layouts[-1].beside.append("clmrg" in self._words)
            self.layouts[-1].above.append("clvmrg" in self._words)
            self._words.clear()
        if word in ("trowd", "intbl") and not self._is_in_row:
            self._is_in_row = True
            return START
        if word in ("cell", "nestcell", "nestrow"):
            return CELL_END if word == "cell" else " "
        if word == "row":
            self._is_in_row = False
            return f"{ROW_END}{len(self.layouts) - 1}{ROW_END}\n"
        return ""


def part_tables(text: str) -> Iterator[tuple[str, list[CellTexts]]]:
    """Yield what stands before each table with its rows; what follows the last with none."""
    place, before, rows = 0, "", list[CellTexts]()
    for match in SIGNED_ROW.finditer(text):
        between = text[place : match.start()]
        if between.strip() and rows:
            yield LEFT_SIGNS.sub(" ", before), rows
            before, rows = "", []
        before += between
        cells = match["cells"].split(CELL_END)
        rows.append((int(match["number"]), cells if cells[-1].strip() else cells[:-1]))
        place = match.end()
    yield LEFT_SIGNS.sub(" ", before), rows
    yield LEFT_SIGNS.sub(" ", text[place:]), []


@dataclass(slots=True)
class _Cell:
    text: str
    columns: int
    rows: int = 1


def table_rows(rows: Sequence[CellTexts], layouts: Sequence[RowLayout]) -> list[list[str]]:
    """Return the texts of a table's rows, what is merged in each that it covers."""
    numbers = {number for number, _ in rows}  # rows may share one
    columns = _columns({edge for number in numbers for edge in layouts[number].edges})
    above = dict[int, _Cell]()
    grid = [_row(layouts[number], texts, columns, above) for number, texts in rows]
    spanning = ([SpanningCell(cell.text, cell.rows, cell.columns) for cell in row] for row in grid)
    return even_rows(filled_rows(spanning, 1))


def _columns(edges: set[int]) -> dict[int, int]:
    """Return the number of the column that ends at each edge, counted from 1."""
    columns, number, last = dict[int, int](), 0, -NEAR_EDGES
    for edge in sorted(edges):
        number, last = (number, last) if edge - last < NEAR_EDGES else (number + 1, edge)
        columns[edge] = number
    return columns


def _row(
    layout: RowLayout, texts: Sequence[str], columns: dict[int, int], above: dict[int, _Cell]
) -> list[_Cell]:
    """Return a row's own cells; those that go on from `above`, by their first column, grow."""
    row, left = list[_Cell](), 0
    last: _Cell | None = None
    for at, text in enumerate(texts):
        is_laid = at < len(layout.edges)
        right = max(columns[layout.edges[at]] if is_laid else 0, left + 1)
        if last and is_laid and layout.beside[at]:
            last.columns += right - left if row and last is row[-1] else 0
        elif is_laid and layout.above[at] and left in above:
            last = above[left]
            last.rows += 1
        else:
            last = above[left] = _Cell("", right - left)
            row.append(last)
        last.text = f"{last.text} {text}".strip()
        left = right
    return row


SIGNS = re.compile(f"({PLACE.pattern.replace('(', '(?:')}|{ROW_SIGNS}|\n)")
BROKEN_RTF = "is no RTF, or a broken one: open it and save it again"
PART_END = "\x06"
CODEPAGE = re.compile(r"\\ansicpg\d{1,5}")
FONT = re.compile(r"(\\f\d{1,5})(?!\d)")
CHARACTER_SET = "\\fcharset"
INFO = re.compile(r"\{\\(title|author|subject)(?: |(?=\\))([^{}]{1,1000})\}")


def load(file: Path, named: str, options: LoadOptions) -> LoadedText:
    """Read an RTF file. Raises IngestError."""
    return read(read_bytes(file), named, options)


def read(data: bytes, named: str, options: LoadOptions) -> LoadedText:
    """Read RTF. Raises IngestError."""
    content = data.removeprefix(BOM_UTF8).decode("latin-1")  # all else is escaped
    if not content.lstrip().startswith("{\\rtf"):
        raise IngestError(BROKEN_RTF)
    marks = Marks(options)
    try:
        content = _with_character_sets(content)
        built = _Reader(content, marks).built
        info = {
            key: " ".join(_plain("{\\rtf1 " + value + "}").split())
            for key, value in INFO.findall(content)
        }
    except (ValueError, LookupError, TypeError, AttributeError):
        raise IngestError(BROKEN_RTF) from None
    title = info.pop("title", "") or named
    metadata = marks.flagged({key: value for key, value in info.items() if value})
    return LoadedText(built.text, RTF_TYPE, title, tables=tuple(built.tables), metadata=metadata)


FROM_HTML = re.compile(r"\\fromhtml1(?!\d)")
HTML_TAG = re.compile(r"\\htmltag(?![a-z])")


def enclosed_page(data: bytes) -> str | None:
    """Return the HTML that an RTF was made of, and holds (MS-OXRTFEX); None if it was not."""
    content = data.decode("latin-1")
    if not content.lstrip().startswith("{\\rtf") or not FROM_HTML.search(content):
        return None
    return _plain("".join(_page_source(_with_character_sets(content))))


def _page_source(content: str) -> Iterator[str]:
    """Yield an RTF whose text is the HTML: its tags shown, what stands for them left out.

    Fonts stay, which say how letters are read, and groups, which say where a font ends.
    """
    place, is_left_out, around = 0, False, list[bool]()
    for token in TOKEN.finditer(content):
        sign, word = token[0], token["word"]
        yield "" if is_left_out else content[place : token.start()]
        place = token.end()
        if sign in "{}":
            is_left_out = _entered(sign, is_left_out, around)
            yield sign
        elif word in ("htmlrtf", "htmltag"):
            is_left_out = token["number"] != "0" if word == "htmlrtf" else is_left_out
            place += content.startswith(" ", place)
        elif word == "f":
            yield f"{sign} "
            place += content.startswith(" ", place)
        elif not is_left_out and not (sign == "\\*" and HTML_TAG.match(content, place)):
            yield sign
    yield content[place:]


def _entered(sign: str, is_left_out: bool, around: list[bool]) -> bool:
    """Return whether what follows a brace is left out: behind a group as before it."""
    if sign == "{":
        around.append(is_left_out)
        return is_left_out
    return around.pop() if around else False


def _with_character_sets(content: str) -> str:
    r"""Say of each font without a character set that it has the document's, which is 1.

    The library takes the next \fcharset that it finds for the font's, though another's it be.
    """
    fonts = font_table_group(content)  # type: ignore[no-untyped-call]
    before, *parts = FONT.split(fonts)  # fonts' numbers, and what is said of each
    said = (
        f"{font}{'' if CHARACTER_SET in rest else f'{CHARACTER_SET}1'}{rest}"
        for font, rest in batched(parts, 2)
    )
    return content.replace(fonts, before + "".join(said), 1)


class _Reader:
    """Puts the running text together with its parts."""

    def __init__(self, content: str, marks: Marks) -> None:
        self.built = TextBuilder()
        self._marks = marks
        self._seen = set[str]()
        self._lines = list[str]()
        self._after = list[str]()
        body, self._parts = part_rtf(content)
        self._texts = self._part_texts(content)
        footers = list[str]()
        body, layouts = sign_rows(body)
        for text, rows in part_tables(self._shown(_plain(body))):
            for line in [*text.split("\n"), ""]:
                self._add_line(line, footers)
            self._add_table(rows, layouts, footers)
        for footer in footers:
            self.built.paragraph(footer)

    def _part_texts(self, content: str) -> list[str]:
        """Return the texts of the parts, in the encoding and the fonts of the whole."""
        sources = PART_END.join("{" + part.source + "}" for part in self._parts)
        encoding = "".join(CODEPAGE.findall(content)[:1])
        fonts = font_table_group(content)  # type: ignore[no-untyped-call]
        whole = f"{{\\rtf1{encoding}{fonts} {sources}}}"
        return [self._shown(text).strip() for text in _plain(whole).split(PART_END)]

    def _shown(self, text: str) -> str:
        """Leave out what is hidden, line by line, unless it is kept."""

        def left(passage: re.Match[str]) -> str:
            pieces = enumerate(SIGNS.split(passage[1]))  # every second one is a sign
            return "".join(
                self._hidden_sign(piece) if at % 2 else self._marks.passage(piece)
                for at, piece in pieces
            )

        return HIDDEN.sub(left, text)

    def _hidden_sign(self, sign: str) -> str:
        """Return what stands in a hidden passage for a part; a note goes with the passage."""
        place = PLACE.fullmatch(sign)
        is_note = place is not None and self._parts[int(place[1])].kind == "footnote"
        return "" if is_note and not self._marks.keeps_hidden(PASSAGE) else sign

    def _add_line(self, line: str, footers: list[str]) -> None:
        """Add a line to its paragraph, which ends with a blank one, or where a part stands."""
        before = list[str]()

        def placed(place: re.Match[str]) -> str:
            return self._placed(int(place[1]), before, footers)

        text = PLACE.sub(placed, line)
        if before or not text.strip():
            self._end_paragraph()
        for header in before:
            self.built.paragraph(header)
        self._lines += [text] if text.strip() else []
        if self._after:
            self._end_paragraph()

    def _add_table(
        self, rows: Sequence[CellTexts], layouts: Sequence[RowLayout], footers: list[str]
    ) -> None:
        """Add a table, the headers in its cells before it and what was said of it behind."""
        before = list[str]()

        def shown(cell: str) -> str:
            text = PLACE.sub(lambda place: self._placed(int(place[1]), before, footers), cell)
            return " ".join(text.split())

        texts = [(number, list(map(shown, cells))) for number, cells in rows]
        lines = [row for row in table_rows(texts, layouts) if any(row)]
        for header in before:
            self.built.paragraph(header)
        if lines:
            self.built.markdown_table(lines, int(len(lines) > 1), None)
        self._end_paragraph()

    def _end_paragraph(self) -> None:
        if self._lines:
            self.built.paragraph("\n".join(self._lines))
        for text in self._after:
            self.built.paragraph(text)
        self._lines, self._after = [], []

    def _placed(self, number: int, headers: list[str], footers: list[str]) -> str:
        """Return what stands at a part's place; put what stands elsewhere in its list."""
        part, text = self._parts[number], self._texts[number]
        if part.kind == "picture":
            said = described(text)
            return f" {within(picture(said))}" if said else ""
        if part.kind == "box":
            self._after += [text] if text else []
            return ""
        if part.kind == "footnote":
            return f" [{' '.join(text.split())}]" if text else ""
        if part.kind == "annotation":
            author = " ".join(_plain("{\\rtf1 " + part.author + "}").split())
            if comment := self._marks.comment(text, author, part.day):
                self._after.append(comment)
        elif any(map(str.isalpha, text)) and f"{part.kind} {text}" not in self._seen:
            self._seen.add(f"{part.kind} {text}")
            margins = headers if part.kind == "header" else footers
            margins.append(f"{part.kind.title()}: {text}")
        return ""


def _plain(content: str) -> str:
    content = FIELD_CODE.sub(r"\*\n\\fldinst", content)
    return storable_text(rtf_to_text(content, errors="replace"))  # type: ignore[no-untyped-call]
