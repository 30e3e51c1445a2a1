"""Which rule decides: each is cross-validated on the honest votes.

In: honest votes and a metric. Out: the rules with their losses, the one to take first. The comparison is
nested: a rule decides on rows that neither it nor the members have learnt from. Differences that may be
chance decide nothing: the rule that does best on most tables is taken unless another is better by more than
that.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from sklearn.base import clone

from committee.assembling.leaderboard import honest_decision
from committee.automatic.limits import Clock
from committee.automatic.portfolio import encoded_width
from committee.combining.adjusted_rule import OF_PROBABILITIES, AdjustedRule
from committee.combining.rule import Rule
from committee.combining.rule_registry import rule_named
from committee.members.table_encoder import new_encoder
from committee.members.training_set import TrainingSet
from committee.metrics.member_losses import member_losses
from committee.metrics.metric_table import METRICS, RowLosses
from committee.metrics.metric_table import USUAL as USUAL_METRICS
from committee.metrics.row_losses import NoValueError, errors, log_losses, squared_errors
from committee.metrics.scoring import learnt_by, some_decision
from committee.running.resources import one_blas_thread
from committee.table.schema import take_rows
from committee.votes.folds import N_FOLDS
from committee.votes.honest_votes import HonestVotes

# Rules are compared on so many votes at most, and on so many for each second that there is.
MOST_COMPARED, COMPARED_IN_A_SECOND, LEAST_COMPARED = 3_000_000, 400_000, 100_000
# How long the comparison of a rule takes, in units of that of the best member, about.
COSTS = {
    "greedy": 5,
    "stacking": 5,
    "shrunken stacking": 5,
    "log_pool": 30,
    "calibrated greedy": 15,
    "dynamic": 50,
}
# How many differences of numbers, each of a column of two rows, a search for neighbours takes in a second.
DIFFERENCES_IN_A_SECOND = 2e8
# Rules that look at rows are slow on more of them, and may take so many seconds to be compared.
MOST_ROWS_TO_LOOK_AT = 5_000
SECONDS_TO_LOOK = {"fast": 0.0, "balanced": 2.0, "best": math.inf}
# The rule that is taken unless another is surely better, by the loss of a row.
USUAL: dict[RowLosses, str] = {log_losses: "log_pool", squared_errors: "shrunken stacking"}
# Surely: by so many standard errors of the mean difference of the losses of rows.
SURELY = 2.0


@dataclass(frozen=True, eq=False)
class Judged:
    """A rule and how well it does.

    Parameters
    ----------
    name : str
    rule : Rule
        Not fitted.
    loss : float
        By nested comparison.
    decision : ndarray of shape (n_rows, n_outputs)
        What it has decided in the comparison.
    """

    name: str
    rule: Rule
    loss: float
    decision: np.ndarray


def judge_rules(
    honest: HonestVotes,
    scoring: object,
    seconds: float,
    X: np.ndarray | None = None,
    adjust: Callable[[Rule], Rule] = lambda rule: rule,
    stop: Callable[[], None] | None = None,
) -> list[Judged]:
    """Compare the rules that suit some votes.

    Parameters
    ----------
    honest : HonestVotes
    scoring : str, scorer, callable or None
        What is maximised; see `GreedyRule`.
    seconds : float
        Rules that would take longer are left out.
    X : ndarray of shape (n_rows, n_columns), default=None
        The rows as a matrix, for dynamic selection.
    adjust : callable, default=as it is
        What is made of each rule before it is judged.
    stop : callable, default=None
        Called at Ctrl-C, which then ends the comparison with the rules that are judged by now, if there are
        any. None lets Ctrl-C through.

    Returns
    -------
    list of Judged
        The one to take first; then the best, and of equal ones the simplest. Rules without a value of the
        metric, such as those that learn by it from rows that lack a class, are left out.

    Raises
    ------
    NoValueError
        If no rule has a value.
    """
    began = time.monotonic()
    unit = 0.0
    honest = replace(honest, X=X)
    found: list[Judged] = []
    no_value: NoValueError | None = None
    rules = rules_for(honest, scoring, X is not None)
    usual_name = usual_rule(honest, scoring)
    # If there is time for one rule only, it is the usual one.
    try:
        for name, plain in sorted(rules, key=lambda rule: rule[0] != usual_name):
            rule = adjust(plain)
            gone = time.monotonic() - began
            if gone + COSTS.get(name, 1) * unit > seconds and found:
                continue
            try:
                decision = honest_decision(in_time(rule, seconds / (len(rules) * N_FOLDS)), honest)
                found.append(Judged(name, rule, loss_of(decision, honest, scoring), decision))
            except NoValueError as error:
                no_value = no_value or error
                continue
            unit = unit or (time.monotonic() - began) / COSTS.get(name, 1)
    except KeyboardInterrupt:
        if stop is None:
            raise
        stop()
    if not found:
        if no_value is not None:
            raise no_value
        return []
    simplest = [name for name, _ in rules]
    found.sort(key=lambda judged: (judged.loss, simplest.index(judged.name)))
    # A rule that looks at the rows is slower and keeps them: it must be surely better too.
    by_votes = next((each for each in found if not each.rule._looks_at_X()), found[0])
    usual = next((each for each in found if each.name == usual_name), by_votes)
    if is_surely_better(found[0].decision, usual.decision, honest, scoring):
        return found
    return [usual, *(each for each in found if each is not usual)]


@dataclass(frozen=True)
class RuleChoice:
    """How the rule of a committee is chosen.

    Parameters
    ----------
    scoring : str, callable or None
        What judges; see `GreedyRule`.
    tunes_threshold : bool
        Whether classes are decided on by thresholds that suit the metric.
    """

    scoring: object
    tunes_threshold: bool

    def adjusted(self, rule: Rule) -> Rule:
        """A rule, with thresholds if they are asked for."""
        if not self.tunes_threshold or isinstance(rule, AdjustedRule):
            return rule
        return rule_named("adjusted").set_params(rule=rule, scoring=self.scoring)

    def unjudged(self, honest: HonestVotes) -> Rule:
        """The rule that decides where none is judged."""
        return self.adjusted(without_comparison(honest, self.scoring))

    def best(
        self,
        honest: HonestVotes,
        seconds: float = math.inf,
        X: np.ndarray | None = None,
        stop: Callable[[], None] | None = None,
    ) -> Rule:
        """The rule to take by honest votes, not fitted."""
        judged = judge_rules(honest, self.scoring, seconds, X, self.adjusted, stop)
        return judged[0].rule if judged else self.unjudged(honest)

    def best_in_time(self, honest: HonestVotes, training: TrainingSet, preset: str, clock: Clock) -> Rule:
        """The rule to take, compared for half of the time that there is for it; the other half is its fit."""
        seconds, when = clock.left_for_rule() / 2, " while rules were compared"
        compared = fewer(honest, votes_in(seconds))

        def compare() -> Rule:
            X = rows_to_look_at(training, compared, min(seconds, SECONDS_TO_LOOK[preset]))
            return self.best(compared, seconds, X, partial(clock.interrupt, when))

        try:
            with one_blas_thread():
                return clock.finish(compare, partial(self.unjudged, compared), when)
        except ValueError as error:
            # Time was up when few rows had a vote: there may be none to hold out, or none of a class. Or the
            # metric has no value for what some member says.
            if len(honest.rows) == len(training.rows) and not isinstance(error, NoValueError):
                raise
            warnings.warn(
                f"Rules cannot be compared on {len(compared.rows)} rows with votes, so the mean decides: "
                f"{' '.join(str(error).split())}",
                RuntimeWarning,
                stacklevel=4,
            )
            return rule_named("mean")


def rows_to_look_at(training: TrainingSet, honest: HonestVotes, seconds: float) -> np.ndarray | None:
    """The rows as a matrix, if there is time to find the neighbours of each among all."""
    n_rows = len(honest.rows)
    n_differences = n_rows**2 * encoded_width(training.schema)
    if n_rows > MOST_ROWS_TO_LOOK_AT or n_differences > DIFFERENCES_IN_A_SECOND * seconds:
        return None
    encoder = new_encoder().fit(training.X, sample_weight=training.weights)
    matrix: np.ndarray = encoder.transform(take_rows(training.X, honest.rows))
    return matrix


def in_time(rule: Rule, seconds: float) -> Rule:
    """A rule that learns in some seconds, if it can be told.

    Examples
    --------
    >>> in_time(AdjustedRule("mean"), 2.0).time_limit
    2.0
    """
    if not isinstance(rule, AdjustedRule) or not math.isfinite(seconds):
        return rule
    limit = seconds if rule.time_limit is None else min(seconds, rule.time_limit)
    told: Rule = clone(rule).set_params(time_limit=limit)
    return told


def without_comparison(honest: HonestVotes, scoring: object) -> Rule:
    """The rule that decides where none is judged: the usual one, or the mean if no rule is known to be."""
    rules = dict(rules_for(honest, scoring, has_X=False))
    return rules.get(usual_rule(honest, scoring) or "mean") or rule_named("mean")


def usual_rule(honest: HonestVotes, scoring: object) -> str | None:
    """Return the name of the rule that does best on most tables; None if no such rule is known."""
    losses = learnt_by(scoring, honest.n_outputs).losses
    return None if losses is None else USUAL.get(losses)


def is_surely_better(first: np.ndarray, second: np.ndarray, honest: HonestVotes, scoring: object) -> bool:
    """Return whether a decision has a lower loss than another by more than chance, row by row.

    A metric that does not judge row by row is replaced by the accuracy or the squared error.
    """
    both = honest.judged(np.stack([first, second]))
    row_losses = learnt_by(scoring, both.n_outputs).learnt_losses or (
        errors if both.are_classes else squared_errors
    )
    losses = row_losses(both.votes, both.y)
    weights = both.weights / both.weights.sum()
    difference = losses[1] - losses[0]
    difference /= np.abs(difference).max() or 1.0  # its squares are finite too
    mean = float(weights @ difference)
    error = float(np.sqrt(weights**2 @ (difference - mean) ** 2))
    return mean > SURELY * error


def votes_in(seconds: float) -> int:
    """How many votes rules can be compared on in some seconds.

    Examples
    --------
    >>> votes_in(2.0), votes_in(float("inf"))
    (800000, 3000000)
    """
    return int(min(max(COMPARED_IN_A_SECOND * seconds, LEAST_COMPARED), MOST_COMPARED))


def seconds_for(n_votes: int) -> float:
    """How long the rules take on some votes, about: half of that to be compared, half for the fit.

    Examples
    --------
    >>> seconds_for(800_000)
    4.0
    """
    return 2 * n_votes / COMPARED_IN_A_SECOND


def fewer(honest: HonestVotes, n_votes: int) -> HonestVotes:
    """Honest votes on some rows, drawn at random, so that there are hardly more than so many."""
    share = n_votes / honest.votes.size
    if share >= 1:
        return honest
    are_classes = honest.votes.shape[2] > 1
    # Metrics of probabilities need every class, in each fold of the comparison.
    return honest.on(drawn_of_each(honest.y if are_classes else np.zeros(len(honest.y)), share, N_FOLDS))


def drawn_of_each(classes: np.ndarray, share: float, fewest: int) -> np.ndarray:
    """Some rows of each class, always the same: a share of them, and so many at least.

    Examples
    --------
    >>> drawn_of_each(np.array([0, 0, 0, 0, 0, 0, 1]), share=0.5, fewest=1)
    array([2, 3, 4, 6])
    """
    drawn = np.random.default_rng(0).permutation(len(classes))
    order = drawn[np.argsort(classes[drawn], kind="stable")]
    _, first, code, counts = np.unique(
        classes[order], return_index=True, return_inverse=True, return_counts=True
    )
    wanted = np.maximum(np.round(share * counts), fewest)
    return np.sort(order[np.arange(len(order)) - first[code] < wanted[code]])


def rules_for(honest: HonestVotes, scoring: object, has_X: bool) -> list[tuple[str, Rule]]:
    """The rules that are compared, the simplest first."""
    n_members, _, n_outputs = honest.votes.shape
    best = ("best_member", rule_named("best_member").set_params(scoring=scoring))
    if n_members == 1:
        return [best]
    greedy = rule_named("greedy").set_params(scoring=scoring)
    stacking = rule_named("stacking")
    rules = [best, ("mean", rule_named("mean")), ("greedy", greedy)]
    if n_outputs == 1:
        rules.append(("shrunken stacking", stacking.set_params(final_estimator="shrunken")))
    else:
        rules.insert(2, ("cawpe", rule_named("cawpe")))
        rules.append(("stacking", stacking.set_params(final_estimator="convex")))
        rules.append(("log_pool", rule_named("log_pool")))
        if learnt_by(scoring, n_outputs).losses in OF_PROBABILITIES:
            rules.append(("calibrated greedy", rule_named("adjusted").set_params(rule=greedy)))
    if has_X:
        rules.append(("dynamic", rule_named("dynamic")))
    return rules


def loss_of(decision: np.ndarray, honest: HonestVotes, scoring: object) -> float:
    """Return the loss of a decision on honest rows."""
    judged = honest.judged(decision[None])
    return float(member_losses(learnt_by(scoring, judged.n_outputs, judged.classes), judged)[0])


def check_judges(scoring: object, training: TrainingSet) -> None:
    """Raise if a metric cannot judge decisions on this y, before any member is fitted."""
    metric = learnt_by(scoring, training.task.n_outputs, training.task.classes)
    if metric is METRICS.get(metric.name):
        return  # Fast paths judge any y.
    y = training.y[training.rows]
    weights = None if training.weights is None else training.weights[training.rows]
    decision = some_decision(y, training.task.n_outputs)
    honest = HonestVotes.of(decision[None], y, sample_weight=weights, classes=training.task.classes)
    try:
        member_losses(metric, honest)
    except Exception as error:
        reason = " ".join(str(error).split())
        usual = ", ".join(map(repr, USUAL_METRICS[metric.task]))
        raise ValueError(f"{metric.name} cannot judge this y: {reason} Use one of {usual}.") from error
