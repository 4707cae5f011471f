"""PDF: text in reading order, without what repeats at the edges of the pages.

Characters become words in `words`; headers, footers and page numbers go in `page`; columns,
paragraphs and tables are found in `order`. Here pages, titles and hyphenated words are joined.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pypdfium2
from pypdfium2 import raw

from lexichord.errors import IngestError
from lexichord.ingest.load import PDF_TYPE
from lexichord.ingest.load.marks import LoadOptions, Marks
from lexichord.ingest.load.pdf.borderless import Known
from lexichord.ingest.load.pdf.page import (
    PdfPage,
    figure_descriptions,
    marked_comments,
    read_comments,
    read_page,
    without_margins,
)
from lexichord.ingest.load.pdf.reading_order import (
    PageLine,
    fill_ligatures,
    join_words,
    lines_in_order,
)
from lexichord.ingest.load.pdf.words import LINE_END_HYPHEN, UNKNOWN_LETTER, recognize
from lexichord.ingest.load.text import DROPPED_FLAG, storable_text
from lexichord.types import LoadedText, Table

if not hasattr(pypdfium2.PdfDocument, "__enter__"):  # 4, which vechord pins
    raise ModuleNotFoundError(name="pypdfium2 5")

MEANINGLESS_TITLE = re.compile(
    r"\W*|\W*(untitled|anonymous|unspecified|document\d*)\W*", re.IGNORECASE
)
PROGRAM_TITLE_PART = re.compile(r"^Microsoft \w+ - |\.(docx?|pdf|rtf|odt|indd|tex)$", re.IGNORECASE)
# The longest manuals and court files have some 7,000; more with words on them take longer to read
# than a reader has. A page may be named any number of times, in six bytes each.
MAX_PAGES = 20_000
OPEN_SENTENCE = re.compile(r"[^.:;!?]\Z")  # a sentence that goes on


def load(file: Path, named: str, options: LoadOptions) -> LoadedText:
    """Read a PDF. Raises IngestError."""
    try:
        with (
            file.open("rb") as stream,
            pypdfium2.PdfDocument(stream, password=options.password) as document,
        ):
            _check_length(document)
            if document.get_formtype() != raw.FORMTYPE_NONE:
                document.init_forms()
            marks = Marks(options)
            pages = [_page(document, index, options.ocr, marks) for index in range(len(document))]
            title = _title(document.get_metadata_value("Title"), named)
    except OSError as error:
        raise IngestError(f"cannot be read: {error.strerror}") from error
    except pypdfium2.PdfiumError as error:
        raise IngestError(_reason(error, options)) from None
    if not any(page.all_pieces for page in pages):
        raise IngestError("holds no text: it is probably a scan, which needs OCR")
    loaded = _loaded(pages, title)
    return replace(loaded, metadata=marks.flagged(loaded.metadata))


def _check_length(document: pypdfium2.PdfDocument) -> None:
    if len(document) > MAX_PAGES:
        raise IngestError(f"has more than {MAX_PAGES:,} pages: split it")


def _reason(error: pypdfium2.PdfiumError, options: LoadOptions) -> str:
    if error.err_code == raw.FPDF_ERR_SECURITY:
        return "is encrypted in an unknown way: save it without a password"
    if error.err_code == raw.FPDF_ERR_PASSWORD:
        wrong = "the password that was given does not open it"
        # Whoever sends a file over HTTP is told this, too, and has no option of a command.
        missing = "save it without a password, or set LEXICHORD_FILE_PASSWORD where lexichord runs"
        return f"is encrypted: {wrong if options.password else missing}"
    return "is no PDF, or a broken one: open it and save it again"


def _page(document: pypdfium2.PdfDocument, index: int, ocr: str | None, marks: Marks) -> PdfPage:
    """Read a page; one without text, or with cipher, is recognized where there is OCR."""
    page = _written(document, index, marks)
    if ocr is None or (page.all_pieces and not _is_cipher(page)):
        return page
    with closing(document[index]) as drawn:
        is_blank = raw.FPDFPage_CountObjects(drawn) == 0
        recognized = None if is_blank else recognize(drawn, ocr)
    if recognized is None:
        return page
    return PdfPage(recognized.pieces, confidence=recognized.confidence, notes=page.notes)


def _written(document: pypdfium2.PdfDocument, index: int, marks: Marks) -> PdfPage:
    """Read a page; what a form's fields hold becomes text of it, which another look then shows."""
    with closing(document[index]) as page:
        comments = read_comments(page)
        figures = list(figure_descriptions(page)) if raw.FPDFCatalog_IsTagged(document) else []
        is_form = document.formenv and raw.FPDFPage_GetAnnotCount(page)
        read = None if is_form else read_page(page)
        if read is None:
            page.flatten()
    if read is None:
        with closing(document[index]) as page:
            read = read_page(page)
    shown = "".join(piece.text for piece in read.all_pieces) if comments else ""
    read.notes = [*figures, *marked_comments(comments, shown, marks)]
    return read


