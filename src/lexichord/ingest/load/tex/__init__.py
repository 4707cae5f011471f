"""TeX as the reader of the printed page reads it: words with headings, tables, notes and code.

Commands are carried out or leave their words, comments and the preamble are no text, maths is
written in a line. What other files of the folder hold stands where they are taken in.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from lexichord.ingest.load.includes import MAX_NAMED
from lexichord.ingest.load.kinds import TEX_TYPE
from lexichord.ingest.load.tex.environments import HANDLERS, KEPT_NAMES
from lexichord.ingest.load.tex.macros import Macros, Mouth, Source
from lexichord.ingest.load.tex.page import TexPage
from lexichord.ingest.load.tex.reader import TexReader, nearby_files, plain_lines
from lexichord.ingest.load.text import read_text, storable_text
from lexichord.types import Heading, LoadedText

# What has a preamble; the document may begin in a file that is taken in.
PREAMBLE = re.compile(
    r"^[^%\n]*\\(?:begin\s*\{document\}|documentclass|documentstyle)", re.MULTILINE
)


def load(file: Path, named: str, place: Path) -> LoadedText:
    """Read a file of TeX that stands in a place, and those that it takes in. Raises IngestError."""
    content, metadata = read_text(file)
    text = storable_text(plain_lines(content))
    reader = _read(text, place, has_preamble=True)
    if reader.page.is_silent:  # the document never began
        reader = _read(text, place, has_preamble=False)
    page = reader.page
    built, facts = page.built, dict[str, Any](page.facts)
    title = facts.pop("title", "") or named
    if flags := list(_flags(reader)):
        facts["flags"] = flags
    return LoadedText(
        storable_text(built.text),
        TEX_TYPE,
        title,
        headings=_dense(built.headings),
        tables=tuple(built.tables),
        metadata={**facts, **metadata},
    )


def _read(text: str, file: Path, has_preamble: bool) -> TexReader:
    page = TexPage(is_silent=has_preamble and bool(PREAMBLE.search(text)))
    files, mouth = nearby_files(file), Mouth([Source(text, file)])
    reader = TexReader(mouth, files, HANDLERS, Macros(KEPT_NAMES), page, has_preamble)
    reader.read()
    return reader


def _dense(headings: list[Heading]) -> tuple[Heading, ...]:
    """Return headings with no level left out between them: a paper without chapters has none."""
    levels = sorted({heading.level for heading in headings})
    return tuple(replace(one, level=levels.index(one.level) + 1) for one in headings)


def _flags(reader: TexReader) -> Iterable[str]:
    """Yield what is not text, or doubtful."""
    yield from reader.files.flags()
    if reader.unknown:
        yield f"commands that nothing here defines, shown by their words: {_some(reader.unknown)}"
    if reader.mouth.endless:
        yield f"macros that have no end, shown by their names: {_some(reader.mouth.endless)}"
    if reader.left_out:
        yield f"no text but the labels in it: {_some(sorted(reader.left_out))}"
    if reader.page.is_too_deep:
        yield "groups too deep in each other, whose words stand where they are written"


def _some(names: Iterable[str]) -> str:
    listed = [*dict.fromkeys(names)]
    more = f" and {len(listed) - MAX_NAMED} more" if len(listed) > MAX_NAMED else ""
    return f"{', '.join(listed[:MAX_NAMED])}{more}"
