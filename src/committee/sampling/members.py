"""A tree of a forest as an estimator of its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from committee import _engine


def take_member(forest: Any, position: int) -> Any:
    """One tree of a forest as a fitted estimator with the forest's schema, classes and parameters."""
    member = forest.estimator_
    member._importances = forest._importances[position]
    member.max_features_ = member._n_columns_tried(forest.n_features_in_)
    # The engine keeps the weights of a forest's nodes for pruning only, and they count what was drawn.
    member._weight_unit = np.nan
    trees = _engine.take_trees(forest._forest, position, position + 1)
    return member._keep(trees, forest.schema_, forest._task, forest._has_missing)
