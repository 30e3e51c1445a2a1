"""Compute the points of charts of a committee: kappa-error diagrams, margins and error curves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from committee.combining.fixed_rules import majority, mean, one_hot
from committee.combining.rule_registry import as_rule
from committee.documentation import with_parameters
from committee.evaluating.diversity_measures import Oracle, kappa
from committee.evaluating.resampling.confidence_intervals import check_n_draws, seed_of
from committee.evaluating.vote_scores import CLASS_VOTES, Given, read_class_votes, read_votes
from committee.extensions import extension, picture
from committee.metrics.metric_table import CLASSES, ERRORS, NUMBERS, Metric
from committee.metrics.scoring import metric_of, task_of
from committee.parameters import refusing_unknown_names
from committee.printing import brief
from committee.table.input_types import ArrayLike, RandomState
from committee.table.result_frame import Tabulated
from committee.votes.honest_votes import HonestVotes
from committee.votes.vote_arrays import check_classes, labels_of, margins_of

# The root mean squared error as a loss: lower is better.
ROOT_ERROR = replace(ERRORS[NUMBERS], name="RMSE", plain="RMSE", is_root=True, power=1)


@brief
@dataclass(frozen=True, eq=False)
class KappaError(Tabulated):
    """The points of a kappa-error diagram, one for each pair of members.

    Parameters
    ----------
    first, second : ndarray of int of shape (n_pairs,)
        The members of each pair.
    kappa : ndarray of shape (n_pairs,)
        The agreement of each pair beyond chance.
    error : ndarray of shape (n_pairs,)
        The mean error of each pair.
    """

    first: np.ndarray
    second: np.ndarray
    kappa: np.ndarray
    error: np.ndarray

    plot = extension(picture("kappa_error_diagram"), extra="plot")


@with_parameters(CLASS_VOTES)
def kappa_error(
    votes: ArrayLike, y: ArrayLike, *, sample_weight: Given = None, classes: Given = None
) -> KappaError:
    """Compute the points of a kappa-error diagram: the agreement and the mean error of each pair of members.

    The best pairs are at the lower left: they are rarely wrong and agree little. There is a trade-off between
    the two.

    Returns
    -------
    KappaError
        For each pair, with the members `first` and `second`, the `kappa` of their labels and their mean
        `error`.

    References
    ----------
    D. D. Margineantu, T. G. Dietterich, "Pruning adaptive boosting". ICML 1997.

    Examples
    --------
    >>> points = kappa_error([[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 1, 0]], [1, 1, 1, 0])
    >>> points.error
    array([0.25 , 0.125, 0.125])
    >>> points.kappa
    array([0. , 0.5, 0.5])
    """
    oracle = Oracle.of(votes, y, sample_weight, classes)
    errors = np.array([1 - oracle.mean(right) for right in oracle.right])
    first, second = np.triu_indices(oracle.n_members, 1)
    agreed = kappa(votes, sample_weight=sample_weight)[first, second]
    return KappaError(first, second, agreed, (errors[first] + errors[second]) / 2)


@brief
@dataclass(frozen=True, eq=False)
class Margins(Tabulated):
    """The margins of rows. numpy's functions take them as an array.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
        1 if all members are right, -1 if all members vote for the same wrong class.
    """

    values: np.ndarray

    plot = extension(picture("margin_distribution"), extra="plot")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.values, dtype=dtype, copy=copy)

    def __len__(self) -> int:
        return len(self.values)


@with_parameters(CLASS_VOTES)
def margins(
    votes: ArrayLike,
    y: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    of: str = "labels",
    classes: Given = None,
) -> Margins:
    """Compute the margin of each row: the share of votes for its class minus the largest share of another.

    Parameters
    ----------
    weights : array-like of shape (n_members,), default=None
        Member weights. None gives every member the same weight.
    of : {"labels", "probabilities"}, default="labels"
        With "labels", each member votes for one class, as in the theory. With "probabilities", it splits its
        vote by class probability.

    Returns
    -------
    Margins
        With `values` of shape (n_rows,): 1 if all members are right, -1 if all members vote for the same
        wrong class. The margin is positive if the committee is right.

    References
    ----------
    R. E. Schapire, Y. Freund, P. Bartlett, W. S. Lee, "Boosting the margin: a new explanation for the
    effectiveness of voting methods". The Annals of Statistics 26(5), 1998.

    Examples
    --------
    >>> margins([["a", "b"], ["a", "b"], ["b", "b"]], ["a", "a"]).values.round(2)
    array([ 0.33, -1.  ])
    """
    honest = read_class_votes(votes, y, classes=classes)
    if of not in ("labels", "probabilities"):
        raise ValueError(f'of must be "labels" or "probabilities". Got {of!r}.')
    combine = majority if of == "labels" else mean
    return Margins(margins_of(combine(honest.votes, weights), honest.y))


@with_parameters(CLASS_VOTES)
def oracle_accuracy(
    votes: ArrayLike, y: ArrayLike, *, sample_weight: Given = None, classes: Given = None
) -> float:
    """Compute the share of rows on which at least one member is right.

    This is the accuracy of an ideal rule that always selects a right member if there is one.

    Returns
    -------
    float

    Examples
    --------
    >>> oracle_accuracy([[1, 1, 0, 0], [1, 0, 1, 0]], [1, 1, 1, 1])
    0.75
    """
    honest = read_class_votes(votes, y, sample_weight, classes, as_labels=True)
    is_right = (labels_of(honest.votes) == honest.y).any(axis=0)
    return float(np.average(is_right, weights=honest.weights))


@brief
@dataclass(frozen=True, eq=False)
class ErrorCurve(Tabulated):
    """The scores of committees of the first 1, 2, ... members.

    Parameters
    ----------
    scoring : str
        "error", "RMSE" or the name of the requested metric.
    in_order : ndarray of shape (n_members,)
        The scores with the members in their given order.
    mean, deviation : ndarray of shape (n_members,)
        The mean and the standard deviation of the scores over random orders.
    """

    scoring: str
    in_order: np.ndarray
    mean: np.ndarray
    deviation: np.ndarray

    plot = extension(picture("error_curves"), extra="plot")


@refusing_unknown_names
@with_parameters(CLASS_VOTES)
def error_curve(
    votes: ArrayLike,
    y: ArrayLike,
    *,
    rule: object = "mean",
    scoring: object = None,
    sample_weight: Given = None,
    classes: Given = None,
    n_orders: int = 20,
    random_state: RandomState = None,
) -> ErrorCurve:
    """Compute the error as a function of the number of members.

    The curve is computed for the given order of the members, and averaged over random orders.

    Parameters
    ----------
    votes : array-like of shape (n_members, n_rows, n_outputs) or (n_members, n_rows)
        Votes for classes, labels, or numbers.
    y : array-like of shape (n_rows,)
        The true values: class codes from 0 on, labels if the votes are labels, or numbers.
    rule : str, callable or Rule, default="mean"
        A rule that needs no fit. "mean" and "majority" are fast.
    scoring : str, scorer or callable, default=None
        See `score`; higher is better. None means the error for classes and the RMSE for numbers, for which
        lower is better.
    n_orders : int, default=20
        The number of random orders.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    ErrorCurve
        With `in_order`, and `mean` and `deviation` over random orders, each of shape (n_members,).

    Examples
    --------
    >>> curve = error_curve([[0, 0, 1], [0, 1, 0], [1, 0, 0]], [0, 0, 0], rule="majority", random_state=0)
    >>> curve.in_order.round(2), curve.mean.round(2)
    (array([0.33, 0.  , 0.  ]), array([0.33, 0.  , 0.  ]))
    """
    honest = read_votes(votes, y, sample_weight=sample_weight, classes=classes, task=task_of(scoring))
    if scoring is None:
        wanted = ERRORS[CLASSES] if honest.are_classes else ROOT_ERROR
    else:
        wanted = metric_of(scoring, honest.n_outputs, honest.classes)
    check_n_draws(n_orders, "n_orders", least=1)
    rng = np.random.default_rng([seed_of(random_state)])
    members = np.arange(honest.n_members)
    in_order = scores_by_size(honest, members, rule, wanted)
    shuffled = [scores_by_size(honest, rng.permutation(members), rule, wanted) for _ in range(n_orders)]
    return ErrorCurve(wanted.name, in_order, np.mean(shuffled, axis=0), np.std(shuffled, axis=0))


def scores_by_size(honest: HonestVotes, order: np.ndarray, rule: object, metric: Metric) -> np.ndarray:
    """Score the committees of the first 1, 2, ... members of an order."""
    scores = []
    if rule == "majority":
        check_classes(honest.votes, "majority")
    if rule in ("mean", "majority"):
        total = np.zeros(honest.votes.shape[1:])
        for size, member in enumerate(order, start=1):
            vote = honest.votes[member].astype(np.float64)
            total += one_hot(vote.argmax(axis=1), honest.n_outputs) if rule == "majority" else vote
            scores.append(metric.prepare(honest.y, total / size)(honest.weights))
        return np.array(scores)
    combining = as_rule(rule)
    if combining.needs_fit:
        raise ValueError(f"rule must need no fit, such as mean or majority. Got {rule!r}.")
    for size in range(1, len(order) + 1):
        decision = combining.combine(honest.votes[order[:size]])
        scores.append(metric.prepare(honest.y, decision)(honest.weights))
    return np.array(scores)
