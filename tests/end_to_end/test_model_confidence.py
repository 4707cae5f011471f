"""Confidence by vectors of any model: measured without labels, from what is stored."""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import psycopg
import pytest

from lexichord import SyncLexichord
from lexichord.db import schema
from lexichord.errors import ProviderError
from lexichord.providers import Embedder, EmbedKind, Vectors
from lexichord.providers.embed.local import LocalEmbedder
from lexichord.providers.registry import find_embedder
from lexichord.retrieve import cache
from lexichord.retrieve.confidence import FOREIGN_QUESTIONS, MIN_SENTENCES
from lexichord.settings import Settings
from lexichord.types import EmbeddingSpace
from tests.conftest import SAMPLES, new_database
from tests.end_to_end.hashing import Hashing, finder
from tests.shifted import SHIFTED, Shifted

QUESTIONS = [
    "What notice is needed to terminate the master services agreement for convenience?",
    "What interest is charged on overdue amounts under the distribution agreement?",
    "How long must visitors keep what they saw secret?",
    "What is the melting point of tungsten?",
    "How many electric car chargers are there in the basement of Saltpan House?",
    "Which band played at the wedding?",
]
LIST = "List every clause on governing law"
COMPARISON = "Compare the governing law in the master services agreement and the office lease"
MODELS = ["e5-small-v2", "bge-small-en-v1.5", "multilingual-e5-small"]

type Find = Callable[[Settings, str], tuple[Embedder | None, list[str]]]


def with_shifted(embedder: Embedder) -> Find:
    """What finds a given embedder, and all others as ever."""

    def find(settings: Settings, space: str) -> tuple[Embedder | None, list[str]]:
        return (embedder, []) if space == str(embedder.space) else find_embedder(settings, space)

    return find


@pytest.fixture(scope="module")
def shifted(embedded_dsn: str, home: Path) -> Iterator[SyncLexichord]:
    """The samples, embedded by a model whose cosines all lie higher."""
    with new_database(embedded_dsn) as dsn:
        schema.prepare(dsn, schema.Choice(space=EmbeddingSpace.parse(SHIFTED)))
        lexichord = SyncLexichord(dsn=dsn, home=home)
        lexichord.core.find_embedder = with_shifted(Shifted(LocalEmbedder(home)))
        with lexichord:
            lexichord.ingest([SAMPLES / "agreements", SAMPLES / "policies"])
            yield lexichord


def clauses(lexichord: SyncLexichord, question: str) -> set[str]:
    return {quote.text for quote in lexichord.query(question).quotes}


def test_a_model_whose_cosines_lie_higher_judges_as_the_default_one(
    samples: SyncLexichord, shifted: SyncLexichord
) -> None:
    assert "by a sample of 60 sentences" in shifted.status().confidence
    for question in QUESTIONS:
        one, other = (each.query(question, answer=True) for each in (samples, shifted))
        assert other.confidence == pytest.approx(one.confidence, abs=0.1), question
        assert (other.abstained, other.claimed) == (one.abstained, one.claimed), question
        assert other.answer == one.answer
        if one.answer_confidence is not None:
            assert other.answer_confidence == pytest.approx(one.answer_confidence, abs=0.1)
    for question in (LIST, COMPARISON):
        one_found, other_found = clauses(samples, question), clauses(shifted, question)
        assert len(one_found & other_found) >= 0.8 * len(one_found | other_found) > 0


def measurings(embedder: Shifted) -> list[Sequence[str]]:
    """Return the calls by which a model's cosines were measured."""
    return [texts for texts in embedder.calls if FOREIGN_QUESTIONS[0] in texts]


