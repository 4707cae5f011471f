"""The commands of running text: headings, notes, references, lists' items, fractions, files."""

import re
from collections.abc import Mapping
from functools import partial
from itertools import islice
from pathlib import Path
from types import MappingProxyType

from lexichord.ingest.load.marks import described, picture, within
from lexichord.ingest.load.tex.commands import (
    ACCENTS,
    CAPTIONED,
    CITING,
    HEADING_LEVELS,
    REFERRING,
    RULES,
    accented,
    printed,
    symbol,
)
from lexichord.ingest.load.tex.macros import (
    MAX_NAME_CHARS,
    PARAGRAPH,
    Mouth,
    Pushed,
    Source,
    as_source,
)
from lexichord.ingest.load.tex.page import Scope
from lexichord.ingest.load.tex.reader import FRONT, Handler, TexReader, follow, wrapped

PICTURE_TEXT = re.compile(r"\balt\s*=\s*(?:\{(?P<braced>[^{}]*)\}|(?P<bare>[^,{}]*))")
_CODE = (
    r"(?:\{(?P<braced>(?:[^{}\n]|\{[^{}\n]{0,500}\}){0,2000})\}"
    r"|(?P<sign>[^\s{])(?P<code>[^\n]{0,2000}?)(?P=sign))"
)
_CODE_OPTION = r"(?:\[[^\]\n]{0,300}\])?[ \t]*"
INLINE_CODE = MappingProxyType(
    {
        "\\verb": re.compile(rf"\*?{_CODE}"),
        "\\lstinline": re.compile(f"{_CODE_OPTION}{_CODE}"),
        "\\mintinline": re.compile(rf"{_CODE_OPTION}\{{[\w+-]{{0,40}}\}}{_CODE}"),
    }
)
LENGTH = re.compile(
    r"[ \t]*=?[ \t]*[-+]?[\d.]*[ \t]*(?:true)?(?:pt|em|ex|cm|mm|in|bp|sp|mu|pc|dd)?"
    r"(?:[ \t]*(?:plus|minus)[ \t]*[\d.]+[ \t]*(?:pt|em|ex|cm|mm|in|fil+))*"
)
OVERLAID = ("\\only", "\\onslide", "\\uncover", "\\visible", "\\alert", "\\alt")  # of a talk
MAX_NAME_TOKENS = 20
MAX_SPANNING_SCOPES = 10  # around a cell that spans rows: one that spans columns, a group
LENGTHS = (
    *("\\vskip", "\\hskip", "\\kern", "\\mkern", "\\mskip", "\\parskip", "\\parindent"),
    *("\\baselineskip", "\\textwidth", "\\textheight", "\\columnsep", "\\tabcolsep"),
    *("\\hsize", "\\vsize", "\\penalty", "\\tolerance", "\\emergencystretch", "\\fboxsep"),
)
# Which of how many groups is read.
CHOICES = MappingProxyType(
    {
        "\\@firstoftwo": (0, 2),
        "\\@secondoftwo": (1, 2),
        "\\@firstofone": (0, 1),
        "\\@gobble": (1, 1),
        "\\@gobbletwo": (2, 2),
    }
)


def _heading(reader: TexReader, name: str) -> None:
    reader.page.end_paragraph()  # with its notes: what is noted in the heading stands below it
    reader.mouth.skip_star()
    reader.mouth.option()
    end = partial(reader.page.heading, level=HEADING_LEVELS[name])
    reader.argument(end, is_math=False, is_heading=True)


def _note(reader: TexReader, name: str) -> None:
    reader.mouth.option()
    end = partial(reader.page.note, is_marked=name not in ("\\thanks", "\\footnotetext"))
    reader.argument(end, is_math=False)


def _caption(reader: TexReader, name: str) -> None:
    """Write a caption; that of a table that is open stands before it."""
    page = reader.page
    reader.mouth.skip_star()
    reader.mouth.option()
    if name == "\\captionof":
        reader.mouth.dropped()
    kinds = (scope.kind.rstrip("*") for scope in reversed(page.scopes[-50:]))
    label = next((CAPTIONED[kind] for kind in kinds if kind in CAPTIONED), "Table")

    def end(text: str) -> None:
        flat = f"{label}: {' '.join(text.split())}"
        if table := page.table:
            table.captions.append(flat)
        else:
            page.paragraph(flat)

    reader.argument(end, is_math=False, is_heading=True)


def _cite(reader: TexReader, _: str) -> None:
    mouth = reader.mouth
    mouth.skip_star()
    given = [mouth.option(), mouth.option()]
    words = [_flat(option) for option in given if option is not None]
    before, behind = words if len(words) == 2 else ("", *(words or [""]))
    keys = ", ".join(key.strip() for key in mouth.name().split(","))
    told = f"{before} {keys}".strip()
    reader.page.write(f"[{told}, {behind}]" if behind else f"[{told}]")


