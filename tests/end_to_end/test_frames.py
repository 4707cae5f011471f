"""Results as frames of pandas'."""

import sys

import pytest

from lexichord import SyncLexichord
from lexichord.errors import ConfigError

QUESTION = "how long are customer support logs kept"


def test_results_are_frames(samples: SyncLexichord) -> None:
    pytest.importorskip("pandas", reason="a development dependency")
    result = samples.search(QUESTION, k=4)
    frame = result.to_frame()
    assert [*frame["chunk_id"]] == [hit.chunk_id for hit in result.hits]
    assert [*frame["scores.dense"]] == [hit.scores.dense for hit in result.hits]
    response = samples.query(QUESTION, k=3)
    assert [*response.to_frame()["content"]] == [hit.content for hit in response.hits]
    files = samples.files(QUESTION, k=2)
    assert [*files.to_frame()["title"]] == [file.title for file in files.files]
    assert len(samples.list().to_frame()) == 13


def test_a_frame_of_nothing_has_its_columns(samples: SyncLexichord) -> None:
    pytest.importorskip("pandas", reason="a development dependency")
    frame = samples.search("xyzzyplugh", mode="keyword").to_frame()
    assert len(frame) == 0
    assert {"chunk_id", "content", "score"} <= set(frame.columns)


def test_without_pandas_it_says_so(samples: SyncLexichord, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ConfigError, match="pip install pandas"):
        samples.list().to_frame()
