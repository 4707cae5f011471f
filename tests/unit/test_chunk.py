"""Every text comes out in pieces that stand in it, complete, in order and short enough."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexichord.ingest.chunk import LIMIT, split

WORDS = ["a", "clause", "naïve", "東京", "🎉", "x" * 30, "12.4", "ARTICLE IV", "3. TERM AND NOTICE"]
GAPS = [" ", "\n", "\n\n", "\n \t\n", "\r\n", ". ", "; ", "\u00a0", "\n# ", "\n### ", "#", "\ufeff"]
texts = st.lists(st.sampled_from(WORDS + GAPS), max_size=80).map("".join) | st.text(max_size=400)
limits = st.integers(1, 60)

MEGABYTE = 1_000_000
ONE_LINE = {
    "words": "word " * (MEGABYTE // 5),
    "no space": "x" * MEGABYTE,
    "spaces": " " * MEGABYTE + "x",
    "empty lines": "\n" * MEGABYTE + "x",
    "lines with a space": "\n " * (MEGABYTE // 2) + "x",
    "heading of hashes": "# a" + "#" * MEGABYTE + "b",
    "heading of spaces": "# a" + " " * MEGABYTE + "b",
    "section numbers": "1." * (MEGABYTE // 2),
    "capitals": "1 " + "A " * (MEGABYTE // 2),
    "headings": "# h\n" * (MEGABYTE // 4),
}


@given(texts, limits)
def test_a_chunk_is_what_stands_at_its_offsets(text: str, limit: int) -> None:
    for chunk in split(text, limit):
        assert text[chunk.start : chunk.end] == chunk.content


@given(texts, limits)
def test_chunks_are_short_and_without_space_around_them(text: str, limit: int) -> None:
    for chunk in split(text, limit):
        assert 0 < len(chunk.content) <= limit
        assert chunk.content == chunk.content.strip()


@given(texts, limits)
def test_every_character_is_in_exactly_one_chunk_in_order(text: str, limit: int) -> None:
    chunks = split(text, limit)
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
            text += f"\nBody {number} of it.\n"
            expected[f"Body {number} of"] = " › ".join(above.values())
    chunks = split(text)
    for body, path in expected.items():
        assert [chunk.heading for chunk in chunks if body in chunk.content] == [path]


def test_the_title_is_no_part_of_the_path() -> None:
    text = "\ufeff# Lease\n\nIntroduction.\n\n## Rent\n\nMonthly.\n\n# Annex\n\nPlan."
    assert [chunk.heading for chunk in split(text)] == ["", "Rent", "Annex"]


def test_a_heading_without_text_of_its_own_opens_the_next_section() -> None:
    (chunk,) = split("## Rent\n\n### Payment\n\nMonthly.")
    assert chunk.heading == "Rent › Payment"
    assert chunk.content == "## Rent\n\n### Payment\n\nMonthly."


@pytest.mark.parametrize(
    ("line", "heading"),
    [
        ("## Rent ##", "Rent"),
        ("## Notes on C#", "Notes on C#"),
        ("##\tRent\r", "Rent"),
        ("ARTICLE IV TERM", "ARTICLE IV TERM"),
        ("SECTION 12 Notices", "SECTION 12 Notices"),
        ("2. TERM AND NOTICE", "2. TERM AND NOTICE"),
        ("10.3 GOVERNING LAW", "10.3 GOVERNING LAW"),
        ("Article four", ""),
        ("2. The term is a year", ""),
        ("####### seven", ""),
        ("#hashtag", ""),
        ("## " + "long " * 50, ""),
    ],
)
def test_what_is_a_heading(line: str, heading: str) -> None:
    first, second = split(f"Before.\n\n{line}\nAfter.", limit=300), "After."
    assert [chunk.heading for chunk in first if second in chunk.content] == [heading]


@pytest.mark.parametrize("text", ["", " \n\t ", "\n\n\n"])
def test_no_text_gives_no_chunk(text: str) -> None:
    assert split(text) == []


def test_it_cuts_at_the_coarsest_border_that_does() -> None:
    text = "one two. three four\nfive six\n\nseven eight"
    assert [chunk.content for chunk in split(text, 30)] == [
        "one two. three four\nfive six",
        "seven eight",
    ]
    assert [chunk.content for chunk in split(text, 20)] == [
        "one two. three four",
        "five six",
        "seven eight",
    ]
    assert [chunk.content for chunk in split(text, 12)][:2] == ["one two.", "three four"]
    assert [chunk.content for chunk in split("abcdefgh", 3)] == ["abc", "def", "gh"]


@pytest.mark.timeout(30)
@pytest.mark.parametrize("name", ONE_LINE)
def test_a_megabyte_of_anything_is_no_matter_of_minutes(name: str) -> None:
    """Quadratic work on these would be some 10^12 steps: the timeout is what fails."""
    chunks = split(ONE_LINE[name])
    assert all(len(chunk.content) <= LIMIT for chunk in chunks)
    assert all(len(chunk.heading) <= 7 * 210 for chunk in chunks)
