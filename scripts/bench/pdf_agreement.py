"""Compare what is read of real PDFs with pdfium's own words, and tables with those marked by hand.

python scripts/bench/pdf_agreement.py [FOLDER]

Words are compared in their order inside lines, tables cell by cell (pdf_tables.json). Exits
with 1 where less than is measured today agrees.
"""

import json
import math
import re
import sys
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

import pypdfium2
from pypdfium2 import raw

from lexichord.errors import IngestError
from lexichord.ingest.chunk.splitter import split
from lexichord.ingest.load import load
from lexichord.types import LoadedText

FILES = Path(__file__).parents[3] / "shared" / "data" / "real-files"
MARKED = json.loads(Path(__file__).with_name("pdf_tables.json").read_text())
MIN_CELL_SHARE = 0.9  # of all cells, over all tables
UNREAD = re.compile(r"is encrypted: |is no PDF|holds no text: it is probably a scan")
MIN_WORD_SHARE = 0.98  # of a file's words, of which some are few
MIN_TRIGRAM_SHARE = 0.975  # of a file's three words in a row: below no other reader's by .03
MIN_MEAN_TRIGRAM_SHARE = 0.995
MIN_LIGATURE_SHARE = 0.995  # of the words with fi, ff, fl, over all files
MAX_GAP = 1.2  # of the height: farther apart are cells of a table, or columns
HYPHEN = "\ufffe"
WORD = re.compile(r"\w+")
LIGATURE = re.compile(r"f[fil]")


@dataclass
class Agreement:
    """The shares of pdfium's words, and of its trigrams, that were read."""

    words: float
    trigrams: float
    ligatures: int
    kept_ligatures: int


def boxes(text: pypdfium2.PdfTextPage) -> Iterator[tuple[str, tuple[float, ...] | None]]:
    """Yield each character with its box and direction; None for white space."""
    box = raw.FS_RECTF()
    for index in range(text.count_chars()):
        sign = chr(raw.FPDFText_GetUnicode(text, index))
        if raw.FPDFText_IsHyphen(text, index) == 1:
            sign = HYPHEN
        if sign.isspace() or not raw.FPDFText_GetLooseCharBox(text, index, box):
            yield sign, None
        else:
            quarter = round(raw.FPDFText_GetCharAngle(text, index) / (math.pi / 2)) % 4
            yield sign, (box.left, box.bottom, box.right, box.top, quarter)


def is_apart(one: Sequence[float], other: Sequence[float]) -> bool:
    """Return whether two letters that follow each other are of different lines or cells."""
    across = max(other[0] - one[2], one[0] - other[2])
    along = max(other[1] - one[3], one[1] - other[3])
    is_sideways = other[4] % 2 == 1
    height = other[2] - other[0] if is_sideways else other[3] - other[1]
    gap, step = (along, across) if is_sideways else (across, along)
    return one[4] != other[4] or gap > MAX_GAP * height or step > 0.3 * height


def segments(page: pypdfium2.PdfPage) -> list[str]:
    """Return pdfium's lines, cut at wide gaps, of those that run as most of the page does."""
    found: list[tuple[float, str]] = []
    line, last = "", None
    with closing(page.get_textpage()) as text:
        for sign, box in [*boxes(text), ("\n", None)]:
            if last and (sign in "\r\n" or (box and is_apart(last, box))):
                found.append((last[4], line))
                line, last = "", None
            line, last = line + sign, box or last
    usual = Counter(direction for direction, _ in found).most_common(1)
    return [line for direction, line in found if direction == usual[0][0]]


def whole_words(lines: Iterable[str]) -> Iterator[list[str]]:
    """Yield runs of words, without those that the end of a line parts."""
    is_parted = False
    for line in lines:
        own = re.sub(r"^\s*\w*", "", line) if is_parted else line
        is_parted = line.rstrip().endswith(HYPHEN)
        for run in re.sub(rf"\w*{HYPHEN}\w*", "\n", own).split("\n"):
            yield words(run)


def words(text: str) -> list[str]:
    return WORD.findall(unicodedata.normalize("NFKC", text))


def trigrams(run: Sequence[str]) -> list[tuple[str, ...]]:
    return list(zip(run, run[1:], run[2:], strict=False))


