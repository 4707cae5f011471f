"""Evidence as text: whole passages, numbered as their sources, as many as there is room for."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from lexichord.retrieve.aggregate import MAX_LENGTH, format_context
from lexichord.types import ChunkHit

HIT = ChunkHit(
    *(7, 3, "default", "a/lease.md", "Lease", "Rent", 10, 14, 2, "text", "Lease › Rent", 0.5),
    scores={},
    ranks={},
)
hits = st.builds(
    lambda content, title, heading: replace(HIT, content=content, title=title, heading=heading),
    st.text(min_size=1, max_size=60),
    st.text(max_size=10),
    st.text(max_size=10),
)


@given(st.lists(hits, max_size=8), st.integers(0, 200))
def test_it_never_exceeds_its_length(found: list[ChunkHit], length: int) -> None:
    context, _ = format_context(found, length)
    assert len(context) <= length


@given(st.lists(hits, max_size=8), st.integers(0, 200))
def test_passages_are_whole_and_numbered(found: list[ChunkHit], length: int) -> None:
    context, sources = format_context(found, length)
    assert [source["number"] for source in sources] == list(range(1, len(sources) + 1))
    position = 0
    remaining = iter(found)
    for source in sources:
        head = f"[{source['number']}] {source['citation']}\n"
        content = next(
            hit.content
            for hit in remaining
            if context.startswith(f"{head}{hit.content}\n", position)
        )
        position += len(head) + len(content) + 2  # its line's end, and the empty line
    assert position in (0, len(context) + 1)


@given(st.lists(hits, max_size=8))
def test_nothing_is_left_out_while_there_is_room(found: list[ChunkHit]) -> None:
    assert len(format_context(found)[1]) == len(found)


def test_a_passage_that_does_not_fit_makes_way_for_a_shorter_one() -> None:
    long, short = replace(HIT, content="x" * 100), replace(HIT, content="short", chunk_id=8)
    context, sources = format_context([long, short], 50)
    assert context == "[1] Lease › Rent\nshort\n"
    assert [source["chunk_id"] for source in sources] == [8]


def test_the_border_is_exact() -> None:
    passage = "[1] Lease › Rent\ntext\n"
    assert format_context([HIT], len(passage))[0] == passage
    assert format_context([HIT], len(passage) - 1) == ("", [])


def test_a_source_says_where_its_passage_stands() -> None:
    _, sources = format_context([HIT])
    assert sources == [
        {
            "number": 1,
            "citation": "Lease › Rent",
            "uri": "a/lease.md",
            "start": 10,
            "end": 14,
            "page": 2,
            "chunk_id": 7,
            "document_id": 3,
            "score": 0.5,
        }
    ]
    assert MAX_LENGTH == 4000