def _flat(tokens: list[str]) -> str:
    """Return the words of an option, with signs for their names."""
    shown = [symbol(piece) or piece for piece in tokens if piece not in ("{", "}", "$")]
    return printed(" ".join(as_source(shown).replace("~", " ").split()))


def _length(reader: TexReader, _: str) -> None:
    """Pass over a length, as of space."""
    follows = reader.mouth.take()
    match = LENGTH.match(follows)
    rest = follows[match.end() :] if match else follows
    if rest and not (follows.startswith("\\") and follows[1:].isalpha()):
        reader.mouth.push((rest,))


def _refer(reader: TexReader, _: str) -> None:
    reader.mouth.skip_star()
    reader.page.write(f"[{reader.mouth.name()}]")


def _bibliography_item(reader: TexReader, _: str) -> None:
    reader.mouth.option()
    reader.page.end_paragraph()
    reader.page.write(f"[{reader.mouth.name()}] ")


def _item(reader: TexReader, _: str) -> None:
    mark, number = reader.lists[-1] if reader.lists else ("- ", 0)
    reader.mouth.skip_overlay()
    option = reader.mouth.option()
    reader.page.write("\n")
    if reader.lists:
        reader.lists[-1] = mark, number + 1
    if option is None:
        reader.page.write(f"{number + 1}. " if mark == "1" else mark)
    else:
        reader.mouth.push(["{", *option, "}", " " if mark == "- " else ": "])


def _break_line(reader: TexReader, _: str) -> None:
    """End a table's row, or a line."""
    page = reader.page
    reader.mouth.skip_star()
    reader.mouth.option()
    if table := page.table:
        table.end_row(page.taken())
    elif page.is_math and not page.is_base:
        page.write("; ")
    else:
        page.write("\n")


def _rule(reader: TexReader, name: str) -> None:
    if table := reader.page.table:
        table.rule()
    if name in ("\\midrule", "\\cmidrule"):
        reader.mouth.option()
    if name == "\\specialrule":
        for _ in range(3):
            reader.mouth.dropped()
    if name in ("\\cline", "\\cmidrule"):
        while reader.mouth.peek().startswith("("):  # (lr)
            reader.mouth.push((reader.mouth.take().partition(")")[2] or " ",))
        reader.mouth.dropped()


def _table_part(reader: TexReader, name: str) -> None:
    table = reader.page.table
    if table and name == "\\endfirsthead":
        table.end_first_head()
    elif table and name == "\\endhead":
        table.end_head()
    elif table:
        table.end_foot()


def _columns(reader: TexReader, _: str) -> None:
    count = _number(reader.mouth.name())
    reader.mouth.dropped()
    reader.argument(partial(_end_spanning, reader, columns=count))


def _rows(reader: TexReader, _: str) -> None:
    mouth = reader.mouth
    mouth.option()
    count = _number(mouth.name())
    mouth.option()
    mouth.dropped()
    mouth.option()
    reader.argument(partial(_end_spanning, reader, rows=count))


def _end_spanning(reader: TexReader, text: str, columns: int = 1, rows: int = 1) -> None:
    reader.page.write(text)
    around = islice(reversed(reader.page.scopes), MAX_SPANNING_SCOPES)
    if table := next((scope.table for scope in around if scope.table), None):
        table.columns, table.depth = max(columns, table.columns), max(rows, table.depth)


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 4 else 1


def _fraction(reader: TexReader, _: str) -> None:
    def above(text: str) -> None:
        space = " " if reader.page.ends_with_digit else ""  # six and seven eighths
        reader.page.write(f"{space}{wrapped(text)}/")
        reader.argument(lambda below: reader.page.write(wrapped(below)))

    reader.argument(above)


def _choose(reader: TexReader, _: str) -> None:
    def above(text: str) -> None:
        reader.page.write(f"({text.strip()} over ")
        reader.argument(lambda below: reader.page.write(f"{below.strip()})"))

    reader.argument(above)


def _root(reader: TexReader, _: str) -> None:
    reader.page.write(_flat(reader.mouth.option() or []))
    reader.argument(lambda text: reader.page.write(f"√({text.strip()})"))


def _accent(reader: TexReader, name: str) -> None:
    reader.argument(lambda text: reader.page.write(accented(name, text)))


def _words_in_maths(reader: TexReader, _: str) -> None:
    reader.argument(None, is_math=False)


