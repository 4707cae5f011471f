"""A signature that differs from the last release's is told in CHANGELOG.md: `- SQL: ...`."""

import re
from pathlib import Path

from tests.conftest import ROOT
from tests.sql.corpus import Connection, signatures

RELEASED = Path(__file__).with_name("released.txt")  # name|arguments|result, of the last release

type Signatures = dict[str, tuple[str, str]]  # arguments with their defaults, result


def section(heading: str) -> str:
    """What CHANGELOG.md says of a version, or of Unreleased."""
    text = (ROOT / "CHANGELOG.md").read_text().partition(f"## [{heading}]")[2]
    return text.partition("\n## [")[0]


def told(heading: str) -> list[str]:
    return re.findall(r"^- SQL: .*", section(heading), re.MULTILINE)


def parts(signature: tuple[str, str]) -> set[str]:
    """Arguments, columns, or the one type that is given back."""
    arguments, result = signature
    columns = re.sub(r"^TABLE\((.*)\)$", r"\1", result)
    return {part.removeprefix("OUT ") for part in f"{arguments}, {columns}".split(", ")}


def untold(before: Signatures, now: Signatures, lines: list[str]) -> dict[str, set[str]]:
    """What the lines leave out: functions, and what came, went or changed in them, by name."""
    left = {}
    for name in before.keys() | now.keys():
        if before.get(name) != now.get(name):
            words = {name}
            if name in before and name in now:
                words |= {part.split()[0] for part in parts(before[name]) ^ parts(now[name])}
            about = " ".join(line for line in lines if f"`{name}`" in line)
            left[name] = words - set(re.findall(r"\w+", about))
    return {name: words for name, words in left.items() if words}


def test_what_changed_since_the_last_release_is_told(library: Connection) -> None:
    before, now = by_name(RELEASED.read_text().splitlines()), signatures(library)
    assert len(before) > 80
    assert untold(before, now, told("Unreleased")) == {}, (
        "say it in CHANGELOG.md: - SQL: `function` ..."
    )


def by_name(signatures: list[str]) -> Signatures:
    rows = (signature.split("|") for signature in signatures)
    return {name: (arguments, result) for name, arguments, result in rows}


def test_a_line_names_function_and_parts() -> None:
    before = {"f": ("a text, k integer DEFAULT 10", "TABLE(x text, y text)"), "g": ("", "text")}
    for now, lines, left in [
        (before, [], {}),
        ({"f": before["f"]}, [], {"g": {"g"}}),
        (before | {"h": ("", "text")}, ["- SQL: h is new"], {"h": {"h"}}),
        (before | {"h": ("", "text")}, ["- SQL: `h` is new"], {}),
        (before | {"g": ("", "bigint")}, ["- SQL: `g` gives a bigint"], {"g": {"text"}}),
        (before | {"f": ("a text", before["f"][1])}, ["- SQL: `f`"], {"f": {"k"}}),
        (
            before | {"f": ("a text, k integer DEFAULT 5", "TABLE(y text, x text, z text)")},
            ["- SQL: `f` takes k = 5 by default", "- SQL: `g` gives z"],
            {"f": {"z"}},
        ),
        (before | {"f": ("k integer DEFAULT 10, a text", before["f"][1])}, [], {"f": {"f"}}),
    ]:
        assert untold(before, now, lines) == left, lines