def reference(file: Path) -> list[list[str]]:
    """Return the runs of words in a file's lines, but lines that stand on three pages or more."""
    with pypdfium2.PdfDocument(file) as document:
        pages = [segments(page) for page in document]
    keys = [[re.sub(r"\d+", "#", line.strip()) for line in page] for page in pages]
    seen = Counter(key for page in keys for key in set(page))
    kept = [
        line if seen[key] < 3 else ""
        for page, names in zip(pages, keys, strict=True)
        for line, key in zip(page, names, strict=True)
    ]
    return list(whole_words(kept))


def share(wanted: Sequence[object], found: Sequence[object]) -> float:
    amounts = Counter(found)
    kept = sum(min(amount, amounts[item]) for item, amount in Counter(wanted).items())
    return kept / len(wanted) if wanted else 1.0


def agreement(file: Path) -> Agreement | None:
    """Compare a file's text with pdfium's; None where it cannot be read, for a reason."""
    try:
        loaded = load(file)
    except IngestError as error:
        if UNREAD.match(str(error)):
            return None
        raise
    for chunk in split(loaded):
        assert loaded.text[chunk.start : chunk.end] == chunk.content
    runs = reference(file)
    ours = words(re.sub(r"<br>|\|", " ", loaded.text))
    wanted = [word for run in runs for word in run]
    ligatures = [word for word in wanted if LIGATURE.search(word)]
    return Agreement(
        share(wanted, ours),
        share([three for run in runs for three in trigrams(run)], trigrams(ours)),
        len(ligatures),
        round(share(ligatures, ours) * len(ligatures)),
    )


def cells(line: str) -> list[str]:
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def tables_of(loaded: LoadedText, page: int) -> Iterator[list[list[str]]]:
    """Yield the rows of the tables that begin on a page, without the lines below headers."""
    for table in loaded.tables:
        if bisect_right(loaded.pages, table.start) == page:
            rows = [cells(line) for line in loaded.text[table.start : table.end].split("\n")]
            yield [rows[0], *rows[2:]]


def plain(cell: str) -> str:
    """Leave out what a reader does not see: dot leaders, the kind and amount of white space."""
    return " ".join(re.sub(r"\.{4,}", "", cell).split())


def right_cells(wanted: Sequence[Sequence[str]], found: Sequence[Sequence[str]]) -> int:
    """Count the cells that stand in a row with their neighbours, and in their column."""
    total = 0
    for row in wanted:
        total += max(
            (
                sum(
                    plain(cell) == plain(other) for cell, other in zip(row, candidate, strict=False)
                )
                for candidate in found
            ),
            default=0,
        )
    return total


def tables_agree(files: dict[str, Path]) -> bool:
    """Print how many cells of each marked table are right; return whether enough are."""
    kept = amount = 0
    for table in MARKED:
        found = list(tables_of(load(files[table["file"]]), table["page"]))
        best = max((right_cells(table["cells"], rows) for rows in found), default=0)
        of = sum(map(len, table["cells"]))
        print(f"{table['file']}: {best} of {of} cells")
        kept, amount = kept + best, amount + of
    return kept >= MIN_CELL_SHARE * amount


def words_agree(files: dict[str, Path]) -> bool:
    """Print which files differ from pdfium's words; return whether few enough do."""
    results = {name: agreement(file) for name, file in files.items()}
    read = {name: result for name, result in results.items() if result}
    torn = {
        name: result
        for name, result in read.items()
        if result.words < MIN_WORD_SHARE or result.trigrams < MIN_TRIGRAM_SHARE
    }
    shared = mean(result.trigrams for result in read.values())
    kept = sum(result.kept_ligatures for result in read.values())
    ligatures = sum(result.ligatures for result in read.values())
    print(f"{len(read)} of {len(files)} files read, trigrams {shared:.4f}, torn {torn}")
    return (
        len(read) >= 0.85 * len(files)
        and not torn
        and shared >= MIN_MEAN_TRIGRAM_SHARE
        and kept >= MIN_LIGATURE_SHARE * ligatures
    )


def main() -> None:
    """Exit with 1 if too little agrees."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FILES
    files = {file.name: file for file in sorted(folder.rglob("*.pdf"))}
    if not files:
        sys.exit(f"pdf_agreement: no PDF in {folder}: name a folder of them")
    agree = [words_agree(files), tables_agree(files)]
    sys.exit(not all(agree))


if __name__ == "__main__":
    main()
