"""Gates: the probabilities of the experts for each row.

A gate returns the probability of each of its branches. The branches lead to the experts directly or through a
tree of gates (Jordan and Jacobs 1994). All gates of a tree have the same number of branches, and the
probability of an expert is the product along its path. The gates are listed level by level.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from committee.assembling.experts.softmax import Gate, SoftmaxModel
from committee.members.member_tasks import naming, numbered

# Probabilities are at least this, so that their logarithms are finite.
SMALLEST = 1e-12


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


def log_shares(gate: Gate, matrix: np.ndarray, n_branches: int) -> np.ndarray:
    """Return the logarithms of the probabilities of branches, of shape (n_rows, n_branches)."""
    if isinstance(gate, SoftmaxModel):
        return gate.predict_log_proba(matrix)
    shares = np.zeros((len(matrix), n_branches))
    shares[:, gate.classes_] = gate.predict_proba(matrix)
    # A branch that had no rows in the fit gets a tiny probability.
    shares = np.maximum(shares, SMALLEST)
    return np.log(shares / shares.sum(axis=1, keepdims=True))


def expert_shares(gates: list[Gate], tree: Branches, matrix: np.ndarray) -> np.ndarray:
    """Return the probabilities of the experts, of shape (n_rows, n_experts)."""
    shares = np.exp(joined_logs(gates, tree, matrix))
    return shares / shares.sum(axis=1, keepdims=True)


def joined_logs(gates: list[Gate], tree: Branches, matrix: np.ndarray) -> np.ndarray:
    """Return the logarithms of the probabilities of experts, of shape (n_rows, n_experts)."""
    logs = []
    for number, gate in enumerate(gates):
        with naming(numbered(number, gate, "Gate"), "vote"):
            logs.append(log_shares(gate, matrix, tree.n_branches))
    return tree.join(logs)
