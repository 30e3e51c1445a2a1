"""Bagging in the engine: our own trees, from a table that is binned or sorted once, in one call."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from committee import _engine
from committee.learners import C45Classifier
from committee.learners.c45 import branches_by_column
from committee.learners.training import check_numbers, check_options
from committee.members.kinds import (
    STUMPS,
    are_trees_of,
    check_engine_member,
    grows_in_engine,
    stump_criterion,
    takes_codes,
    tree_options,
)
from committee.sampling.bags import class_options
from committee.sampling.outside import votes_outside
from committee.sampling.plan import FLAT_MEMBERS, Made, Plan
from committee.table import BinnedTable, Table


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
    training, bags = plan.training, plan.bags
    options = {
        "first_tree": plan.first,
        "n_trees": plan.last,
        "seed": plan.seed,
        "drawing": bags.drawing,
        "columns": [] if plan.columns is None else [each.tolist() for each in plan.columns],
        "out_of_bag": plan.is_judged,
        "rule": "majority" if plan.is_majority else "mean",
        "flat_trees": FLAT_MEMBERS if plan.is_auto else 0,
        "before": None if plan.before is None else plan.before.to_go_on(),
    }
    weight = getattr(plan.member, "class_weight", None)
    is_by_bag = isinstance(weight, str) and weight == "balanced"
    options |= class_options("balanced_subsample" if is_by_bag else weight, training)
    if takes_codes(plan.member):
        grown = grow_trees(plan, binned, options, n_threads)
    else:
        grown = grow_c45(plan, options, n_threads)
    forest = grown["forest"]
    sums = grown["out_of_bag_sums"]
    judged = None if sums is None else (sums, grown["out_of_bag_counts"], grown["out_of_bag_curve"])
    if plan.progress is not None and grown["interruption"] is None:
        plan.progress(plan.first + forest.n_trees)
    votes = None
    if plan.keeps_votes and forest.n_trees > 0:
        votes = votes_outside(
            training, forest, lambda i: bags.draw(plan.seed, plan.first + i) == 0, n_threads
        )
    return Made(
        forest,
        judged,
        votes,
        grown["importances"],
        binned.has_missing,
        grown["interruption"],
    )


def grow_trees(plan: Plan, binned: BinnedTable, options: dict[str, Any], n_threads: int) -> dict[str, Any]:
    """Trees and stumps, from the codes of the table."""
    options = member_options(plan) | options
    if plan.columns is not None:
        options["columns_tried"] = [n_tried(plan.member, len(each)) for each in plan.columns]
    check_options(options)
    weights = plan.training.weights if plan.weights is None else plan.weights
    seen = replace(plan.training, table=binned, weights=weights)
    return seen.grow_until_stopped(options, n_threads, plan.progress, plan.bags.most_weight)


def grow_c45(plan: Plan, options: dict[str, Any], n_threads: int) -> dict[str, Any]:
    """C4.5 trees, from columns that are sorted once. They know all classes and categories of the table."""
    training = plan.training
    assert isinstance(training.table, Table)
    judged = None if training.weights is None else (training.weights > 0).astype(np.uint8)
    return _engine.grow_c45_bags(
        training.table.as_float64(),
        branches_by_column(training.table.schema),
        training.y,
        training.n_classes,
        plan.weights,
        judged,
        {"class_weights": [], "balance_bags": False} | options | plan.member._options(),
        plan.progress,
        n_threads,
    )


def member_options(plan: Plan) -> dict[str, Any]:
    """What the engine is told of the member itself."""
    member = plan.member
    if type(member) in STUMPS:
        return {"criterion": stump_criterion(member), "are_stumps": True, "keep_records": False}
    # Trees on drawn rows gain nothing that could be measured from trying every threshold of large nodes, and
    # it takes twice the time, as in a forest.
    is_exact = plan.training.n_classes == 0 or not plan.bags.replaces
    return tree_options(member, plan.training) | {"exact": is_exact}


def n_tried(member: Any, n_columns: int) -> int:
    """How many of the columns that a member sees it tries at a node."""
    return n_columns if type(member) in STUMPS else member._n_columns_tried(n_columns)


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
        member.max_features_ = member._n_columns_tried(schema.n_columns)
    return member._keep(tree, schema, bagging._task, has_missing)
