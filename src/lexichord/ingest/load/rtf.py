"""RTF: its text, with its tables (`rtf_tables`) and with what `rtf_parts` takes out."""

import re
from codecs import BOM_UTF8
from collections.abc import Sequence
from itertools import batched
from pathlib import Path

from striprtf.striprtf import font_table_group, rtf_to_text

from lexichord.errors import IngestError
from lexichord.ingest.load.kinds import RTF_TYPE
from lexichord.ingest.load.marks import PASSAGE, Marks, described, picture, within
from lexichord.ingest.load.options import LoadOptions
from lexichord.ingest.load.rtf_parts import HIDDEN, PLACE, part_rtf
from lexichord.ingest.load.rtf_tables import (
    ROW_SIGNS,
    CellTexts,
    RowLayout,
    part_tables,
    sign_rows,
    table_rows,
)
from lexichord.ingest.load.text import TextBuilder, read_bytes, storable_text
from lexichord.types import LoadedText

SIGNS = re.compile(f"({PLACE.pattern.replace('(', '(?:')}|{ROW_SIGNS}|\n)")
BROKEN_RTF = "is no RTF, or a broken one: open it and save it again"
PART_END = "\x06"
CODEPAGE = re.compile(r"\\ansicpg\d{1,5}")
FONT = re.compile(r"(\\f\d{1,5})(?!\d)")
CHARACTER_SET = "\\fcharset"
INFO = re.compile(r"\{\\(title|author|subject)(?: |(?=\\))([^{}]{1,1000})\}")


def load(file: Path, named: str, options: LoadOptions) -> LoadedText:
    """Read an RTF file. Raises IngestError."""
    content = read_bytes(file).removeprefix(BOM_UTF8).decode("latin-1")  # all else is escaped
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
    return storable_text(rtf_to_text(content, errors="replace"))  # type: ignore[no-untyped-call]
