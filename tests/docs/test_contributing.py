"""CONTRIBUTING and the picture of the layers name what is there."""

import re
from pathlib import Path

from tests.conftest import ROOT

SOURCE = ROOT / "src/lexichord"
LEFT_TO_THE_READER = ("NAME", "*")  # parts of a path
BESIDE = ("__pycache__",)


def rows() -> list[str]:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table, recipes = (
        text.partition(f"## {heading}")[2].partition("\n## ")[0].splitlines()
        for heading in ("Where things go", "Recipes")
    )
    return [
        *[line for line in table if line.startswith("| ")][1:],
        *(line for line in recipes if line[:1].isdigit()),
    ]


def existing_path(name: str) -> Path | None:
    return next((home / name for home in (ROOT, SOURCE) if (home / name).exists()), None)


def test_each_path_is_there() -> None:
    named = {path for row in rows() for path in re.findall(r"`([\w./*]+[/.][\w./*]*)`", row)}
    known = {path for path in named if not any(part in path for part in LEFT_TO_THE_READER)}
    assert len(known) > 25
    assert {path for path in known if existing_path(path) is None} == set()


def test_each_name_is_in_its_file() -> None:
    named = [
        match for row in rows() for match in re.findall(r"`(\w+)` (?:in|of) `([\w./]+\.py)`", row)
    ]
    assert len(named) > 6
    for name, path in named:
        file = existing_path(path)
        assert file is not None
        assert re.search(rf"\b{name}\b", file.read_text(encoding="utf-8")), (name, path)


def test_the_layers_are_the_folders() -> None:
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    table = page.partition("## Layers")[2].partition("\n## ")[0]
    cells = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    named = {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}
    folders = {path.name for path in SOURCE.iterdir() if path.is_dir()} - set(BESIDE)
    assert folders - named == set()
    assert {
        name
        for name in named
        if existing_path(name) is None and existing_path(f"{name}.py") is None
    } == set()
