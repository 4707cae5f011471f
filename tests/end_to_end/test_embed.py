"""Texts' vectors, as the database's space has them."""

import numpy as np
import pytest

from lexichord import SyncLexichord
from lexichord.errors import ConfigError


def test_vectors_are_those_that_searches_compare(samples: SyncLexichord) -> None:
    query = "how long are customer support logs kept"
    (hit, *_) = samples.search(query, k=1, mode="dense").hits
    (chunk,) = (one for one in samples.show(hit.document_id).chunks if one.chunk_id == hit.chunk_id)
    text = "\n\n".join(filter(None, [chunk.context, chunk.content]))
    asked, stored = samples.embed([query], "query"), samples.embed([text, "something else"])
    assert asked.shape == (1, 384)
    assert np.allclose(np.linalg.norm(stored, axis=1), 1, atol=1e-3)
    near, far = stored @ asked[0]
    assert near == pytest.approx(hit.scores.dense, abs=0.02)
    assert far < near
    assert samples.embed([]).shape[0] == 0


def test_what_cannot_be_embedded_is_refused(samples: SyncLexichord, plain: SyncLexichord) -> None:
    with pytest.raises(ConfigError, match="texts"):
        samples.embed("one text")
    with pytest.raises(ConfigError, match="kind"):
        samples.embed(["a"], "passage")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="nothing embeds in"):
        plain.embed(["a"])
