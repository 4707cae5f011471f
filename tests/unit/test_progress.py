"""Progress of long commands where there is no terminal."""

import pytest

from lexichord.cli import progress


def test_lines_over_chunks_say_how_long_the_rest_takes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = iter([100.0, 160.0, 1300.0, 1400.0])
    monkeypatch.setattr(progress, "monotonic", lambda: next(clock))
    with progress.ChunkProgress("reembed") as bars:
        bars.start(200)
        for chunks in (10, 10, 100, 90):  # others stored ten meanwhile
            bars.add_chunks(chunks)
    assert capsys.readouterr().err.splitlines() == [
        "20 of 200 chunks, 0:09:00 left",
        "120 of 200 chunks, 0:13:20 left",
        "210 of 200 chunks, 0:00:00 left",
    ]
