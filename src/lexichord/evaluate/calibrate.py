"""Confidence by vectors, fitted on questions about what a database holds.

The same signals as the program's own, for which its constants were fitted with one model: by
logistic regression, and judged by what it says of questions that it was not fitted on.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexichord.db.catalogue import set_calibration
from lexichord.errors import ConfigError
from lexichord.evaluate import Application
from lexichord.evaluate.datasets import NativeQuestion
from lexichord.evaluate.datasets.reading import read_json_lines
from lexichord.evaluate.metrics import holds
from lexichord.evaluate.statistics import auroc
from lexichord.providers import Embedder
from lexichord.retrieve.cache import KnownScales
from lexichord.retrieve.confidence import (
    JUDGED_HITS,
    MIN_CONFIDENCE,
    WITH_VECTOR,
    ConfidenceSignals,
    ensure_scale,
    find_calibration,
    measure_evidence,
)
from lexichord.retrieve.judged_hits import filter_to_named, without_names
from lexichord.types import ChunkHit, Question, Response
from lexichord.types.evaluation import Calibrated
from lexichord.types.state import Calibration

FOLDS = 5
MIN_QUESTIONS = 20  # whose evidence holds an answer, and as many whose evidence does not
MIN_AUROC = 0.6  # of questions that it was not fitted on; below, it tells nothing
NOT_JUDGED = frozenset({"comparison", "list_all", "summary"})


async def run_calibration(
    app: Application, file: Path, on_progress: Callable[[str, int, int], None]
) -> Calibrated:
    """Ask the questions of a file, fit confidence by vectors on them, and store it.

    Raises ConfigError, too, where the questions are too few or tell nothing.
    """
    if app.embedder is None:
        raise ConfigError(f"confidence by vectors needs an embedder: {app.degraded[0]}")
    asked = [each for _, each in read_json_lines(file, NativeQuestion)]
    asked = [each for each in asked if not NOT_JUDGED & {each.intent, each.type}]
    chosen_by = await _chosen_by(app, app.embedder)
    signals, truth = list[ConfidenceSignals](), list[bool]()
    for number, question in enumerate(asked, start=1):
        response = await app.query(question.query, hint=question.hint, intent="clause_lookup")
        hits = filter_to_named(response.intent, response.hits)[:JUDGED_HITS]
        if hits:
            signals.append(await measure(app, response, hits, chosen_by))
            truth.append(any(answers(question, hit) for hit in hits))
        on_progress("calibrate", number, len(asked))
    calibration = fit_calibration(app.space, signals, truth)
    await set_calibration(app.database, calibration)
    return describe(calibration)


async def _chosen_by(app: Application, embedder: Embedder) -> Calibration:
    """Return what chooses sentences as yet: by words where cosines of the space say nothing."""
    scale = await ensure_scale(app.database, embedder, KnownScales())
    found = await find_calibration(app.database, app.space, scale)
    return found or Calibration(app.space, constant=0.0, cosine=0.0, passage=0.0, slope=0.0)


async def measure(
    app: Application,
    response: Response,
    hits: Sequence[ChunkHit],
    chosen_by: Calibration = WITH_VECTOR,
) -> ConfidenceSignals:
    """Measure a response's evidence as a query does that nobody reads for."""
    assert app.embedder is not None
    text = without_names(response.intent)
    vectors = app.embedder.embed([text, response.query], "query").tolist()
    named = Question(response.query, vectors[1]) if response.intent.documents else None
    embed = partial(app.embedder.embed, kind="document")
    about = Question(text, vectors[0])
    return await measure_evidence(app.database, about, hits, embed, named, chosen_by)


def answers(question: NativeQuestion, hit: ChunkHit) -> bool:
    """Return whether a hit answers a question, by a quote or by what a first sentence is to hold.

    Where a question says neither, any hit of a right document does.
    """
    if not question.answerable or not hit.uri.endswith(question.files):
        return False
    quotes = (span.quote for span in question.relevant_spans)
    parts = [part for part in (*quotes, *question.first) if part]
    return not parts or any(holds(hit.content, part) for part in parts)


def fit_calibration(
    space: str, signals: Sequence[ConfidenceSignals], truth: Sequence[bool]
) -> Calibration:
    """Fit confidence, and what it says of questions left out. Raises ConfigError."""
    held = sum(truth)
    if min(held, len(truth) - held) < MIN_QUESTIONS:
        raise ConfigError(
            f"too few questions: {held} whose evidence holds an answer and {len(truth) - held} "
            f"whose evidence does not; {MIN_QUESTIONS} of each are needed"
        )
    rows = np.array([(1.0, one.cosine or 0.0, one.passage) for one in signals])
    is_held = np.array(truth)
    known, folds = is_held.astype(float), np.arange(len(truth)) % FOLDS
    scores = shares_left_out(rows, known, folds).round(3)
    separation = auroc(scores.tolist(), truth)
    if separation is None or separation < MIN_AUROC:
        raise ConfigError(
            f"nothing was stored: confidence does not tell these questions apart (AUROC "
            f"{separation:.2f}); are the quotes those of the stored documents?"
        )
    coefficients = fit_logistic(rows, known).tolist()
    calibration = Calibration(space, *coefficients)
    scored = {"holds": scores[is_held].tolist(), "lacks": scores[~is_held].tolist()}
    return replace(calibration, **scored)


def describe(calibration: Calibration) -> Calibrated:
    """Return how a calibration does on questions that it was not fitted on."""
    held, lacking = np.array(calibration.holds), np.array(calibration.lacks)
    truth = [True] * len(held) + [False] * len(lacking)
    separation = auroc([*calibration.holds, *calibration.lacks], truth)
    assert separation is not None
    return Calibrated(
        calibration.space,
        len(held),
        len(lacking),
        separation,
        float((held < MIN_CONFIDENCE).mean()),
        float((lacking < MIN_CONFIDENCE).mean()),
    )


RIDGE = 1.0
MIN_SPREAD = 1e-6  # of a signal, below which it is the same everywhere
STEPS = 50  # of Newton's method, which needs about ten

type Floats = NDArray[np.float64]


def fit_logistic(rows: Floats, truth: Floats) -> Floats:
    """Return the coefficients of maximum likelihood with a small ridge on scaled columns.

    The first column of `rows` is 1, its coefficient the constant, which the ridge leaves alone.
    """
    spread = rows[:, 1:].std(axis=0)
    scale = np.array([1, *np.where(spread > MIN_SPREAD, spread, 1)])
    scaled, weights = rows / scale, np.zeros(rows.shape[1])
    penalty = RIDGE * np.array([0, *[1] * (rows.shape[1] - 1)])
    for _ in range(STEPS):
        share = shares(scaled, weights)
        slope = scaled.T @ (truth - share) - penalty * weights
        curve = (scaled * (share * (1 - share))[:, None]).T @ scaled + np.diag(penalty)
        weights = weights + np.linalg.solve(curve, slope)
    return np.asarray(weights / scale)


def shares(rows: Floats, weights: Floats) -> Floats:
    """Return the probability of each row, 0 to 1."""
    return np.asarray(1 / (1 + np.exp(-(rows @ weights))))


def shares_left_out(rows: Floats, truth: Floats, groups: NDArray[Any]) -> Floats:
    """Return each row's probability by coefficients that were fitted on the other groups."""
    scores = np.zeros(len(rows))
    for group in np.unique(groups):
        own = groups == group
        scores[own] = shares(rows[own], fit_logistic(rows[~own], truth[~own]))
    return scores
