"""Confidence fitted on the user's own questions, stored for one embedding space."""

import numpy as np
import pytest

from lexichord.db.catalogue import find_calibration, set_calibration
from lexichord.db.pool import Database
from lexichord.errors import ConfigError, EmbeddingMismatchError
from lexichord.evaluate.calibrate import MIN_QUESTIONS, describe, fit_calibration
from lexichord.retrieve import confidence
from lexichord.retrieve.confidence import (
    ConfidenceSignals,
    describe_calibration,
    own_calibration,
    probability,
)
from lexichord.retrieve.evidence.sentences import FITTED_SPACE
from lexichord.types.state import Calibration
from tests.sql.corpus import SPACE, Connection

FITTED = Calibration(SPACE, -4.0, 8.0, 2.0, (0.9, 0.8), (0.2,))


async def test_what_was_fitted_judges_its_space_and_no_other(
    fresh: Connection, database: Database
) -> None:
    assert await find_calibration(database) is None
    assert await confidence.find_calibration(database, SPACE) is None
    await set_calibration(database, FITTED)
    await set_calibration(database, Calibration(SPACE, -5.0, 9.0, 3.0, (0.7,), (0.1,)))
    stored = await confidence.find_calibration(database, SPACE)
    assert stored is not None
    assert (stored.constant, stored.holds, stored.lacks) == (-5.0, [0.7], [0.1])
    assert "2 questions of yours" in describe_calibration(stored, SPACE)
    assert await confidence.find_calibration(database, "other/model/4") is None
    assert await confidence.find_calibration(database, None) is None
    assert await confidence.find_calibration(database, FITTED_SPACE) == own_calibration()


async def test_a_calibration_of_another_space_is_refused(
    fresh: Connection, database: Database
) -> None:
    with pytest.raises(EmbeddingMismatchError, match="other/model/4"):
        await set_calibration(database, Calibration("other/model/4", 1.0, 1.0, 1.0))


def signals_of(count: int, apart: float) -> tuple[list[ConfidenceSignals], list[bool]]:
    """Return signals of which those with an answer are, on the whole, the larger."""
    chance = np.random.default_rng(1)
    truth = [number % 2 == 0 for number in range(count)]
    cosines = chance.normal(0.4, 0.1, count) + apart * np.array(truth)
    return [ConfidenceSignals(float(one), 0.5, 0.5) for one in cosines], truth


def test_a_fit_tells_questions_apart_that_it_was_not_fitted_on() -> None:
    calibration = fit_calibration(SPACE, *signals_of(200, 0.3))
    good, bad = ConfidenceSignals(0.75, 0.5, 0.5), ConfidenceSignals(0.35, 0.5, 0.5)
    assert probability(good, calibration) > 0.7 > 0.3 > probability(bad, calibration)
    done = describe(calibration)
    assert (done.holds, done.lacks) == (100, 100)
    assert done.auroc > 0.9
    assert done.refused < 0.2 < 0.8 < done.turned_away


def test_few_questions_and_those_that_tell_nothing_are_refused() -> None:
    with pytest.raises(ConfigError, match="too few questions"):
        fit_calibration(SPACE, *signals_of(2 * MIN_QUESTIONS - 2, 0.3))
    with pytest.raises(ConfigError, match="nothing was stored"):
        fit_calibration(SPACE, *signals_of(200, 0))
