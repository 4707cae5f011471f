"""PDF: text in reading order, without what repeats at the edges of the pages.

Characters become words in `words`; headers, footers and page numbers go in `margins`; columns,
paragraphs and tables are found in `order`. Here pages, titles and hyphenated words are joined.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pypdfium2
from pypdfium2 import raw

from lexichord.errors import IngestError
from lexichord.ingest.load.kinds import PDF_TYPE
from lexichord.ingest.load.pdf.margins import without_margins
from lexichord.ingest.load.pdf.order import PageLine, reading_order
from lexichord.ingest.load.pdf.words import LINE_END_HYPHEN, PdfPiece, read_pieces
from lexichord.ingest.load.text import DROPPED_FLAG, storable_text
from lexichord.types import LoadedText

if not hasattr(pypdfium2.PdfDocument, "__enter__"):  # 4, which vechord pins
    raise ModuleNotFoundError(name="pypdfium2 5")

MEANINGLESS_TITLE = re.compile(
    r"\W*|\W*(untitled|anonymous|unspecified|document\d*)\W*", re.IGNORECASE
)
PROGRAM_TITLE_PART = re.compile(r"^Microsoft \w+ - |\.(docx?|pdf|rtf|odt|indd|tex)$", re.IGNORECASE)
COMPOUND_WORD = re.compile(r"\w+-\w+")
OPEN_SENTENCE = re.compile(r"[^.:;!?]\Z")  # a sentence that goes on


def load(file: Path, named: str) -> LoadedText:
    """Read a PDF. Raises IngestError."""
    try:
        with file.open("rb") as stream, pypdfium2.PdfDocument(stream) as document:
            pages = [_pieces(document, index) for index in range(len(document))]
            title = _title(document.get_metadata_value("Title"), named)
    except OSError as error:
        raise IngestError(f"cannot be read: {error.strerror}") from error
    except pypdfium2.PdfiumError as error:
        raise IngestError(_reason(error)) from None
    if not any(pages):
        raise IngestError("holds no text: it is probably a scan, which needs OCR first")
    return _loaded(pages, title)


def _reason(error: pypdfium2.PdfiumError) -> str:
    if error.err_code in (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY):
        return "is encrypted: save it without a password"
    return "is no PDF, or a broken one: open it and save it again"


def _pieces(document: pypdfium2.PdfDocument, index: int) -> list[PdfPiece]:
    page = document[index]
    try:
        return read_pieces(page)
    finally:
        page.close()


def _title(written: str, named: str) -> str:
    """Return the title in the file's metadata, unless a program made it up."""
    title = PROGRAM_TITLE_PART.sub("", storable_text(written).strip())
    return named if MEANINGLESS_TITLE.fullmatch(title) else title


def _loaded(pages: Sequence[Sequence[PdfPiece]], title: str) -> LoadedText:
    lines = [reading_order(page) for page in without_margins(pages)]
    _open_pages(lines)
    _join_words([line for page in lines for line in page])
    flags = _flags(pages, lines)
    text, starts = _assembled(lines)
    return LoadedText(
        text, PDF_TYPE, title, pages=starts, metadata={"flags": flags} if flags else {}
    )


def _open_pages(pages: Sequence[Sequence[PageLine]]) -> None:
    """Part pages by a blank line, except in the midst of a sentence."""
    filled = [page for page in pages if page]
    for before, page in pairwise(filled):
        goes_on = OPEN_SENTENCE.search(before[-1].text) and page[0].text[:1].islower()
        page[0].before = "\n" if goes_on else "\n\n"
    for page in filled[:1]:
        page[0].before = ""


def _join_words(lines: Sequence[PageLine]) -> None:
    """Put together words that a line's end parts; one that has a hyphen elsewhere keeps it."""
    compounds = set(COMPOUND_WORD.findall(" ".join(line.text for line in lines)))
    for line, below in pairwise(lines):
        if not line.text.endswith(LINE_END_HYPHEN):
            continue
        start, end = re.search(r"\w*\ufffe$", line.text), re.match(r"\w*", below.text)
        whole = f"{start[0][:-1] if start else ''}-{end[0] if end else ''}"
        line.text = line.text[:-1] + ("-" if whole in compounds else "")
        below.before = ""


def _flags(pages: Sequence[Sequence[PdfPiece]], lines: Sequence[Sequence[PageLine]]) -> list[str]:
    flags = list[str]()
    if empty := sum(1 for page in pages if not page):
        flags.append(f"{empty} of {len(pages)} pages hold no text, which may be scans")
    texts = [line for page in lines for line in page]
    for line in texts:
        kept = storable_text(line.text)
        if kept != line.text and DROPPED_FLAG not in flags:
            flags.append(DROPPED_FLAG)
        line.text = kept.replace(LINE_END_HYPHEN, "-")
    return flags


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
