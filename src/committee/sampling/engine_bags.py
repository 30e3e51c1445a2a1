"""Bagging in the engine: our own trees and stumps, from a table that is binned once, in one call."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from committee import _engine
from committee.learners import (
    DecisionStumpClassifier,
    DecisionStumpRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomTreeClassifier,
    RandomTreeRegressor,
)
from committee.learners.training import check_numbers, check_options
from committee.members.kinds import check_engine_member
from committee.sampling.bags import class_options
from committee.sampling.outside import votes_outside
from committee.sampling.plan import FLAT_MEMBERS, Made, Plan
from committee.table import BinnedTable

STUMPS: tuple[type[Any], ...] = (DecisionStumpClassifier, DecisionStumpRegressor)
CARTS: tuple[type[Any], ...] = (DecisionTreeClassifier, DecisionTreeRegressor)
RANDOM: tuple[type[Any], ...] = (RandomTreeClassifier, RandomTreeRegressor)


def grows_in_engine(member: Any) -> bool:
    """Whether the engine grows such members itself.

    Examples
    --------
    >>> from committee import C45Classifier
    >>> grows_in_engine(RandomTreeClassifier()), grows_in_engine(C45Classifier())
    (True, False)
    """
    return type(member) in STUMPS + CARTS + RANDOM


def check_tree(member: Any, y: np.ndarray) -> None:
    """Check the parameters of a member that the engine grows, and what they ask of y."""
    check_engine_member(member, "ensemble")
    if getattr(member, "criterion", None) == "poisson":
        check_numbers(y, is_rate=True)


def grow_members(plan: Plan, binned: BinnedTable, n_threads: int) -> Made:
    """Let the engine grow the members of a plan."""
    training, bags = plan.training, plan.bags
    options = member_options(plan) | {
        "first_tree": plan.first,
        "n_trees": plan.last,
        "seed": plan.seed,
        "drawing": bags.drawing,
        # What the weights of a bag may sum to.
        "n_draws": 2**31 - 1 if bags.keeps_weights or bags.groups is not None else bags.total,
        "out_of_bag": plan.is_judged,
        "rule": "majority" if plan.is_majority else "mean",
        "flat_trees": FLAT_MEMBERS if plan.is_auto else 0,
        "before": None if plan.before is None else plan.before.to_go_on(),
    }
    weight = getattr(plan.member, "class_weight", None)
    is_by_bag = isinstance(weight, str) and weight == "balanced"
    options |= class_options("balanced_subsample" if is_by_bag else weight, training)
    if plan.columns is not None:
        options["columns"] = [each.tolist() for each in plan.columns]
        options["columns_tried"] = [n_tried(plan.member, len(each)) for each in plan.columns]
    check_options(options)
    weights = training.weights if plan.weights is None else plan.weights
    seen = replace(training, table=binned, weights=weights)
    grown = seen.grow_until_stopped(options, n_threads, plan.progress)
    forest = grown["forest"]
    sums = grown["out_of_bag_sums"]
    judged = None if sums is None else (sums, grown["out_of_bag_counts"], grown["out_of_bag_curve"])
    if plan.progress is not None and grown["interruption"] is None:
        plan.progress(plan.first + forest.n_trees)
    votes = None
    if plan.keeps_votes and forest.n_trees > 0:
        votes = votes_outside(
            training, forest, lambda i: bags.draw(plan.seed, plan.first + i) == 0, n_threads
        ).votes
    return Made(
        forest,
        judged,
        votes,
        grown["importances"],
        binned.has_missing,
        grown["interruption"],
    )


def member_options(plan: Plan) -> dict[str, Any]:
    """What the engine is told of the member itself."""
    member = plan.member
    if type(member) in STUMPS:
        return {
            "criterion": getattr(member, "criterion", "squared_error"),
            "are_stumps": True,
            "keep_records": False,
        }
    options: dict[str, Any] = member._options(plan.training) | {
        "keep_records": False,
        # Trees on drawn rows gain nothing that could be measured from trying every threshold of large nodes,
        # and it takes twice the time, as in a forest.
        "exact": plan.training.n_classes == 0 or not plan.bags.replaces,
    }
    if type(member) in RANDOM:
        return options | {"needs_gain": True}
    alpha = float(member.ccp_alpha)
    return options | {
        "random_thresholds": member.splitter == "random",
        "ccp_alpha": alpha,
        "keep_records": alpha > 0,
    }


def n_tried(member: Any, n_columns: int) -> int:
    """How many of the columns that a member sees it tries at a node."""
    return n_columns if type(member) in STUMPS else member._n_columns_tried(n_columns)


def take_member(bagging: Any, position: int) -> Any:
    """One tree of a bagging as a fitted estimator: of the columns that it has seen."""
    member = clone(bagging.estimator_)
    tree = _engine.take_trees(bagging._members, position, position + 1)
    importances, has_missing, schema = bagging._importances[position], bagging._has_missing, bagging.schema_
    if bagging._columns is not None:
        columns = bagging._columns[position]
        tree = _engine.on_columns(tree, columns)
        importances, has_missing = importances[columns], has_missing[columns]
        schema = schema.only(columns)
    member._importances = importances
    # The weights of the rows in a node are not kept.
    member._weight_unit = np.nan
    if type(member) not in STUMPS:
        member.max_features_ = member._n_columns_tried(schema.n_columns)
    return member._keep(tree, schema, bagging._task, has_missing)
