"""How many chunks a run will have, and which files take long."""

import pytest

from lexichord.errors import IngestError
from lexichord.ingest import report as module
from lexichord.ingest.report import Forecast, Reading
from lexichord.ingest.sources import IngestSource, PreparedDocument
from lexichord.types import Chunk, Document
from lexichord.types.state import FileProgress


def source(name: str, kind: str, size: int, chunks: int | None) -> IngestSource:
    """A source that gives so many chunks; None fails."""

    def read() -> PreparedDocument:
        if chunks is None:
            raise IngestError("is broken")
        document = Document("d", name, name, kind, "0" * 64, "r", "x" * chunks)
        return PreparedDocument(document, [Chunk(at, at + 1, "x") for at in range(chunks)])

    return IngestSource(name, "0" * 64, "r", read, size, kind)


def test_what_was_read_of_a_kind_tells_what_others_of_it_will_give() -> None:
    forecast = Forecast(lambda total: None, lambda uri, seconds: None)
    sources = [
        source("a.pdf", "pdf", 1_000_000, 100),
        source("b.pdf", "pdf", 2_000_000, 0),
        source("a.txt", "txt", 1000, 5),
        source("b.txt", "txt", 3000, 0),
        source("c.odt", "odt", 8008, 0),
    ]
    followed = forecast.expect(sources)
    assert forecast.total == round(3_012_008 / 1000)
    followed[0].read()
    followed[2].read()
    by_all = 105 / 1_001_000 * 8008
    assert forecast.total == 105 + 200 + 15 + round(by_all)
    for each in (followed[1], followed[3], followed[4]):
        each.read()
    assert forecast.total == 105


def test_a_file_that_fails_is_counted_once() -> None:
    forecast = Forecast(lambda total: None, lambda uri, seconds: None)
    (broken, _) = forecast.expect([source("a", "t", 1000, None), source("b", "t", 1000, 3)])
    for _ in range(2):
        with pytest.raises(IngestError):
            broken.read()
    assert forecast.total == 0  # by what there is to go by


def test_a_file_that_takes_long_is_named_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    named: list[tuple[str, int]] = []
    totals: list[int] = []
    forecast = Forecast(totals.append, lambda uri, seconds: named.append((uri, round(seconds))))
    clock = [0.0]
    monkeypatch.setattr(module, "monotonic", lambda: clock[0])

    def read() -> PreparedDocument:
        for clock[0] in (5.0, 11.0, 12.0, 21.0, 23.0, 45.0):
            forecast.report()
        raise IngestError("too slow")

    (slow,) = forecast.expect([IngestSource("slow.pdf", "", "", read, 2000)])
    with pytest.raises(IngestError):
        slow.read()
    forecast.report()
    assert named == [("slow.pdf", 11), ("slow.pdf", 23)]
    assert totals[0] == 2
    assert totals[-1] == 0


def test_it_says_which_files_are_read_and_how_many_were() -> None:
    told: list[Reading] = []
    forecast = Forecast(lambda total: None, lambda uri, seconds: None, told.append)

    def read() -> PreparedDocument:
        forecast.report()
        raise IngestError("is broken")

    sources = [IngestSource("a.pdf", "", "", read, 2000), source("b.txt", "txt", 10, 1)]
    first, second = forecast.expect(sources)
    with pytest.raises(IngestError):
        first.read()
    second.read()
    forecast.report()
    assert told == [
        Reading(0, 2, {"a.pdf": FileProgress()}),
        Reading(2, 2, {"b.txt": FileProgress(1)}),
    ]
    assert [one.is_done for one in told] == [False, True]
