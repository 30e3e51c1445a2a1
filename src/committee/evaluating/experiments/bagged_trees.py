"""Bag trees on simulated rows: consensus of labels against averaged probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from committee.evaluating.committee_charts import error_curve
from committee.extensions import extension, picture
from committee.learners import DecisionTreeClassifier
from committee.parameters import is_integer
from committee.printing import brief
from committee.sampling import BaggingClassifier
from committee.table.input_types import RandomState
from committee.table.result_frame import Tabulated

# The error of the best possible classifier: the smaller of the two class probabilities of any row.
BAYES_ERROR = 0.2


@brief
@dataclass(frozen=True, eq=False)
class BaggingErrors(Tabulated):
    """The test errors of bagged trees by their number.

    Parameters
    ----------
    consensus : ndarray of shape (n_estimators,)
        The errors of the first 1, 2, ... trees if each votes for a class.
    probability : ndarray of shape (n_estimators,)
        The errors if the class probabilities of the trees are averaged.
    original : float
        The error of a tree that is fitted to all training rows.
    bayes : float
        The error of the best possible classifier.
    """

    consensus: np.ndarray
    probability: np.ndarray
    original: float
    bayes: float

    plot = extension(picture("bagged_trees"), extra="plot")


def draw_simulated_rows(
    n_rows: int, *, n_columns: int = 5, correlation: float = 0.95, random_state: RandomState = None
) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows of two classes, of which only the first column matters.

    The columns have a standard normal distribution with the same correlation between all pairs. The
    probability of class 1 is 0.2 if the first column is at most 0.5, and 0.8 otherwise. So the smallest
    possible error is 0.2.

    Parameters
    ----------
    n_rows : int
    n_columns : int, default=5
    correlation : float from 0 to 1, default=0.95
    random_state : int, Generator or None, default=None

    Returns
    -------
    X : ndarray of shape (n_rows, n_columns)
    y : ndarray of int of shape (n_rows,)

    References
    ----------
    T. Hastie, R. Tibshirani, J. Friedman, "The elements of statistical learning", section 8.7.1. Springer
    2009.

    Examples
    --------
    >>> X, y = draw_simulated_rows(30, random_state=0)
    >>> X.shape, y.mean().round(2)
    ((30, 5), np.float64(0.4))
    """
    if not 0 <= correlation <= 1:
        raise ValueError(f"correlation must be a number from 0 to 1. Got {correlation!r}.")
    rng = np.random.default_rng(random_state)
    shared, own = rng.normal(size=(n_rows, 1)), rng.normal(size=(n_rows, n_columns))
    X = np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own
    chances = np.where(X[:, 0] > 0.5, 1 - BAYES_ERROR, BAYES_ERROR)
    return X, (rng.random(n_rows) < chances).astype(np.int64)


def bagging_errors(
    estimator: Any = None,
    *,
    n_estimators: int = 200,
    n_rows: int = 30,
    n_test_rows: int = 2000,
    n_samples: int = 1,
    random_state: RandomState = None,
) -> BaggingErrors:
    """Compute the errors of bagged trees on simulated rows, by the number of trees.

    Parameters
    ----------
    estimator : classifier, default=None
        None means a `DecisionTreeClassifier` with at least five rows in a leaf. The leaves of full trees
        contain one class, for which consensus and averaged probabilities are the same.
    n_estimators : int, default=200
    n_rows, n_test_rows : int, default=30 and 2000
        See `draw_simulated_rows`.
    n_samples : int, default=1
        The number of training sets, over which the errors are averaged. The test rows are the same.
    random_state : int, Generator or None, default=None

    Returns
    -------
    BaggingErrors
        With `consensus` and `probability` by number of trees, `original` and `bayes`.

    Examples
    --------
    >>> found = bagging_errors(n_estimators=50, random_state=0)
    >>> found.original > found.probability[-1] > found.bayes
    np.True_
    """
    for name, value in (("n_estimators", n_estimators), ("n_samples", n_samples)):
        if not is_integer(value) or value < 1:
            raise ValueError(f"{name} must be an integer >= 1. Got {value!r}.")
    tree = DecisionTreeClassifier(min_samples_leaf=5) if estimator is None else estimator
    rng = np.random.default_rng(random_state)
    X_test, y_test = draw_simulated_rows(n_test_rows, random_state=rng)
    curves, originals = [], []
    for _ in range(n_samples):
        X, y = draw_simulated_rows(n_rows, random_state=rng)
        bagged = BaggingClassifier(tree, n_estimators, random_state=int(rng.integers(2**31))).fit(X, y)
        votes = bagged.votes(X_test)
        curves.append(
            [
                error_curve(votes, y_test, rule=rule, classes=bagged.classes_, n_orders=1).in_order
                for rule in ("majority", "mean")
            ]
        )
        originals.append(1 - clone(tree).fit(X, y).score(X_test, y_test))
    consensus, probability = np.mean(curves, axis=0)
    return BaggingErrors(consensus, probability, float(np.mean(originals)), BAYES_ERROR)
