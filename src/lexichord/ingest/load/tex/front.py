"""What stands at the top of a paper: its title, who wrote it, where and when, abstract, keywords.

Much of it is given before the document begins, and is printed with the title.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from lexichord.ingest.load.tex.commands import SECTION_LEVEL, TITLE_LEVEL
from lexichord.ingest.load.tex.reader import Handler, TexReader

FACTS = MappingProxyType({"\\title": "title", "\\author": "author", "\\date": "created"})


def _fact(reader: TexReader, name: str) -> None:
    def end(text: str) -> None:
        lines = (" ".join(line.split()).strip(" ,") for line in text.split("\n"))
        flat = (" " if name == "\\title" else ", ").join(line for line in lines if line)
        if flat:
            key = FACTS[name]
            earlier = f"{reader.page.facts[key]}, " if key in reader.page.facts else ""
            reader.page.facts[key] = f"{earlier if key == 'author' else ''}{flat}"

    reader.mouth.option()
    if reader.mouth.peek() == "{":
        reader.argument(end, is_math=False, is_heading=True)


def print_title(reader: TexReader, _: str = "") -> None:
    """Print the title once, with who wrote it and when, and what else came before the document."""
    if "title" in reader.printed or not (reader.page.facts or reader.front):
        return
    facts = reader.page.facts
    reader.printed.add("title")
    notes, reader.page.notes = reader.page.notes, []
    reader.page.heading(facts.get("title", ""), TITLE_LEVEL)
    for line in (facts.get("author"), facts.get("created")):
        reader.page.paragraph(line or "")
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
            reader.page.facts["keywords"] = flat
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
