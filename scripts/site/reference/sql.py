"""The SQL functions, each from its own file: signature, result and comment."""

import re
from dataclasses import dataclass
from pathlib import Path

from reference.markdown import block, page

SQL = Path(__file__).parents[3] / "sql"
NO_FUNCTIONS = ("extensions", "index")  # of an engine's files
APART = [("engine",), ("state",), ("types",)]
DEFINITION = re.compile(
    r"create or replace (?:function|procedure) lexichord\.(\w+)\((.*?)\nlanguage ",
    re.IGNORECASE | re.DOTALL,
)
COMMENT = re.compile(
    r"comment on (?:function|procedure) lexichord\.\w+\([^)]*\) is\s*'((?:[^']|'')*)';", re.DOTALL
)


@dataclass(frozen=True)
class Function:
    """A function as its file defines it; `engines` names those that define it each for itself."""

    name: str
    signature: str
    comment: str
    engines: tuple[str, ...] = ()


def functions() -> dict[str, Function]:
    """Return all functions by name. One that is defined for each engine stands here once."""
    files = sorted(path for path in SQL.rglob("*.sql") if path.stem not in NO_FUNCTIONS)
    folders = {path: path.relative_to(SQL).parts[:-1] for path in files}
    everywhere = [read(path) for path, parts in folders.items() if parts[:1] not in APART]
    by_engine = [
        (parts[1], read(path)) for path, parts in folders.items() if parts[:1] == ("engine",)
    ]
    by_name = {each.name: each for each in everywhere}
    for engine, each in by_engine:
        engines = (*(by_name[each.name].engines if each.name in by_name else ()), engine)
        by_name[each.name] = Function(each.name, each.signature, each.comment, engines)
    return dict(sorted(by_name.items()))


def read(path: Path) -> Function:
    """Read a file that defines the function of its name. Raises ValueError."""
    text = path.read_text(encoding="utf-8")
    definition, comment = DEFINITION.search(text), COMMENT.search(text)
    if definition is None or definition[1] != path.stem or comment is None:
        raise ValueError(f"{path} does not define and comment lexichord.{path.stem}")
    signature = re.sub(r"\n\s*", "\n    ", definition[2].strip())
    return Function(path.stem, f"{path.stem}({signature}", comment[1].replace("''", "'"))


def readers() -> set[str]:
    """Return the names of the functions that members of lexichord_reader may call."""
    text = next(SQL.rglob("reader_rights.sql")).read_text(encoding="utf-8")
    first = text.partition("array[")[2].partition("]")[0]
    return set(re.findall(r"'(\w+)'", first))


def markdown() -> str:
    """Return what stands below the page's beginning."""
    allowed, by_name = readers(), functions()
    mine = [_section(each) for each in by_name.values() if each.name in allowed]
    others = [_section(each) for each in by_name.values() if each.name not in allowed]
    return page(
        "## Functions for readers\n", *mine, "## Functions for writers and owners\n", *others
    )


def _section(function: Function) -> str:
    engines = (
        f"Defined by each engine: {', '.join(function.engines)}.\n" if function.engines else ""
    )
    return page(
        f"### {function.name}\n",
        f"{function.comment}\n",
        block(function.signature, "text"),
        engines,
    )
