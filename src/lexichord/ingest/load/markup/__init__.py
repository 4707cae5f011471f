"""reStructuredText, Org and AsciiDoc: their words with headings, code and tables, without marks.

Each is read line by line, so that what a directive of an unknown name holds is kept as text.
"""

from pathlib import Path

from lexichord.ingest.load.includes import nearby_files, with_rst_includes
from lexichord.ingest.load.kinds import ASCIIDOC_TYPE, ORG_TYPE, RST_TYPE, kind_of
from lexichord.ingest.load.markup.asciidoc import read_asciidoc
from lexichord.ingest.load.markup.org import read_org
from lexichord.ingest.load.markup.rst import read_rst
from lexichord.ingest.load.text import read_text
from lexichord.types import LoadedText

MARKUP_READERS = {RST_TYPE: read_rst, ORG_TYPE: read_org, ASCIIDOC_TYPE: read_asciidoc}


def load(file: Path, named: str, place: Path) -> LoadedText:
    """Read a file of one of these languages that stands in a place. Raises IngestError."""
    kind = kind_of(file.name) or RST_TYPE
    content, metadata = read_text(file)
    lines, flags = content.expandtabs(8).splitlines(), list[str]()
    if kind == RST_TYPE:
        files = nearby_files(place)
        lines = [*with_rst_includes(lines, files, (place,))]
        flags = files.flags()
    page = MARKUP_READERS[kind](lines)
    flags += [f"{name} was not read: includes are not taken in" for name in page.not_taken]
    built, opening = page.built, page.built.headings[:1]
    title = page.facts.pop("title", "") or next(
        (heading.name for heading in opening if heading.level == 1), named
    )
    return built.document(
        kind, title, {**page.facts, **metadata, **({"flags": flags} if flags else {})}
    )
