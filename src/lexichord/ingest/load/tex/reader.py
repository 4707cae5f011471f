"""Reads TeX token by token, with the files it takes in; what stands at the top of a paper."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from unicodedata import category

from lexichord.ingest.load.includes import MAX_FILES, NearbyFiles
from lexichord.ingest.load.tex.commands import (
    PLAIN,
    SECTION_LEVEL,
    SPACES,
    TAKES,
    TITLE_LEVEL,
    symbol,
)
from lexichord.ingest.load.tex.macros import (
    LET_MARK,
    PACKAGE_ENDING,
    PARAGRAPH,
    Macros,
    Mouth,
    Source,
)
from lexichord.ingest.load.tex.page import EndScope, Scope, TexPage

SIGNS = frozenset("\\{}$&~^_#*[]\n")
INLINE_MATHS = "$"
_CONDITIONS = (
    "\\if \\ifx \\ifdefined \\ifnum \\ifdim \\ifodd \\ifcase \\ifmmode \\ifvmode \\ifhmode \\ifcat "
    "\\ifpdf \\ifcsname \\ifluatex \\ifxetex \\ifPDFTeX"
)
CONDITIONS = frozenset(_CONDITIONS.split())
CONDITION_TAKES = {"\\if": 2, "\\ifx": 2, "\\ifcat": 2, "\\ifdefined": 1}

type Handler = Callable[["TexReader", str], None]


@dataclass
class TexReader:
    """Reads what the mouth holds onto the page; `unknown` counts commands that nothing defines."""

    mouth: Mouth
    files: NearbyFiles
    handlers: Mapping[str, Handler]
    macros: Macros
    page: TexPage = field(default_factory=TexPage)
    has_preamble: bool = True
    unknown: dict[str, int] = field(default_factory=dict)
    lists: list[tuple[str, int]] = field(default_factory=list)  # each one's mark and last number
    front: list[Callable[[], None]] = field(default_factory=list)  # what the title is printed with
    printed: set[str] = field(default_factory=set)  # what stands once, as the title
    left_out: set[str] = field(default_factory=set)  # environments whose source is no text
    conditions: dict[str, bool] = field(default_factory=dict)
    _branches: list[bool] = field(default_factory=list)  # whether \else ends what is read

    def read(self) -> None:
        """Read all of it; what was never closed ends with it."""
        while piece := self.mouth.take():
            self._read(piece)
        while self.page.scopes:
            self.page.close()
        self.page.end_paragraph()

    def _read(self, piece: str) -> None:
        if piece[0] not in SIGNS:
            self.page.write_run(piece)
        elif piece[0] == "\\" and piece != "\\":
            self._command(piece)
        elif piece == "{":
            self.page.open_brace()
        elif piece == "}":
            self.page.close_brace()
        else:
            self._sign(piece)

    def _sign(self, piece: str) -> None:
        page = self.page
        if piece == PARAGRAPH:
            self.end_paragraph()
        elif piece == INLINE_MATHS:
            self._dollar()
        elif piece == "&":
            self._cell()
        elif piece in "^_" and page.is_math:
            self._script(piece)
        else:
            page.write(" " if piece == "~" else piece)

    def end_paragraph(self) -> None:
        """End a paragraph, and with it maths and headings that were never closed."""
        page = self.page
        while page.scopes and (page.scopes[-1].is_heading or page.scopes[-1].kind == INLINE_MATHS):
            page.close()
        if page.is_base and not self.lists:
            page.end_paragraph()
        else:
            page.write("\n" if self.lists and page.is_base else " ")

    def _dollar(self) -> None:
        """Open or close maths; two signs stand around what is displayed."""
        page = self.page
        is_display = self.mouth.peek() == INLINE_MATHS if not page.is_open(INLINE_MATHS) else False
        if page.is_math and page.close_to(INLINE_MATHS):
            return
        if is_display:
            self.mouth.take()
            if page.is_math and page.close_to("$$"):
                page.end_paragraph()
                return
            page.end_paragraph()
        page.open(Scope("$$" if is_display else INLINE_MATHS), is_math=True)

    def _cell(self) -> None:
        if table := self.page.table:
            table.end_cell(self.page.taken())
        else:
            self.page.write(" ")

    def _script(self, sign: str) -> None:
        def end(text: str) -> None:
            flat = text.strip()
            if flat in ("∘", "°"):
                self.page.write("°")
            elif flat:
                self.page.write(f"{sign}{wrapped(flat)}")

        self.argument(end)

    def argument(
        self, end: EndScope | None, *, is_math: bool | None = None, is_heading: bool = False
    ) -> None:
        """Open a scope for what a command takes, in braces or one sign, and give its text to `end`.

        Without an end it is written where it stands.
        """
        first = self.mouth.peek()
        if first in ("", "}", PARAGRAPH):
            if end:
                end("")
            return
        self.mouth.take()
        if first != "{":
            split = len(first) if first[0] == "\\" else 1
            self.mouth.push([first[:split], "}", *([first[split:]] if first[split:] else [])])
        self.page.open(Scope("{", end, is_heading=is_heading), is_math)

    def _command(self, piece: str) -> None:
        name = piece.removesuffix(LET_MARK)
        macro = self.macros.commands.get(piece)
        handler = self.handlers.get(name)
        if handler and (macro is None or name in self.macros.fixed):
            handler(self, name)
        elif macro:
            if not self.mouth.expand(name, macro.expanded(self.mouth)):
                self.page.write(f" {name[1:]} ")
        elif name in SPACES:
            self.take(TAKES.get(name, ""))
            self.page.write(" ")
        elif name in TAKES:
            self.take(TAKES[name])
        elif not (
            self.macros.define(name, self.mouth) or name in PLAIN or self._is_condition(name)
        ):
            self._print(name)

    def take(self, takes: str) -> None:
        """Take what a command or an environment takes, and put back what of it is printed."""
        shown = list[str]()
        for sign in takes:
            if sign == "*":
                self.mouth.skip_star()
            elif sign == "o":
                self.mouth.option()
            elif sign == "-":
                self.mouth.dropped()
            else:
                shown += [*([" "] if shown else []), "{", *self.mouth.one(), "}"]
        self.mouth.push(shown)

    def _print(self, name: str) -> None:
        """Print a sign by its name, or a command that nothing defines by what it takes."""
        sign = symbol(name)
        if sign is not None:
            self.page.write(f" {sign} " if self.page.is_math and _stands_apart(sign) else sign)
            return
        if self.page.is_silent and self.page.is_base:
            return
        self.unknown[name] = self.unknown.get(name, 0) + 1
        if self.mouth.is_next("{"):
            self._show_group()
        else:
            self.page.write(name[1:])
            self.page.space_follows = True

    def _show_group(self) -> None:
        """Write what a group holds, and what the next one does that follows at once."""

        def end(text: str) -> None:
            self.page.write(text)
            if self.mouth.is_next("{"):
                self.page.write(" ")
                self._show_group()

        self.argument(end)

    def _is_condition(self, name: str) -> bool:
        """Read a condition, if the command is one; of one that is not known both branches."""
        if name == "\\newif":
            self.conditions[f"\\{self.mouth.take()[3:]}"] = False
        elif name.endswith(("true", "false")) and name.removesuffix("true") in self.conditions:
            self.conditions[name.removesuffix("true")] = True
        elif name.removesuffix("false") in self.conditions and name.endswith("false"):
            self.conditions[name.removesuffix("false")] = False
        elif f"\\{name[3:]}" in self.conditions and name.startswith("\\if"):
            self.branch(self.conditions[f"\\{name[3:]}"])
        elif name in CONDITIONS:
            for _ in range(CONDITION_TAKES.get(name, 0)):
                self.mouth.take()
            self._branches.append(False)
        else:
            return False
        return True

    def branch(self, is_true: bool) -> None:
        """Read the first branch of a condition, or what stands behind its \\else."""
        if is_true:
            self._branches.append(True)
        elif self._skip_branch():
            self._branches.append(False)

    def else_branch(self) -> None:
        """Pass over what is not read because what stands before it was."""
        if self._branches and self._branches[-1]:
            self._branches.pop()
            self._skip_branch()

    def end_condition(self) -> None:
        """End a condition."""
        if self._branches:
            self._branches.pop()

    def _skip_branch(self) -> bool:
        """Pass over a branch; return whether another one begins."""
        depth = 1
        while piece := self.mouth.take():
            if self._opens_condition(piece):
                depth += 1
            elif piece == "\\fi":
                depth -= 1
            if not depth:
                return False
            if depth == 1 and piece == "\\else":
                return True
        return False

    def _opens_condition(self, name: str) -> bool:
        is_own = name.startswith("\\if") and f"\\{name[3:]}" in self.conditions
        return is_own or name in CONDITIONS or name in ("\\iftrue", "\\iffalse")

    def opened(self) -> Sequence[Source]:
        """Return the files that are open, the outermost first."""
        return [frame for frame in self.mouth.frames if isinstance(frame, Source)]


def _stands_apart(sign: str) -> bool:
    """Return whether a sign of maths has space around it: a function's name, a relation."""
    return len(sign) > 1 if sign.isalpha() else len(sign) == 1 and category(sign) == "Sm"