def test_a_reader_and_an_older_database_have_it_from_the_first_query(
    shifted: SyncLexichord, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dsn = shifted.core.database.dsn
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("delete from lexichord_data.cosine_scale")
        assert shifted.status().confidence.startswith("by words: test/shifted/385 is not measured")
        as_reader = f"{dsn}{'&' if '?' in dsn else '?'}options=-c%20role%3Dlexichord_reader"
        embedder = Shifted(LocalEmbedder(home))
        reader = SyncLexichord(dsn=as_reader, home=home)
        reader.core.find_embedder = with_shifted(embedder)
        with reader:
            for question in QUESTIONS[:2]:
                assert reader.query(question, answer=True).answer_confidence is not None
            assert "by a sample of 60 sentences" in reader.status().confidence
            assert len(measurings(embedder)) == 1
            monkeypatch.setattr(cache, "KEPT_SCALE_SECONDS", 0.0)
            assert reader.query(QUESTIONS[0], answer=True).answer_confidence is not None
            assert len(measurings(embedder)) == 2
        assert not connection.execute("select from lexichord_data.cosine_scale").rowcount
        assert shifted.query(QUESTIONS[0], answer=True).answer_confidence is not None
        assert connection.execute("select from lexichord_data.cosine_scale").rowcount == 1


def test_a_reembed_measures_before_it_changes_and_a_rollback_finds_its_own(
    embedding: SyncLexichord, home: Path
) -> None:
    embedder = Shifted(LocalEmbedder(home))
    embedding.core.find_embedder = with_shifted(embedder)
    embedding.ingest([SAMPLES / "policies"])
    assert "came with the program" in embedding.status().confidence
    embedding.reembed(SHIFTED)
    assert "by a sample of" in embedding.status().confidence
    before = len(embedder.calls)
    assert embedding.query(QUESTIONS[0], answer=True).confidence < 1
    assert FOREIGN_QUESTIONS[0] not in {text for call in embedder.calls[before:] for text in call}
    embedding.reembed(rollback=True)
    assert "came with the program" in embedding.status().confidence


def sentences(first: int, last: int) -> list[dict[str, str]]:
    return [
        {"uri": f"yard/{n}.md", "text": f"The cart{n} of the yard is washed by crew{n} on day{n}."}
        for n in range(first, last)
    ]


@pytest.fixture
def yard(embedded_dsn: str, tmp_path: Path) -> Iterator[SyncLexichord]:
    """An empty database of a model that hashes words."""
    with new_database(embedded_dsn) as dsn:
        schema.prepare(dsn, schema.Choice(space=EmbeddingSpace.parse("test/hashing/64")))
        lexichord = SyncLexichord(dsn=dsn, home=tmp_path / "home", reader="none")
        lexichord.core.find_embedder = finder("test/hashing/64")
        with lexichord:
            yield lexichord


def measured(lexichord: SyncLexichord) -> tuple[int, int]:
    """Return on how many sentences of how many chunks."""
    with psycopg.connect(lexichord.core.database.dsn) as connection:
        rows = connection.execute("select sentences, chunks from lexichord_data.cosine_scale")
        return rows.fetchone() or (0, 0)


def test_too_little_is_judged_by_words_and_growth_is_measured_anew(yard: SyncLexichord) -> None:
    few = MIN_SENTENCES - 1
    yard.ingest(documents=sentences(0, few))
    asked = yard.query("the cart2 of the yard is washed by whom", answer=True)
    assert (asked.answer_confidence, measured(yard)) == (None, (0, 0))
    assert yard.status().confidence.startswith("by words: test/hashing/64 is not measured yet")
    yard.ingest(documents=sentences(few, 10))
    assert measured(yard) == (10, 10)
    yard.ingest(documents=sentences(10, 39))
    assert measured(yard) == (10, 10)
    yard.ingest(documents=sentences(39, 40))
    assert measured(yard) == (40, 40)
    assert yard.query("the cart2 of the yard is washed by crew2", answer=True).answer_confidence


class Blind(Hashing):
    """All texts are the same to it."""

    def embed(self, texts: Sequence[str], kind: EmbedKind) -> Vectors:
        return super().embed(["the same"] * len(texts), kind)


def test_a_model_that_finds_nothing_alike_is_not_measured_for_each_query(
    yard: SyncLexichord, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Sequence[str]] = []
    embedder = Blind("test/hashing/64", heard=calls.append)
    yard.core.embedder, yard.core.find_embedder = embedder, with_shifted(embedder)
    yard.ingest(documents=sentences(0, 10))
    before = len(calls)
    for number in range(3):
        assert yard.query(f"who washes cart{number}", answer=True).hits
    assert all(len(call) < MIN_SENTENCES for call in calls[before:])


class Refusing(Hashing):
    """Its service fails for the questions by which a model is measured."""

    def embed(self, texts: Sequence[str], kind: EmbedKind) -> Vectors:
        if FOREIGN_QUESTIONS[0] in texts:
            raise ProviderError("the service is busy")
        return super().embed(texts, kind)


def test_what_cannot_be_measured_now_is_judged_by_words_and_said(yard: SyncLexichord) -> None:
    yard.core.embedder = Refusing("test/hashing/64")
    report = yard.ingest(documents=sentences(0, 10))
    assert any("the service is busy" in line for line in report.degraded)
    asked = yard.query("the cart2 of the yard is washed by crew2", answer=True)
    assert asked.degraded == ["no vectors, by words only: the service is busy"]
    assert asked.answer_confidence is None
    yard.core.embedder = Hashing("test/hashing/64")
    again = yard.query("the cart2 of the yard is washed by crew2", answer=True)
    assert (again.degraded, measured(yard)) == ([], (10, 10))


@pytest.mark.parametrize("name", MODELS)
def test_real_models_answer_what_is_there_and_refuse_what_is_not(
    embedded_dsn: str, home: Path, name: str
) -> None:
    if (models := os.environ.get("LEXICHORD_TEST_MODELS")) is None:
        pytest.skip("LEXICHORD_TEST_MODELS names no folder of model folders")
    folder = Path(models, name).absolute()
    if not folder.is_dir():
        pytest.skip(f"LEXICHORD_TEST_MODELS holds no {name}")
    with new_database(embedded_dsn) as dsn:
        schema.prepare(dsn, schema.Choice(space=EmbeddingSpace.parse(f"local/{folder}/384")))
        with SyncLexichord(dsn=dsn, home=home) as lexichord:
            lexichord.ingest([SAMPLES / "agreements"])
            assert "by a sample of 60 sentences" in lexichord.status().confidence
            there = lexichord.query("How far in advance must a new sub-processor be announced?")
            away = lexichord.query("What is the melting point of tungsten?")
            assert there.confidence > 0.5 > 0.2 > away.confidence
