"""What stands between \\begin and \\end: lists, tables, maths, code, pictures, theorems."""

import re
from collections.abc import Mapping
from functools import partial
from types import MappingProxyType

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
from lexichord.ingest.load.tex.macros import LET_MARK
from lexichord.ingest.load.tex.page import Scope, TexTable
from lexichord.ingest.load.tex.prose import FIXED, PROSE
from lexichord.ingest.load.tex.reader import Handler, TexReader, print_title

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
