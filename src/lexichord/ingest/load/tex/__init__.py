"""TeX as the reader of the printed page reads it: words with headings, tables, notes and code.

Commands are carried out or leave their words, comments and the preamble are no text, maths is
written in a line. What other files of the folder hold stands where they are taken in.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from lexichord.ingest.load import TEX_TYPE
from lexichord.ingest.load.includes import MAX_NAMED
from lexichord.ingest.load.tex.commands import (
    CODE,
    DISPLAYED,
    ENVIRONMENTS_TAKE,
    FRAME_LEVEL,
    LEFT_OUT,
    LISTS,
    MATHS,
    PICTURES,
    SECTION_LEVEL,
    TABLES,
    THEOREMS,
)
from lexichord.ingest.load.tex.macros import LET_MARK, Macros, Mouth, Source
from lexichord.ingest.load.tex.page import Scope, TexPage, TexTable
from lexichord.ingest.load.tex.prose import FIXED, PROSE
from lexichord.ingest.load.tex.reader import (
    Handler,
    TexReader,
    nearby_files,
    plain_lines,
    print_title,
)
from lexichord.ingest.load.text import read_text, storable_text
from lexichord.types import Heading, LoadedText

END_NOW = f"\\end{LET_MARK}"  # behind what an environment of the paper's own ends with
CODE_OPENING = re.compile(
    r"\A[ \t]*(?:\[(?P<options>(?:[^\[\]{}]|\{[^{}]*\}){0,1000})\])?"
    r"(?P<given>\{[^{}\n]*\})?[^\S\n]*\n?"
)
CODE_CAPTION = re.compile(r"\bcaption\s*=\s*(?:\{(?P<braced>[^{}]*)\}|(?P<bare>[^,]*))")
PICTURE_WORDS = re.compile(
    r"\bnode\b[^{};]{0,300}\{(?P<words>[^{}]{1,300})\}|\\node[^{};]{0,300}\{(?P<more>[^{}]{1,300})\}"
)
HEADED = MappingProxyType(
    {
        "abstract": "Abstract",
        "thebibliography": "References",
        "acknowledgments": "Acknowledgments",
        "acknowledgements": "Acknowledgements",
        "IEEEkeywords": "Keywords",
        "keywords": "Keywords",
    }
)
TITLED_BLOCKS = ("block", "alertblock", "exampleblock")  # of a talk


def _begin(reader: TexReader, _: str) -> None:
    name = reader.mouth.name()
    if name in reader.macros.environments and name not in FIXED_ENVIRONMENTS:
        _begin_own(reader, name)
    elif name == "document":
        _begin_document(reader)
    elif name in CODE or name in PICTURES or name in LEFT_OUT:
        _read_raw(reader, name)
    elif name.rstrip("*") in MATHS:
        _begin_maths(reader, name)
    elif name in TABLES:
        _begin_table(reader, name)
    elif name in LISTS:
        reader.mouth.option()
        reader.lists.append((LISTS[name], 0))
        reader.page.write("\n")
        reader.page.open(Scope(name))
    elif name in reader.macros.theorems or name in THEOREMS:
        _begin_theorem(reader, name)
    else:
        _begin_block(reader, name)


def _end(reader: TexReader, _: str) -> None:
    """End an environment; the words that one of the paper's own ends with come first."""
    page, name = reader.page, reader.mouth.name()
    if not page.is_open(name):
        if name == "document":
            _end_document(reader)
        return
    while page.scopes[-1].kind != name:
        page.close()
    if behind := page.scopes[-1].behind:
        page.scopes[-1].behind = ()
        reader.mouth.push([*behind, END_NOW, "{", name, "}"])
        return
    _close(reader, name)


def _close(reader: TexReader, name: str) -> None:
    page = reader.page
    page.close()
    if name == "document":
        _end_document(reader)
    elif name in LISTS:
        if reader.lists:
            reader.lists.pop()
        page.write("\n")
    is_block = name.rstrip("*") not in MATHS - DISPLAYED
    if is_block and not page.is_math and not reader.lists and page.table is None:
        page.end_paragraph()


