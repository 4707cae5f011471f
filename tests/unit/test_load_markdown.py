"""Markdown: what it says of itself, and what of it is text."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexichord.ingest.chunk import split
from lexichord.ingest.load import load
from lexichord.ingest.load.markdown import clean_markdown
from lexichord.ingest.load.text import markdown_headings
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
    ("markup", "text"),
    [
        ("(tide-times)=\n## Tides\n\n(a b/c.d)=\nText.", "## Tides\n\nText."),
        ("{#tides .wide}\nText.\n\n::: {.column width=50%}\nMore.\n:::", "Text.\n\nMore."),
        ("```{warning}\nSee {doc}`tides`.\n```\nNext", "Warning:\nSee tides.\nNext"),
        (":::{note}\n:class: big\n:name: n\nBring a rope.\n:::", "Note:\nBring a rope."),
        ("::::{admonition} Tide\n---\nclass: x\n---\nIt comes.\n::::", "Tide\nIt comes."),
        ("```{versionadded} 2.1\n```\nNext", "Added in version 2.1\nNext"),
        (":::{deprecated} 2.1\nUse rope.\n:::", "Deprecated since version 2.1:\nUse rope."),
        ("A\n```{toctree}\n:hidden:\none\ntwo\n```\nB", "A\n\nB"),
        ("A\n:::{image} a.png\n:alt: Two\n  boats\n:::\nB", "A\nPicture: Two boats\nB"),
        ("```{figure} a.png\n:alt: 'A boat'\nAt sea\n```", "Picture: A boat\nAt sea"),
        ("```{figure} a.png\n---\nalt: A boat\n---\nAt sea\n```", "Picture: A boat\nAt sea"),
        ("```{code-block} sh\n:caption: x\nmake <b>\n```", "x\n```sh\nmake <b>\n```"),
        (
            '<table><tr><td>Gull</td><td>9</td></tr></table>\nOne<br>two <img alt="A boat" src=x>',
            "Gull 9\nOne two [Picture: A boat]",
        ),
        ('<p><img src=x alt="A boat"></p>', "Picture: A boat"),
        ("```{unknown} Of boats\nGull\n```", "Of boats\n```unknown\nGull\n```"),
        (
            ':::{csv-table} Fees\n:header: "Boat", Fee\nGull, 9\n:::\nEnd',
            "Fees\n\n| Boat | Fee |\n| --- | --- |\n| Gull | 9 |\nEnd",
        ),
        (":::{list-table} Fees\n* - Gull\n  - 9\n:::", "Fees\n\n| Gull | 9 |\n"),
        ("```{parsed-literal}\n[GET /a](b)\n```", "```\nGET /a\n```"),
        (":::{code-block} sh\nmake <b>\n:::\nB", "```sh\nmake <b>\n```\nB"),
        ("```{pier-cli}\n$ pier open a\n```", "```pier-cli\n$ pier open a\n```"),
        ("```{r, echo=FALSE}\nx <- 1\n```", "```r\nx <- 1\n```"),
        ("```{py:class} pier.Rope\n:nocontents:\nHolds.\n```", "pier.Rope\nHolds."),
        ("````{tip}\nRun:\n```{code} sh\nls\n```\n````", "Tip:\nRun:\n```sh\nls\n```"),
    ],
)
def test_of_a_directive_what_readers_see_is_text(markup: str, text: str) -> None:
    assert clean_markdown(markup) == text


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        # MyST
        (
            "See {doc}`the pier <a/b>`, {py:func}`~a.b.moor` and {ref}`rope`.",
            "See the pier, moor and rope.",
        ),
        ("{code}`<b>` and `{note}`", "`<b>` and `{note}`"),
        ("```{toctree}\n:maxdepth: 2\n\nintro\nHow to moor <moor>\n```\nB", "- How to moor\nB"),
        ("```{eval-rst}\n.. note:: Bring a rope.\n```\n", "Note: Bring a rope.\n"),
        (
            "```{list-table} Fees\n:header-rows: 1\n\n* - Boat\n  - Fee\n"
            "* - {ref}`Canoe <a>`\n  - 3\n```",
            "Fees\n\n| Boat | Fee |\n| --- | --- |\n| Canoe | 3 |",
        ),
        (":::{seealso} The pier\n:::", "See also: The pier"),
        ("{octicon}`plug;1em` Plug", " Plug"),
        # Hugo
        ('{{< note title="Mind" >}}\nThe *tide*.\n{{< /note >}}', "Mind\nThe *tide*."),
        ("{{% tab %}}In one line.{{% /tab %}}", "In one line."),
        ('[moor]({{< relref "moor.md" >}}) {{<hint>}}a{{</hint>}}', "[moor](moor.md) a"),
        ('{{< figure src="a.png"\n  caption="The pier" >}}', "The pier"),
        ('A {{< term text="Quay" id="q" >}} of {{< param town >}}', "A Quay of town"),
        ("With {{< version >}} and {{% param a.b c %}}", "With version and a.b"),
        ("{{</* note */>}} and `{{< note >}}`", "note and `{{< note >}}`"),
        ("```go\n{{< note >}}\n```", "```go\n{{< note >}}\n```"),
        # Liquid and GitBook
        ('{% tab title="Sail" %}\nSails.\n{% endtab %}', "Sail\nSails."),
        ("{% if a %}Wet{% endif %} {{ site.name }}", "Wet {{ site.name }}"),
        # MkDocs
        ('=== "Sail"\n\n    Sails.\n\nNext', "Sail\n\nSails.\n\nNext"),
        # Docusaurus
        (
            '<Tabs>\n<TabItem value="a" label="Sail">In one *line*.</TabItem>\n</Tabs>',
            "Sail: In one *line*.",
        ),
        (
            '<Tabs>\n  <TabItem value="a" label="Sail">\n\nText\n\n  </TabItem>\n</Tabs>',
            "Sail\n\nText\n",
        ),
        ("<Code code={`a = 1`} />", "a = 1"),
        ("A <Mark color='red'>wet</Mark> pier", "A wet pier"),
        # Obsidian
        (
            "[[Pier]], [[Pier|the pier]], [[a/Pier#Depth]], [[#Depth]]",
            "Pier, the pier, a/Pier › Depth, Depth",
        ),
        ("![[pier.png|200]] ![[Tides#High|tides]] `[[Pier]]`", "pier.png tides `[[Pier]]`"),
        ("High%%not sure%% tide ^block-1\n%%\nhidden\n%%\nNext", "High tide\nNext"),
        ("> [!faq]- When?\n> Now.", "> Faq: When?\n> Now."),
    ],
)
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


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        (
            "Run:\n\n    make <b>\n\n      all\n\nDone.",
            "Run:\n\n```\nmake <b>\n\n  all\n```\n\nDone.",
        ),
        ("Run:\n\n\tmake\n", "Run:\n\n```\nmake\n```\n"),
        ("# Use\n\n```sh\nls\n```\n\n    make", "# Use\n\n```sh\nls\n```\n\n```\nmake\n```"),
        ("1. Run\n\n    it.\n\n   - and\n\n    on.", "1. Run\n\n    it.\n\n   - and\n\n    on."),
        ("1. Run\n\n   ```\n   x\n   ```\n\n    on.", "1. Run\n\n   ```\n   x\n   ```\n\n    on."),
        ("A long line\n    that goes on.", "A long line\n    that goes on."),
        ("**Run**\n\n    make", "**Run**\n\n```\nmake\n```"),
    ],
)
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


@pytest.mark.parametrize(
    "text",
    [
        "(see below)= is no anchor.",
        "f(x)=\ng(x)= 1",
        "```md\n(anchor)=\n:::{note}\nx\n:::\n```",
        "A `{note}` and {name} and :::{ stay.",
        "Use `{ #anchor }` and `<div>`, or ``a ` <b> ``.",
        "```html\n<div class='a'>{ #x }</div>\n<!-- kept -->\n```",
        "~~~\n/// note\n!!! tip\n~~~",
        "    <b>code</b>\n",
        "If a < b and c > d, List<String> or <your name> stays.",
        "A set {1, 2, 3}, {x} and {name} stay; so does {key: value}.",
        "Stop!!!\n\n!!!\n\nWhy???",
        "https://example.com///x and a:::b",
        "| a | b |\n|---|---|\n| 1 | 2 |\r\n",
        "[[1]](a.md), x[[1]], [[1, 2], [3]], \\[[Pier]] and [[ -f a ]] stay.",
        "100%% and 50%% of {{ name }} stay.",
        "A Map<Key> of <Value> stays.",
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
