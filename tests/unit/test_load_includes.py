"""Pages that take in others: those of their own folder are read with them, others are named."""

from pathlib import Path

import pytest

from lexichord.ingest.load import load
from lexichord.ingest.load.includes import chosen, taken_in_by_page

RST = """\
Pier
====

.. include:: parts/more.rst

.. note::

   .. literalinclude:: parts/moor.py
      :language: python

End.
"""
MYST = """\
# Pier

```{include} parts/part.md
```

```{literalinclude} parts/moor.py
:language: python
```

````md
```{include} parts/part.md
```
````
"""
CODE = "def moor():\n    return 1\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "secret.txt").write_text("SECRET")
    site = tmp_path / "site"
    (site / "parts").mkdir(parents=True)
    (site / "parts/pier.txt").write_text("# comment\n\nThe pier is wet.\n\n.. END\n\nNot this.\n")
    (site / "parts/moor.py").write_text(CODE)
    (site / "parts/more.rst").write_text(
        "Depth\n-----\n\n.. include:: pier.txt\n   :start-after: comment\n   :end-before: .. END\n"
    )
    (site / "parts/part.md").write_text(
        "---\ntitle: Part\n---\n## Depth\n\n```{include} own.md\n```\n"
    )
    (site / "parts/own.md").write_text("Nine {sub}`m`.\n")
    (site / "key.pem").write_text("SECRET")
    (site / "link.txt").symlink_to(tmp_path / "secret.txt")
    return site


def test_a_page_of_rst_holds_what_it_takes_in(folder: Path) -> None:
    (folder / "index.rst").write_text(RST)
    loaded = load(folder / "index.rst")
    assert loaded.text == f"Pier\n\nDepth\n\nThe pier is wet.\n\nNote:\n\n```\n{CODE}```\n\nEnd."
    assert [heading.name for heading in loaded.headings] == ["Pier", "Depth"]
    assert loaded.metadata == {}


def test_a_page_of_myst_holds_what_it_takes_in(folder: Path) -> None:
    (folder / "index.md").write_text(MYST)
    loaded = load(folder / "index.md")
    told, shown = loaded.text.split("````md")
    assert told == f"# Pier\n\n## Depth\n\nNine m.\n\n```\n{CODE}```\n\n"
    assert "{include} parts/part.md" in shown
    assert (loaded.title, loaded.metadata) == ("Pier", {})


@pytest.mark.parametrize("form", [".. include:: {}\n", "```{{include}} {}\n```\n"])
def test_what_leads_out_of_the_folder_is_named(folder: Path, form: str) -> None:
    name = "page.rst" if form.startswith("..") else "page.md"
    names = ("../secret.txt", "/etc/passwd", "link.txt", "key.pem", name, "gone.txt")
    written = "\n".join(map(form.format, names))
    (folder / name).write_text(f"Begun.\n\n{written}")
    loaded = load(folder / name)
    assert loaded.text.strip() == "Begun."
    reasons = (
        *["leads out of the folder"] * 3,
        *("is of another kind, or hidden", "takes itself in", "is not there"),
    )
    told = [f"{name} was not read: it {why}" for name, why in zip(names, reasons, strict=True)]
    assert loaded.metadata == {"flags": told}


def test_a_page_is_taken_in_so_often_and_no_more(folder: Path) -> None:
    for number in range(20):
        (folder / f"{number}.txt").write_text(2 * f".. include:: {number + 1}.txt\n\n")
    (folder / "index.rst").write_text("Begun.\n\n.. include:: 0.txt\n")
    loaded = load(folder / "index.rst")
    assert loaded.text == "Begun."
    assert any("more than 10 files deep" in flag for flag in loaded.metadata["flags"])


def test_a_page_of_myst_takes_in_between_colons_and_in_notes(folder: Path) -> None:
    (folder / "index.md").write_text(
        "# Pier\n\n:::{include} parts/own.md\n:::\n\n:::{literalinclude} parts/moor.py\n"
        ':lines: 2\n:caption: The "code"\n:::\n\n````{note}\n```{include} parts/pier.txt\n'
        ":start-after: \"comment\"\n:end-before: '.. END'\n```\n````\n\n:::{include} gone.md\n:::\n"
    )
    loaded = load(folder / "index.md")
    assert loaded.text.split() == (
        [
            "#",
            "Pier",
            "Nine",
            "m.",
            "The",
            '"code"',
            "```",
            "return",
            "1",
            "```",
            "Note:",
            "The",
            "pier",
            "is",
            "wet.",
        ]
    )
    assert loaded.metadata == {"flags": ["gone.md was not read: it is not there"]}


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("page.rst", ".. csv-table:: Fees\n   :file: {}\n   :delim: ;\n   :header-rows: 1\n\nEnd."),
        ("page.md", "```{{csv-table}} Fees\n:file: {}\n:delim: ;\n:header-rows: 1\n```\n\nEnd."),
    ],
)
def test_a_table_is_taken_in_from_its_file(folder: Path, name: str, form: str) -> None:
    page = folder / name
    (folder / "parts/fees.csv").write_text('Boat;Fee\n"Gull";9,5\n')
    page.write_text(form.format("parts/fees.csv"))
    assert load(page).text.split("\n\n") == [
        "Fees",
        "| Boat | Fee |\n| --- | --- |\n| Gull | 9,5 |",
        "End.",
    ]
    seen = taken_in_by_page(page)
    (folder / "parts/fees.csv").write_text("Boat;Fee\n")
    assert taken_in_by_page(page) != seen
    page.write_text(form.format("../secret.txt"))
    assert load(page).metadata["flags"] == [
        "../secret.txt was not read: it leads out of the folder"
    ]


def test_a_part_is_chosen_by_lines_or_by_words() -> None:
    text = "a\nb\nc\nd"
    assert chosen(text, {"start-line": "1", "end-line": "-1"}) == "b\nc"
    assert chosen(text, {"start-after": "a\n", "end-before": "\nd"}) == "b\nc"
    assert chosen(text, {"start-after": "z", "end-line": "x"}) == text
    assert chosen(text, {"start-at": "b", "end-at": '"c"'}) == "b\nc"
    assert chosen(text, {"lines": "1, 3-"}) == "a\nc\nd"
    assert chosen(text, {"lines": "-2"}) == "a\nb"
    assert chosen(text, {"lines": "some"}) == text


def test_a_changed_part_changes_how_a_page_is_read(folder: Path) -> None:
    page = folder / "index.md"
    page.write_text("Text.\n")
    assert taken_in_by_page(page) == ""
    page.write_text("```{include} parts/part.md\n```\n")
    seen = [taken_in_by_page(page)]
    for name in ("part.md", "own.md"):
        with (folder / "parts" / name).open("a") as file:
            file.write("More.\n")
        seen.append(taken_in_by_page(page))
    assert len({*seen, ""}) == 4
