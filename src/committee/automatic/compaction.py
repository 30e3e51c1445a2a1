"""Choose the members that a committee needs, within limits of size and time.

In: honest votes, the fitted rule of a committee, and the costs of its members. Out: the places of the members
that stay. Costs depend on the models alone, so the same seed gives the same committee on every machine.
"""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, SVR

from committee import _engine
from committee.assembling.committee import for_places
from committee.assembling.named_members import FittedMember
from committee.automatic.rule_choice import loss_of, sampled
from committee.boosting.gradient.rounds import Rounds
from committee.combining.rule import Rule
from committee.combining.rule_registry import rule_named
from committee.learners.network import Network, half_precision
from committee.learners.voter import Tabular
from committee.members.training_set import TrainingSet
from committee.saving import save
from committee.saving.model_parts import TREES
from committee.table.schema import take_rows
from committee.table.source import take_columns
from committee.votes.honest_votes import HonestVotes

# The votes on which members are compared, and the rows on which their effect is measured.
COMPARED, LOOKED_AT = 200_000, 1_000
# A member takes part if without its votes some decision changes by this share of the range of decisions.
LEAST_EFFECT = 1e-3
# Members are left out while the loss rises by at most this share.
TOLERATED = 2e-4
MOST_MODELS = 3
# The rows on which rounded networks are compared.
MOST_ROUNDED = 10_000
# Microseconds of one thread per row, measured on tables with 6 to 57 columns: for a level of trees with some
# numbers of levels, without categories in the table and with; for a column of the table of trees; for a value
# of a network, a support vector and a stored row of neighbours; for a byte of rotated trees; for the table
# that other models see; at least this.
LEVELS, OF_LEVEL, OF_CODED_LEVEL = (6, 7, 9, 10), (5e-4, 1e-3, 1e-3, 1e-3), (5e-4, 1.2e-3, 1.4e-3, 4e-3)
OF_COLUMN = 3e-3
OF_WEIGHT, OF_SUPPORT, OF_NEIGHBOUR = 3e-5, 2e-4, 1e-4
OF_ROTATION, OF_TABLE, AT_LEAST = 1e-5, 0.15, 0.05
BYTES_OF_NODE, FEWEST_NODES = 12, 8


# The limits of a committee for each preset: members, microseconds per row, and bytes.
BUDGETS = {"fast": (3, 4.0, 1.8e6), "balanced": (6, 11.0, 9e6), "best": (12, 50.0, 18e6)}


def costs_of(members: list[FittedMember]) -> np.ndarray:
    """Return the costs of one model of each member: 1, microseconds per row, and bytes.

    Returns
    -------
    ndarray of shape (3, n_members)
        In the order of `BUDGETS`.
    """
    # Fold models that ended early because time was short are smaller.
    largest = [max(member.models, key=microseconds_of) for member in members]
    return np.array([[1, microseconds_of(model), bytes_of(model)] for model in largest]).T


