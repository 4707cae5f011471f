"""What a model is shown of a document and a chunk, what is kept of it, what it may cost."""

import asyncio
import re
from dataclasses import replace

import pytest

from lexichord.ingest.llm_context import CallBudget, OverBudgetError, count_tokens
from lexichord.ingest.llm_context.prompt import (
    base_recipe,
    clean_context,
    context_key,
    has_context,
    model_label,
    plan_calls,
    with_contexts,
    without_context,
)
from lexichord.types import Chunk, Document
from lexichord.types.questions import Price, Usage

BY = model_label("openai/any")
TEXT = "".join(f"Sentence {number:04} of the text. " for number in range(1000))
DOCUMENT = Document("d", "u", "T", "text/plain", "0" * 64, "r context=structural/2", TEXT)
CHUNKS = [Chunk(at, at + 270, TEXT[at : at + 270], context="T") for at in range(0, 27_000, 270)]


@pytest.mark.parametrize("window", [4000, 8000, 20_000, 26_999, 27_000])
def test_every_chunk_is_asked_for_once_in_its_surroundings(window: int) -> None:
    parts = plan_calls(TEXT, CHUNKS, range(100), window)
    assert [place for part in parts for call in part for place in call.places] == [*range(100)]
    for part in parts:
        assert len({call.document for call in part}) == 1
        assert len(part[0].document) < window + 150
        for place in (place for call in part for place in call.places):
            around = TEXT[max(0, CHUNKS[place].start - 60) : CHUNKS[place].end + 60]
            assert around in part[0].document
    assert all(len(call.places) <= 8 for part in parts for call in part)
    assert (len(parts) == 1) == (window >= len(TEXT))
    assert all(TEXT[: window // 4] in part[0].document for part in parts)


def test_the_mark_of_a_text_is_not_in_it() -> None:
    ((call,),) = plan_calls(TEXT, CHUNKS, [3, 5], 20_000_000)
    marks = re.findall(r"<source-(\w{12}) number=(\d)>", call.passages)
    assert [number for _, number in marks] == ["1", "2"]
    assert marks[0][0] == marks[1][0]
    assert marks[0][0] not in TEXT
    assert marks[0][0] not in call.document


def test_a_key_depends_on_writer_head_surroundings_and_chunk() -> None:
    chunk = CHUNKS[50]
    key = context_key(TEXT, chunk, BY)
    far = TEXT[:2000] + "x" + TEXT[2001:-1] + "y"
    assert context_key(far, chunk, BY) == key
    moved = replace(chunk, start=chunk.start + 4, end=chunk.end + 4)
    head = TEXT[:1000] + "far\n" + TEXT[1000:]
    assert context_key(head, moved, BY) == key
    for place in (0, 999, chunk.start - 500, chunk.start - 1, chunk.end, chunk.end + 499):
        assert context_key(TEXT[:place] + "#" + TEXT[place + 1 :], chunk, BY) != key, place
    assert context_key(TEXT, chunk, model_label("openai/other")) != key
    assert context_key(TEXT, replace(chunk, content="other"), BY) != key


def test_contexts_join_what_is_there_and_come_off_again() -> None:
    document, chunks = with_contexts(DOCUMENT, CHUNKS[:2], {1: "Said."}, BY, is_complete=False)
    assert document.recipe == "r context=structural/2 llm=partly:openai/any/1"
    assert [chunk.context for chunk in chunks] == ["T", "T\nSaid."]
    assert [has_context(chunk, BY) for chunk in chunks] == [False, True]
    assert without_context(chunks[1]) == CHUNKS[1]
    other = model_label("gemini/new")
    document, again = with_contexts(document, chunks, {0: "A.", 1: "B."}, other, is_complete=True)
    assert document.recipe == "r context=structural/2 llm=gemini/new/1"
    assert [chunk.context for chunk in again] == ["T\nA.", "T\nB."]
    bare = [replace(chunk, context="") for chunk in CHUNKS[:1]]
    assert with_contexts(DOCUMENT, bare, {0: "A."}, BY, is_complete=True)[1][0].context == "A."


def test_a_recipe_without_contexts_is_what_it_was() -> None:
    document, chunks = with_contexts(DOCUMENT, CHUNKS[:2], {}, BY, is_complete=False)
    assert (document, chunks) == (DOCUMENT, CHUNKS[:2])


def test_what_brought_contexts_still_says_so_at_the_end() -> None:
    own = replace(DOCUMENT, recipe="chunked context=given " + "a" * 64)
    document, _ = with_contexts(own, CHUNKS[:1], {0: "A."}, BY, is_complete=True)
    assert document.recipe == f"chunked context=given llm={BY} {'a' * 64}"
    assert base_recipe(document.recipe) == own.recipe


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a\x1b]0;x\x07b\u200b\u202ec\ufeff", "a]0;xbc"),
        ("\u0645\u06cc\u200c\u0631\u0648\u0645", "\u0645\u06cc\u200c\u0631\u0648\u0645"),
        ("w" * 500, "w" * 400),
        ("\u202e \0", ""),
    ],
)
def test_tidy_gives_one_line_of_visible_characters(text: str, line: str) -> None:
    assert clean_context(text) == line


def test_tokens_are_estimated_from_above_where_letters_are_not_ascii() -> None:
    assert count_tokens("word" * 10) == 10
    assert count_tokens("終" * 10) == 10
    assert count_tokens("") == 0


async def test_calls_that_may_pass_the_budget_wait_for_those_before() -> None:
    purse = CallBudget(Price(0, 1_000_000), limit=10.0)  # a dollar a token
    expected, order = Usage(1, 0, 2, None), list[str]()

    async def call(name: str, tokens: int) -> None:
        async with purse.pay(expected) as taken:
            order.append(f"{name} asks")
            await asyncio.sleep(0)
            taken.append(Usage(1, 0, tokens, None))
            order.append(f"{name} pays")

    both = (call("first", 4), call("second", 1))
    _, refused = await asyncio.gather(*both, return_exceptions=True)
    assert isinstance(refused, OverBudgetError)  # twice the estimate, itself doubled: 8 of 6 left
    assert order == ["first asks", "first pays"]
    assert (purse.spent, purse.worst, purse.held) == (4.0, 2.0, 0.0)


async def test_a_call_that_does_not_fit_is_not_made() -> None:
    purse = CallBudget(Price(0, 1_000_000), limit=3.9)
    with pytest.raises(OverBudgetError):
        async with purse.pay(Usage(1, 0, 2, None)):
            raise AssertionError
    assert (purse.spent, purse.held) == (0.0, 0.0)
