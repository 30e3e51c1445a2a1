"""Bags: how many rows each tree draws, and what a class weighs in them."""

from __future__ import annotations

from typing import Any

import numpy as np

from committee.learners.training import Training
from committee.parameters import is_float
from committee.task import Classification, are_repetitions, class_weights


def n_draws(weights: np.ndarray | None, n_rows: int, max_samples: int | float | None) -> int:
    """The number of rows that a tree draws.

    Parameters
    ----------
    weights : ndarray of shape (n_rows,) or None
        Those that `are_repetitions` count as many rows. Of others, only how many are positive matters.
    n_rows : int
    max_samples : int, float or None
        A number of rows, or a share of what None draws.

    Returns
    -------
    int

    Examples
    --------
    >>> n_draws(np.array([2.0, 0.0, 1.0]), 3, None), n_draws(np.array([0.5, 0.0, 2.0]), 3, None)
    (3, 2)
    >>> n_draws(None, 1000, 0.25)
    250
    """
    if max_samples is not None and not is_float(max_samples):
        return int(max_samples)
    if weights is None:
        available = n_rows
    elif are_repetitions(weights):
        available = int(weights.sum())
    else:
        available = int(np.count_nonzero(weights))
    return available if max_samples is None else max(1, int(max_samples * available))


def class_options(class_weight: Any, training: Training) -> dict[str, Any]:
    """The engine's options for weights of classes: they apply to what was drawn, not to the drawing."""
    if class_weight is None or not isinstance(training.task, Classification):
        return {}
    if isinstance(class_weight, str) and class_weight == "balanced_subsample":
        return {"balance_bags": True}
    by_class = np.ones(training.n_classes)
    by_class[training.y] = class_weights(class_weight, training.task, training.y, None)
    return {"class_weights": by_class.tolist()}
