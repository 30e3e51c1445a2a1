"""Adjust the decisions of another rule: calibrate probabilities, or optimise thresholds for a metric.

In: the decisions of a rule on honest votes. Out: a power and a factor for each class, which are applied to
decisions. So the predicted class always has the highest probability, even with other thresholds than 0.5.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import ClassVar, Self

import numpy as np

from committee.combining.fixed_rules import Function
from committee.combining.logarithmic_pool import logarithm, lowest_log_loss, pooled
from committee.combining.rule import Rule, unfitted
from committee.combining.rule_registry import as_rule
from committee.combining.selection.greedy_selection import SCORING, Scoring
from committee.metrics.row_losses import NoValueError, brier_losses, log_losses
from committee.metrics.scoring import learnt_by, metric_of
from committee.metrics.thresholds import best_biases
from committee.parameters import Constraint, check_parameters, declared, number, optional, parameter
from committee.saving import saved
from committee.saving.format import attributes
from committee.saving.format.file_errors import require
from committee.table.input_types import TableLike
from committee.votes.honest_votes import HonestVotes
from committee.votes.vote_arrays import rescaled

# Probabilities are clipped at this minimum.
SMALLEST = 1e-6
# The penalty on the squared distances of the power from one and of the biases from 0, added to the log loss.
PENALTY = 1e-3
# Decisions are calibrated for these losses.
OF_PROBABILITIES = (log_losses, brier_losses)


@saved
@declared
class AdjustedRule(Rule):
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
        rule = as_rule(self.rule)
        check_parameters(rule)
        rule._check_kind(n_members, n_outputs, is_weighted)

    def _learn(self, honest: HonestVotes) -> None:
        deadline = math.inf if self.time_limit is None else time.monotonic() + float(self.time_limit)
        self.rule_: Rule = unfitted(as_rule(self.rule))
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

    @property
    def weights_(self) -> np.ndarray:
        """The weights of the members in the rule, if it has weights."""
        return self.rule_.weights_

    def _combine(self, votes: np.ndarray, X: TableLike | None) -> np.ndarray:
        decision = self.rule_.combine(votes, X if self.rule_._looks_at_X() else None)
        return adjusted(decision, self.power_, self.biases_)

    def _looks_at_X(self) -> bool:
        return as_rule(self.rule)._looks_at_X()

    @property
    def decides_by_fold(self) -> bool:  # type: ignore[override]
        """Whether the adjusted rule decides by fold."""
        return as_rule(self.rule).decides_by_fold

    def _without_names(self) -> Self:
        self.rule = as_rule(self.rule)._without_names()
        return self

    def _check_learnt(self) -> None:
        require(isinstance(self.rule_, Rule), "The rule to adjust is not a rule")
        is_fitted = self.rule_._has_learnt() or not self.rule_.needs_fit
        shape = (getattr(self.rule_, name, getattr(self, name)) for name in ("n_members_", "n_outputs_"))
        is_same = tuple(shape) == (self.n_members_, self.n_outputs_)
        require(is_fitted and is_same, "The rule was fitted with other members or classes")
        require(self.rule_._looks_at_X() == self._looks_at_X(), "The two rules do not agree on the use of X")


def adjusted(decision: np.ndarray, power: float, biases: np.ndarray) -> np.ndarray:
    """Raise decisions to a power, multiply them by a factor for each class, and rescale them."""
    return rescaled(np.exp(pooled(logarithm(decision, SMALLEST)[None], np.array([power]), biases)))
