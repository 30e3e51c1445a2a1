"""The trees of a forest as estimators of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np

from committee import _engine


class Members(Sequence[Any]):
    """A view of a forest's trees; each is made an estimator when it is asked for.

    Parameters
    ----------
    forest : fitted forest

    Examples
    --------
    >>> from committee import RandomForestClassifier
    >>> forest = RandomForestClassifier(3, random_state=0).fit([[1], [2], [8], [9]], [0, 0, 1, 1])
    >>> len(forest.estimators_), forest.estimators_[-1].n_features_in_
    (3, 1)
    """

    def __init__(self, forest: Any) -> None:
        self.forest = forest

    def __len__(self) -> int:
        return self.forest._forest.n_trees

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        positions = range(len(self))[index]
        if isinstance(positions, range):
            return [take_member(self.forest, position) for position in positions]
        return take_member(self.forest, positions)

    def __repr__(self) -> str:
        return f"<{len(self)} trees of {type(self.forest).__name__}>"


def take_member(forest: Any, position: int) -> Any:
    """One tree of a forest as a fitted estimator with the forest's schema, classes and parameters."""
    member = forest._member_type()
    names = member.get_params().keys() & forest.get_params().keys()
    member.set_params(**{name: getattr(forest, name) for name in names})
    member.set_params(splitter="random" if forest._random_thresholds else "best")
    member._importances = forest._importances[position]
    member.max_features_ = member._n_columns_tried(forest.n_features_in_)
    # The engine keeps the weights of a forest's nodes for pruning only, and they count what was drawn.
    member._weight_unit = np.nan
    trees = _engine.take_trees(forest._forest, position, position + 1)
    return member._keep(trees, forest.schema_, forest._task, forest._has_missing)