def _begin_document(reader: TexReader) -> None:
    page = reader.page
    if "document" not in reader.printed:
        reader.printed.add("document")
        page.is_silent = False
        print_title(reader)
    page.open(Scope("document"))


def _end_document(reader: TexReader) -> None:
    """End the file; of one that another takes in, that goes on."""
    page, opened = reader.page, reader.opened()
    page.end_paragraph()
    if len(opened) > 1:
        opened[-1].at = len(opened[-1].text)
    else:
        print_title(reader)
        reader.mouth.frames.clear()


def _begin_own(reader: TexReader, name: str) -> None:
    before, behind = reader.macros.environments[name].opened(reader.mouth)
    reader.page.open(Scope(name, behind=behind))
    reader.mouth.expand(name, before)


def _begin_maths(reader: TexReader, name: str) -> None:
    plain = name.rstrip("*")
    if plain in DISPLAYED and not reader.page.is_math:
        reader.page.end_paragraph()
    reader.take(ENVIRONMENTS_TAKE.get(plain, ""))
    reader.page.open(Scope(name), is_math=True)


def _begin_table(reader: TexReader, name: str) -> None:
    reader.take(TABLES[name])
    table = TexTable()
    reader.page.open(Scope(name, partial(reader.page.end_table, table), table=table), is_math=False)


def _begin_theorem(reader: TexReader, name: str) -> None:
    """Write what a theorem is called; in brackets what it is named."""
    mouth = reader.mouth
    option = mouth.option()
    label = reader.macros.theorems.get(name) or THEOREMS[name]
    reader.page.end_paragraph()
    reader.page.open(Scope(name))
    named = [" ", "(", "{", *option, "}", ")"] if option else []
    mouth.push(["{", *label, *named, "}", ". "])


def _begin_block(reader: TexReader, name: str) -> None:
    page = reader.page
    page.end_paragraph()
    reader.take(ENVIRONMENTS_TAKE.get(name, ""))
    if name in HEADED:
        page.heading(HEADED[name], SECTION_LEVEL)
    page.open(Scope(name))
    if name in TITLED_BLOCKS:
        reader.mouth.skip_overlay()
        if reader.mouth.peek() == "{":
            reader.argument(page.paragraph)
    if name == "frame":
        reader.mouth.skip_overlay()
        reader.take("oo")
        if reader.mouth.peek() == "{":
            reader.argument(partial(page.heading, level=FRAME_LEVEL), is_heading=True)


def _read_raw(reader: TexReader, name: str) -> None:
    """Read what no sign has a meaning in; what is never closed is read as all other text."""
    source = reader.mouth.source()
    body = source.up_to(f"\\end{{{name}}}") if source else None
    if body is None:
        return
    if name in LEFT_OUT:
        if name != "comment":
            reader.left_out.add(name)
    elif name in PICTURES:
        reader.left_out.add(name)
        found = (match["words"] or match["more"] for match in PICTURE_WORDS.finditer(body))
        reader.mouth.push(["{", *(part for words in found for part in (words, "; ")), "}"])
    else:
        _write_code(reader, name, body)


def _write_code(reader: TexReader, name: str, body: str) -> None:
    opening = CODE_OPENING.match(body) if name in ("lstlisting", "minted", "Verbatim") else None
    if opening:
        body = body[opening.end() :]
        caption = CODE_CAPTION.search(opening["options"] or "")
        words = (caption["braced"] or caption["bare"] or "").strip() if caption else ""
        if words:
            reader.page.paragraph(f"Listing: {words}")
    reader.page.code(body.strip("\n"))


FIXED_ENVIRONMENTS = frozenset({"document", *MATHS, *TABLES, *LISTS, *CODE})
HANDLERS: Mapping[str, Handler] = MappingProxyType({**PROSE, "\\begin": _begin, "\\end": _end})
KEPT_NAMES = frozenset({*FIXED, "\\begin", "\\end"})


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
    built = page.built
    facts: dict[str, Any] = {name: page.fact(name) for name in page.facts}
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
