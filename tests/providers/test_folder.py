"""Sentence models of a folder: small ONNX graphs that the tests build, in a real onnxruntime."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from lexichord.errors import ConfigError, ProviderError
from lexichord.providers.embed.local import quantise
from lexichord.providers.onnx_folder import SESSIONS, has_vnni, open_folder, open_session
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
UNUSED = np.zeros((256, 4), np.float32)  # so that weights are large enough for a file of their own
SPACE = "local/tiny/4"


def build(
    folder: Path, graph: str = "model.onnx", settings: Mapping[str, object] | None = None
) -> None:
    """Write a model that looks up one vector a token, and the files beside it."""
    save_tokenizer(folder, WORDS, ("<s>", "</s>"), single="<s> $A </s>")
    gather = node("Gather", "table input_ids", "last_hidden_state")
    shape: list[str | int] = ["batch", "tokens", 4]
    table = np.vstack([TABLE, UNUSED])
    save_graph(folder / graph, [gather], {"last_hidden_state": shape}, {"table": table})
    for name, content in (settings or {}).items():
        file = folder / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(content))


def embed(home: Path, texts: list[str], kind: str = "document", space: str = SPACE) -> np.ndarray:
    embedder, reasons = find_embedder(load_settings(home=home), space)
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


INT8_SPACE = "local/tiny-int8/4"


def kept_graphs(home: Path) -> list[Path]:
    return sorted((home / "models").glob("tiny-int8-*.onnx"))


def test_a_model_is_put_into_8_bits_once(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    build(tmp_path / "models/tiny")
    small = embed(tmp_path, ["der hund frist"], space=INT8_SPACE)
    np.testing.assert_allclose(small[0], expected(1, 4, 5, 7, 2), atol=0.02)
    assert not np.array_equal(small, embed(tmp_path, ["der hund frist"]))
    (graph,) = kept_graphs(tmp_path)
    made = graph.stat().st_mtime_ns
    np.testing.assert_array_equal(small, embed(tmp_path, ["der hund frist"], space=INT8_SPACE))
    assert graph.stat().st_mtime_ns == made
    assert capfd.readouterr().err == ""


def test_a_replaced_model_is_put_into_8_bits_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(tmp_path / "models/tiny")
    before = embed(tmp_path, ["dog"], space=INT8_SPACE)
    monkeypatch.setattr("tests.providers.test_folder.TABLE", TABLE[:, ::-1].copy())
    build(tmp_path / "models/tiny")
    np.testing.assert_allclose(
        embed(tmp_path, ["dog"], space=INT8_SPACE), before[:, ::-1], atol=1e-6
    )
    assert len(kept_graphs(tmp_path)) == 2


def test_a_folder_of_that_name_comes_before(tmp_path: Path) -> None:
    build(tmp_path / "models/tiny-int8")
    np.testing.assert_array_equal(
        embed(tmp_path, ["dog"], space=INT8_SPACE)[0],
        embed(tmp_path, ["dog", "dog"], "query", INT8_SPACE)[0],
    )
    assert kept_graphs(tmp_path) == []


def test_what_has_no_twin_in_8_bits_says_so(tmp_path: Path) -> None:
    build(tmp_path / "models/tiny")
    graph = tmp_path / "models/tiny/model.onnx"
    graph.write_bytes(quantise(graph))
    with pytest.raises(ProviderError, match="in fewer than 32 bits already"):
        embed(tmp_path, ["dog"], space=INT8_SPACE)
    graph.write_bytes(b"no graph")
    with pytest.raises(ProviderError, match="cannot be put into 8 bits") as error:
        embed(tmp_path, ["dog"], space=INT8_SPACE)
    assert "\n" not in str(error.value)
    save_file({"embeddings": TABLE}, tmp_path / "models/tiny/model.safetensors")
    with pytest.raises(ProviderError, match="is static"):
        embed(tmp_path, ["dog"], space=INT8_SPACE)


def test_what_is_missing_is_named_without_its_ending(tmp_path: Path) -> None:
    _, reasons = find_embedder(load_settings(home=tmp_path), "local/e5-small-v2-int8/384")
    assert reasons[0].endswith("run: lexichord models fetch e5-small-v2")


def test_8_bits_give_the_same_on_every_processor(tmp_path: Path) -> None:
    """Without VNNI two products of 8 bits are added in 16 bits, which the largest do not fit in."""
    graph = tmp_path / "large.onnx"
    ones = np.ones((1, 64), np.float32)
    save_graph(
        graph,
        [
            node("Gather", "table input_ids", "embedded"),
            node("MatMul", "embedded weights", "product"),
        ],
        {"product": ["batch", "tokens", 8]},
        {"table": ones, "weights": np.ones((64, 8), np.float32)},
        inputs=("input_ids",),
    )
    session = open_session(quantise(graph), "a graph of large numbers", "")
    (product,) = session.run(None, {"input_ids": np.zeros((1, 3), np.int64)})
    assert product == pytest.approx(np.full((1, 3, 8), 64.0), rel=0.01)


@pytest.mark.parametrize(
    ("told", "has"),
    [
        ("flags\t: fpu avx512_vnni avx512_bitalg\n", True),
        ("flags\t: fpu avx_vnni\n", True),
        ("flags\t: fpu avx2 avx512_vnnix\n", False),
        (None, False),
    ],
)
def test_what_adds_whole_products_is_not_told_to(
    tmp_path: Path, told: str | None, has: bool
) -> None:
    if told is not None:
        (tmp_path / "cpuinfo").write_text(told)
    assert has_vnni(tmp_path / "cpuinfo") is has


def test_a_graph_that_is_open_is_shared_until_its_files_change(tmp_path: Path) -> None:
    build(tmp_path / "tiny")
    before = set(SESSIONS)
    one, other = open_folder(tmp_path / "tiny"), open_folder(tmp_path / "tiny" / ".." / "tiny")
    assert one.session is other.session
    os.utime(tmp_path / "tiny/model.onnx", ns=(0, 0))
    assert open_folder(tmp_path / "tiny").session is not one.session
    del one, other
    assert set(SESSIONS) == before
