"""The trees of an ensemble as fitted estimators, and the mean of the importances of members."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, overload

import numpy as np
from sklearn.base import clone


def take_member(ensemble: Any, trees: Any, position: int) -> Any:
    """Make a tree of an ensemble a fitted estimator, of the columns that it has seen."""
    columns = getattr(ensemble, "_columns", None)
    seen = None if columns is None else columns[position]
    return clone(ensemble.estimator_)._keep_member(ensemble, trees, position, seen)


class Members(Sequence[Any]):
    """A sequence of an ensemble's trees. Each becomes an estimator when it is accessed.

    Parameters
    ----------
    ensemble : fitted estimator
    trees : the engine's forest
    take : callable, default=take_member
        Makes the member at a position: take(ensemble, trees, position).

    Examples
    --------
    >>> from committee import RandomForestClassifier
    >>> forest = RandomForestClassifier(3, random_state=0).fit([[1], [2], [8], [9]], [0, 0, 1, 1])
    >>> forest.estimators_, forest.estimators_[-1].n_features_in_
    (<3 members of RandomForestClassifier>, 1)
    """

    def __init__(self, ensemble: Any, trees: Any, take: Callable[[Any, Any, int], Any] = take_member) -> None:
        self.ensemble, self.trees, self.take = ensemble, trees, take

    def __len__(self) -> int:
        return int(self.trees.n_trees)

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        positions = range(len(self))[index]
        if isinstance(positions, range):
            return [self[position] for position in positions]
        return self.take(self.ensemble, self.trees, positions)

    def __repr__(self) -> str:
        return f"<{len(self)} members of {type(self.ensemble).__name__}>"


def shares_by_member(importances: np.ndarray) -> np.ndarray:
    """Rescale the importances of each member to sum to 1, unless all are 0."""
    totals = importances.sum(axis=1, keepdims=True)
    return importances / np.where(totals > 0, totals, 1.0)


def mean_importances(importances: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Return the weighted mean of the members' shares. It sums to 1, or is all 0.

    Examples
    --------
    >>> mean_importances(np.array([[1.0, 3.0], [0.0, 0.0]]))
    array([0.25, 0.75])
    """
    mean = np.average(shares_by_member(importances), axis=0, weights=weights)
    return mean / mean.sum() if mean.sum() > 0 else mean
