"""Cross-encoders of a folder: small ONNX graphs that the tests build, in a real onnxruntime."""

import json
from math import exp
from pathlib import Path

import numpy as np
import pytest

from lexichord import SyncLexichord
from lexichord.db import schema
from lexichord.errors import ConfigError, ProviderError, ProviderTimeoutError
from lexichord.providers import Reranker
from lexichord.providers.registry import find_reranker
from lexichord.providers.rerank import rank
from lexichord.settings import load_settings
from tests.conftest import new_database
from tests.providers.tiny_models import node, save_graph, save_tokenizer

# What each word of a text adds to the pair's number; a question's words add a tenth of it.
WEIGHTS = {"[PAD]": 90.0, "[SEP]": 0.0, "[UNK]": 0.0, "rent": 1.0, "tenant": 2.0, "rain": -1.0}


def build(folder: Path, graph: str = "model.onnx", numbers: int = 1, types: bool = True) -> None:
    """Write a model that adds the weights of a pair's words."""
    pair = "$A [SEP] $B:1 [SEP]:1"
    save_tokenizer(folder, WEIGHTS, ("[SEP]",), single="$A [SEP]", pair=pair)
    kinds = "token_type_ids" if types else "attention_mask"
    nodes = [
        node("Gather", "table input_ids", "words"),
        node("Cast", "attention_mask", "mask", to=1),
        node("Gather", f"share {kinds}", "shares"),
        node("Mul", "mask shares", "kept"),
        node("Unsqueeze", "kept axis", "factors"),
        node("Mul", "words factors", "parts"),
        node("ReduceSum", "parts tokens", "logits", keepdims=0),
    ]
    constants = {
        "table": np.tile(np.array([*WEIGHTS.values()], np.float32)[:, np.newaxis], numbers),
        "axis": np.array([2]),
        "tokens": np.array([1]),
        "share": np.array([0.1, 1], np.float32),
    }
    inputs = ("input_ids", "attention_mask", *([kinds] if types else []))
    save_graph(folder / graph, nodes, {"logits": ["batch", numbers]}, constants, inputs)


def find(home: Path) -> Reranker:
    reranker = find_reranker(load_settings(home=home, reranker="local/tiny"))
    assert reranker is not None
    return reranker


def logistic(value: float) -> float:
    return 1 / (1 + exp(-value))


@pytest.mark.parametrize("graph", ["model.onnx", "onnx/model.onnx"])
async def test_the_best_come_first_with_their_scores(tmp_path: Path, graph: str) -> None:
    build(tmp_path / "models/tiny", graph)
    texts = ["rain rain", "the tenant pays the rent", "rent", "\ud800 lone"]
    ranked = await rank(find(tmp_path), "rent", texts, 3, 60)
    assert [each.index for each in ranked] == [1, 2, 3]
    expected = [logistic(3.1), logistic(1.1), logistic(0.1)]
    assert [each.score for each in ranked] == pytest.approx(expected)


async def test_what_fills_a_batch_counts_nothing(tmp_path: Path) -> None:
    build(tmp_path / "models/tiny")
    texts = ["rent " * (number % 7) + "tenant" for number in range(20)]
    ranked = await rank(find(tmp_path), "who", texts, 20, 60)
    scores = {each.index: each.score for each in ranked}
    for number, text in enumerate(texts):
        (alone,) = await rank(find(tmp_path), "who", [text], 1, 60)
        assert scores[number] == pytest.approx(alone.score)


async def test_a_model_that_tells_no_types_is_asked_as_it_is(tmp_path: Path) -> None:
    build(tmp_path / "models/tiny", types=False)
    (best,) = await rank(find(tmp_path), "rent", ["tenant"], 1, 60)
    assert best.score == pytest.approx(logistic(3))


async def test_a_pair_is_cut_where_the_model_stops_reading(tmp_path: Path) -> None:
    folder = tmp_path / "models/tiny"
    build(folder)
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 6}))
    (best,) = await rank(find(tmp_path), "who", ["rent rent rent tenant"], 1, 60)
    assert best.score == pytest.approx(logistic(3))
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 1e30}))
    (best,) = await rank(find(tmp_path), "who", ["it " * 600 + "tenant"], 1, 60)
    assert best.score == 0.5


async def test_it_stops_when_its_time_is_over(tmp_path: Path) -> None:
    build(tmp_path / "models/tiny")
    with pytest.raises(ProviderTimeoutError, match="the reranker did not answer in time"):
        await rank(find(tmp_path), "who", ["rent " * 400] * 500, 3, 0.01)


async def test_what_is_wrong_is_said_in_a_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"put model\.onnx and tokenizer\.json into") as missing:
        find(tmp_path)
    assert f"{tmp_path}/models/tiny" in str(missing.value)
    with pytest.raises(ConfigError, match=r"there is no reranker local: .* local/FOLDER"):
        find_reranker(load_settings(home=tmp_path, reranker="local"))
    folder = tmp_path / "models/tiny"
    build(folder, numbers=2)
    with pytest.raises(ProviderError, match="gives 2 numbers a pair of texts, not one"):
        await rank(find(tmp_path), "who", ["rent", "rain"], 1, 60)
    (folder / "model.onnx").write_bytes(b"no graph")
    with pytest.raises(ProviderError, match="onnxruntime cannot load the model in") as broken:
        await rank(find(tmp_path), "who", ["rent"], 1, 60)
    assert "\n" not in str(broken.value)
    build(folder)
    (folder / "tokenizer.json").write_text("{}")
    with pytest.raises(ProviderError, match=r"cannot be read: tokenizer\.json"):
        await rank(find(tmp_path), "who", ["rent"], 1, 60)


def test_a_query_is_reranked_by_it(embedded_dsn: str, tmp_path: Path) -> None:
    build(tmp_path / "model")
    texts = ("The rain is due in spring", "The rent is due in spring", "The tenant is due, too")
    with new_database(embedded_dsn) as dsn:
        schema.prepare(dsn, schema.Choice())
        reranker = f"local/{tmp_path}/model"
        with SyncLexichord(dsn=dsn, home=tmp_path / "home", reranker=reranker) as lexichord:
            lexichord.ingest(documents=[{"uri": text, "text": text} for text in texts])
            response = lexichord.query("what is due")
            assert [hit.uri for hit in response.hits] == [texts[2], texts[1], texts[0]]
            assert response.hits[0].scores.rerank == pytest.approx(logistic(2))
            assert not any("rerank" in line for line in response.degraded)
