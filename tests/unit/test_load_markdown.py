"""Markdown: what it says of itself, and what of it is text."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexichord.ingest.chunk import split
from lexichord.ingest.load import load
from lexichord.ingest.load.markdown.clean import clean_markdown
from lexichord.types import LoadedText


def read(folder: Path, content: str, name: str = "my_notes.md") -> LoadedText:
    (folder / name).write_bytes(content.encode())
    return load(folder / name)


@pytest.mark.parametrize(
    "front",
    [
        "---\ntitle: Mooring\nyear: 2027\ntags: [rope, pier]\nday: 2027-02-02\ndraft: false\n---\n",
        '\ufeff---\r\ntitle: "Mooring"\r\nyear: 2027\r\ntags:\r\n  - rope\r\n  - pier\r\n'
        "day: 2027-02-02\r\ndraft: no\r\n...\r\n",
        '+++\ntitle = "Mooring"\nyear = 2027\ntags = ["rope", "pier"]\nday = 2027-02-02\n'
        "draft = false\n+++\n\n",
    ],
)
def test_front_matter_becomes_metadata_and_the_title(tmp_path: Path, front: str) -> None:
    loaded = read(tmp_path, f"{front}# Heading\n\nText.\n")
    assert (loaded.title, loaded.text) == ("Mooring", "# Heading\n\nText.\n")
    facts = {"year": 2027, "tags": ["rope", "pier"], "day": "2027-02-02", "draft": False}
    assert loaded.metadata == facts


def test_without_a_title_in_it_the_heading_is_the_title(tmp_path: Path) -> None:
    assert read(tmp_path, "---\nyear: 1\n---\n# Heading\n").title == "Heading"
    assert read(tmp_path, "---\ntitle: ''\n---\nText").title == "my notes"


BOMB = "a: &a [x,x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [*{chr(97 + n)},*{chr(97 + n)}]\n" for n in range(20)
)


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "content",
    [
        "---\nA line between lines.\n---\nText",
        "---\n: : :\n- a: [\n---\nText",
        f"---\n{BOMB}---\nText",
        f"---\na: {'[' * 5000}\n---\nText",
        "---\nx: !!python/object/apply:os.system [ls]\n---\nText",
        "+++\nno toml\n+++\nText",
    ],
)
def test_what_is_no_front_matter_is_text(tmp_path: Path, content: str) -> None:
    loaded = read(tmp_path, content)
    assert (loaded.text, loaded.metadata) == (content, {})


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("## Query Parameters { #query-parameters }\n", "## Query Parameters\n"),
        ("A\n{* ../docs/a.py hl[1,3] *}\nB", "A\nB"),
        ("A\n{% include 'x' %}\n{!x!}\n--8<-- \"x\"\n[TOC]\n{{< youtube 1 >}}\nB", "A\nB"),
        ("/// note\n\nBring a rope.\n\n///\n\nNext", "Note:\n\nBring a rope.\n\n\nNext"),
        ('!!! warning "Tide"\n    It comes.\n\n    Soon.\nNext', "Tide\nIt comes.\n\nSoon.\nNext"),
        ("::: lib.Pier", "lib.Pier"),
        (":::note[Ropes]\nBring one.\n:::", "Ropes\nBring one."),
        ("> [!NOTE]\n> Bring a rope.", "> Note:\n> Bring a rope."),
        ('The <abbr title="as soon as possible">ASAP</abbr> rule.', "The ASAP rule."),
        ("A<!-- hidden\nwords -->B", "AB"),
        ('<div class="x">\n\n<a id="y"></a>\nText<br/>\n</div>', "\nText"),
        ("<script>\nalert(1)\n</script>\nText", "\nText"),
        ("<Tabs>\n  <TabItem value='a'>\nText\n  </TabItem>\n</Tabs>", "Text"),
    ],
)
def test_markup_is_no_text(markup: str, text: str) -> None:
    assert clean_markdown(markup) == text


@pytest.mark.parametrize(
    "text",
    [
        "Use `{ #anchor }` and `<div>`, or ``a ` <b> ``.",
        "```html\n<div class='a'>{ #x }</div>\n<!-- kept -->\n```",
        "~~~\n/// note\n!!! tip\n~~~",
        "    <b>code</b>\n",
        "If a < b and c > d, List<String> or <your name> stays.",
        "A set {1, 2, 3}, {x} and {name} stay; so does {key: value}.",
        "Stop!!!\n\n!!!\n\nWhy???",
        "https://example.com///x and a:::b",
        "| a | b |\n|---|---|\n| 1 | 2 |\r\n",
    ],
)
def test_text_that_looks_like_markup_stays(text: str) -> None:
    assert clean_markdown(text) == text


def test_imports_are_markup_in_mdx_alone(tmp_path: Path) -> None:
    content = "import Tabs from '@theme/Tabs';\nexport const x = 1\n\nText."
    assert read(tmp_path, content, "a.mdx").text == "\nText."
    assert read(tmp_path, content, "a.md").text == content


MARKS = st.sampled_from(
    [
        *"ab \n#`{}<>/!|:.-=*",
        "\n\n",
        "```\n",
        "/// note\n",
        "<b>",
        "<!--",
        "-->",
        "{ #a }",
        "| a |\n",
    ]
)


@given(pieces=st.lists(MARKS, max_size=60), is_mdx=st.booleans())
@pytest.mark.timeout(120)
def test_chunks_stand_in_the_cleaned_text(pieces: list[str], is_mdx: bool) -> None:
    text = clean_markdown("".join(pieces), is_mdx)
    loaded = LoadedText(text, "text/markdown", "t")
    chunks = split(loaded, 40)
    for chunk in chunks:
        assert text[chunk.start : chunk.end] == chunk.content
    assert "".join("".join(c.content for c in chunks).split()) == "".join(text.split())


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "content",
    [
        "<" * 50_000,
        "{" * 50_000,
        "`" * 50_000,
        "<!--" * 20_000,
        "<script>" * 9_000,
        " " * 90_000,
        "<b " * 30_000,
        "{ #a" * 20_000,
    ],
)
def test_hostile_text_takes_no_time(content: str) -> None:
    clean_markdown(content)
