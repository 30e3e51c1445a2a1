"""Average the error of learners over all target functions on a small space of inputs."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from committee.extensions import extension, picture
from committee.parameters import is_integer
from committee.printing import brief
from committee.table.input_types import RandomState
from committee.table.result_frame import Tabulated

MOST_COLUMNS = 4


@brief
@dataclass(frozen=True, eq=False)
class NoFreeLunch(Tabulated):
    """The errors of learners on the unseen rows, for every target function.

    Parameters
    ----------
    learners : tuple of str
    X : ndarray of shape (n_inputs, n_columns)
        All inputs of zeros and ones.
    is_training : ndarray of bool of shape (n_inputs,)
        The rows that the learners are fitted to.
    targets : ndarray of int of shape (n_functions, n_inputs)
        Every function from the inputs to two classes.
    errors : ndarray of shape (n_learners, n_functions)
        The share of unseen rows that a learner misclassifies.
    """

    learners: tuple[str, ...]
    X: np.ndarray
    is_training: np.ndarray
    targets: np.ndarray
    errors: np.ndarray

    plot = extension(picture("free_lunch"), extra="plot")

    @property
    def mean_errors(self) -> np.ndarray:
        """The errors averaged over all target functions: 1/2 for every learner."""
        return np.asarray(self.errors.mean(axis=1))

    @property
    def wins(self) -> np.ndarray:
        """The number of target functions on which each learner (row) is better than each other (column)."""
        return (self.errors[:, None] < self.errors[None]).sum(axis=2)

    def _columns(self) -> dict[str, list[Any]]:
        """Return the learners and their mean errors."""
        return {"learner": list(self.learners), "mean_error": self.mean_errors.tolist()}


def no_free_lunch(
    learners: Mapping[str, Any],
    *,
    n_columns: int = 3,
    n_training_rows: int = 5,
    random_state: RandomState = None,
) -> NoFreeLunch:
    """Compute the errors of learners on unseen rows, for all target functions on a small space of inputs.

    The inputs are all rows of zeros and ones, of which some are drawn for training. Every function from the
    inputs to two classes is a target once. A learner that is right about an unseen row for one function is
    wrong for the function that differs only there. So every learner is wrong about one half of the unseen
    rows on average (Wolpert 1996), and none is better than another.

    Parameters
    ----------
    learners : dict of str to classifier
        They are not fitted if all training labels are equal: the prediction is then this label.
    n_columns : int, default=3
        At most 4, which gives 65,536 functions.
    n_training_rows : int, default=5
        The number of training rows, less than 2 ** n_columns.
    random_state : int, Generator or None, default=None
        Draws the training rows.

    Returns
    -------
    NoFreeLunch
        With `errors` by learner and function, `mean_errors` and `wins`.

    References
    ----------
    D. H. Wolpert, "The lack of a priori distinctions between learning algorithms". Neural Computation 8,
    1996.

    Examples
    --------
    >>> from committee import DecisionTreeClassifier, RandomForestClassifier
    >>> learners = {"tree": DecisionTreeClassifier(), "forest": RandomForestClassifier(9, random_state=0)}
    >>> found = no_free_lunch(learners, random_state=0)
    >>> found.mean_errors, found.errors.shape
    (array([0.5, 0.5]), (2, 256))
    """
    if not is_integer(n_columns) or not 1 <= n_columns <= MOST_COLUMNS:
        raise ValueError(f"n_columns must be an integer from 1 to {MOST_COLUMNS}. Got {n_columns!r}.")
    n_inputs = 2**n_columns
    if not is_integer(n_training_rows) or not 1 <= n_training_rows < n_inputs:
        raise ValueError(
            f"n_training_rows must be an integer from 1 to {n_inputs - 1}, because at least one of the "
            f"{n_inputs} inputs must be unseen. Got {n_training_rows!r}."
        )
    X, targets = all_rows(n_columns).astype(np.float64), all_rows(n_inputs)
    drawn = np.random.default_rng(random_state).permutation(n_inputs)[:n_training_rows]
    is_training = np.isin(np.arange(n_inputs), drawn)
    # The prediction depends only on the training labels, so functions with the same labels share a fit.
    labels, fit_of = np.unique(targets[:, is_training], axis=0, return_inverse=True)
    errors = [
        (
            unseen_predictions(learner, X, is_training, labels)[fit_of.ravel()] != targets[:, ~is_training]
        ).mean(axis=1)
        for learner in learners.values()
    ]
    return NoFreeLunch(tuple(learners), X, is_training, targets, np.array(errors))


def all_rows(n_columns: int) -> np.ndarray:
    """Return all rows of zeros and ones.

    Examples
    --------
    >>> all_rows(2).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    return np.array(list(itertools.product((0, 1), repeat=n_columns)))


def unseen_predictions(
    learner: Any, X: np.ndarray, is_training: np.ndarray, labels: np.ndarray
) -> np.ndarray:
    """Return the predictions for the unseen rows after a fit to each row of training labels."""
    seen, unseen = X[is_training], X[~is_training]
    return np.array(
        [
            clone(learner).fit(seen, each).predict(unseen) if np.ptp(each) else np.full(len(unseen), each[0])
            for each in labels
        ]
    )
