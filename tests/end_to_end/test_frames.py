"""Results as frames of pandas', of which nothing but its two calls is needed here."""

import sys
from types import SimpleNamespace

import pytest

from lexichord import SyncLexichord
from lexichord.errors import ConfigError


def test_results_are_frames(samples: SyncLexichord, monkeypatch: pytest.MonkeyPatch) -> None:
    empty = "with columns "
    pandas = SimpleNamespace(json_normalize=list, DataFrame=lambda columns: [empty, *columns])
    monkeypatch.setitem(sys.modules, "pandas", pandas)
    question = "how long are customer support logs kept"
    found = [samples.search(question, k=4), samples.query(question, k=3), samples.files(question)]
    for result in found:
        shape = result.to_dict()
        assert result.to_frame() == shape.get("hits", shape.get("files"))
    assert len(samples.list().to_frame()) == 13
    nothing = samples.search("xyzzyplugh", mode="keyword").to_frame()
    assert [*nothing[:2], "score" in nothing] == [empty, "chunk_id", True]
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ConfigError, match="pip install pandas"):
        samples.list().to_frame()
