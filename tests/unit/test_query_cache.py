"""What queries keep for later ones."""

from collections.abc import Sequence

from lexichord.retrieve.cache import Readings
from lexichord.types.questions import Passage, ReaderFit, Reading


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
