"""The trees that the engine has boosted, as estimators of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np
from sklearn.base import clone

from committee import _engine


class BoostedMembers(Sequence[Any]):
    """A view of a booster's trees; each is made an estimator when it is asked for.

    Parameters
    ----------
    booster : fitted AdaBoost whose members the engine has grown

    Examples
    --------
    >>> from committee import AdaBoostM1Classifier
    >>> booster = AdaBoostM1Classifier(n_estimators=3).fit([[1], [2], [8], [9]], [0, 1, 0, 1])
    >>> len(booster.estimators_), booster.estimators_[-1].n_features_in_
    (3, 1)
    """

    def __init__(self, booster: Any) -> None:
        self.booster = booster

    def __len__(self) -> int:
        return self.booster._members.n_trees

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        positions = range(len(self))[index]
        if isinstance(positions, range):
            return [take_member(self.booster, position) for position in positions]
        return take_member(self.booster, positions)

    def __repr__(self) -> str:
        return f"<{len(self)} members of {type(self.booster).__name__}>"


def take_member(booster: Any, position: int) -> Any:
    """One member as a fitted estimator with the booster's schema and classes."""
    member = clone(booster.estimator_)
    member._importances = booster._importances[position]
    # The weights of the rows in a node are not kept.
    member._weight_unit = np.nan
    if hasattr(member, "max_features"):
        member.max_features_ = member._n_columns_tried(booster.n_features_in_)
    tree = _engine.take_trees(booster._members, position, position + 1)
    return member._keep(tree, booster.schema_, booster._task, booster._has_missing)
