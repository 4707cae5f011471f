from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from lexichord.errors import ConfigError
from lexichord.evaluate import VECTOR_CACHE_FILE, CachedEmbedder
from lexichord.providers import EmbedKind, Vectors
from lexichord.types import EmbeddingSpace


class Lengths:
    """Embeds a text as its length and its kind, and remembers what it was given."""

    def __init__(self, model: str = "lengths") -> None:
        self.space = EmbeddingSpace("test", model, 2)
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str], kind: EmbedKind) -> Vectors:
        self.texts += texts
        return np.array([[len(text), kind == "query"] for text in texts], np.float32)


def test_a_text_is_embedded_once_and_comes_back_the_same(tmp_path: Path) -> None:
    embedder = Lengths()
    with CachedEmbedder(embedder, tmp_path) as kept:
        kept.embed(["a", "bb"], "document")
        vectors = kept.embed(["bb", "ccc", "a", "bb"], "document")
    assert vectors.tolist() == [[2, 0], [3, 0], [1, 0], [2, 0]]
    assert vectors.dtype == np.float32
    assert embedder.texts == ["a", "bb", "ccc"]


def test_vectors_outlive_the_program(tmp_path: Path) -> None:
    with CachedEmbedder(Lengths(), tmp_path / "new") as kept:
        first = kept.embed(["a"], "document")
    again = Lengths()
    with CachedEmbedder(again, tmp_path / "new") as kept:
        assert kept.embed(["a"], "document").tolist() == first.tolist()
    assert again.texts == []


def test_kinds_and_spaces_are_told_apart(tmp_path: Path) -> None:
    one, other = Lengths(), Lengths("others")
    with CachedEmbedder(one, tmp_path) as kept:
        assert kept.embed(["a"], "document").tolist() == [[1, 0]]
        assert kept.embed(["a"], "query").tolist() == [[1, 1]]
    with CachedEmbedder(other, tmp_path) as kept:
        kept.embed(["a"], "query")
    assert (one.texts, other.texts) == (["a", "a"], ["a"])


def test_a_file_that_is_none_of_ours_is_named(tmp_path: Path) -> None:
    (tmp_path / VECTOR_CACHE_FILE).write_text(
        "not a database, whatever it may look like from outside"
    )
    with pytest.raises(
        ConfigError, match=rf"{VECTOR_CACHE_FILE} cannot be used \(file is not a database\)"
    ):
        CachedEmbedder(Lengths(), tmp_path)
