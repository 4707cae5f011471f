"""Sentence models of a folder: small ONNX graphs that the tests build, in a real onnxruntime."""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from lexichord.errors import ConfigError, ProviderError
from lexichord.providers.registry import find_embedder
from lexichord.settings import load_settings
from tests.providers.by_meaning import first_hits
from tests.providers.tiny_models import node, save_graph, save_tokenizer

WORDS = ["<pad>", "<s>", "</s>", "[UNK]", "der", "hund", "dog", "frist", "term", "query:"]
# Words of one meaning in two languages have one vector: the model is multilingual.
TABLE = np.array(
    [
        *([9, 9, 9, 9], [0.5, 0, 0, 0], [0, 0.5, 0, 0], [0, 0, 0.1, 0], [0, 0.1, 0, 0]),
        *([0, 0, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 1], [1, 0, 0, 0]),
    ],
    np.float32,
)
SPACE = "local/tiny/4"


def build(
    folder: Path, graph: str = "model.onnx", settings: Mapping[str, object] | None = None
) -> None:
    """Write a model that looks up one vector a token, and the files beside it."""
    save_tokenizer(folder, WORDS, ("<s>", "</s>"), single="<s> $A </s>")
    gather = node("Gather", "table input_ids", "last_hidden_state")
    shape: list[str | int] = ["batch", "tokens", 4]
    save_graph(folder / graph, [gather], ("last_hidden_state", shape), {"table": TABLE})
    for name, content in (settings or {}).items():
        file = folder / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(content))


def embed(home: Path, texts: list[str], kind: str = "document") -> np.ndarray:
    embedder, reasons = find_embedder(load_settings(home=home), SPACE)
    assert embedder is not None, reasons
    return embedder.embed(texts, kind)  # type: ignore[arg-type]


def expected(*tokens: int) -> np.ndarray:
    mean = TABLE[list(tokens)].mean(axis=0)
    return np.asarray(mean / np.linalg.norm(mean))


@pytest.mark.parametrize("graph", ["model.onnx", "onnx/model.onnx"])
def test_vectors_are_the_mean_over_the_tokens(tmp_path: Path, graph: str) -> None:
    build(tmp_path / "models/tiny", graph)
    vectors = embed(tmp_path, ["dog", "der hund frist", ""])
    np.testing.assert_allclose(vectors[0], expected(1, 6, 2), rtol=1e-5)
    np.testing.assert_allclose(vectors[1], expected(1, 4, 5, 7, 2), rtol=1e-5)
    np.testing.assert_allclose(vectors[2], expected(1, 2), rtol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)


def test_the_folders_settings_are_kept_to(tmp_path: Path) -> None:
    files: dict[str, object] = {
        "1_Pooling/config.json": {"pooling_mode_cls_token": True},
        "config_sentence_transformers.json": {"prompts": {"query": "query: ", "passage": ""}},
    }
    build(tmp_path / "models/tiny", settings=files)
    np.testing.assert_allclose(embed(tmp_path, ["dog"])[0], expected(1), rtol=1e-5)
    short: dict[str, object] = {
        "sentence_bert_config.json": {"max_seq_length": 4},
        "1_Pooling/config.json": {"pooling_mode_cls_token": False},
    }
    build(tmp_path / "models/tiny", settings=short)
    np.testing.assert_allclose(
        embed(tmp_path, ["dog"], "query")[0], expected(1, 9, 6, 2), rtol=1e-5
    )
    np.testing.assert_allclose(embed(tmp_path, ["dog " * 9])[0], expected(1, 6, 6, 2), rtol=1e-5)


def test_what_is_wrong_is_said_in_a_line(tmp_path: Path) -> None:
    settings = load_settings(home=tmp_path)
    assert find_embedder(settings, SPACE) == (
        None,
        [
            f"no embedder for {SPACE}: by words only; put model.onnx and tokenizer.json into "
            f"{tmp_path}/models/tiny"
        ],
    )
    with pytest.raises(
        ConfigError, match=r"holds no model: it needs model\.onnx and tokenizer\.json"
    ):
        find_embedder(load_settings(home=tmp_path, model_dir=tmp_path), SPACE)
    build(tmp_path / "models/tiny")
    wrong, _ = find_embedder(settings, "local/tiny/5")
    assert wrong is not None
    with pytest.raises(ProviderError, match="of 4 numbers: name the space local/tiny/4"):
        wrong.embed(["dog"], "query")
    (tmp_path / "models/tiny/model.onnx").write_bytes(b"no graph")
    broken, _ = find_embedder(settings, SPACE)
    assert broken is not None
    with pytest.raises(ProviderError, match="onnxruntime cannot load the model in") as error:
        broken.embed(["dog"], "query")
    assert "\n" not in str(error.value)


def test_a_question_in_another_language_finds_by_meaning(embedded_dsn: str, tmp_path: Path) -> None:
    build(tmp_path / "model")
    asked = {"term": "Frist", "dog": "Hund"}
    assert first_hits(embedded_dsn, tmp_path / "model", asked, tmp_path / "home") == asked