def members_that_decide(rule: Rule, honest: HonestVotes) -> list[int]:
    """Return the places of the members whose votes change some decision of a fitted rule.

    Examples
    --------
    >>> from committee.rules import GreedyRule
    >>> votes = np.array([[[0.9, 0.1], [0.2, 0.8]], [[0.4, 0.6], [0.6, 0.4]]])
    >>> honest = HonestVotes.of(votes, [0, 1])
    >>> members_that_decide(honest.fit_rule(GreedyRule()), honest)
    [0]
    """
    if rule._looks_at_X():
        return list(range(honest.n_members))
    votes = honest.on(slice(None, None, max(1, honest.n_rows // LOOKED_AT))).seen_by(rule).votes
    decision = rule.combine(votes)
    scale = 1.0 if honest.are_classes else (float(np.ptp(decision)) or 1.0)
    sure, found = np.eye(honest.n_outputs), []
    for place in range(honest.n_members):
        others = votes.copy()
        # Votes that are not those of the member: for each class in turn, or numbers that are far off.
        others[place] = (
            sure[np.arange(votes.shape[1]) % len(sure)] if honest.are_classes else votes[place] + scale
        )
        if np.abs(rule.combine(others) - decision).max() > LEAST_EFFECT * scale:
            found.append(place)
    return found or [int(np.argmax(getattr(rule, "weights_", np.zeros(1))))]


def members_within(
    limits: Sequence[float],
    costs: np.ndarray,
    places: list[int],
    rule: Rule,
    honest: HonestVotes,
    scoring: object,
    *,
    tolerated: float | None = None,
) -> list[int]:
    """Leave out members, one at a time, until the others are within limits.

    While a limit is exceeded, the member is left out whose absence raises the loss least, relative to what it
    saves. Members return if there is room for them and the loss falls. Then members can be left out while the
    loss hardly rises.

    Parameters
    ----------
    limits : sequence of float of shape (n_limits,)
    costs : ndarray of shape (n_limits, n_members)
    places : list of int
        The places of members to start with.
    rule : Rule
        It is fitted again for each set of members. The mean replaces a rule that uses the rows.
    honest : HonestVotes
        The votes of all members.
    scoring : str, scorer, callable or None
        The metric to maximise; see `GreedyRule`.
    tolerated : float, default=None
        The share by which the loss may rise for every member that is left out within the limits. None leaves
        out no member within the limits.

    Returns
    -------
    list of int
        Sorted places. If every member exceeds a limit, it is the one that exceeds it least.

    Examples
    --------
    >>> from committee.rules import FixedRule
    >>> votes = np.array([[[0.9, 0.1], [0.2, 0.8]], [[0.8, 0.2], [0.3, 0.7]], [[0.4, 0.6], [0.5, 0.5]]])
    >>> honest, costs = HonestVotes.of(votes, [0, 1]), np.array([[5.0, 1.0, 1.0]])
    >>> members_within([2.0], costs, [0, 1, 2], FixedRule(rule="mean"), honest, None)
    [1, 2]
    """
    some = sampled(honest, COMPARED)
    compared = rule_named("mean") if rule._looks_at_X() else rule

    def loss_with(kept: list[int]) -> float:
        own = some.of_members(kept)
        fitted = own.fit_rule(for_places(clone(compared), honest.n_members, kept))
        return loss_of(own.decided_by(fitted), own, scoring)

    def excess(kept: list[int]) -> float:
        return float((costs[:, kept].sum(axis=1) / limits).max())

    alone = {place: excess([place]) for place in sorted(places)}
    fitting = [place for place, share in alone.items() if share <= 1]
    kept = fitting or [min(alone, key=lambda each: alone[each])]
    loss = loss_with(kept) if len(kept) > 1 else 0.0
    while len(kept) > 1 and excess(kept) > 1:
        without = [[each for each in kept if each != place] for place in kept]
        losses = np.array([loss_with(others) for others in without])
        saved = np.array([excess(kept) - max(1.0, excess(others)) for others in without])
        rises = np.maximum(losses - loss, 0.0) / np.maximum(saved, 1e-9)
        best = int(np.lexsort((losses, rises))[0])
        kept, loss = without[best], float(losses[best])
    while with_one_more := [
        sorted([*kept, place]) for place in fitting if place not in kept and excess([*kept, place]) <= 1
    ]:
        losses = np.array([loss_with(others) for others in with_one_more])
        best = int(losses.argmin())
        if losses[best] >= loss:
            break
        kept, loss = with_one_more[best], float(losses[best])
    while len(kept) > 1 and tolerated is not None:
        without = [[each for each in kept if each != place] for place in kept]
        losses = np.array([loss_with(others) for others in without])
        best = int(losses.argmin())
        if losses[best] - loss > tolerated * abs(loss):
            break
        kept, loss = without[best], float(losses[best])
    return kept


def microseconds_of(model: BaseEstimator) -> float:
    """Estimate the time of one thread for a row of a large table. It depends on the sizes of models alone.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from committee import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier(random_state=0).fit(*load_iris(return_X_y=True))
    >>> 0 < microseconds_of(tree) < 0.1
    True
    """
    if isinstance(model, Pipeline):
        return OF_TABLE + sum(microseconds_of(step) for _, step in model.steps[1:])
    inner = getattr(model, "regressor_", None)
    if inner is not None:
        return microseconds_of(inner)
    if isinstance(model, SVC | SVR):
        return OF_SUPPORT * model.support_vectors_.size
    if hasattr(model, "_fit_X"):
        return OF_NEIGHBOUR * model._fit_X.size
    if isinstance(model, Network):
        return OF_WEIGHT * model.nbytes / np.dtype(np.float32).itemsize
    return trees_time(model) if isinstance(model, Tabular) else OF_TABLE


def trees_time(model: Any) -> float:
    """Estimate the time of a row in the trees of a model."""
    is_category = model.schema_.is_category
    of_level = OF_CODED_LEVEL if is_category.any() else OF_LEVEL
    found = 0.0
    for part in vars(model._state()).values():
        if isinstance(part, _engine.RotationForest):
            found += OF_ROTATION * part.nbytes
        elif isinstance(part, TREES):
            n_levels = np.log2(max(FEWEST_NODES, part.nbytes / (part.n_trees * BYTES_OF_NODE)))
            found += OF_COLUMN * len(is_category)
            found += float(np.interp(n_levels, LEVELS, of_level)) * part.n_trees * n_levels
    return max(found, AT_LEAST)


def bytes_of(model: BaseEstimator) -> int:
    """Return the size of the file of a model, or of its pickle if it cannot be saved to our format."""
    with tempfile.TemporaryDirectory(prefix="committee-") as folder:
        path = Path(folder, "model.committee")
        try:
            save(model, path)
        except (TypeError, ValueError, ImportError):
            return len(pickle.dumps(model, protocol=5))
        return path.stat().st_size


def rounded(member: FittedMember, training: TrainingSet) -> FittedMember:
    """Round the networks of a member to half precision if their predictions stay nearly the same.

    They are compared on up to `MOST_ROUNDED` rows.

    Examples
    --------
    >>> from committee import NetworkRegressor
    >>> from committee.task import Regression
    >>> X, y = np.arange(40.0)[:, None], np.arange(40.0)
    >>> network = NetworkRegressor(max_steps=50, random_state=0).fit(X, y)
    >>> training = TrainingSet.of(Regression, X, y, None, None)
    >>> rounded(FittedMember("network", [network]), training).models[0] is network
    False
    """
    if not any(isinstance(model, Network) for model in member.models):
        return member
    rows = np.random.default_rng(0).permutation(training.n_rows)[:MOST_ROUNDED]
    seen = take_rows(take_columns(training.X, member.columns), rows)
    models = [half_precision(each, seen) if isinstance(each, Network) else each for each in member.models]
    return replace(member, models=models)


def models_within(limits: Sequence[float], costs: np.ndarray, learners: Sequence[BaseEstimator]) -> list[int]:
    """Return how many models each member has at most: one of all rows, and models of folds.

    Boosters gain from the mean of several models, if the limits allow that. Forests and networks average
    their own trees and networks, and other members depend less on a few rows.

    Parameters
    ----------
    limits : sequence of float of shape (n_limits,)
    costs : ndarray of shape (n_limits, n_members)
        The first cost is the number of members, which models do not change.
    learners : sequence of estimators
    """
    are_boosters = np.array([isinstance(each, Rounds) for each in learners])
    used = costs[1:] @ np.column_stack([are_boosters, ~are_boosters])
    left = np.array(limits[1:]) - used[:, 1]
    n_models = int(np.clip((left / np.maximum(used[:, 0], 1e-9)).min(), 1, MOST_MODELS))
    return np.where(are_boosters, n_models, 1).tolist()
