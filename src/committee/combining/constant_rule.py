"""The constant rule, which ignores the votes: the baseline of every comparison."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from committee.combining.rule import Rule
from committee.parameters import declared
from committee.saving.format.attributes import Kind, floats
from committee.votes.honest_votes import HonestVotes


@declared
class ConstantRule(Rule):
    """Decide without the members: the shares of the classes, or the mean of y.

    Members that are worse than this baseline have learnt nothing that helps. One extra row is divided equally
    among the classes, so that no share is 0.

    Attributes
    ----------
    values_ : ndarray of shape (n_outputs,)
        The decision for every row.

    Examples
    --------
    >>> votes = [[[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]]]
    >>> ConstantRule().fit(votes, [0, 0, 1]).combine(votes[:1])
    array([[0.625, 0.375],
           [0.625, 0.375],
           [0.625, 0.375]])
    """

    tasks: ClassVar[tuple[str, ...]] = ("classification", "regression")
    kept: ClassVar[Mapping[str, Kind]] = {"values_": floats("outputs")}

    def _learn(self, honest: HonestVotes) -> None:
        if not honest.are_classes:
            self.values_ = np.array([np.average(honest.y, weights=honest.weights)])
            return
        counts = np.bincount(honest.y, honest.weights, minlength=honest.n_outputs)
        self.values_ = (counts + 1 / honest.n_outputs) / (counts.sum() + 1)

    def _decide(self, votes: np.ndarray) -> np.ndarray:
        return np.tile(self.values_, (votes.shape[1], 1))
