"""Documents as they are read: rendered, in parts, each mark on the characters of its quote."""

import asyncio
import re
from collections.abc import Sequence
from html import unescape
from itertools import pairwise
from time import process_time, thread_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexichord.ingest.load import PDF_TYPE
from lexichord.serve.limits import MAX_PART_CHARS
from lexichord.serve.page.blocks import (
    LANGUAGES,
    MAX_HIGHLIGHTED_CHARS,
    MAX_HIGHLIGHTED_LINE_CHARS,
    MAX_HIGHLIGHTING_SECONDS,
    MarkWriter,
    plain_marks,
)
from lexichord.serve.page.document import DocumentView, part_cuts, read_places, show_document
from lexichord.serve.page.reading import show_line, show_text
from lexichord.types import ShownDocument, StoredChunk, StoredDocument
from lexichord.work import in_thread

MARKDOWN, HTML, PYTHON, PLAIN = "text/markdown", "text/html", "text/x-python", "text/plain"
KINDS = (MARKDOWN, HTML, PYTHON, PLAIN, "application/json")
SIGNS = [
    *"*_`#>-+.|\\[]()!<&;:~\t \n1",
    *("\n\n", "\r\n", "**", "```\n", "| ", " |\n", "• ", "[", "](/", ")", "![", "| --- |\n"),
    *("# ", "\n- ", "\n> ", "<https://", ">", "&amp;"),
]
FIRST_LETTER = 0x4E00  # each letter of these texts is another one
LETTER = r"[\u4e00-\u9fff]"


@st.composite
def texts(draw: st.DrawFn) -> str:
    """A text in which no letter comes twice: what is marked of it is known by its letters."""
    parts = draw(st.lists(st.one_of(st.none(), st.sampled_from(SIGNS)), max_size=60))
    return "".join(
        chr(FIRST_LETTER + number) if part is None else part for number, part in enumerate(parts)
    )


def inside(shown: str) -> list[str]:
    """Return the letters in marks, in order."""
    return re.findall(LETTER, "".join(re.findall(r"<mark[^>]*>(.*?)</mark>", shown, re.S)))


@pytest.mark.parametrize("kind", KINDS)
@given(text=texts(), data=st.data())
def test_a_mark_stands_on_each_letter_of_its_quote_and_on_no_other(
    kind: str, text: str, data: st.DataObject
) -> None:
    place = st.integers(0, len(text))
    start, end = sorted((data.draw(place), data.draw(place)))
    shown = show_text(text, kind, MarkWriter(plain_marks([(start, end)] * (start < end))))
    visible = re.findall(LETTER, re.sub("<[^>]*>", "", shown))
    assert visible == sorted(visible)
    assert inside(shown) == [letter for letter in visible if letter in text[start:end]]
    assert shown.count("<mark>") == shown.count("</mark>")


@pytest.mark.parametrize("kind", [PYTHON, PLAIN, "application/json"])
@given(text=texts())
def test_code_and_plain_texts_are_shown_character_by_character(kind: str, text: str) -> None:
    shown = show_text(text, kind, MarkWriter(plain_marks([(3, 9)])))
    assert unescape(re.sub("<[^>]*>", "", shown)) == text


GUIDE = """\
# The *pump*

See the [manual of **2019**](https://example.org "a manual"), a manual &amp; a plan.

| part | cost |
| --- | ---: |
| `seal\\|ring` | EUR 9 |

```python
def cost():
    return 9
```
"""


def test_markdown_is_drawn_with_a_mark_over_all_that_is_in_it() -> None:
    shown = show_text(GUIDE, MARKDOWN, MarkWriter(plain_marks([(0, len(GUIDE))])), level=1)
    bare = re.sub("</?mark>", "", shown)
    assert "<h2>The <em>pump</em></h2>" in bare
    assert "See the manual of <strong>2019</strong>, a manual &amp; a plan." in bare
    assert "<th>part</th>" in bare
    assert "<td>EUR 9</td>" in bare
    assert '<span class="keyword">def</span>' in bare
    assert "--" not in bare
    text = re.sub(r"<mark>[^<]*</mark>", "", shown)
    assert not re.sub("<[^>]*>", "", text).strip()


