"""Late interaction from a folder: a small ONNX graph, against MaxSim in plain Python."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from lexichord import SyncLexichord
from lexichord.db import schema
from lexichord.errors import ProviderError, ProviderTimeoutError
from lexichord.providers import DigestCache, size_in_bytes
from lexichord.providers.rerank import rank
from lexichord.providers.rerank.folder import (
    FolderReranker,
    LateInteraction,
    find_token_form,
    max_sim,
)
from lexichord.types import Ranked, Response
from tests.conftest import SPACE, new_database
from tests.providers.late_model import COLBERT, COLBERT_ORACLE, PYLATE, Oracle, build

PYLATE_FILE, COLBERT_FILE = "config_sentence_transformers.json", "artifact.metadata"
TEXTS = [
    "Rain, rain. And rain in spring!",
    "The tenant pays the rent.",
    "The rent",
    "",
    ".,.",
    "\ud800 lone",
    "it is told that the rent is due in spring, as the tenant knows who reads what stands so late",
]
TOLERANCE = 2e-3  # passages' vectors are kept in 16 bits


async def scores(folder: Path, question: str, texts: list[str]) -> list[float]:
    ranked = await rank(FolderReranker(folder), question, texts, len(texts), 60)
    assert [each.score for each in ranked] == sorted((each.score for each in ranked), reverse=True)
    return [each.score for each in sorted(ranked, key=lambda each: each.index)]


def load(folder: Path) -> LateInteraction:
    form = find_token_form(folder)
    assert form is not None
    return LateInteraction.open(folder, form)


@pytest.mark.parametrize(
    ("file", "said", "oracle"),
    [
        (PYLATE_FILE, PYLATE, Oracle()),
        (PYLATE_FILE, {**PYLATE, "attend_to_expansion_tokens": True}, Oracle(attends=True)),
        (PYLATE_FILE, {**PYLATE, "do_query_expansion": False}, Oracle(expands=False)),
        (
            PYLATE_FILE,
            {**PYLATE, "query_prefix": "", "document_prefix": "", "skiplist_words": []},
            Oracle(markers=("", ""), skipped=""),
        ),
        (COLBERT_FILE, COLBERT, COLBERT_ORACLE),
        (
            COLBERT_FILE,
            {**COLBERT, "mask_punctuation": False, "attend_to_mask_tokens": False},
            Oracle(COLBERT_ORACLE.markers, COLBERT_ORACLE.lengths, skipped=""),
        ),
    ],
)
async def test_scores_are_those_of_maxsim(
    tmp_path: Path, file: str, said: Mapping[str, object], oracle: Oracle
) -> None:
    build(tmp_path, said, file)
    long = "who of all these tenants pays what rent, and is it due in spring or in the autumn rain?"
    for question in ("rent", "Who pays the rent?", long):
        expected = [oracle.score(question, text) for text in TEXTS]
        assert await scores(tmp_path, question, TEXTS) == pytest.approx(expected, abs=TOLERANCE)


async def test_the_best_come_first(tmp_path: Path) -> None:
    build(tmp_path)
    question = "the tenant pays the rent"
    ranked = await rank(FolderReranker(tmp_path), question, TEXTS, 3, 60)
    order = sorted(range(len(TEXTS)), key=lambda n: -Oracle().score(question, TEXTS[n]))
    assert [each.index for each in ranked] == order[:3]
    assert order[0] == 1


async def test_what_fills_a_batch_counts_nothing(tmp_path: Path) -> None:
    build(tmp_path)
    texts = ["rent " * (number % 7) + "tenant" for number in range(20)]
    together = await scores(tmp_path, "rain", texts)
    alone = [(await scores(tmp_path, "rain", [text]))[0] for text in texts]
    assert together == pytest.approx(alone, abs=1e-6)
    assert len(set(together)) == 7


def test_a_passage_is_read_once(tmp_path: Path) -> None:
    build(tmp_path)
    model = load(tmp_path)
    texts = [f"rent {'due ' * number}" for number in range(20)]
    first = list(model.score("rain", texts))
    assert [len(numbers) for numbers, _ in first] == [8, 8, 4]
    again = list(model.score("rain", ["tenant", *texts]))
    assert [list(numbers) for numbers, _ in again] == [list(range(1, 21)), [0]]
    by_number = dict(zip(*map(np.concatenate, zip(*first, strict=True)), strict=True))
    cut_short = load(tmp_path)
    stopped_after, _ = next(cut_short.score("rain", texts))
    known, _ = next(cut_short.score("tenant", texts))
    assert sorted(known) == sorted(stopped_after)
    assert again[0][1].tolist() == [by_number[number] for number in range(20)]


def test_kept_vectors_take_no_more_than_they_may() -> None:
    cache = DigestCache[NDArray[np.float16]](limit=100, size=size_in_bytes)
    vectors = {key: np.full((4, 5), ord(key), np.float16) for key in (b"a", b"b", b"c")}  # 40 bytes
    for key in (b"a", b"b"):
        cache.keep(key, vectors[key])
    cache.keep(b"b", vectors[b"b"])  # by two queries at once
    assert cache.find(b"a") is vectors[b"a"]
    cache.keep(b"c", vectors[b"c"])
    assert [cache.find(key) is vectors[key] for key in vectors] == [True, False, True]
    cache.keep(b"d", np.zeros((60, 1), np.float16))
    assert [cache.find(key) for key in (b"a", b"b", b"c", b"d")] == [None] * 4


def test_a_passage_of_which_nothing_counts_is_like_nothing() -> None:
    question = np.eye(2, dtype=np.float32)
    passages = [np.zeros((0, 2), np.float16), np.eye(2, dtype=np.float16)[:1]]
    assert max_sim(question, passages).tolist() == [-1, 0.5]


async def test_a_passage_is_cut_where_the_model_stops_reading(tmp_path: Path) -> None:
    build(tmp_path, {**PYLATE, "document_length": 8})
    within, beyond, without = await scores(
        tmp_path, "rent", [f"it is told {word}" for word in ("that rent", "so far rent", "so far")]
    )
    assert within > beyond == without
    build(tmp_path, {**PYLATE, "document_length": 8192, "query_length": 8192})
    long = ["it " * 600 + word for word in ("rent", "rain")]
    one, other = await scores(tmp_path, "rent", long)
    assert one == other


async def test_it_stops_when_its_time_is_over(tmp_path: Path) -> None:
    build(tmp_path)
    reranker = FolderReranker(tmp_path)
    texts = [f"rent {number}" for number in range(5_000)]
    with pytest.raises(ProviderTimeoutError, match="the reranker did not answer in time"):
        await rank(reranker, "who", texts, 3, 0.01)


def only(said: Mapping[str, object], *left_out: str) -> dict[str, object]:
    return {name: value for name, value in said.items() if name not in left_out}


def rebuild(
    said: Mapping[str, object], file: str = PYLATE_FILE, pooled: bool = False
) -> Callable[[Path], object]:
    def write(folder: Path) -> None:
        (folder / PYLATE_FILE).unlink()
        build(folder, said, file, pooled)

    return write


def rewrite(name: str, text: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_text(text)


def other_tokenizer(folder: Path) -> None:
    file = folder / "tokenizer.json"
    file.write_text(file.read_text().replace('"[MASK]"', '"[GONE]"'))


def projected(folder: Path) -> None:
    (folder / "1_Dense").mkdir()
    (folder / "1_Dense/config.json").write_text(json.dumps({"out_features": 128}))


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (rebuild(only(PYLATE, "query_length")), "json: query_length: Field required"),
        (
            rebuild(only(COLBERT, "doc_maxlen"), "onnx_config.json"),
            "in ColBERT's form (onnx_config.json, config_sentence_transformers.json",
        ),
        (rewrite(PYLATE_FILE, "{"), f"{PYLATE_FILE} is no JSON: Expecting property name"),
        (
            rebuild({**PYLATE, "query_prefix": "[QUERY]"}),
            "tokenizer.json has no token '[QUERY]', which marks texts",
        ),
        (other_tokenizer, "tokenizer.json has no token [MASK] or <mask> to fill questions with"),
        (rewrite("tokenizer.json", "{}"), "cannot be read: tokenizer.json"),
        (rewrite("model.onnx", "no graph"), "onnxruntime cannot load the model in"),
        (rebuild(PYLATE, pooled=True), "gives no vector a token"),
        (projected, "gives vectors of 16 numbers, not 128"),
        (rewrite(PYLATE_FILE, "{}"), "numbers a pair of texts, not one, and no file there says"),
    ],
)
async def test_what_is_wrong_is_said_in_a_line(
    tmp_path: Path, fault: Callable[[Path], object], message: str
) -> None:
    folder = tmp_path / "model"
    build(folder)
    fault(folder)
    with pytest.raises(ProviderError) as raised:
        await rank(FolderReranker(folder), "who", ["rent"], 1, 60)
    assert message in str(raised.value)
    assert str(folder) in str(raised.value)
    assert "\n" not in str(raised.value)


def test_it_chooses_among_fifty_where_another_reranker_has_thrice_the_hits(
    embedded_dsn: str, tmp_path: Path
) -> None:
    build(tmp_path / "model")
    texts = [f"The rent of house {number} is due" for number in range(60)]
    with new_database(embedded_dsn) as dsn:
        schema.prepare(dsn, schema.Choice("plain", "english", SPACE))
        with SyncLexichord(dsn=dsn, reranker=f"local/{tmp_path}/model") as lexichord:
            lexichord.ingest(documents=[{"uri": text, "text": text} for text in texts])
            assert reranked(lexichord.query("what rent is due", k=4)) == 50
            assert reranked(lexichord.query("what rent is due", k=18)) == 54
            lexichord.core.reranker = ByLength()
            assert reranked(lexichord.query("what rent is due", k=4)) == 12


class ByLength:
    async def rerank(self, query: str, texts: Sequence[str], top_n: int) -> list[Ranked]:
        order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
        return [Ranked(index, 1 / len(texts[index])) for index in order[:top_n]]


def reranked(response: Response) -> object:
    """Return how many chunks a reranker was given."""
    return next(step.given["chunks"] for step in response.trace if step.stage == "rerank")
