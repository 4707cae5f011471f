"""Evidence as text: whole passages, numbered as their sources, as many as there is room for."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexichord.errors import ConfigError
from lexichord.retrieve.evidence.answer import format_context
from lexichord.types import ChunkHit, ContextFormat, HitScores, QueryOptions

HIT = ChunkHit(
    *("chunk_7", "doc_3", "default", "a/lease.md", "Lease", "Rent", 10, 14, 2),
    *("text", "Lease › Rent", 0.5),
    scores=HitScores(None, None, None),
    ranks={},
)
hits = st.builds(
    lambda content, title, heading, document: replace(
        HIT, content=content, title=title, heading=heading, document_id=document
    ),
    st.text(min_size=1, max_size=60),
    st.text(max_size=10),
    st.text(max_size=10),
    st.sampled_from(["doc_1", "doc_2", "doc_3"]),
)
STYLES: list[ContextFormat] = ["simple", "structured", "qa"]
styles = st.sampled_from(STYLES)


def test_a_passage_that_does_not_fit_makes_way_for_a_shorter_one() -> None:
    long, short = replace(HIT, content="x" * 100), replace(HIT, content="short", chunk_id="chunk_8")
    context, sources = format_context([long, short], 50)
    assert context == "[1] Lease › Rent\nshort\n"
    assert [source.chunk_id for source in sources] == ["chunk_8"]


def test_the_border_is_exact() -> None:
    passage = "[1] Lease › Rent\ntext\n"
    assert format_context([HIT], len(passage))[0] == passage
    assert format_context([HIT], len(passage) - 1) == ("", [])


def test_a_source_says_where_its_passage_stands() -> None:
    _, sources = format_context([HIT])
    assert [source.to_dict() for source in sources] == [
        {
            "number": 1,
            "citation": "Lease › Rent",
            "uri": "a/lease.md",
            "start": 10,
            "end": 14,
            "page": 2,
            "chunk_id": "chunk_7",
            "document_id": "doc_3",
            "score": 0.5,
        }
    ]
    assert QueryOptions.max_length == 4000


@given(st.lists(hits, max_size=8), st.integers(0, 300), styles)
def test_every_format_keeps_its_length(
    hits: list[ChunkHit], most: int, style: ContextFormat
) -> None:
    context, sources = format_context(hits, most, style, "What?")
    assert len(context) <= most
    assert bool(context) == bool(sources)


@given(st.lists(hits, max_size=8), st.integers(0, 300), styles)
def test_every_format_holds_whole_passages_in_the_order_of_its_sources(
    hits: list[ChunkHit], most: int, style: ContextFormat
) -> None:
    numbered = [replace(hit, chunk_id=str(number)) for number, hit in enumerate(hits)]
    context, sources = format_context(numbered, most, style)
    position = 0
    for number, source in enumerate(sources, 1):
        assert source.number == number
        head = context.index(f"[{number}] ", position)
        content = numbered[int(source.chunk_id)].content
        position = context.index(f"\n{content}\n", head) + len(content) + 1
    assert len({source.chunk_id for source in sources}) == len(sources)


def test_structured_names_each_document_once() -> None:
    other = replace(HIT, document_id="doc_4", title="", uri="b.md", page=None)
    again = replace(HIT, content="more", start=20, end=24)
    context, sources = format_context([HIT, other, again], style="structured")
    assert context == (
        "# Lease\na/lease.md, doc_3\n\n"
        "[1] Rent (page 2, characters 10 to 14, chunk_7, score 0.50)\ntext\n\n"
        "[2] Rent (page 2, characters 20 to 24, chunk_7, score 0.50)\nmore\n\n"
        "# b.md\nb.md, doc_4\n\n[3] Rent (characters 10 to 14, chunk_7, score 0.50)\ntext\n"
    )
    assert [source.start for source in sources] == [10, 20, 10]


def test_qa_asks_for_an_answer_from_the_passages_or_none() -> None:
    context, _ = format_context([HIT], style="qa", question="How much?")
    assert context == (
        "Question: How much?\n\n[1] Lease › Rent\ntext\n\n\n"
        "Answer the question from the passages above alone, and cite them by number. "
        "If they do not hold the answer, say so.\n\nAnswer:"
    )
    assert format_context([], style="qa", question="How much?") == ("", [])


def test_an_unknown_format_is_an_error() -> None:
    with pytest.raises(ConfigError, match="no format 'prose'"):
        format_context([HIT], style="prose")  # type: ignore[arg-type]