def test_headings_of_one_depth_are_of_one_level_and_no_level_is_left_out() -> None:
    shown = show_text("## A\n\n#### B\n\n## C\n\n# D\n", MARKDOWN, MarkWriter(), level=1)
    assert re.findall(r"<(h\d)>(\w)", shown) == [("h2", "A"), ("h3", "B"), ("h2", "C"), ("h2", "D")]


TOLD = """\
Pumps

The price *is* 9 a_b_c.
Two lines
• one
  goes on
• two

Grade\tSNB22
Type\tSteel

| Zone NA | 1 |
| Zone \\| B | 2 |
"""


def test_what_a_loader_wrote_is_drawn_and_no_sign_of_it_is_taken_for_markdown() -> None:
    shown = show_text(TOLD, HTML, MarkWriter(), {0: 3}, level=1)
    assert shown.startswith("<h2>Pumps</h2>")  # no level is left out
    assert "The price *is* 9 a_b_c.<br>\nTwo lines" in shown
    assert "<li>one<br>\ngoes on</li>" in shown
    assert "<td>Grade</td>\n<td>SNB22</td>" in shown
    assert "<td>Zone | B</td>\n<td>2</td>" in shown
    assert not re.search(r"\| (?:Zone|1)", shown)


def test_a_row_stands_in_a_line_without_its_bars() -> None:
    assert show_line("| PDFill | 3 \\| 4 | **Print** |") == (
        "PDFill · 3 | 4 · <strong>Print</strong>"
    )


def test_items_stand_in_a_line_without_their_marks() -> None:
    assert show_line("The parts\n\n* **path**: is `/`.\n* 2 * 3") == (
        "The parts · <strong>path</strong>: is <code>/</code>. · 2 * 3"
    )


