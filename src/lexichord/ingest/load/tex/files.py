"""What a TeX file takes in from other files of TeX."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from lexichord.ingest.load.nearby import MAX_FILES, NearbyFiles
from lexichord.ingest.load.tex.mouth import PACKAGE_ENDING, Source

ENDINGS = (".tex", ".ltx", ".latex", ".sty", ".bbl", ".tikz", ".pgf")
TAKING_IN = re.compile(
    r"\\(?:input|include|subfile|(?:sub)?import\s*\{(?P<folder>[^{}]{0,200})\}|usepackage"
    r"|RequirePackage)\s*(?:\[[^\]]{0,1000}\])?\s*\{?(?P<names>[^{}\s\\%]{1,1000})"
)
# A name that macros make, or a command that is given another name.
COMPUTED = re.compile(
    r"\\(?:input|include|subfile|(?:sub)?import|usepackage|RequirePackage)(?![A-Za-z@])"
    r"\s*(?:\[[^\]]{0,1000}\])?(?:\{[^{}\\#%]{0,1000}[\\#]|\s*[\\}])"
)
TRIED = ("", ".tex", ".sty")


def nearby_files(file: Path) -> NearbyFiles:
    """Return the files that one of TeX may take in."""
    return NearbyFiles(file.parent, ENDINGS)


def follow(
    files: NearbyFiles, name: str, opened: Sequence[Source], tried: Sequence[str]
) -> Source | None:
    """Return a file to read; None where it is not taken in."""
    found = files.read(name, [source.path for source in opened if source.path], tried)
    if found is None:
        return None
    source = Source(plain_lines(found[0]), found[1])
    source.takes_at(found[1].suffix == PACKAGE_ENDING)
    return source


def taken_in_by_tex(file: Path) -> str:
    """Return a digest of the files that one of TeX may take in; "" where it takes in none.

    Where macros make a name, which only reading tells, it may be any of the folder.
    """
    files = nearby_files(file.resolve())
    listed = cache(lambda: list(files.names()))

    def named(text: str) -> Iterator[tuple[str, Sequence[str]]]:
        yield file.stem, (".bbl",)
        if COMPUTED.search(text):
            yield from ((name, ("",)) for name in listed())
        for match in TAKING_IN.finditer(text):
            for name in match["names"].split(",")[:MAX_FILES]:
                yield str(Path(match["folder"] or "", name.strip())), TRIED

    return files.digest(file, named)


def plain_lines(text: str) -> str:
    """Return a text with its lines ended as TeX reads them."""
    return text.replace("\r\n", "\n").replace("\r", "\n")
