"""Gates: which expert a row belongs to.

A gate gives each row probabilities of its branches. One gate leads to all experts, or a tree of gates does,
in which every gate has as many branches and the probability of an expert is the product along its path
(Jordan and Jacobs 1994). The gates of a tree are listed level by level.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from sklearn.base import is_classifier
from sklearn.dummy import DummyClassifier

from committee.assembling.softmax import SoftmaxModel, fit_softmax, softmax_penalty
from committee.members.seeding import seeded
from committee.members.tasks import naming, numbered
from committee.members.weighing import request_weights, weight_arguments

# What a probability is at least, so that its logarithm is a number.
SMALLEST = 1e-12


@dataclass(frozen=True)
class Branches:
    """The shape of a tree of gates.

    Parameters
    ----------
    n_experts : int
        A power of the number of branches.
    n_branches : int
        Of every gate.

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
        """The tree for the parameters of an estimator."""
        # One expert is a power of any number: it has one gate of one branch.
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
        """The logarithms of the probabilities of experts: sums of those of the branches on their path.

        Parameters
        ----------
        logs : list of ndarray of shape (n_rows, n_branches)
            One for each gate.

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
        """What each gate's branches get of what the experts get: sums over the experts behind a branch.

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


class Gating(Protocol):
    """Makes gates."""

    def fit(self, targets: np.ndarray, before: Any, number: int) -> Any:
        """A gate for soft targets of shape (n_rows, n_branches), whose rows sum to the weights."""

    def penalty(self, gate: Any) -> float:
        """What the objective is less by."""


@dataclass(frozen=True, eq=False)
class SoftmaxGating:
    """Makes gates that are softmax regressions.

    Parameters
    ----------
    matrix : ndarray of shape (n_rows, n_features)
    alpha : float
        The penalty of squared coefficients.
    """

    matrix: np.ndarray
    alpha: float

    def fit(self, targets: np.ndarray, before: Any, number: int) -> SoftmaxModel:
        """A gate that is not worse than before."""
        start = even_gate(self.matrix.shape[1], targets.shape[1]) if before is None else before
        return replace(start, coefficients=fit_softmax(self.matrix, targets, self.alpha, start.coefficients))

    def penalty(self, gate: Any) -> float:
        """What the objective is less by."""
        return softmax_penalty(gate.coefficients, self.alpha)


@dataclass(frozen=True, eq=False)
class OtherGating:
    """Makes gates that are classifiers of any kind: a row is there once for each branch, with its share.

    Parameters
    ----------
    matrix : ndarray of shape (n_rows, n_features)
    estimator : classifier
    seed : tuple of int
    """

    matrix: np.ndarray
    estimator: Any
    seed: tuple[int, ...]

    def fit(self, targets: np.ndarray, before: Any, number: int) -> Any:
        """A gate that is fitted anew. One that no row passes stays as it is."""
        rows, branches = np.nonzero(targets > SMALLEST)
        if len(rows) == 0:
            return even_gate(self.matrix.shape[1], targets.shape[1]) if before is None else before
        weights = targets[rows, branches]
        with naming(numbered(number, self.estimator, "Gate"), "be fitted"):
            return fit_weighted(self.estimator, self.matrix[rows], branches, weights, (*self.seed, number))

    def penalty(self, gate: Any) -> float:
        """Whatever it penalises is its own."""
        return 0.0


def even_gate(n_features: int, n_branches: int) -> SoftmaxModel:
    """A gate to which all its branches are alike."""
    return SoftmaxModel(np.arange(n_branches), np.zeros((n_features + 1, n_branches)))


def fit_weighted(
    estimator: Any, matrix: np.ndarray, y: np.ndarray, weights: np.ndarray, seed: tuple[int, ...]
) -> Any:
    """A clone of an estimator, fitted to weighted rows. If these are of one class, it is sure of it."""
    # Not every classifier can be fitted to one class.
    is_sure = is_classifier(estimator) and (y == y[0]).all()
    model = DummyClassifier() if is_sure else seeded(estimator, np.random.default_rng(seed))
    request_weights(model)
    return model.fit(matrix, y, **weight_arguments(model, weights))


def log_shares(gate: Any, matrix: np.ndarray, n_branches: int) -> np.ndarray:
    """Logarithms of the probabilities of branches, of shape (n_rows, n_branches)."""
    if isinstance(gate, SoftmaxModel):
        return gate.predict_log_proba(matrix)
    shares = np.zeros((len(matrix), n_branches))
    shares[:, gate.classes_] = gate.predict_proba(matrix)
    # A branch that had no rows keeps almost nothing.
    shares = np.maximum(shares, SMALLEST)
    return np.log(shares / shares.sum(axis=1, keepdims=True))


def expert_shares(gates: list[Any], tree: Branches, matrix: np.ndarray) -> np.ndarray:
    """The probabilities of the experts, of shape (n_rows, n_experts)."""
    shares = np.exp(joined_logs(gates, tree, matrix))
    return shares / shares.sum(axis=1, keepdims=True)


def joined_logs(gates: list[Any], tree: Branches, matrix: np.ndarray) -> np.ndarray:
    """Logarithms of the probabilities that all gates together give to experts: (n_rows, n_experts)."""
    logs = []
    for number, gate in enumerate(gates):
        with naming(numbered(number, gate, "Gate"), "vote"):
            logs.append(log_shares(gate, matrix, tree.n_branches))
    return tree.join(logs)