def wrapped(text: str) -> str:
    """Return a term as it stands below or above another: in brackets, unless it is one sign."""
    flat = text.strip()
    return flat if len(flat) == 1 or flat.isalnum() else f"({flat})"


FACTS = MappingProxyType({"\\title": "title", "\\author": "author", "\\date": "created"})


def _fact(reader: TexReader, name: str) -> None:
    def end(text: str) -> None:
        lines = (" ".join(line.split()).strip(" ,") for line in text.split("\n"))
        flat = (" " if name == "\\title" else ", ").join(line for line in lines if line)
        if flat:
            said = reader.page.facts.setdefault(FACTS[name], [])
            if name != "\\author":
                said.clear()
            said.append(flat)

    reader.mouth.option()
    if reader.mouth.peek() == "{":
        reader.argument(end, is_math=False, is_heading=True)


def print_title(reader: TexReader, _: str = "") -> None:
    """Print the title once, with who wrote it and when, and what else came before the document."""
    if "title" in reader.printed or not (reader.page.facts or reader.front):
        return
    reader.printed.add("title")
    notes, reader.page.notes = reader.page.notes, []
    reader.page.heading(reader.page.fact("title"), TITLE_LEVEL)
    for key in ("author", "created"):
        reader.page.paragraph(reader.page.fact(key))
    reader.page.notes = notes
    reader.page.end_paragraph()
    for print_later in reader.front:
        print_later()
    reader.front.clear()


