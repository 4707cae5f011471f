"""Every text comes out in pieces that stand in it, complete, in order and short enough."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexichord.ingest.chunk.splitter import MAX_CHUNK_CHARS, MAX_HEADING_CHARS, split
from lexichord.types import Chunk, Heading, LoadedText, Table

MARKDOWN, PLAIN, CODE = "text/markdown", "text/plain", "text/x-python"
WORDS = ["a", "clause", "naïve", "東京", "🎉", "x" * 30, "12.4", "ARTICLE IV", "3. Term", "(a)"]
WORDS += [
    *("(b)", "i.", "5.1", "5.2 Renewal", "| a | b |", "|---|---|", "```"),
    *("def f():", '"T" means'),
]
GAPS = [" ", "\n", "\n\n", "\n \t\n", "\r\n", ". ", "; ", "\u00a0", "\n# ", "\n### ", "#", "\ufeff"]
texts = st.lists(st.sampled_from(WORDS + GAPS), max_size=80).map("".join) | st.text(max_size=400)
limits = st.integers(1, 60)
kinds = st.sampled_from([MARKDOWN, PLAIN, CODE])

LENGTH = 300_000  # quadratic work on so much takes minutes, linear work a moment
LONG = {
    "words": "word " * LENGTH,
    "no space": "x" * LENGTH,
    "empty lines": "\n" * LENGTH + "x",
    "lines with a space": "\n " * (LENGTH // 2) + "x",
    "heading of hashes": "# a" + "#" * LENGTH + "b",
    "heading of spaces": "# a" + " " * LENGTH + "b",
    "section numbers": "1." * (LENGTH // 2),
    "marks in a line": "; (a) x; (b) y" * (LENGTH // 50),
    "capitals": "1 " + "A " * (LENGTH // 2),
    "headings with text": "## h\n\nSome text.\n\n" * 20_000,
    "clauses": "".join(f"{n}. Rent\n{n}.1 The rent is due.\n" for n in range(1, 1000)) * 10,
    "deep lists": "".join(f"{'  ' * n}- item\n" for n in range(1000)),
    "deep numbers": "".join(f"{'.'.join('1' * n)} Rent\n" for n in range(1, 500)),
    "deep code": "".join(f"{' ' * n}def f{n}():\n" for n in range(1500)),
    "comments": "# a comment\n" * 30_000 + "def f(): ...\n",
    "fences": "```\n" * 30_001,
    "pipes": "|" * LENGTH,
    "table": "| a | b |\n|---|---|\n" + "| c | d |\n" * 30_000,
}


def cut(text: str, limit: int = MAX_CHUNK_CHARS, kind: str = PLAIN) -> list[Chunk]:
    return split(LoadedText(text, kind, "Title"), limit)


@given(texts, limits, kinds)
def test_chunks_are_short_parts_of_the_text_that_hold_all_of_it_in_order(
    text: str, limit: int, kind: str
) -> None:
    chunks = cut(text, limit, kind)
    for chunk in chunks:
        assert text[chunk.start : chunk.end] == chunk.content == chunk.content.strip()
        assert 0 < len(chunk.content) <= limit
    assert all(left.end <= right.start for left, right in pairwise(chunks))
    between = [0, *(edge for chunk in chunks for edge in (chunk.start, chunk.end)), len(text)]
    gaps = zip(between[::2], between[1::2], strict=True)
    assert all(not text[start:end].strip() for start, end in gaps)


@given(st.lists(st.tuples(st.integers(1, 6), st.booleans()), max_size=12))
def test_a_chunk_knows_the_headings_above_it(outline: list[tuple[int, bool]]) -> None:
    """Against a model: per level the latest heading, forgotten when a higher one comes."""
    text = "The title comes first.\n"
    above: dict[int, str] = {}
    expected: dict[str, str] = {}
    for number, (level, has_body) in enumerate(outline):
        text += f"\n{'#' * level} Heading {number}\n"
        above = {known: name for known, name in above.items() if known < level}
        above[level] = f"Heading {number}"
        if has_body:
            text += "\n" + f"Body {number} of it. " * 20 + "\n"
            expected[f"Body {number} of"] = " › ".join(above.values())
    chunks = cut(text, 200, MARKDOWN)
    for body, path in expected.items():
        assert {chunk.heading for chunk in chunks if body in chunk.content} == {path}


def test_the_title_is_no_part_of_the_path() -> None:
    text = "\ufeff# Lease\n\nIntroduction.\n\n## Rent\n\nMonthly.\n\n# Annex\n\nPlan."
    chunks = cut(text, 40, MARKDOWN)
    assert [chunk.heading for chunk in chunks] == ["", "Rent", "Annex"]


def test_a_path_holds_no_more_of_a_heading_than_a_chunk_may_hold() -> None:
    """All the chunks below carry it; the text under a heading of one long word is whole."""
    name = "a" * 50_000
    text = f"def {name}():\n" + "    word()\n" * 500
    chunks = cut(text, kind=CODE)
    assert {chunk.heading for chunk in chunks} == {f"def {name}"[:MAX_HEADING_CHARS]}
    assert "".join(chunk.content for chunk in chunks).count("a") == len(name)


def test_small_neighbours_are_joined_under_what_they_share() -> None:
    text = (
        "## Rent\n\n### When\n\nMonthly.\n\n### How\n\nBy transfer.\n\n## Term\n\n" + "Long. " * 20
    )
    chunks = cut(text, 130, MARKDOWN)
    assert [chunk.heading for chunk in chunks] == ["Rent", "Term"]
    text = "1 Rent\n" + "".join(f"({n}) " + "due, " * 6 + "\n" for n in "abcdef")
    chunks = cut(text, 80)
    assert [chunk.heading for chunk in chunks] == [
        "1 Rent › (a) – (b)",
        "1 Rent › (c) – (d)",
        "1 Rent › (e) – (f)",
    ]
    text = "Preamble.\n1. Rent\nIt is due.\n2. Term\nA year.\n3. Law\n" + "Irish. " * 10
    assert [chunk.heading for chunk in cut(text, 80)] == ["1 Rent – 2 Term", "3 Law"]


def test_a_long_clause_is_cut_at_sentences() -> None:
    text = "5.1 Rent. " + "The tenant pays on the first day. " * 10
    chunks = cut(text, 100)
    assert len(chunks) > 3
    assert all(chunk.content.endswith(".") for chunk in chunks)
    assert {chunk.heading for chunk in chunks} == {"5.1 Rent"}


def test_pages_are_those_on_which_chunks_begin() -> None:
    text = "First page.\fSecond page, and more.\fThird."
    loaded = LoadedText(text, "application/pdf", "T", pages=(0, 12, 35))
    assert [chunk.page for chunk in split(loaded, 25)] == [1, 2, 3]


def test_a_table_stays_whole_where_it_can() -> None:
    text = "Before it. " * 8 + "\nItem\tPrice\nTea\t2\nMilk\t1\n" + "After it. " * 8
    start = text.index("Item")
    table = Table(start, text.index("After"), start + 11)
    chunks = split(LoadedText(text, PLAIN, "T", tables=(table,)), 60)
    assert "Item\tPrice\nTea\t2\nMilk\t1" in [chunk.content for chunk in chunks]


def test_a_long_table_is_cut_at_rows_and_its_header_goes_along() -> None:
    text = "Item\tPrice\n" + "".join(f"Thing {n}\t{n}\n" for n in range(40))
    heading = Heading(0, 0, 2, "Fees")
    loaded = LoadedText(text, PLAIN, "T", (heading,), (Table(0, len(text), 11),))
    first, *others = split(loaded, 100)
    assert first.content.startswith("Item\tPrice\nThing 0\t0\n")
    assert first.heading == "Fees"
    assert all(other.content.startswith("Thing ") for other in others)
    assert {other.heading for other in others} == {"Fees › Item | Price"}


def test_a_table_that_goes_on_below_another_header_stands_in_no_two_chunks() -> None:
    rows = "".join(f"| {number} | {number * number} |\n" for number in range(12))
    text = f"| a | b |\n|---|---|\n{rows}| c | d |\n|---|---|\n{rows}"
    chunks = split(LoadedText(text, "text/markdown", "Squares"), limit=100)
    assert len(chunks) > 3
    assert "".join("".join(chunk.content.split()) for chunk in chunks) == "".join(text.split())


@pytest.mark.timeout(30)
@pytest.mark.parametrize("name", LONG)
def test_a_long_text_is_no_matter_of_minutes(name: str) -> None:
    """Quadratic work on these would be some 10^12 steps: the timeout is what fails."""
    kind = CODE if name in ("comments", "deep code") else MARKDOWN
    for chunk in cut(LONG[name], kind=kind):
        assert len(chunk.content) <= MAX_CHUNK_CHARS


def test_a_wrapped_sentence_is_not_cut_at_the_end_of_a_line() -> None:
    lines = (f"the boat number {number} that is on its way\n" for number in range(8))
    sentence = f"The harbour master assigns a berth to\n{''.join(lines)}before the evening tide."
    text = "\n".join(20 * [sentence])
    chunks = split(LoadedText(text, "text/markdown", "Berths"))
    assert len(chunks) > 1
    assert all(chunk.content.endswith("tide.") for chunk in chunks)
    assert all(chunk.content == text[chunk.start : chunk.end] for chunk in chunks)
