"""Adjust the decisions of another rule: calibrate probabilities, or optimise thresholds for a metric.

In: the decisions of a rule on honest votes. Out: a power and a bias for each class, which are applied to
decisions. The biases for a metric are optimised one class after the other, among the values at which the
predicted class of a row changes. The predicted class always has the highest probability, even with other
thresholds than 0.5.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Self

import numpy as np

from committee.combining.fixed_rules import Function
from committee.combining.logarithmic_pool import logarithm, lowest_log_loss, pooled
from committee.combining.rule import Rule, unfitted
from committee.combining.rule_registry import as_rule
from committee.combining.selection.greedy_selection import SCORING, Scoring
from committee.metrics.counts import Score
from committee.metrics.member_losses import decided
from committee.metrics.metric_table import Metric
from committee.metrics.row_losses import NoValueError, brier_losses, log_losses
from committee.metrics.scoring import learnt_by, metric_of
from committee.parameters import Constraint, check_parameters, declared, number, optional, parameter
from committee.saving.format import attributes
from committee.saving.format.file_errors import require
from committee.table.input_types import TableLike
from committee.votes.honest_votes import HonestVotes
from committee.votes.vote_arrays import rescaled, rounding_of

# Probabilities are clipped at this minimum.
SMALLEST = 1e-6
# The penalty on the squared distances of the power from one and of the biases from 0, added to the log loss.
PENALTY = 1e-3
# Decisions are calibrated for these losses.
OF_PROBABILITIES = (log_losses, brier_losses)
# The number of thresholds to try for a class, and the number of passes over all classes.
N_THRESHOLDS, N_TURNS = 60, 2
# Without counts, the metric is computed for every threshold. The first number limits the thresholds of all
# classes together, and the second is the least number for each class.
MOST_SCORED, LEAST_SCORED = 240, 8


class WrappingRule(Rule):
    """A rule that changes the decisions of another rule, which is its parameter `rule`."""

    rule: str | Function | Rule
    rule_: Rule

    def _check_kind(self, n_members: int, n_outputs: int, is_weighted: bool) -> None:
        rule = as_rule(self.rule)
        check_parameters(rule)
        rule._check_kind(n_members, n_outputs, is_weighted)

    @property
    def weights_(self) -> np.ndarray:
        """The weights of the members in the rule, if it has weights."""
        return self.rule_.weights_

    def _looks_at_X(self) -> bool:
        return as_rule(self.rule)._looks_at_X()

    def _reads_labels(self) -> bool:
        return as_rule(self.rule)._reads_labels()

    @property
    def decides_by_fold(self) -> bool:  # type: ignore[override]
        """Whether the rule decides by fold."""
        return as_rule(self.rule).decides_by_fold

    def _without_names(self) -> Self:
        self.rule = as_rule(self.rule)._without_names()
        return self

    def _check_learnt(self) -> None:
        require(isinstance(self.rule_, Rule), "The inner rule is not a rule")
        is_fitted = self.rule_._has_learnt() or not self.rule_.needs_fit
        shape = (getattr(self.rule_, name, getattr(self, name)) for name in ("n_members_", "n_outputs_"))
        is_same = tuple(shape) == (self.n_members_, self.n_outputs_)
        require(is_fitted and is_same, "The rule was fitted with other members or classes")
        require(self.rule_._looks_at_X() == self._looks_at_X(), "The two rules do not agree on the use of X")


@declared
class AdjustedRule(WrappingRule):
    r"""Adjust the decisions of another rule to a metric.

    .. math:: p(c) \propto e^{b_c} \, q(c)^w

    where :math:`q` is the decision of the rule. For the log loss and the Brier score, :math:`w` and the
    :math:`b_c` minimise the log loss on honest votes, which calibrates the probabilities by temperature and
    bias (Guo et al. 2017). For other metrics, :math:`w` is one. The :math:`b_c` are optimised one class after
    the other, among the values at which the predicted class of a row changes. With two classes, this finds
    the best threshold for the metric. The probabilities include the biases, so the predicted class always
    has the highest probability.

    The adjustment needs decisions on rows on which the rule was not fitted, so a trained rule is also fitted
    in folds. If no rows can be held out, or if there is not enough time, decisions are not adjusted.

    Attributes
    ----------
    rule_ : Rule
        The fitted rule.
    power_ : float
    biases_ : ndarray of shape (n_classes,)

    References
    ----------
    C. Guo, G. Pleiss, Y. Sun, K. Weinberger (2017). On calibration of modern neural networks. ICML.

    Examples
    --------
    One of four rows is of the second class, and its votes are at most 0.4:

    >>> votes = [[[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.6, 0.4]]]
    >>> rule = AdjustedRule("mean", scoring="accuracy").fit(votes, [0, 0, 0, 1])
    >>> rule.combine(votes).argmax(axis=1)
    array([0, 0, 0, 1])
    """

    rule: str | Function | Rule = parameter(
        "mean",
        Constraint("the name of a rule, a function of votes or a rule"),
        "The rule to adjust.",
        kw_only=False,
    )
    scoring: Scoring = parameter(None, *SCORING)
    time_limit: float | None = parameter(
        None,
        optional(number(0)),
        "The time limit of the fit in seconds. After it, the best adjustment so far is used. The rule itself "
        "is always fitted. None sets no limit. Metrics of counts, such as f1, are fast. Other metrics are "
        "computed for every threshold.",
    )

    kept: ClassVar[Mapping[str, attributes.Kind]] = {
        "rule_": attributes.anything,
        "power_": attributes.number(0.0),
        "biases_": attributes.floats("outputs"),
    }

    def _check_kind(self, n_members: int, n_outputs: int, is_weighted: bool) -> None:
        metric_of(self.scoring, n_outputs)
        super()._check_kind(n_members, n_outputs, is_weighted)

    def _learn(self, honest: HonestVotes) -> None:
        deadline = math.inf if self.time_limit is None else time.monotonic() + float(self.time_limit)
        self.rule_ = unfitted(as_rule(self.rule))
        self.power_, self.biases_ = 1.0, np.zeros(honest.n_outputs)
        decided = self._decided(honest, deadline)
        if decided.n_rows == 0:
            return
        metric = learnt_by(self.scoring, honest.n_outputs, honest.classes)
        if metric.losses in OF_PROBABILITIES:
            powers, self.biases_ = lowest_log_loss(decided, PENALTY, SMALLEST)
            self.power_ = float(powers[0])
        else:
            scores = logarithm(decided.votes[0], SMALLEST)
            self.biases_ = best_biases(scores, decided.y, decided.weights, metric, deadline)

    def _decided(self, honest: HonestVotes, deadline: float) -> HonestVotes:
        """Fit the rule. Return its out-of-fold decisions as the votes of one member."""
        if not self.rule_.needs_fit:
            X = honest.X if self.rule_._looks_at_X() else None
            decision = self.rule_.combine(honest.votes, X)
            return replace(honest, votes=decision[None], X=None, has_voted=None)
        began = time.monotonic()
        honest.fit_rule(self.rule_)
        ended = time.monotonic()
        decision = honest.decide_out_of_fold(
            partial(unfitted, self.rule_),
            honest.folds(),
            seconds=ended - began,
            # Half of the remaining time is reserved for the thresholds.
            deadline=(ended + deadline) / 2,
            # The metric of the rule may need a class that has no rows in a fold.
            undecided=(NoValueError,),
        )
        rows = np.flatnonzero(~np.isnan(decision[:, 0]))
        return replace(honest.on(rows), votes=decision[None, rows], has_voted=None)

    def _combine(self, votes: np.ndarray, X: TableLike | None) -> np.ndarray:
        decision = self.rule_.combine(votes, X if self.rule_._looks_at_X() else None)
        return adjusted(decision, self.power_, self.biases_)


def adjusted(decision: np.ndarray, power: float, biases: np.ndarray) -> np.ndarray:
    """Raise decisions to a power, multiply them by a factor for each class, and rescale them."""
    return rescaled(np.exp(pooled(logarithm(decision, SMALLEST)[None], np.array([power]), biases)))


def best_biases(
    scores: np.ndarray, y: np.ndarray, weights: np.ndarray, metric: Metric, deadline: float
) -> np.ndarray:
    """Return the biases of the scores of the classes at which the metric is best; 0 if none improves it.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_classes)
        Logarithms of probabilities.
    y : ndarray of int of shape (n_rows,)
    weights : ndarray of shape (n_rows,)
    metric : Metric
    deadline : float
        The time of `time.monotonic` at which to return the best biases so far.

    Returns
    -------
    ndarray of shape (n_classes,)
    """
    counts = np.flatnonzero(weights)
    scores, y, weights = scores[counts], y[counts], weights[counts]
    loss: ByScore | ByCounts
    if metric.of_counts is None:
        n_thresholds = min(N_THRESHOLDS, max(LEAST_SCORED, MOST_SCORED // scores.shape[1]))
        loss = ByScore(metric, y, weights, deadline, n_thresholds)
    else:
        loss = ByCounts(metric.of_counts, y, weights)
    n_classes = scores.shape[1]
    biases = np.zeros(n_classes)
    lowest = loss.plain(scores)
    # With two classes, the bias of one is enough.
    classes = range(1 if n_classes == 2 else 0, n_classes)
    for _ in range(N_TURNS):
        before = lowest
        for code in classes:
            if time.monotonic() >= deadline:
                return biases
            moved = scores + biases
            tried = thresholds(moved, code, loss.n_thresholds)
            losses = loss.raised(moved, code, tried)
            best = int(losses.argmin())
            if losses[best] < lowest:
                lowest = float(losses[best])
                biases[code] += tried[best]
        if lowest == before:
            break
    return biases


def thresholds(scores: np.ndarray, code: int, n_thresholds: int) -> np.ndarray:
    """Return increases of the score of a class after which growing shares of the rows are predicted as it."""
    margins = np.unique(margins_of(scores, code)[0])
    places = np.linspace(0, len(margins) - 1, min(n_thresholds, len(margins))).round().astype(np.int64)
    # Thresholds between the margins of two rows make no ties. Above the last one, all rows are of the class.
    above = np.append(margins[1:], margins[-1] + 1.0)
    return (margins[places] + above[places]) / 2


def margins_of(scores: np.ndarray, code: int) -> tuple[np.ndarray, np.ndarray]:
    """Return how far the score of a class is below the best other class on each row, and that class."""
    others = scores.copy()
    others[:, code] = -np.inf
    best = others.argmax(axis=1)
    return np.take_along_axis(others, best[:, None], axis=1)[:, 0] - scores[:, code], best


@dataclass(frozen=True, eq=False)
class ByScore:
    """The losses of decisions under a metric that is computed for each decision.

    Parameters
    ----------
    metric : Metric
    y, weights : ndarray of shape (n_rows,)
    deadline : float
    n_thresholds : int
        The number of thresholds of a class to try.
    """

    metric: Metric
    y: np.ndarray
    weights: np.ndarray
    deadline: float
    n_thresholds: int

    def plain(self, scores: np.ndarray) -> float:
        """Return the loss if the class of the highest score is predicted."""
        decision = rescaled(np.exp(scores - scores.max(axis=1, keepdims=True)))
        return self.metric.loss(self.y, decided(decision, rounding_of(decision)), self.weights)

    def raised(self, scores: np.ndarray, code: int, by: np.ndarray) -> np.ndarray:
        """Return the losses if the score of a class is raised; infinity after the deadline."""
        losses = np.full(len(by), np.inf)
        for place in coarse_first(len(by)):
            if time.monotonic() >= self.deadline:
                break
            moved = scores.copy()
            moved[:, code] += by[place]
            losses[place] = self.plain(moved)
        return losses


@dataclass(frozen=True)
class ByCounts:
    """The losses of decisions under a metric of counts.

    Parameters
    ----------
    score : Score
    y : ndarray of shape (n_rows,)
    weights : ndarray of shape (n_rows,)
    """

    score: Score
    y: np.ndarray
    weights: np.ndarray
    n_thresholds: ClassVar[int] = N_THRESHOLDS

    def plain(self, scores: np.ndarray) -> float:
        """Return the loss if the class of the highest score is predicted."""
        n_classes, labels = scores.shape[1], scores.argmax(axis=1)
        right = np.bincount(labels, self.weights * (labels == self.y), n_classes)
        decided = np.bincount(labels, self.weights, n_classes)
        return float(-self.score(right[None], decided[None], self._there(n_classes))[0])

    def raised(self, scores: np.ndarray, code: int, by: np.ndarray) -> np.ndarray:
        """Return the losses if the score of a class is raised by increasing numbers.

        The best other class is predicted for a row until the increase exceeds its margin. So the changes
        between two thresholds are counted once, and their cumulative sums are the counts.
        """
        n_classes = scores.shape[1]
        margins, best = margins_of(scores, code)
        # The predicted class of a row changes just below the threshold with this number.
        place = np.searchsorted(by, margins, side="right")

        def changing(weights: np.ndarray) -> np.ndarray:
            counts = np.bincount(place * n_classes + best, weights, (len(by) + 1) * n_classes)
            return counts.reshape(len(by) + 1, n_classes)

        def left(of_changes: np.ndarray) -> np.ndarray:
            return of_changes.sum(axis=0) - of_changes[:-1].cumsum(axis=0)

        decided = left(changing(self.weights))
        right = left(changing(self.weights * (best == self.y)))
        decided[:, code] = self.weights.sum() - decided.sum(axis=1)
        right[:, code] = changing(self.weights * (self.y == code)).sum(axis=1)[:-1].cumsum()
        return -self.score(right, decided, self._there(n_classes))

    def _there(self, n_classes: int) -> np.ndarray:
        return np.bincount(self.y, self.weights, n_classes)[None]


def coarse_first(n: int) -> list[int]:
    """Return the places 0 to n - 1 from coarse to fine: the middle, then the quarters, and so on.

    Examples
    --------
    >>> coarse_first(7)
    [3, 1, 5, 0, 2, 4, 6]
    """
    found: list[int] = []
    step = 1 << n.bit_length()
    while step > 1:
        found += range(step // 2 - 1, n, step)
        step //= 2
    return found
