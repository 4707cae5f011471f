"""What queries keep for later ones."""

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest

from lexichord.providers import EmbedKind, Vectors
from lexichord.retrieve.cache import Readings, TextVectors
from lexichord.types import EmbeddingSpace
from lexichord.types.questions import Passage, ReaderFit, Reading
from lexichord.work import beside


class ByLength:
    """Finds an answer the likelier the longer a passage is, and keeps what it was given."""

    def __init__(self, most: int) -> None:
        self.fit, self.most = ReaderFit(), most
        self.given = list[str]()

    def read(self, question: str, passages: Sequence[Passage]) -> list[Reading]:
        self.given += [one.text for one in passages]
        return [Reading(len(one.text) / self.most, ()) for one in passages]


def passages(*texts: str) -> list[Passage]:
    return [Passage("", text, ()) for text in texts]


def test_each_passage_is_read_once_and_the_same_text_of_two_places_too() -> None:
    readings, reader = Readings(), ByLength(10)
    for _ in range(2):
        made = readings.read(reader, "q", passages("one", "three", "one"))
        assert [one.here for one in made] == [0.3, 0.5, 0.3]
    assert reader.given == ["one", "three"]
    readings.read(reader, "r", passages("one"))
    assert reader.given == ["one", "three", "one"]


def test_what_was_not_used_for_longest_is_let_go() -> None:
    readings, reader = Readings(most=2), ByLength(10)
    for text in ("a", "b", "a", "c", "a", "b"):
        readings.read(reader, "q", passages(text))
    assert reader.given == ["a", "b", "c", "b"]


def test_another_reader_reads_for_itself() -> None:
    readings = Readings()
    assert readings.read(ByLength(10), "q", passages("one")) == [Reading(0.3, ())]
    assert readings.read(ByLength(30), "q", passages("one")) == [Reading(0.1, ())]


class ByKind:
    """Embeds a text as its length and its kind, and keeps what it was given."""

    def __init__(self) -> None:
        self.space = EmbeddingSpace("test", "kinds", 2)
        self.given = list[str]()

    def embed(self, texts: Sequence[str], kind: EmbedKind) -> Vectors:
        self.given += texts
        return np.array([[len(text) or np.nan, kind == "query"] for text in texts], np.float32)


def test_a_text_is_embedded_once_as_a_question_and_once_as_a_sentence() -> None:
    vectors, embedder = TextVectors(), ByKind()
    for _ in range(2):
        assert vectors.embed(embedder, ["a", "bb"], "query").tolist() == [[1, 1], [2, 1]]
        assert vectors.embed(embedder, ["bb"], "document").tolist() == [[2, 0]]
    assert embedder.given == ["a", "bb", "bb"]


def test_a_text_that_is_refused_stays_so() -> None:
    vectors, embedder = TextVectors(), ByKind()
    for _ in range(2):
        assert np.isnan(vectors.embed(embedder, [""], "query")).any()


async def test_work_beside_a_block_ends_with_it_and_fails_only_whoever_awaits_it() -> None:
    ended: list[str] = []

    async def fail() -> None:
        raise ValueError("it failed")

    async def wait() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("waiting")

    async with beside(fail()), beside(wait()):
        await asyncio.sleep(0)
    assert ended == ["waiting"]
    with pytest.raises(ValueError, match="it failed"):
        async with beside(wait()), beside(fail()) as failing:
            await failing  # by then the other waits, too
    assert ended == ["waiting"] * 2