def _title(written: str, named: str) -> str:
    """Return the title in the file's metadata, unless a program made it up."""
    title = PROGRAM_TITLE_PART.sub("", storable_text(written).strip())
    return named if MEANINGLESS_TITLE.fullmatch(title) else title


def _loaded(pages: Sequence[PdfPage], title: str) -> LoadedText:
    heads = dict[str, int]()
    lines = [_lines(page, heads) for page in without_margins(pages)]
    _open_pages(lines)
    _continue_tables(lines)
    _part_tables(lines)
    join_words([line for page in lines for line in page])
    fill_ligatures([line for page in lines for line in page])
    _add_notes(pages, lines)
    flags = _flags(pages, lines)
    text, starts = _assembled(lines)
    tables = tuple(_tables([line for page in lines for line in page]))
    metadata: dict[str, Any] = {"flags": flags} if flags else {}
    if sure := {str(n): page.confidence for n, page in enumerate(pages, 1) if page.confidence}:
        metadata["ocr_confidence"] = {number: round(share, 3) for number, share in sure.items()}
    return LoadedText(text, PDF_TYPE, title, tables=tables, pages=starts, metadata=metadata)


def _lines(page: PdfPage, heads: dict[str, int]) -> list[PageLine]:
    """Return the lines of a page; what runs in another direction comes last, by itself."""
    lines = lines_in_order(page.pieces, Known(page.rules, heads))
    for aside in page.asides:
        beside = lines_in_order(aside, Known())
        for line in beside[:1]:
            line.before = "\n\n"
        lines += beside
    return lines


def _open_pages(pages: Sequence[Sequence[PageLine]]) -> None:
    """Part pages by a blank line, except in the midst of a sentence."""
    filled = [page for page in pages if page]
    for before, page in pairwise(filled):
        goes_on = OPEN_SENTENCE.search(before[-1].text) and page[0].text[:1].islower()
        page[0].before = "\n" if goes_on else "\n\n"
    for page in filled[:1]:
        page[0].before = ""


def _continue_tables(pages: Sequence[list[PageLine]]) -> None:
    """Make one of a table that goes on at the top of the next page; its header may be repeated."""
    header = ""
    for page, following in pairwise([page for page in pages if page]):
        openings = [line.text for line in page if line.part == "header" and line.before != "\n"]
        header = openings[-1] if openings else header
        is_table = page[-1].part == "row" and following[0].part == "header"
        if is_table and len(following) > 2 and _amount(page[-1]) == _amount(following[0]):
            del following[0 if following[0].text == header else 1 : 2]
            following[0].part, following[0].before = "row", "\n"
            if whole := _whole_row(page[-1].text, following[0].text):
                page[-1].text = whole
                del following[0]


def _whole_row(above: str, below: str) -> str:
    """Return a row that a page's end cuts in two, its second part without a first cell; else ""."""
    cells, others = (row.removeprefix("|").removesuffix("|").split(" |") for row in (above, below))
    rest = [cell.strip() for cell in others]
    if rest[0] or not all(cell[0].islower() for cell in rest if cell) or len(cells) != len(rest):
        return ""
    whole = (" ".join(filter(None, pair)) for pair in zip(map(str.strip, cells), rest, strict=True))
    return "| " + " | ".join(whole) + " |"


def _add_notes(pages: Sequence[PdfPage], lines: Sequence[list[PageLine]]) -> None:
    """Put what was said about each page and of its pictures below its text, apart from the next."""
    is_apart = False
    for page, written in zip(pages, lines, strict=True):
        if is_apart and written:
            written[0].before = "\n\n"
        is_apart = bool(page.notes) or (is_apart and not written)
        written += [PageLine(note, "\n\n") for note in page.notes]
    for first in [page[0] for page in lines if page][:1]:
        first.before = ""


def _amount(row: PageLine) -> int:
    """Count the cells of a table's row."""
    return row.text.count(" | ")


def _part_tables(pages: Sequence[Sequence[PageLine]]) -> None:
    """Put a blank line after each table."""
    for line, below in pairwise([line for page in pages for line in page]):
        if line.part and not (below.part and below.before == "\n"):
            below.before = "\n\n"


