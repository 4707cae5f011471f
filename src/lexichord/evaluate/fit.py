"""Logistic regression of a few signals, and what it says of questions that it was not fitted on."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

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
