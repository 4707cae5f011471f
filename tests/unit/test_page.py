"""What the pages make of texts and places, and their colours: no server."""

import re
from html import unescape
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import escape

import lexichord
from lexichord.serve.page import local_address
from lexichord.serve.page.reading import (
    answer_patterns,
    find_answer,
    find_words,
    section_of,
    show_passage,
    word_pattern,
)

HTTP = Path(lexichord.__file__).parent / "serve" / "page"
FILES = [path for folder in ("static", "templates") for path in sorted((HTTP / folder).iterdir())]


@pytest.mark.parametrize(
    ("question", "text", "marked"),
    [
        ("How long do obligations last?", "An obligation lasts.", ["obligation", "lasts"]),
        ("Who may terminate?", "Termination or terminated", ["Termination", "terminated"]),
        ("What is the NDA of 2024?", "the NDA, what, Nda, 2024, 20245", ["NDA", "Nda", "2024"]),
        ("notice?", "notices, noticeable, unnoticed", ["notices"]),
        ("(.*) [a-z]+ \\", "abc", []),
    ],
)
def test_the_words_of_a_question_are_found_in_their_other_forms(
    question: str, text: str, marked: list[str]
) -> None:
    places = find_words(text, word_pattern(question))
    assert [text[start:end] for start, end in places] == marked


@given(st.text(max_size=60), st.text(max_size=60))
def test_marking_changes_no_plain_text(question: str, text: str) -> None:
    shown = show_passage(text, "a.txt", find_words(text, word_pattern(question)))
    assert unescape(re.sub("<[^>]*>", "", shown)) == unescape(str(escape(text)))


MARKDOWN = """\
## Use `Caps`

You can set it in **Fast** [here](https://example.org).

* Import `Caps`.
* Create a list.

| name | cost |
| --- | --- |
| pump | EUR 900 |

```py
x = 1
```
<script>alert(1)</script> ![a plan](//evil.example/x)
"""


def test_markdown_is_rendered_and_nothing_in_it_acts_or_leads_away() -> None:
    shown = show_passage(MARKDOWN, "guide.md")
    for part in ("<code>Caps</code>", "<strong>Fast</strong> here.", "<td>EUR 900</td>", "a plan"):
        assert part in shown
    assert "<li>Create a list.</li>" in shown
    assert not re.search(r"<(?:a|img|script|h\d)\b|\bhref=|\bsrc=", shown)


@given(st.text("|-*#`_[]()<>!&\\ \n\tab1.=~:", max_size=80), st.data())
def test_whatever_a_passage_is_only_known_elements_come_of_it(
    text: str, data: st.DataObject
) -> None:
    place = st.integers(0, len(text))
    start, end = sorted((data.draw(place), data.draw(place)))
    for uri in ("a.md", "a.txt", "a.py", "a.html"):
        shown = show_passage(text, uri, [(start, end)])
        tags = re.findall(r"<(/?)(\w+)[^<>]*>", shown)
        assert {name for _, name in tags} <= SHOWN_ELEMENTS
        opened = [name for close, name in tags if not close and name not in ("br", "hr")]
        assert sorted(opened) == sorted(name for close, name in tags if close)


SHOWN_ELEMENTS = {
    *("div", "span", "mark", "p", "br", "hr", "ul", "ol", "li", "code", "strong", "em"),
    *("blockquote", "table", "thead", "tbody", "tr", "th", "td"),
}


@pytest.mark.parametrize(
    ("answer", "marked"),
    [
        (
            "You can set it in **Fast** [here](https://example.org). [1]",
            "You can set it in |Fast||here|.",
        ),
        ("* Import `Caps`. [2]\n* Create a list. [1]", "Import |Caps|.|Create a list."),
        ("| pump | EUR 900 |", "pump|EUR 900"),
    ],
)
def test_the_sentences_of_an_answer_are_marked_in_their_passage(answer: str, marked: str) -> None:
    shown = show_passage(MARKDOWN, "guide.md", find_answer(MARKDOWN, answer_patterns(answer)))
    parts = [unescape(part) for part in re.findall(r"<mark>(.*?)</mark>", shown, re.S)]
    assert "|".join(part.strip() for part in parts) == "|".join(
        p.strip() for p in marked.split("|")
    )


def test_a_mark_goes_on_over_spaces_and_lines() -> None:
    text = "The rent is\n   EUR 900\na month, always."
    answer = "The rent is EUR 900 a month, always. [3]"
    assert find_answer(text, answer_patterns(answer)) == [(0, len(text))]


@pytest.mark.parametrize(
    ("heading", "number"),
    [
        ("Lease › 10. Access", "10"),
        ("§ 5.2 Term › Notes", "5.2"),
        ("ARTICLE 4 Fees", "4"),
        ("Section 12(a)", ""),
        ("2026 budget", ""),
    ],
)
def test_a_section_is_named_by_its_number(heading: str, number: str) -> None:
    assert section_of(heading) == number


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("/?q=a%20b&k=3", "/?q=a%20b&k=3"),
        ("/document/4", "/document/4"),
        *((each, "/") for each in ("", "//x", "/\\x", "http://x", "x", "/\tx", "/\nx", "///x")),
    ],
)
def test_an_address_to_go_on_to_is_one_of_ours(address: str, expected: str) -> None:
    assert local_address(address) == expected


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.name)
def test_no_file_of_a_page_asks_another_server_or_acts_inline(file: Path) -> None:
    text = file.read_text().replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert not re.search(r"(?:https?:)?//[\w.-]+\.\w|@import|url\(|\bdata:", text)
    if file.suffix == ".html":
        assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:|\|\s*safe", text)
        assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", text))
    if file.suffix == ".js":
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", text)


PAIRS = [
    *((text, ground) for text in ("text", "dim", "accent") for ground in ("ground", "surface")),
    *(("on-accent", "accent"), ("accent", "soft"), ("text", "soft"), ("dim", "soft")),
    *(("on-mark", "mark"), ("on-warn", "warn")),
]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("text", "ground"), PAIRS)
def test_colours_can_be_read(scheme: str, text: str, ground: str) -> None:
    """WCAG 2.2, 1.4.3: at least 4.5 to 1."""
    css = (HTTP / "static" / "page.css").read_text()
    light, dark = (
        dict(re.findall(r"--([\w-]+): #([0-9a-f]{6})", part))
        for part in re.findall(r":root \{([^}]+)\}", css)
    )
    colours = light if scheme == "light" else dark
    brighter, darker = sorted((_luminance(colours[each]) for each in (text, ground)), reverse=True)
    assert (brighter + 0.05) / (darker + 0.05) >= 4.5


def _luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (0, 2, 4)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