def _maths(reader: TexReader, name: str) -> None:
    """Open or close what \\( and \\[ stand around."""
    page = reader.page
    is_display = name in ("\\[", "\\]")
    kind = "\\[" if is_display else "\\("
    if is_display:
        page.end_paragraph()
    if name in ("\\[", "\\("):
        page.open(Scope(kind), is_math=True)
    elif page.close_to(kind) and is_display:
        page.end_paragraph()


def _picture(reader: TexReader, _: str) -> None:
    """Write a picture's description, where it has one."""
    reader.mouth.skip_star()
    found = PICTURE_TEXT.search(as_source(reader.mouth.option() or []))
    reader.mouth.dropped()
    if found and (said := described(found["braced"] or found["bare"] or "")):
        reader.page.write(f" {within(picture(said))} ")


def _address(reader: TexReader, _: str) -> None:
    reader.page.write(reader.mouth.raw_group())


def _link(reader: TexReader, _: str) -> None:
    address = reader.mouth.raw_group()
    reader.argument(lambda text: reader.page.write(text or address))


def _inline_code(reader: TexReader, name: str) -> None:
    """Write code between two equal signs, or in braces, as it stands."""
    source = reader.mouth.source()
    pattern = INLINE_CODE[name]
    if source and (match := pattern.match(source.text, source.at)):
        source.at = match.end()
        reader.page.write(match["braced"] or match["code"] or "")


def _end_paragraph(reader: TexReader, _: str) -> None:
    reader.mouth.push((PARAGRAPH,))


def _take_in(reader: TexReader, name: str) -> None:
    """Go on in another file of the folder, and then here."""
    folder = _file_name(reader) if name in ("\\import", "\\subimport") else ""
    file = _file_name(reader)
    if source := follow(reader.files, str(Path(folder, file)), reader.opened(), ("", ".tex")):
        reader.mouth.frames.append(source)


def _file_name(reader: TexReader) -> str:
    """Return the name of a file, with the macros in it carried out."""
    if reader.mouth.peek() == "{":
        written = reader.mouth.one()
    else:  # \input file
        first, _, rest = reader.mouth.take().partition(" ")
        reader.mouth.push((rest,) if rest else ())
        written = [first]
    mouth, pieces = Mouth([Pushed(written)], MAX_NAME_CHARS), list[str]()
    while piece := mouth.take():
        macro = reader.macros.commands.get(piece)
        if macro is None or not mouth.expand(piece, macro.expanded(mouth)):
            pieces.append(piece)
    return as_source(pieces).strip()[:MAX_NAME_CHARS]


def _if_next(reader: TexReader, name: str) -> None:
    """Read one of two groups, by the sign that follows them."""
    mouth = reader.mouth
    sign = "*" if name == "\\@ifstar" else as_source(mouth.one()).strip()
    first, second = mouth.one(), mouth.one()
    does_follow = mouth.peek()[:1] == sign.replace("\\bgroup", "{")
    if does_follow and name == "\\@ifstar":
        mouth.take()
    mouth.push(first if does_follow else second)


def _look_ahead(reader: TexReader, _: str) -> None:
    """Pass over the name that is given to what follows."""
    reader.mouth.one()


def _one_of(reader: TexReader, name: str) -> None:
    """Read one of the groups that follow."""
    kept, count = CHOICES[name]
    groups = [reader.mouth.one() for _ in range(count)]
    reader.mouth.push(groups[kept] if kept < count else ())


def _named_command(reader: TexReader, _: str) -> None:
    """Read the command whose name \\csname and \\endcsname stand around."""
    name = list[str]()
    while len(name) < MAX_NAME_TOKENS and (piece := reader.mouth.take()):
        if piece == "\\endcsname":
            reader.mouth.push((f"\\{as_source(name).strip()}",))
            return
        name.append(piece)
    reader.mouth.push(name)


def _end_file(reader: TexReader, _: str) -> None:
    opened = reader.opened()
    if opened:
        opened[-1].at = len(opened[-1].text)


def _preamble(reader: TexReader, _: str) -> None:
    """Begin what stands before the document, in whatever file."""
    reader.mouth.option()
    reader.mouth.dropped()
    if reader.has_preamble and "document" not in reader.printed:
        reader.page.silence()


def _package(reader: TexReader, _: str) -> None:
    """Read the macros of packages that stand in the folder."""
    reader.mouth.option()
    names = [name.strip() for name in reader.mouth.name().split(",")]
    reader.mouth.option()
    for name in names:
        if name and reader.files.has(f"{name}.sty"):
            _push_file(reader, follow(reader.files, name, reader.opened(), (".sty",)))


