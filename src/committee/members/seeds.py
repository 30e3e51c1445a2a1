"""Draw the seeds of members and splits from one generator, so that fits are repeatable."""

from __future__ import annotations

import copy

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state

from committee.combining.rule import Rule
from committee.table.input_types import RandomState

LARGEST_SEED = 2**31 - 1
# Purposes of generators. None of them is 0, because numpy pads keys with zeros.
COLUMNS, MEMBER, RULE = 1, 2, 3


def stream(seed: int, number: int, purpose: int) -> np.random.Generator:
    """Make the generator of one purpose for one member, which shares no numbers with any other.

    Examples
    --------
    >>> stream(0, 5, COLUMNS).integers(100), stream(0, 5, MEMBER).integers(100)
    (np.int64(55), np.int64(31))
    """
    return np.random.default_rng([seed, number, purpose])


def generator_of(random_state: RandomState) -> np.random.Generator:
    """Make the generator of a `random_state`: the same one each time if it is an integer.

    Examples
    --------
    >>> generator_of(0).integers(100), generator_of(0).integers(100)
    (np.int64(36), np.int64(36))
    """
    return np.random.default_rng(check_random_state(random_state).randint(LARGEST_SEED))


def seeded(estimator: BaseEstimator, rng: np.random.Generator) -> BaseEstimator:
    """Clone an estimator and draw every `random_state` that is None."""
    estimator = clone(estimator)
    if isinstance(estimator, Rule):
        estimator = estimator._without_names()
    parameters = estimator.get_params(deep=True)
    return with_seeds(estimator, [name for name in seeds_of(estimator) if parameters[name] is None], rng)


def seeded_split(cv: object, rng: np.random.Generator) -> object:
    """Copy a splitter and draw its `random_state` if that is None; return any other `cv` unchanged.

    Examples
    --------
    >>> from sklearn.model_selection import KFold
    >>> seeded_split(KFold(2, shuffle=True), np.random.default_rng(0))
    KFold(n_splits=2, random_state=1826701614, shuffle=True)
    """
    if not hasattr(cv, "random_state") or cv.random_state is not None:
        return cv
    splitter = copy.copy(cv)
    splitter.random_state = int(rng.integers(LARGEST_SEED))
    return splitter


def reseeded(member: BaseEstimator, rng: np.random.Generator) -> BaseEstimator:
    """Clone an estimator and draw every `random_state` of it and of its parts again."""
    return with_seeds(clone(member), seeds_of(member), rng)


def with_seeds(estimator: BaseEstimator, names: list[str], rng: np.random.Generator) -> BaseEstimator:
    """Draw random numbers for some parameters of an estimator."""
    # `set_params` of a frozen estimator returns None.
    estimator.set_params(**{name: int(rng.integers(LARGEST_SEED)) for name in names})
    return estimator


def seeds_of(member: BaseEstimator) -> list[str]:
    """Return the names of every `random_state` of an estimator and of its parts.

    Examples
    --------
    >>> from sklearn.ensemble import BaggingClassifier
    >>> from sklearn.linear_model import SGDClassifier
    >>> seeds_of(BaggingClassifier(SGDClassifier()))
    ['estimator__random_state', 'random_state']
    """
    return [
        name
        for name in sorted(member.get_params(deep=True))
        if name == "random_state" or name.endswith("__random_state")
    ]
