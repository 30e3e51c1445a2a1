"""Small problems that a mixture of experts can solve and a single expert cannot."""

import numpy as np
import pytest

from committee import MixtureOfExpertsClassifier, MixtureOfExpertsRegressor

BOTH = [MixtureOfExpertsClassifier, MixtureOfExpertsRegressor]
both = pytest.mark.parametrize("mixture_type", BOTH)


def two_lines(n_rows=120, seed=0):
    """Return rows with y = |x| plus noise, which two lines describe, one on each side of 0."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (n_rows, 1))
    return X, np.abs(X[:, 0]) + rng.normal(scale=0.05, size=n_rows)


def quarters(n_rows=200, seed=0):
    """Return rows with the classes of exclusive or, which two lines separate."""
    X = np.random.default_rng(seed).uniform(-3, 3, (n_rows, 2))
    return X, np.where((X[:, 0] > 0) == (X[:, 1] > 0), "same", "other")


def problem(mixture_type, **more):
    return quarters(**more) if mixture_type is MixtureOfExpertsClassifier else two_lines(**more)
