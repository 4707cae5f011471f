"""Constants of one space in another: by where its cosines lie, or not at all."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from lexichord.providers import EmbedKind, Vectors
from lexichord.providers.embed.local import LocalEmbedder
from lexichord.retrieve.confidence import (
    FITTED,
    MIN_SENTENCES,
    OWN_ALIKE,
    OWN_UNLIKE,
    ConfidenceSignals,
    calibration_by,
    describe_calibration,
    measure_scale,
    probability,
)
from lexichord.retrieve.evidence.sentences import FITTED_SPACE
from lexichord.types.state import CosineScale
from tests.conftest import SAMPLES
from tests.shifted import Shifted

E5_LIKE = CosineScale("local/e5/384", unlike=0.73, alike=0.945, sentences=60)


@pytest.mark.parametrize("space", FITTED)
@pytest.mark.parametrize("passage", [0.0, 0.4, 1.0])
def test_constants_mean_the_same_where_cosines_lie_elsewhere(space: str, passage: float) -> None:
    own, other = FITTED[space], calibration_by(E5_LIKE)
    for of_other, of_own in ((E5_LIKE.unlike, OWN_UNLIKE), (E5_LIKE.alike, OWN_ALIKE)):
        assert other.align(of_other) == pytest.approx(of_own)
        expected = probability(ConfidenceSignals(of_own, 0.5, passage), own)
        signals = ConfidenceSignals(of_other, 0.5, passage)
        assert probability(signals, other) == pytest.approx(expected)
    assert (other.holds, other.lacks, other.space) == ((), (), E5_LIKE.space)
    assert own.align(0.3) == 0.3


def test_what_judges_is_told() -> None:
    assert "a sample of 60 sentences" in describe_calibration(calibration_by(E5_LIKE), "local/e5")
    said = describe_calibration(None, "local/e5/384")
    assert said.startswith("by words: local/e5/384 is not measured")
    assert f"{MIN_SENTENCES} sentences" in said


@pytest.fixture(scope="module")
def sentences() -> list[str]:
    texts = [file.read_text() for file in sorted((SAMPLES / "policies").rglob("*.md"))]
    lines = (line.strip() for text in texts for line in text.splitlines())
    return [line[:400] for line in lines if len(line) > 20][:60]


def test_the_default_model_lies_where_its_constants_say(home: Path, sentences: list[str]) -> None:
    scale = measure_scale(LocalEmbedder(home), sentences)
    assert scale is not None
    assert scale.space == FITTED_SPACE
    assert scale.alike == pytest.approx(OWN_ALIKE)
    assert scale.unlike == pytest.approx(OWN_UNLIKE, abs=0.04)
    assert scale.sentences == len(sentences)


@pytest.mark.parametrize("shift", [0.3, 0.7])
def test_a_model_whose_cosines_all_lie_higher_is_brought_back(
    home: Path, sentences: list[str], shift: float
) -> None:
    plain = LocalEmbedder(home)
    shifted = Shifted(plain, shift)
    scale = measure_scale(shifted, sentences)
    assert scale is not None
    asked, answer = plain.embed(sentences[:2], "query")
    there = shifted.embed(sentences[:2], "query")
    aligned = calibration_by(scale).align(float(there[0] @ there[1]))
    assert aligned == pytest.approx(float(asked @ answer), abs=0.04)


class Blind(Shifted):
    """All texts are the same to it."""

    def embed(self, texts: Sequence[str], kind: EmbedKind) -> Vectors:
        rows = super().embed(texts, kind)
        return np.repeat(rows[:1], len(rows), axis=0)


def test_a_model_that_finds_everything_alike_has_none(home: Path, sentences: list[str]) -> None:
    assert measure_scale(Blind(LocalEmbedder(home), 0.5), sentences) is None
