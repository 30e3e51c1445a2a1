"""Predict with the gates and experts of a mixture by numpy.

In: rows as a matrix. Out: the probabilities of the experts, the votes of our own linear models, and the
decision. The coefficients of these models have one row for each feature and a last row for the intercepts.
The gates of a tree are listed level by level.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from committee.saving.format.fields import Fields
from committee.saving.format.file_errors import require

# Probabilities of a gate are at least this, so that their logarithms are finite.
SMALLEST = 1e-12
# The products of a matrix and coefficients up to this size are finite.
LARGEST_COEFFICIENT = 1e100
LARGEST = sys.float_info.max


@dataclass(frozen=True, eq=False)
class SoftmaxModel:
    """A fitted softmax regression: a gate, or an expert for classes.

    Parameters
    ----------
    classes_ : ndarray of shape (n_classes,)
    coefficients : ndarray of shape (n_features + 1, n_classes)

    Examples
    --------
    >>> model = SoftmaxModel(np.array(["a", "b"]), np.array([[0.0, 2.0], [0.0, -1.0]]))
    >>> model.predict_proba(np.array([[0.5]]))
    array([[0.5, 0.5]])
    """

    classes_: np.ndarray
    coefficients: np.ndarray

    @classmethod
    def even(cls, classes: np.ndarray, n_features: int) -> SoftmaxModel:
        """Return a model for which all classes are equally probable."""
        return cls(classes, np.zeros((n_features + 1, len(classes))))

    def predict_log_proba(self, matrix: np.ndarray) -> np.ndarray:
        """Return the logarithms of the probabilities of the classes, of shape (n_rows, n_classes)."""
        scores = scores_of(matrix, self.coefficients)
        scores -= scores.max(axis=1, keepdims=True)
        logs: np.ndarray = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        return logs

    def predict_proba(self, matrix: np.ndarray) -> np.ndarray:
        """Return the probabilities of the classes, of shape (n_rows, n_classes)."""
        return np.exp(self.predict_log_proba(matrix))

    def predict(self, matrix: np.ndarray) -> np.ndarray:
        """Return the class with the highest probability, the first one in a tie."""
        return self.classes_[self.predict_proba(matrix).argmax(axis=1)]


@dataclass(frozen=True, eq=False)
class LinearModel:
    """A fitted linear regression: an expert for numbers.

    Parameters
    ----------
    coefficients : ndarray of shape (n_features + 1, 1)

    Examples
    --------
    >>> LinearModel(np.array([[2.0], [1.0]])).predict(np.array([[3.0]]))
    array([7.])
    """

    coefficients: np.ndarray

    def predict(self, matrix: np.ndarray) -> np.ndarray:
        """Predict a number for each row."""
        return scores_of(matrix, self.coefficients)[:, 0]


def scores_of(matrix: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """Return linear scores, column by column, so that the scores of a row do not depend on other rows."""
    scores = np.tile(coefficients[-1], (len(matrix), 1))
    for column, row in zip(matrix.T, coefficients[:-1], strict=True):
        scores += column[:, None] * row
    return scores


@dataclass(frozen=True)
class Branches:
    """The shape of a tree of gates.

    Parameters
    ----------
    n_experts : int
        A power of the number of branches.
    n_branches : int
        The number of branches of every gate.

    Examples
    --------
    >>> tree = Branches.of(8, 2)
    >>> tree.depth, tree.n_gates
    (3, 7)
    >>> Branches.of(1, 2)
    Branches(n_experts=1, n_branches=1)
    >>> Branches.of(6, 2)
    Traceback (most recent call last):
    ValueError: n_experts must be a power of branching=2. Got 6. Set branching=None for one gate.
    """

    n_experts: int
    n_branches: int

    @classmethod
    def of(cls, n_experts: int, branching: int | None) -> Branches:
        """Return the tree for the parameters of an estimator."""
        # One expert is allowed with any branching. It has one gate with one branch.
        tree = cls(n_experts, n_experts if branching is None or n_experts == 1 else branching)
        if tree.n_branches**tree.depth != n_experts:
            raise ValueError(
                f"n_experts must be a power of branching={branching}. Got {n_experts}. Set branching=None "
                "for one gate."
            )
        return tree

    @property
    def depth(self) -> int:
        """The number of levels of gates."""
        depth, reached = 1, self.n_branches
        while reached < self.n_experts:
            depth, reached = depth + 1, reached * self.n_branches
        return depth

    @property
    def n_gates(self) -> int:
        """The number of gates."""
        return sum(self.n_branches**level for level in range(self.depth))

    def join(self, logs: list[np.ndarray]) -> np.ndarray:
        """Add the logarithms of the branches on the path to each expert.

        Parameters
        ----------
        logs : list of ndarray of shape (n_rows, n_branches)
            The logarithms of each gate.

        Returns
        -------
        ndarray of shape (n_rows, n_experts)
        """
        n_rows, first = len(logs[0]), 0
        joined = np.zeros((n_rows, 1))
        for level in range(self.depth):
            n_gates = self.n_branches**level
            here = np.stack(logs[first : first + n_gates], axis=1)
            joined = (joined[:, :, None] + here).reshape(n_rows, -1)
            first += n_gates
        return joined

    def split(self, of_experts: np.ndarray) -> list[np.ndarray]:
        """Sum the values of the experts behind each branch.

        Parameters
        ----------
        of_experts : ndarray of shape (n_rows, n_experts)

        Returns
        -------
        list of ndarray of shape (n_rows, n_branches)
        """
        n_rows, parts = len(of_experts), []
        for level in range(self.depth):
            n_gates = self.n_branches**level
            behind = of_experts.reshape(n_rows, n_gates, self.n_branches, -1).sum(axis=3)
            parts += [behind[:, gate] for gate in range(n_gates)]
        return parts


def log_shares(shares: np.ndarray) -> np.ndarray:
    """Return the logarithms of the probabilities of branches.

    A branch that had no rows in the fit gets a tiny probability.
    """
    shares = np.maximum(shares, SMALLEST)
    logs: np.ndarray = np.log(shares / shares.sum(axis=1, keepdims=True))
    return logs


def shares_of_experts(joined: np.ndarray) -> np.ndarray:
    """Return probabilities from the logarithms of `Branches.join`, of shape (n_rows, n_experts)."""
    shares = np.exp(joined)
    return shares / shares.sum(axis=1, keepdims=True)


def mixed(shares: np.ndarray, votes: np.ndarray, is_hard: bool) -> np.ndarray:
    """Combine the votes of the experts by their probabilities, or take that of the most probable expert.

    Parameters
    ----------
    shares : ndarray of shape (n_rows, n_experts)
    votes : ndarray of shape (n_experts, n_rows, n_outputs)
    is_hard : bool

    Returns
    -------
    ndarray of shape (n_rows, n_outputs)

    Examples
    --------
    >>> shares, votes = np.array([[0.75, 0.25]]), np.array([[[4.0]], [[8.0]]])
    >>> mixed(shares, votes, is_hard=False), mixed(shares, votes, is_hard=True)
    (array([[5.]]), array([[4.]]))
    """
    if is_hard:
        chosen: np.ndarray = votes[shares.argmax(axis=1), np.arange(len(shares))]
        return chosen
    decision = np.zeros(votes.shape[1:])
    for share, vote in zip(shares.T, votes, strict=True):
        decision += share[:, None] * vote
    return decision


def in_units_of_y(votes: np.ndarray, center: float, spread: float) -> np.ndarray:
    """Return numbers in the units of y from numbers of mean 0 and standard deviation 1."""
    with np.errstate(over="ignore"):
        return np.clip(center + spread * votes, -LARGEST, LARGEST)


def saved_form(model: object) -> object:
    """Return a gate or an expert as it is saved: its arrays, or the estimator unchanged."""
    if not isinstance(model, SoftmaxModel | LinearModel):
        return model
    return {"classes": getattr(model, "classes_", None), "coefficients": model.coefficients}


def model_from(saved: Any, width: int, classes: np.ndarray | None) -> Any:
    """Make a gate or an expert from its saved form, and check it. Return an estimator unchanged.

    Parameters
    ----------
    saved : dict, estimator or its description
    width : int
        The number of columns of the matrix.
    classes : ndarray or None
        The classes of the task. None is a regression.
    """
    if not isinstance(saved, dict):
        return saved
    fields = Fields(saved)
    found = fields.optional_array("classes", None if classes is None else classes.dtype, (None,))
    require((found is None) == (classes is None), "A gate or an expert is for another task")
    coefficients = fields.array("coefficients", np.float64, (width + 1, 1 if found is None else len(found)))
    fields.finish()
    require(np.abs(coefficients).max(initial=0) <= LARGEST_COEFFICIENT, "A coefficient is too large")
    if found is None or classes is None:
        return LinearModel(coefficients)
    require(are_some_of(found, classes), "A gate or an expert was fitted on other classes")
    return SoftmaxModel(found, coefficients)


def are_some_of(known: object, classes: np.ndarray) -> bool:
    """Return whether values are one or more different ones of some classes."""
    found = np.asarray(known)
    is_known = found.dtype.kind == classes.dtype.kind and np.isin(found, classes).all()
    return bool(is_known and 0 < len(found) == len(np.unique(found)))
