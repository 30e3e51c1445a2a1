"""Bagging in the engine: our own trees, from a table that is binned or sorted once, in one call."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from committee import _engine
from committee.learners import C45Classifier
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
from committee.sampling.bagging.outside_votes import votes_outside
from committee.sampling.bagging.plan import FLAT_MEMBERS, Made, Plan
from committee.table import BinnedTable, Table
from committee.task import Classification, class_weights


def are_members_of(member: Any, members: Any) -> bool:
    """Whether what a file holds can be members of a kind: trees of the engine, or a list of estimators."""
    return are_trees_of(member, members) if grows_in_engine(member) else isinstance(members, list)


def check_tree(member: Any, y: np.ndarray) -> None:
    """Check the parameters of a member that the engine grows, and what they ask of y."""
    check_engine_member(member, "ensemble")
    if getattr(member, "criterion", None) == "poisson":
        check_numbers(y, is_rate=True)


def grow_members(plan: Plan, binned: BinnedTable, n_threads: int) -> Made:
    """Let the engine grow the members of a plan."""
    is_c45 = not takes_codes(plan.member)
    grown = grow_c45(plan, n_threads) if is_c45 else grow_trees(plan, binned, n_threads)
    forest = grown.forest
    if plan.progress is not None and grown.interruption is None:
        plan.progress(forest.n_trees)
    votes = None
    if plan.keeps_votes and forest.n_trees > 0:
        votes = votes_outside(
            plan.training, forest, lambda i: plan.bags.draw(plan.seed, plan.first + i) == 0, n_threads
        )
    return Made(
        forest,
        grown.out_of_bag,
        votes,
        grown.importances,
        binned.has_missing,
        grown.interruption,
    )


def grow_trees(plan: Plan, binned: BinnedTable, n_threads: int) -> _engine.GrownForest:
    """Grow trees and stumps, from the codes of the table."""
    member, training, bags = plan.member, plan.training, plan.bags
    parameters = _engine.ForestParameters()
    plan_growing(parameters, plan)
    grow, parameters.ccp_alpha = grow_parameters(member, training)
    # Trees on drawn rows gain nothing that could be measured from trying every threshold of large nodes, and
    # it takes twice the time, as in a forest.
    grow.exact = training.n_classes == 0 or not bags.replaces
    parameters.grow = grow
    parameters.are_stumps = type(member) in STUMPS
    if plan.columns is not None:
        parameters.columns_tried = [n_tried(member, len(each)) for each in plan.columns]
    weights = training.weights if plan.weights is None else plan.weights
    return replace(training, weights=weights).grow(
        binned,
        parameters,
        n_threads,
        bags=bags.drawing(),
        most_weight=bags.most_weight,
        before=None if plan.before is None else plan.before.votes,
        progress=plan.progress,
    )


def grow_c45(plan: Plan, n_threads: int) -> _engine.GrownC45:
    """Grow C4.5 trees from columns that are sorted once. They know all classes and categories."""
    training = plan.training
    assert isinstance(training.table, Table)
    parameters = _engine.C45BagParameters()
    plan_growing(parameters, plan)
    parameters.tree = plan.member._settings()
    return _engine.grow_c45_bags(
        training.table.as_float64(),
        branches_by_column(training.table.schema),
        training.y,
        training.n_classes,
        plan.weights,
        None if training.weights is None else (training.weights > 0).astype(np.uint8),
        parameters,
        plan.bags.drawing(),
        None if plan.before is None else plan.before.votes,
        plan.progress,
        n_threads,
    )


def plan_growing(parameters: _engine.ForestParameters | _engine.C45BagParameters, plan: Plan) -> None:
    """Set what a plan says of members of any kind. A member's own weights of classes apply to its bag."""
    parameters.first_tree, parameters.n_trees, parameters.seed = plan.first, plan.last, plan.seed
    parameters.columns = [] if plan.columns is None else [each.tolist() for each in plan.columns]
    parameters.out_of_bag = plan.is_judged
    parameters.rule = "majority" if plan.is_majority else "mean"
    parameters.flat_trees = FLAT_MEMBERS if plan.is_auto else 0
    training, weight = plan.training, getattr(plan.member, "class_weight", None)
    if isinstance(weight, str):
        parameters.balance_bags = True
    elif weight is not None and isinstance(training.task, Classification):
        by_class = np.ones(training.n_classes)
        by_class[training.y] = class_weights(weight, training.task, training.y, None)
        parameters.class_weights = by_class.tolist()


def n_tried(member: Any, n_columns: int) -> int:
    """How many of the columns that a member sees it tries at a node."""
    return n_columns if type(member) in STUMPS else columns_of(member.max_features, n_columns)


def take_member(bagging: Any, position: int) -> Any:
    """One tree of a bagging as a fitted estimator: of the columns that it has seen."""
    member = clone(bagging.estimator_)
    columns, schema = bagging._columns, bagging.schema_
    seen = None if columns is None else columns[position]
    if seen is not None:
        schema = schema.only(seen)
    if isinstance(member, C45Classifier):
        return member._keep_tree(bagging._members.tree(position, seen), schema, bagging._task)
    tree = _engine.take_trees(bagging._members, position, position + 1)
    importances, has_missing = bagging._importances[position], bagging._has_missing
    if seen is not None:
        tree = _engine.on_columns(tree, seen)
        importances, has_missing = importances[seen], has_missing[seen]
    member._importances = importances
    # The weights of the rows in a node are not kept.
    member._weight_unit = np.nan
    if type(member) not in STUMPS:
        member.max_features_ = columns_of(member.max_features, schema.n_columns)
    return member._keep(tree, schema, bagging._task, has_missing)