def _tables(lines: Sequence[PageLine]) -> Iterator[Table]:
    """Yield where tables stand in the text of the lines."""
    place = start = header_end = 0
    for line, below in zip(lines, [*lines[1:], None], strict=False):  # there may be no lines
        opens = line.part == "header" and line.before != "\n"
        place += len(line.before)
        start = place if opens else start
        place += len(line.text)
        if line.part == "header" and not opens:
            header_end = place + 1
        if line.part and (below is None or below.before != "\n"):
            yield Table(start, place, min(header_end, place))


def _flags(pages: Sequence[PdfPage], lines: Sequence[Sequence[PageLine]]) -> list[str]:
    flags = list[str]()
    if empty := [number for number, page in enumerate(pages, 1) if not page.all_pieces]:
        flags.append(f"{_named(empty)} of {len(pages)}: no text, probably scans, which need OCR")
    if cipher := [number for number, page in enumerate(pages, 1) if _is_cipher(page)]:
        flags.append(f"{_named(cipher)} of {len(pages)}: cipher, the font does not say its letters")
    texts = [line for page in lines for line in page]
    for line in texts:
        kept = storable_text(line.text)
        if kept != line.text and DROPPED_FLAG not in flags:
            flags.append(DROPPED_FLAG)
        line.text = kept.replace(LINE_END_HYPHEN, "-")
    return flags


def _is_cipher(page: PdfPage) -> bool:
    return is_cipher("\n".join(piece.text for piece in page.all_pieces), page.unknown)


def _named(numbers: Sequence[int]) -> str:
    """Return pages in words, as in "pages 2–4, 7"."""
    runs = list[list[int]]()
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    parts = (f"{run[0]}–{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in runs)
    return f"page{'s' if len(numbers) > 1 else ''} {', '.join(parts)}"


def _assembled(pages: Sequence[Sequence[PageLine]]) -> tuple[str, tuple[int, ...]]:
    """Return the text and where each page starts in it."""
    parts = list[str]()
    starts = list[int]()
    length = 0
    for page in pages:
        starts.append(length + (len(page[0].before) if page else 0))
        for line in page:
            parts.append(line.before + line.text)
            length += len(parts[-1])
    return "".join(parts), tuple(starts)


MIN_LETTERS = 300  # of a page's different words, or nothing is told of it
MIN_VOWEL_SHARE = 0.5  # of the letters that behave like vowels are vowels; of ciphers about .2
USUAL_VOWELS = (0.33, 0.5)  # of all letters, in European languages
MIN_SIGNS = 100  # of a page
MAX_MEANINGLESS_SHARE = 0.3  # of a page's signs: unknown glyphs, private characters, odd marks
LATIN_WORD = re.compile(r"[a-z]{3,}")
VOWELS = frozenset("aeiouy")
# No language writes with these in the place of letters; dot leaders and rules are not among them.
MEANINGLESS = re.compile(rf"[\ue000-\uf8ff{UNKNOWN_LETTER}!\"#$%&'()*+,/:;<>?@\[\\\]^`{{}}~]")


def is_cipher(text: str, unknown: int) -> bool:
    """Return whether a page's text, with so many glyphs of unknown meaning beside, is cipher."""
    signs = len("".join(text.split())) + unknown
    meaningless = unknown + len(MEANINGLESS.findall(text))
    if signs >= MIN_SIGNS and meaningless > MAX_MEANINGLESS_SHARE * signs:
        return True
    words = set(LATIN_WORD.findall(_plain_letters(text)))
    letters = Counter("".join(words))
    amount = letters.total()
    least, most = USUAL_VOWELS
    if amount < MIN_LETTERS or least < sum(letters[vowel] for vowel in VOWELS) / amount < most:
        return False
    behaving = _vowels(words)
    found = sum(letters[letter] for letter in behaving)
    real = sum(letters[letter] for letter in behaving & VOWELS)
    return real < MIN_VOWEL_SHARE * found


def _plain_letters(text: str) -> str:
    """Return a text in small letters without accents."""
    parted = unicodedata.normalize("NFD", text.lower())
    return "".join(sign for sign in parted if not unicodedata.combining(sign))


def _vowels(words: Collection[str]) -> set[str]:
    """Return the letters that stand beside others rather than beside each other (Sukhotin)."""
    beside = Counter[tuple[str, str]]()
    for word in words:
        for pair in pairwise(word):
            if pair[0] != pair[1]:
                beside[pair] += 1
                beside[pair[::-1]] += 1
    rest = Counter[str]()
    for (first, _), amount in beside.items():
        rest[first] += amount
    vowels = set[str]()
    while rest and (best := max(rest, key=rest.__getitem__)) and rest[best] > 0:
        vowels.add(best)
        del rest[best]
        for letter in rest:
            rest[letter] -= 2 * beside[letter, best]
    return vowels
