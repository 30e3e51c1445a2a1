"""A tree that the engine has boosted as an estimator of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from committee import _engine
from committee.learners import C45Classifier
from committee.learners.tree_parameters import columns_of


def take_member(booster: Any, position: int) -> Any:
    """One member as a fitted estimator with the booster's schema and classes."""
    member = clone(booster.estimator_)
    if isinstance(member, C45Classifier):
        return member._keep_tree(booster._members.tree(position, None), booster.schema_, booster._task)
    member._importances = booster._importances[position]
    # The weights of the rows in a node are not kept.
    member._weight_unit = np.nan
    if hasattr(member, "max_features"):
        member.max_features_ = columns_of(member.max_features, booster.n_features_in_)
    tree = _engine.take_trees(booster._members, position, position + 1)
    return member._keep(tree, booster.schema_, booster._task, booster._has_missing)
