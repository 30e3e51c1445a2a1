"""Attribute decisions exactly: sums of trees, and committees whose rule is linear in such votes.

In: a fitted model, rows and, if given, background rows. Out: attributions on the scale on which the model is
a sum of trees. Models without such a scale raise `NotAdditive`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor

from committee import _engine
from committee.assembling.fitted_committee import Assembled
from committee.boosting.adaboost.adaboost import AdaBoost
from committee.boosting.gradient.additive_trees import AdditiveTrees, sources_of
from committee.combining.rule import FixedRule, Rule
from committee.combining.selection.greedy_selection import SelectionRule
from committee.combining.stacking import StackingRule
from committee.combining.weighted_rules import AccuracyWeightedRule, WeightedRule
from committee.learners.c45 import C45Classifier
from committee.learners.single_tree import SingleTree
from committee.members.member_votes import codes_of
from committee.running import n_threads
from committee.sampling.bagging.bagging import Bagging
from committee.sampling.forest.forest import Forest
from committee.saving.predictors.deciders import sums_votes
from committee.table.schema import Table
from committee.table.source import Source
from committee.task import Classification

Trees = _engine.Forest | _engine.C45Forest | _engine.C45Tree


class NotAdditive(ValueError):  # noqa: N818 - the message is only the reason
    """A model is not a sum of trees on any scale. The message is the reason."""


@dataclass(frozen=True, eq=False)
class Request:
    """What is requested besides the rows.

    Parameters
    ----------
    background : table or None
    of_pairs : bool
        Whether to compute the interactions of pairs of columns.
    """

    background: Any = None
    of_pairs: bool = False


@dataclass(frozen=True, eq=False)
class Additive:
    """Attributions that sum to a decision.

    Parameters
    ----------
    attributions : ndarray of float64 of shape (n_rows, n_columns, n_outputs)
    base : ndarray of float64 of shape (n_outputs,)
    scale : str
        The scale of an `Explanation`.
    pairs : ndarray of float64 of shape (n_rows, n_columns, n_columns, n_outputs), or None
        The interactions, with zeros on the diagonal.
    """

    attributions: np.ndarray
    base: np.ndarray
    scale: str
    pairs: np.ndarray | None = None

    def times(self, factor: float | np.ndarray, scale: str = "") -> Additive:
        """Return the attributions of a multiple of the decision."""
        pairs = None if self.pairs is None else self.pairs * factor
        return Additive(self.attributions * factor, self.base * factor, scale or self.scale, pairs)

    def mapped(self, decide: Callable[[np.ndarray], np.ndarray], scale: str) -> Additive:
        """Return the attributions of an affine function of the decision."""
        base = decide(self.base[np.newaxis])

        def moved(parts: np.ndarray) -> np.ndarray:
            changes: np.ndarray = decide((parts + self.base).reshape(-1, parts.shape[-1])) - base
            return changes.reshape(*parts.shape[:-1], -1)

        pairs = None if self.pairs is None else moved(self.pairs)
        return Additive(moved(self.attributions), base.reshape(-1), scale, pairs)


def attribute(model: Any, X: Any, request: Request) -> Additive:
    """Attribute the decisions of a fitted model exactly. Raise `NotAdditive` if that is not possible."""
    if isinstance(model, Assembled):
        return attribute_committee(model, X, request)
    if isinstance(model, C45Classifier):
        return attribute_trees(model, model.tree_, X, request).times(1, "probability")
    if isinstance(model, AdaBoost):
        return attribute_adaboost(model, X, request)
    if isinstance(model, AdditiveTrees):
        return attribute_booster(model, X, request)
    if isinstance(model, SingleTree):
        return attribute_trees(model, model._forest, X, request).times(1, scale_of(model))
    if isinstance(model, Forest | Bagging):
        return attribute_ensemble(model, X, request)
    raise NotAdditive(f"{type(model).__name__} is not a sum of trees")


def scale_of(model: Any) -> str:
    """Return the scale of votes."""
    return "probability" if isinstance(model._task, Classification) else "target"


def attribute_trees(
    model: Any,
    trees: Trees,
    X: Any,
    request: Request,
    rule: str = "mean",
    *,
    is_crisp: bool = False,
    sources: np.ndarray | None = None,
) -> Additive:
    """Attribute the sum of the scores of trees to the columns of the user.

    is_crisp: a tree votes for one class only. sources: the column of the user of each column of the trees.
    """
    table = model._read(X)
    others = None if request.background is None else model._read(request.background)
    votes_for_one_class = isinstance(trees, _engine.C45Forest) and (is_crisp or rule == "majority")
    if votes_for_one_class and any(has_missing(each) for each in (table, others) if each is not None):
        raise NotAdditive("a value is missing, and a C4.5 tree that votes for one class mixes its leaves")
    n_columns = len(model.schema_.columns)
    players = np.arange(n_columns) if sources is None else sources
    attributions, base, pairs = _engine.attribute(
        trees,
        list(table.columns),
        table.n_rows,
        players.astype(np.uint32),
        n_columns,
        rule,
        [] if others is None else list(others.columns),
        0 if others is None else others.n_rows,
        request.of_pairs,
        1 if table.n_rows == 1 else n_threads(getattr(model, "n_jobs", None)),
    )
    return Additive(attributions, base, "", pairs)


def has_missing(table: Table) -> bool:
    """Return whether a value is missing, or is a category that the fit did not see."""
    return any(
        bool(np.isnan(column).any()) if column.dtype.kind == "f" else bool((column == 0).any())
        for column, is_category in zip(table.columns, table.schema.is_category, strict=True)
        if is_category or column.dtype.kind == "f"
    )


def attribute_booster(model: AdditiveTrees, X: Any, request: Request) -> Additive:
    """Attribute the log-odds of a booster, or the number on the scale of its trees."""
    sources = sources_of(model._boosted.statistics, len(model.schema_.columns))
    found = attribute_trees(model, model._forest, X, request, sources=sources)
    link, factor = _engine.link_of(model._forest)
    if isinstance(model._task, Classification):
        return found.times(factor, "log_odds")
    return found.times(1, "target" if link == "identity" else "log_target")


def attribute_adaboost(model: Any, X: Any, request: Request) -> Additive:
    """Attribute the decision function of AdaBoost."""
    if not isinstance(model._task, Classification):
        raise NotAdditive(f"{type(model).__name__} decides by a weighted median")
    if not model._is_engine():
        raise NotAdditive("the members are not trees of committee")
    # Every vote sums to one, so the sum of all votes is the same for all rows.
    is_crisp = model._scheme(model._task).is_crisp
    found = attribute_trees(model, model._forest, X, request, is_crisp=is_crisp)
    return found.times(1 / model.estimator_weights_.sum()).mapped(model._as_decision, "decision")


def attribute_ensemble(model: Any, X: Any, request: Request) -> Additive:
    """Attribute the votes of a forest or of bagging."""
    rule, scale = model.rule_, scale_of(model)
    if isinstance(model, Bagging) and not model._is_engine():
        seen: list[Any] = [None] * len(model._members) if model._columns is None else list(model._columns)
        voters = [Voters([each], columns) for each, columns in zip(model._members, seen, strict=True)]
        return weigh(voters, weights_of(rule, len(voters), scale), model, X, request)
    trees = model._members if isinstance(model, Bagging) else model._forest
    if rule is None or sums_votes(rule):
        return attribute_trees(model, trees, X, request, model._rule).times(1 / trees.n_trees, scale)
    weighed = _engine.weigh_votes(trees, weights_of(rule, trees.n_trees, scale), False, "mean", 1.0)
    return attribute_trees(model, weighed, X, request).times(1, scale)


def weights_of(rule: Rule | None, n_members: int, scale: str) -> np.ndarray:
    """Return the weights of the members whose votes a rule sums. Raise `NotAdditive` for other rules.

    Examples
    --------
    >>> weights_of(FixedRule(rule="mean", weights=[1, 3]), 2, "probability")
    array([0.25, 0.75])
    >>> weights_of(FixedRule(rule="product"), 2, "probability")
    Traceback (most recent call last):
    committee.explaining.exact_attributions.NotAdditive: the rule product is not a weighted sum of the votes
    """
    named = getattr(rule, "rule", type(rule).__name__)
    reason = f"the rule {named} is not a weighted sum of the votes"
    if rule is None:
        return np.full(n_members, 1 / n_members)
    weights: np.ndarray | None = None
    if isinstance(rule, FixedRule) and rule.rule == "mean":
        weights = np.ones(n_members) if rule.weights is None else np.asarray(rule.weights, dtype=np.float64)
        weights = weights / weights.sum()
    elif isinstance(rule, WeightedRule | SelectionRule):
        is_of_labels = (
            isinstance(rule, AccuracyWeightedRule) and rule.of == "labels" and scale == "probability"
        )
        weights = None if is_of_labels else rule.weights_
    elif isinstance(rule, StackingRule) and not rule.passthrough and rule.votes == "probabilities":
        weights = rule.weights_
    if weights is None:
        raise NotAdditive(reason)
    if weights.ndim != 1:
        if scale == "probability":
            raise NotAdditive(f"{reason}: it has weights for each class, and rescales")
        weights = weights[:, 0]
    # Decisions on classes are rescaled to sum to one.
    return weights / weights.sum() if scale == "probability" else weights


@dataclass(frozen=True, eq=False)
class Voters:
    """The models of a member, whose votes are averaged, and the columns that they see.

    Parameters
    ----------
    models : list of estimators
    columns : sequence of int, or None
        Positions. None means all.
    """

    models: list[Any]
    columns: Any = None

    def seen(self, source: Source | None) -> Source | None:
        """Return the table that the models see."""
        return source if source is None or self.columns is None else source.select(list(self.columns))


def attribute_committee(model: Assembled, X: Any, request: Request) -> Additive:
    """Attribute the votes of a committee through its members."""
    members = model._fitted_members
    weights = weights_of(model.rule_, len(members), scale_of(model))
    if any(member.calibration is not None for member in members):
        raise NotAdditive("a member has calibrated scores")
    return weigh([Voters(each.models, each.columns) for each in members], weights, model, X, request)


def weigh(voters: list[Voters], weights: np.ndarray, model: Any, X: Any, request: Request) -> Additive:
    """Sum the weighted attributions of members. Members of weight 0 are left out."""
    task, scale = model._task, scale_of(model)
    source = model._open(X)
    others = None if request.background is None else model._open(request.background)
    n_columns = len(source.names)
    pairs = np.zeros((source.n_rows, n_columns, n_columns, task.n_outputs)) if request.of_pairs else None
    total = np.zeros((source.n_rows, n_columns, task.n_outputs))
    base = np.zeros(task.n_outputs)
    for voter, weight in zip(voters, weights, strict=True):
        if weight == 0:
            continue
        columns = np.arange(n_columns) if voter.columns is None else np.asarray(voter.columns)
        for each in voter.models:
            if isinstance(each, DummyClassifier | DummyRegressor):
                found = constant_vote(each, source.n_rows, len(columns))
            else:
                found = attribute(each, voter.seen(source), replace(request, background=voter.seen(others)))
            if found.scale != scale:
                raise NotAdditive(f"its member {type(each).__name__} is only a sum of trees in {found.scale}")
            codes = codes_of(each, task) if isinstance(task, Classification) else np.arange(1)
            share = weight / len(voter.models)
            total[:, columns[:, np.newaxis], codes] += share * found.attributions
            base[codes] += share * found.base
            if pairs is not None and found.pairs is not None:
                pairs[:, columns[:, np.newaxis, np.newaxis], columns[:, np.newaxis], codes] += (
                    share * found.pairs
                )
    return Additive(total, base, scale, pairs)


def constant_vote(model: Any, n_rows: int, n_columns: int) -> Additive:
    """Return the attributions of the constant that replaces a member in a fold of one class: they are 0."""
    is_class, one_row = isinstance(model, DummyClassifier), np.zeros((1, n_columns))
    vote = model.predict_proba(one_row) if is_class else model.predict(one_row)
    base = np.asarray(vote, dtype=np.float64).reshape(-1)
    return Additive(np.zeros((n_rows, n_columns, len(base))), base, "probability" if is_class else "target")
