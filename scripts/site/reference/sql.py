"""The SQL functions by topic, each from its own file: signature, result and comment."""

import re
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path

from reference.markdown import block, page

SQL = Path(__file__).parents[3] / "sql"
NO_FUNCTIONS = ("extensions", "index")  # of an engine's files
APART = ("state", "types")  # folders that hold no functions
TOPIC = re.compile(r"^\| `(\w+)` \| (.*) \|$", re.MULTILINE)
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
    topic: str
    signature: str
    comment: str
    engines: tuple[str, ...] = ()


def functions() -> dict[str, Function]:
    """Return all functions by name. One that is defined for each engine stands here once."""
    by_name: dict[str, Function] = {}
    for path in sorted(SQL.rglob("*.sql")):
        if path.parent.name in APART or path.stem in NO_FUNCTIONS:
            continue
        each = read(path)
        if each.topic == "engine":
            before = by_name[each.name].engines if each.name in by_name else ()
            each = replace(each, engines=(*before, path.parent.name))
        by_name[each.name] = each
    return dict(sorted(by_name.items()))


def read(path: Path) -> Function:
    """Read a file that defines the function of its name. Raises ValueError."""
    text = path.read_text(encoding="utf-8")
    definition, comment = DEFINITION.search(text), COMMENT.search(text)
    if definition is None or definition[1] != path.stem or comment is None:
        raise ValueError(f"{path} does not define and comment lexichord.{path.stem}")
    signature = re.sub(r"\n\s*", "\n    ", definition[2].strip())
    return Function(
        path.stem,
        path.relative_to(SQL).parts[0],
        f"{path.stem}({signature}",
        comment[1].replace("''", "'"),
    )


def topics() -> dict[str, str]:
    """Return the topics, which are folders, in their order, each with what is in it."""
    return dict(TOPIC.findall((SQL / "README.md").read_text(encoding="utf-8")))


def markdown() -> str:
    """Return what stands below the page's beginning."""
    by_topic = defaultdict[str, list[str]](list)
    for function in functions().values():
        by_topic[function.topic].append(_section(function))
    return page(
        *(
            page(f"## {topic}\n", f"{about[0].upper()}{about[1:]}.\n", *by_topic[topic])
            for topic, about in topics().items()
            if topic in by_topic
        )
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