def _print(reader: TexReader, show: Callable[[], None]) -> None:
    """Print something now or, before the document begins, with the title."""
    if reader.page.is_silent:
        reader.front.append(show)
    else:
        show()


def _line(reader: TexReader, _: str) -> None:
    def end(text: str) -> None:
        lines = (" ".join(line.split()) for line in text.split("\n"))
        words = ", ".join(line for line in lines if line)
        _print(reader, lambda: reader.page.paragraph(words))

    reader.mouth.option()
    if reader.mouth.peek() == "{":
        reader.argument(end, is_math=False, is_heading=True)


def _keywords(reader: TexReader, _: str) -> None:
    def end(text: str) -> None:
        if flat := " ".join(text.split()):
            reader.page.facts["keywords"] = [flat]
            _print(reader, lambda: reader.page.paragraph(f"Keywords: {flat}"))

    reader.argument(end, is_math=False, is_heading=True)


def _abstract(reader: TexReader, _: str) -> None:
    page, earlier = reader.page, len(reader.page.notes)

    def end(text: str) -> None:
        notes = page.notes[earlier:]
        del page.notes[earlier:]
        _print(reader, lambda: show(text, notes))

    def show(text: str, notes: Sequence[str]) -> None:
        page.heading("Abstract", SECTION_LEVEL)
        page.write(text)
        page.notes += notes
        page.end_paragraph()

    reader.argument(end, is_math=False)


FRONT: Mapping[str, Handler] = MappingProxyType(
    {
        **dict.fromkeys(FACTS, _fact),
        "\\maketitle": print_title,
        **dict.fromkeys(("\\subtitle", "\\institute", "\\affil", "\\affiliation"), _line),
        **dict.fromkeys(("\\address", "\\email", "\\dedication", "\\publishers"), _line),
        **dict.fromkeys(("\\keywords", "\\Keywords"), _keywords),
        "\\abstract": _abstract,
    }
)


ENDINGS = (".tex", ".ltx", ".latex", ".sty", ".bbl", ".tikz", ".pgf")
TAKING_IN = re.compile(
    r"\\(?:input|include|subfile|(?:sub)?import\s*\{(?P<folder>[^{}]{0,200})\}|usepackage"
    r"|RequirePackage)\s*+(?:\[[^\]]{0,1000}\])?\s*\{?(?P<names>[^{}\s\\%]{1,1000})"
)
# A name that macros make, or a command that is given another name.
COMPUTED = re.compile(
    r"\\(?:input|include|subfile|(?:sub)?import|usepackage|RequirePackage)(?![A-Za-z@])"
    r"\s*+(?:\[[^\]]{0,1000}\])?(?:\{[^{}\\#%]{0,1000}[\\#]|\s*[\\}])"
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