def _push_file(reader: TexReader, source: Source | None) -> None:
    if source:
        reader.mouth.frames.append(source)


def _bibliography(reader: TexReader, _: str) -> None:
    """Read the list of works that BibTeX made, where it stands beside the file."""
    reader.mouth.dropped()
    main = reader.opened()[0].path if reader.opened() else None
    if main and reader.files.has(f"{main.stem}.bbl"):
        _push_file(reader, follow(reader.files, main.stem, reader.opened(), (".bbl",)))


def _space_follows(reader: TexReader, _: str) -> None:
    reader.page.space_follows = True


def _letter_at(reader: TexReader, name: str) -> None:
    """Take @ for a letter in commands' names, or no more."""
    opened = reader.opened()
    if opened:
        opened[-1].takes_at(name == "\\makeatletter")


PROSE: Mapping[str, Handler] = MappingProxyType(
    {
        **dict.fromkeys(HEADING_LEVELS, _heading),
        **FRONT,
        **dict.fromkeys(("\\footnote", "\\thanks", "\\footnotetext", "\\endnote"), _note),
        **dict.fromkeys(("\\sidenote", "\\marginpar", "\\marginnote"), _note),
        **dict.fromkeys(("\\caption", "\\captionof", "\\subcaption"), _caption),
        **dict.fromkeys(CITING, _cite),
        **dict.fromkeys(REFERRING, _refer),
        "\\bibitem": _bibliography_item,
        "\\item": _item,
        **dict.fromkeys(OVERLAID, lambda reader, _: reader.mouth.skip_overlay()),
        **dict.fromkeys(("\\\\", "\\newline", "\\tabularnewline", "\\cr"), _break_line),
        **dict.fromkeys(RULES, _rule),
        **dict.fromkeys(("\\endfirsthead", "\\endhead"), _table_part),
        **dict.fromkeys(("\\endfoot", "\\endlastfoot"), _table_part),
        "\\multicolumn": _columns,
        "\\multirow": _rows,
        **dict.fromkeys(("\\frac", "\\dfrac", "\\tfrac", "\\cfrac", "\\nicefrac"), _fraction),
        **dict.fromkeys(("\\binom", "\\dbinom", "\\tbinom"), _choose),
        "\\sqrt": _root,
        **dict.fromkeys(ACCENTS, _accent),
        **dict.fromkeys(("\\text", "\\textrm", "\\mbox", "\\hbox", "\\intertext"), _words_in_maths),
        **dict.fromkeys(("\\(", "\\)", "\\[", "\\]"), _maths),
        "\\includegraphics": _picture,
        **dict.fromkeys(("\\url", "\\path", "\\nolinkurl"), _address),
        "\\href": _link,
        **dict.fromkeys(("\\verb", "\\lstinline", "\\mintinline"), _inline_code),
        **dict.fromkeys(("\\par", "\\endgraf"), _end_paragraph),
        **dict.fromkeys(("\\and", "\\And", "\\AND"), lambda reader, _: reader.page.write("\n")),
        **dict.fromkeys(("\\input", "\\include", "\\subfile", "\\import", "\\subimport"), _take_in),
        **dict.fromkeys(LENGTHS, _length),
        **dict.fromkeys(("\\@ifnextchar", "\\kernel@ifnextchar", "\\@ifstar"), _if_next),
        "\\csname": _named_command,
        "\\futurelet": _look_ahead,
        **dict.fromkeys(CHOICES, _one_of),
        "\\endinput": _end_file,
        **dict.fromkeys(("\\usepackage", "\\RequirePackage"), _package),
        **dict.fromkeys(("\\documentclass", "\\documentstyle"), _preamble),
        "\\bibliography": _bibliography,
        "\\xspace": _space_follows,
        **dict.fromkeys(("\\makeatletter", "\\makeatother"), _letter_at),
        "\\iftrue": lambda reader, _: reader.branch(True),
        "\\iffalse": lambda reader, _: reader.branch(False),
        "\\else": lambda reader, _: reader.else_branch(),
        "\\fi": lambda reader, _: reader.end_condition(),
    }
)
# Commands that keep their meaning, whatever a paper or its packages make of them.
FIXED = frozenset(PROSE) - {
    *ACCENTS,
    *(
        "\\email",
        "\\address",
        "\\binom",
        "\\abstract",
        "\\keywords",
        "\\and",
        "\\And",
        "\\AND",
        "\\path",
        "\\text",
    ),
    *("\\hbox", "\\mbox", "\\xspace", "\\sidenote", "\\marginnote", "\\endnote", "\\cfrac"),
    *("\\cref", "\\Cref", "\\vref", "\\import", "\\cr", "\\tabularnewline"),
}
