"""Markdown: what it says of itself, and what of it is text."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexichord.ingest.chunk.splitter import split
from lexichord.ingest.load import load
from lexichord.ingest.load.markdown import clean_markdown
from lexichord.ingest.load.text import markdown_headings
from lexichord.types import LoadedText
from tests.wordings import worded


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


@worded("markup", "text")
def test_markup_is_no_text(markup: str, text: str) -> None:
    assert clean_markdown(markup) == text


@worded("markup", "text")
def test_of_a_directive_what_readers_see_is_text(markup: str, text: str) -> None:
    assert clean_markdown(markup) == text


@worded("markup", "text")
def test_of_marks_of_sites_the_words_stay(markup: str, text: str) -> None:
    assert clean_markdown(markup) == text


def test_comments_and_substitutions_are_those_of_myst(tmp_path: Path) -> None:
    page = "(a)=\n# Pier\n\n% hidden\nIn {{ town }}, `{{ town }}`.\n"
    front = "---\nmyst:\n  substitutions:\n    town: Lund\n---\n"
    assert read(tmp_path, f"{front}{page}").text == "# Pier\n\nIn Lund, `{{ town }}`.\n"
    assert read(tmp_path, "% shown\n+++\n{{ town }}\n").text == "% shown\n+++\n{{ town }}\n"


MDX_PAGE = """import Tabs from '@theme/Tabs';
import {
  A,
} from './a';

export const Red = ({children}) => (
  <span style={{color: 'red'}}>

    {children}
  </span>
);

# Piers

{/* hidden
words */}
<Red
  onClick={() => { alert(1) }}
>
  Wet
</Red>

import duties are high.
"""


def test_of_a_page_of_mdx_its_words_are_text(tmp_path: Path) -> None:
    text = read(tmp_path, MDX_PAGE, "a.mdx").text
    assert text.split() == ["#", "Piers", "Wet", "import", "duties", "are", "high."]


ANCHORED_PAGE = """(Tides of the Bay)=

# Tide Tables

```{versionadded} 1.3

```

Kaiplan reads the tables of the bay each night, without being
asked to.
"""


def test_an_anchor_before_the_heading_takes_no_title(tmp_path: Path) -> None:
    loaded = read(tmp_path, ANCHORED_PAGE)
    assert loaded.title == "Tide Tables"
    assert [heading.name for heading in markdown_headings(loaded.text)] == ["Tide Tables"]
    assert loaded.text.split("\n\n")[1] == "Added in version 1.3"


@worded("markup", "text")
def test_code_that_is_set_in_stands_between_fences(tmp_path: Path, markup: str, text: str) -> None:
    assert read(tmp_path, markup).text == text


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ('See [the\nhub][Hub] and [hub][].\n\n[hub]: https://a.org "T"\n', 2 * "https://a.org"),
        ("[![CI][pic]][hub]\n\n[pic]: a.svg\n[hub]: b.md", "a.svgb.md"),
        ("See [hub] and `[hub]`.\n\n[hub]: <a.md>\n", "a.md"),
        ("Text.\n~~~\n[hub]\n~~~\n\n- a\n\n      ```\n      [hub]\n      ```\n\n[hub]: a.md", ""),
        ("```\n[hub]\n```\n\n![hub]\n\n[hub]: a.md", "a.md"),
        ("No [hub], [x](b.md), a[hub], \\[hub] or [^1].\n\n[^1]: note\n[x]: a.md", ""),
    ],
)
def test_a_link_has_its_address_behind_its_words(tmp_path: Path, markup: str, text: str) -> None:
    shown = read(tmp_path, markup).text
    addresses = re.findall(r"\]\(([^)]*)\)", shown.replace("[x](b.md)", ""))
    assert "".join(addresses) == text
    assert "]: " not in shown.replace("[^1]: ", "")


@worded("text")
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
        ":::{note}\n" * 20_000,
        ":::{code}\n" * 20_000,
        ":::{note}\n---\n" * 20_000,
        "```{note}\n" * 20_000,
        "{{< " * 30_000,
        "{% " * 30_000,
        "[[a" * 30_000,
        "<A x={" * 20_000,
        '<A x="' * 20_000,
        "<A b " * 20_000,
        "%%a" * 30_000,
        "%%\na\n" * 20_000,
        "import {\n" * 20_000,
        "<A title=" * 20_000 + ">",
        "".join(f"{'`' * n}{{note}}\n" for n in range(500, 3, -1)),
        f"```{{note}}{' ' * 90_000}x\n:a:{' ' * 90_000}x\n{' ' * 90_000}x",
    ],
)
def test_hostile_text_takes_no_time(content: str) -> None:
    clean_markdown(content)
    clean_markdown(content, is_mdx=True)


SHOWN = [
    "See {{ref}}`{}`.",
    "See {{doc}}`{} <a/b>`.",
    "```{{note}}\n{}\n```",
    ":::{{tip}} {}\nText.\n:::",
    "```{{toctree}}\n{} <a>\n```",
    "```{{code-block}} sh\n{}\n```",
    "{{{{< hint >}}}}{}{{{{< /hint >}}}}",
    '{{{{< figure src="a.png" caption="{}" >}}}}',
    '{{% tab title="{}" %}}',
    '<Tab label="{}">\n\nText.\n\n</Tab>',
    "<Card>{}</Card>",
    ":::note[{}]\nText.\n:::",
    '=== "{}"\n\n    Text.',
    "[[{}]]",
    "[[a|{}]]",
    "![[{}]]",
    "> [!tip] {}\n> Text.",
    "`[[{}]]`",
]
UNSEEN = [
    "<!-- {} -->",
    "({})=",
    "%%{}%%",
    "import A from '{}';",
    "{{/* {} */}}",
    "```{{toctree}}\n{}\n```",
    '<Card icon="{}"></Card>',
    '{{{{< youtube "{}" >}}}}',
]
MARK_SIGNS = re.compile(r"\{\{|\}\}|\{%|%\}|</?[A-Z]|:::|\{(?:note|ref|doc|tip|toctree)\}")


@given(st.lists(st.sampled_from([*SHOWN, *UNSEEN]), min_size=1, max_size=10))
def test_all_that_is_shown_is_found_and_no_mark(
    tmp_path_factory: pytest.TempPathFactory, forms: list[str]
) -> None:
    named = [(form, f"word{number}q") for number, form in enumerate(forms)]
    page = "\n\n".join(form.format(word) for form, word in named)
    text = read(tmp_path_factory.mktemp("site"), f"Begun.\n\n{page}\n", "page.mdx").text
    for form, word in named:
        assert text.count(word) == (form not in UNSEEN), (form, word)
    assert not MARK_SIGNS.search(text)
