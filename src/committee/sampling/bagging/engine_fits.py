"""Fit bagging of our own trees in one call of the engine, from a table that is binned or sorted once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from committee import _engine
from committee.learners.c45 import branches_by_column
from committee.learners.training_data import check_numbers
from committee.learners.tree_parameters import columns_of
from committee.members.member_kinds import (
    STUMPS,
    are_trees_of,
    check_engine_member,
    grow_parameters,
    grows_in_engine,
    takes_codes,
)
from committee.sampling.bagging.batch import FLAT_MEMBERS, Batch, Made
from committee.sampling.bagging.outside_votes import votes_outside
from committee.table import Table
from committee.task import Classification, class_weights


def are_members_of(member: Any, members: Any) -> bool:
    """Return whether saved members fit the kind of a member: trees of the engine, or a list of estimators."""
    return are_trees_of(member, members) if grows_in_engine(member) else isinstance(members, list)


def check_tree(member: Any, y: np.ndarray) -> None:
    """Check the parameters of a member that the engine grows, and the y that they require."""
    check_engine_member(member, "ensemble")
    if getattr(member, "criterion", None) == "poisson":
        check_numbers(y, is_rate=True)


def grow_members(batch: Batch, n_threads: int) -> Made:
    """Grow the members of a batch in the engine."""
    grow = grow_trees if takes_codes(batch.data.member) else grow_c45
    grown = grow(batch, n_threads)
    forest = grown.forest
    if batch.progress is not None and grown.interruption is None:
        batch.progress(forest.n_trees)
    votes = None
    if batch.keeps_votes and forest.n_trees > 0:
        votes = votes_outside(
            batch.data.training,
            forest,
            lambda i: batch.bags.draw(batch.seed, batch.first + i) == 0,
            n_threads,
        )
    has_missing = batch.data.binned.has_missing
    return Made(forest, grown.out_of_bag, votes, grown.importances, has_missing, grown.interruption)


def grow_trees(batch: Batch, n_threads: int) -> _engine.GrownForest:
    """Grow trees and stumps from the codes of the table."""
    member, training, bags = batch.data.member, batch.data.training, batch.bags
    parameters = _engine.ForestParameters()
    set_growing(parameters, batch)
    grow, parameters.ccp_alpha = grow_parameters(member, training)
    # As in a forest, trying every threshold of large nodes takes twice the time and does not improve trees on
    # drawn rows measurably.
    grow.exact = training.n_classes == 0 or not bags.replaces
    parameters.grow = grow
    parameters.are_stumps = type(member) in STUMPS
    if batch.columns is not None:
        sizes = [len(columns) for columns in batch.columns]
        is_stump = type(member) in STUMPS
        parameters.columns_tried = sizes if is_stump else [columns_of(member.max_features, n) for n in sizes]
    weights = training.weights if batch.weights is None else batch.weights
    return replace(training, weights=weights).grow(
        batch.data.binned,
        parameters,
        n_threads,
        bags=bags.drawing(),
        most_weight=bags.most_weight,
        before=None if batch.before is None else batch.before.votes,
        progress=batch.progress,
    )


def grow_c45(batch: Batch, n_threads: int) -> _engine.GrownC45:
    """Grow C4.5 trees from columns that are sorted once, with all classes and categories of the table."""
    training = batch.data.training
    assert isinstance(training.table, Table)
    parameters = _engine.C45BagParameters()
    set_growing(parameters, batch)
    parameters.tree = batch.data.member._settings()
    return _engine.grow_c45_bags(
        training.table.as_float64(),
        branches_by_column(training.table.schema),
        training.y,
        training.n_classes,
        batch.weights,
        None if training.weights is None else (training.weights > 0).astype(np.uint8),
        parameters,
        batch.bags.drawing(),
        None if batch.before is None else batch.before.votes,
        batch.progress,
        n_threads,
    )


def set_growing(parameters: _engine.ForestParameters | _engine.C45BagParameters, batch: Batch) -> None:
    """Set the parameters of a batch, with the `class_weight` of a member for its bag."""
    parameters.first_tree, parameters.n_trees, parameters.seed = batch.first, batch.last, batch.seed
    parameters.columns = [] if batch.columns is None else [each.tolist() for each in batch.columns]
    parameters.out_of_bag = batch.is_scored
    parameters.rule = "majority" if batch.is_majority else "mean"
    parameters.flat_trees = FLAT_MEMBERS if batch.is_auto else 0
    training, weight = batch.data.training, getattr(batch.data.member, "class_weight", None)
    if isinstance(weight, str):
        parameters.balance_bags = True
    elif weight is not None and isinstance(training.task, Classification):
        by_class = np.ones(training.n_classes)
        by_class[training.y] = class_weights(weight, training.task, training.y, None)
        parameters.class_weights = by_class.tolist()