@pytest.mark.parametrize(
    "text",
    ["x = 1 # " + "y" * MAX_HIGHLIGHTED_LINE_CHARS, "x = 1\n" * (MAX_HIGHLIGHTED_CHARS // 6 + 1)],
)
def test_what_takes_a_lexer_long_is_shown_plain(text: str) -> None:
    assert "<span" not in show_text(text, PYTHON, MarkWriter())


JAVA = "text/x-java"
LOOKS_AHEAD = "a " * 20_000  # to its end from each word


@pytest.mark.parametrize("kind", [JAVA, MARKDOWN])
def test_a_lexer_that_takes_long_leaves_the_rest_plain(kind: str) -> None:
    text = LOOKS_AHEAD.replace("a " * 40, "a " * 39 + "a\n")
    if kind == MARKDOWN:
        text = f"```java\n{text}\n```\n" * 2  # all code of a page together
    started = thread_time()
    shown = show_text(text, kind, MarkWriter())
    assert thread_time() - started < 3 * MAX_HIGHLIGHTING_SECONDS
    assert (
        re.sub("<[^>]*>", "", shown).split()
        == text.replace("```java", "").replace("```", "").split()
    )


@pytest.mark.parametrize("sign", ["${", "/*"])
@pytest.mark.parametrize("name", ["genshi", "ragel-em", "console", "php", "pycon"])
def test_no_fence_s_language_takes_long(name: str, sign: str) -> None:
    """Of all that the library can tell apart some would take minutes."""
    text = f"```{name}\n" + (sign * 50 + "\n") * 200 + "```\n"
    started = thread_time()
    shown = show_text(text, MARKDOWN, MarkWriter(seconds=0.1))
    assert thread_time() - started < 2
    assert unescape(re.sub("<[^>]*>", "", shown)).count(sign) == 50 * 200


@pytest.mark.parametrize("line", ["a" * 450 + ":" * 450, "a:" * 450, "a" * 450 + " " * 450])
def test_no_line_takes_long_in_any_language(line: str) -> None:
    for name in (*LANGUAGES, "console", "terraform"):
        started = thread_time()
        show_text(f"```{name}\n{line}\n```\n", MARKDOWN, MarkWriter())
        assert thread_time() - started < 2, name


NESTED = {
    "markdown": "```console\n{line}\n```\n",
    "rst": ".. code-block:: console\n\n   {line}\n\n",
    "http": "HTTP/1.1 200 OK\nContent-Type: application/x-sh-session\n\n{line}\n",
    "postgresql": "do language console $${line}$$;\n",
}


@pytest.mark.parametrize("name", NESTED)
def test_no_language_takes_in_any_other(name: str) -> None:
    code = NESTED[name].format(line="a" * 450 + ":" * 450)
    started = thread_time()
    show_text(f"````{name}\n{code}````\n", MARKDOWN, MarkWriter())
    assert thread_time() - started < 2


def test_what_documents_commonly_hold_is_highlighted() -> None:
    for name, text in (
        *(("py", "def a(): pass"), ("sh", "if true; then")),
        *(("yml", "a: true"), ("json", '{"a": 1}'), ("html", "<p>a</p>"), ("c++", "int a = 1;")),
        *(("js", "const a = 1"), ("pycon", ">>> len('a')"), ("ini", "a = 1"), ("R", "a <- 'b'")),
    ):
        assert "<span" in show_text(f"```{name}\n{text}\n```\n", MARKDOWN, MarkWriter()), name


async def test_code_is_highlighted_only_for_who_waits() -> None:
    drawn = asyncio.create_task(
        in_thread(show_text, LOOKS_AHEAD.replace("a a ", "a\n"), JAVA, MarkWriter())
    )
    await asyncio.sleep(0.1)
    drawn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await drawn
    used = process_time()
    await asyncio.sleep(0.3)
    assert process_time() - used < 0.2


def stored(text: str, *starts: int, kind: str = PLAIN, heading: str = "") -> ShownDocument:
    sizes = (len(text), len(starts))
    document = StoredDocument("doc_1", "d", "u", "t", kind, *sizes, {}, None)  # type: ignore[arg-type]
    end = len(text)
    chunks = [
        StoredChunk(
            f"chunk_{n}", n, heading or f"A › {n}", at, end, None, text[at:], "", "", {}, False
        )
        for n, at in enumerate(starts)
    ]
    return ShownDocument(document, text, chunks)


def shown(
    document: ShownDocument,
    place: str,
    others: Sequence[str] = (),
    part: str = "",
    answer: Sequence[str] = (),
) -> DocumentView:
    return show_document(document, read_places(document.text, place, others, answer), part)


PLACE = st.tuples(st.integers(0, 40), st.integers(0, 40)).map(lambda two: f"{two[0]}-{two[1]}")


@given(
    st.text("ab\n ", max_size=30),
    st.sets(st.integers(0, 30), max_size=5),
    PLACE,
    st.lists(PLACE, max_size=4),
    st.lists(PLACE, max_size=3),
)
def test_the_whole_text_is_there_and_its_marks_are_the_quotes(
    text: str, starts: set[int], place: str, others: list[str], answer: list[str]
) -> None:
    inner = sorted(start for start in starts if start < len(text))
    view = shown(stored(text, *inner), place, others, "", answer)
    assert unescape(re.sub("<[^>]*>", "", view.text)) == text
    for number, (start, end) in enumerate(view.quotes):
        marks = re.findall(rf'<mark data-quote="{number}"([^>]*)>([^<]*)</mark>', view.text)
        assert "".join(marked for _, marked in marks) == text[start:end]
        assert [" id=" in attributes for attributes, _ in marks].count(True) == 1
        assert view.jumps[number] in [f"#{one}" for one in re.findall(r'id="([^"]+)"', view.text)]
    assert all(one[1] <= other[0] for one, other in pairwise(view.quotes))
    start, end = map(int, place.split("-"))
    assert (view.current is None) == (start >= min(end, len(text)))
    if view.current is not None:
        assert view.quotes[view.current] == (start, min(end, len(text)))
    anchors = re.findall(r'<a id="chunk-(\d+)"></a>', view.text)
    assert anchors == [str(number) for number in range(len(inner))]


def test_a_chunk_that_begins_with_its_heading_shows_it_as_one() -> None:
    text = "1. Rent\nEUR 900.\n\n2. Notice\nNinety days."
    view = shown(stored(text, 0, 18, kind=HTML, heading="Lease › 1. Rent"), "")
    assert '<h2><a id="chunk-0"></a>1. Rent</h2>' in view.text
    assert "<p>EUR 900.</p>" in view.text
    assert "2. Notice</h" not in view.text
    assert [(entry.name, entry.depth) for entry in view.outline] == [("1. Rent", 1)]


def test_the_sentences_of_an_answer_are_marked_in_their_quotes() -> None:
    text = "1. Rent\nThe rent is EUR 900. It is due in May.\n\n2. Notice\nNinety days."
    sentence = f"{text.index('It')}-{text.index('May.') + 4}"
    outside = f"{text.index('Ninety')}-{len(text)}"
    view = shown(stored(text, 0), "8-46", [], "", [sentence, outside, "nonsense"])
    answered = re.findall(r'<mark data-quote="0" class="current answer">([^<]*)</mark>', view.text)
    assert answered == ["It is due in May."]
    pdf = shown(stored(text, 0, kind=PDF_TYPE), "8-46", [], "", [sentence])
    assert f"answer={sentence}" in pdf.original


def test_lines_of_code_are_numbered_inside_a_quote_too() -> None:
    text = "def a():\n    return 1\n\nb = 2\n"
    view = shown(stored(text, 0, kind=PYTHON), "4-18")
    assert unescape(re.sub("<[^>]*>", "", view.text)) == text
    lines = re.split(r'<a id="L(\d)" class="line" href="#L\d"[^>]*></a>', view.text)
    assert lines[1::2] == ["1", "2", "3", "4"]
    assert [re.sub("<[^>]*>", "", line) for line in lines[2::2]] == text.splitlines(keepends=True)
    marked = re.findall(r"<mark[^>]*>([^<]*)</mark>", view.text)
    assert "".join(marked) == text[4:18]
    assert "data-line" not in shown(stored(text, 0), "").text


@given(st.lists(st.sampled_from(["x" * 30_000, "\n\n", "\n", "y" * 45_000]), max_size=12))
def test_parts_are_bounded_and_together_the_whole(pieces: list[str]) -> None:
    text = "".join(pieces)
    cuts = part_cuts(text)
    assert (cuts[0], cuts[-1]) == (0, len(text))
    assert all(0 < end - start <= MAX_PART_CHARS for start, end in pairwise(cuts) if text)


def test_a_long_document_opens_at_the_part_of_its_quote() -> None:
    line = "Clause number one says little that is new.\n\n"
    text = line * (3 * MAX_PART_CHARS // len(line) + 100)
    late = len(text) - 100
    view = shown(stored(text, 0, late, kind=HTML), f"{late}-{late + 9}", ["0-6"])
    assert (view.part.number, view.part.total, view.part.after) == (4, 4, "")
    assert "part=3" in view.part.before
    assert view.jumps[1] == "#quote"
    assert view.jumps[0].startswith("/document/doc_1?start=0&end=6&")
    assert 'id="chunk-1"' in view.text
    assert 'id="chunk-0"' not in view.text
    first = shown(stored(text, 0, kind=HTML), "", [], "1")
    assert (first.part.number, first.part.before) == (1, "")
    for nonsense in ("0", "-1", "x", "²", "9" * 30):
        assert shown(stored(text, 0), "", [], nonsense).part.number in (1, 4)


def test_a_quote_over_the_end_of_a_part_is_marked_in_both() -> None:
    text = "x" * (MAX_PART_CHARS + 50)
    place = f"{MAX_PART_CHARS - 5}-{MAX_PART_CHARS + 7}"
    parts = [shown(stored(text, 0), place, [], part).text for part in ("1", "2")]
    marked = [re.findall(r"<mark[^>]*>(x+)</mark>", part) for part in parts]
    assert marked == [["x" * 5], ["x" * 7]]
