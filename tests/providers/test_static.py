"""Static models of a folder, in model2vec's form: a vector a token, made by the tests."""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from lexichord.errors import ProviderError
from lexichord.providers.registry import find_embedder
from lexichord.settings import load_settings
from tests.providers.tiny_models import save_tokenizer

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "dog", "hound", "term", "rent"]
TABLE = np.array(
    [
        *([9, 9, 9, 9], [9, 0, 0, 9], [9, 9, 0, 0], [0, 0, 9, 9]),
        *([0, 3, 1, 0], [0, 3, 0, 0], [1, 0, 0, 1], [1, 0, 0, 0]),
    ],
    np.float32,
)
SPACE = "local/static/4"


def build(folder: Path, tensors: Mapping[str, NDArray[np.generic]] | None = None) -> None:
    """Write what model2vec writes; `tensors` are beside, or in place of, the tokens' vectors."""
    from safetensors.numpy import save_file

    save_tokenizer(folder, WORDS, ("[CLS]", "[SEP]"), single="[CLS] $A [SEP]")
    save_file({"embeddings": TABLE, **(tensors or {})}, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps({"model_type": "model2vec", "normalize": True}))


def embed(home: Path, texts: list[str], space: str = SPACE) -> NDArray[np.float32]:
    embedder, reasons = find_embedder(load_settings(home=home), space)
    assert embedder is not None, reasons
    return embedder.embed(texts, "document")


def scaled(vector: NDArray[np.floating]) -> NDArray[np.floating]:
    return np.asarray(vector / np.linalg.norm(vector))


def test_a_vector_is_the_mean_of_the_known_tokens(tmp_path: Path) -> None:
    build(tmp_path / "models/static")
    vectors = embed(tmp_path, ["dog", "Rent of the dog", "rent " * 600 + "dog", "of the", ""])
    np.testing.assert_allclose(vectors[0], scaled(TABLE[4]), rtol=1e-6)
    np.testing.assert_allclose(vectors[1], scaled(TABLE[[7, 4]].mean(axis=0)), rtol=1e-6)
    np.testing.assert_allclose(vectors[2], TABLE[7], rtol=1e-6)  # 512 tokens are read
    for nothing in vectors[3:]:
        np.testing.assert_allclose(nothing, scaled(TABLE.mean(axis=0)), rtol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-6)


def test_weights_and_a_mapping_of_tokens_are_kept_to(tmp_path: Path) -> None:
    weights = np.array([1, 1, 1, 1, 0.5, 1, 1, 4])
    mapping = np.array([0, 0, 0, 0, 1, 1, 2, 3])
    build(
        tmp_path / "models/static",
        {"embeddings": TABLE[4:].astype(np.float16), "weights": weights, "mapping": mapping},
    )
    expected = scaled((0.5 * TABLE[5] + 4 * TABLE[7]) / 2)
    np.testing.assert_allclose(embed(tmp_path, ["dog rent"])[0], expected, rtol=1e-6)


def test_what_is_wrong_is_said_in_a_line(tmp_path: Path) -> None:
    build(tmp_path / "models/static", {"embeddings": TABLE[:7]})
    with pytest.raises(ProviderError, match="has vectors of 7 tokens, of 8 there are"):
        embed(tmp_path, ["dog"])
    build(tmp_path / "models/good")
    with pytest.raises(ProviderError, match="of 4 numbers: name the space local/good/4"):
        embed(tmp_path, ["dog"], "local/good/5")
    (tmp_path / "models/good/model.safetensors").write_bytes(b"no tensors")
    with pytest.raises(ProviderError, match=r"cannot be read: model\.safetensors: ") as error:
        embed(tmp_path, ["dog"], "local/good/4")
    assert "\n" not in str(error.value)


def test_weights_of_another_model_want_its_graph(tmp_path: Path) -> None:
    build(tmp_path / "models/static")
    from safetensors.numpy import save_file

    save_file({"layer.0": TABLE}, tmp_path / "models/static/model.safetensors")
    with pytest.raises(ProviderError, match=r"holds no model\.onnx"):
        embed(tmp_path, ["dog"])
