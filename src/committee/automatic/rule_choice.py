"""Choose the rule of a committee by cross-validation on its honest votes.

In: honest votes and a metric. Out: the rules with their losses, the chosen one first. The comparison is
nested: each rule is scored on rows that neither the rule nor the members were fitted on. The rule that does
best on most tables is chosen unless another one, or a single member, is significantly better. The constant
rule is a candidate, so that a committee that has learnt nothing predicts the shares of the classes. With few
rows, the mean decides unless the constant rule is significantly better.
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

# The most votes that rules are compared on, how many of them per second, and the fewest.
MOST_COMPARED, COMPARED_IN_A_SECOND, LEAST_COMPARED = 3_000_000, 400_000, 100_000
# The time to compare a rule, relative to that of the best member.
COSTS = {
    "greedy": 5,
    "stacking": 5,
    "shrunken stacking": 5,
    "log_pool": 30,
    "calibrated greedy": 15,
    "dynamic": 50,
}
# How many differences between values of two rows a search for neighbours computes per second.
DIFFERENCES_IN_A_SECOND = 2e8
# Rules that use the rows are slow on large tables. This is the time for their comparison.
MOST_ROWS_TO_LOOK_AT = 5_000
SECONDS_TO_LOOK = {"fast": 0.0, "balanced": 2.0, "best": math.inf}
# The rule that is chosen unless another is significantly better, by the loss of a row.
USUAL: dict[RowLosses, str] = {log_losses: "log_pool", squared_errors: "shrunken stacking"}
# With fewer rows than this for each output, but at most for MOST_OUTPUTS, other rules than the mean learn too
# little. A regression counts as two classes.
ROWS_OF_OUTPUT, LEAST_OUTPUTS, MOST_OUTPUTS = 10, 2, 3
# A significant difference, in standard errors of the mean difference of the row losses.
SIGNIFICANT = 2.0


@dataclass(frozen=True, eq=False)
class ScoredRule:
    """A rule and its loss.

    Parameters
    ----------
    name : str
    rule : Rule
        Not fitted.
    loss : float
        By nested cross-validation.
    decision : ndarray of shape (n_rows, n_outputs)
        The out-of-fold decision.
    """

    name: str
    rule: Rule
    loss: float
    decision: np.ndarray


def compare_rules(
    honest: HonestVotes,
    scoring: object,
    seconds: float,
    X: np.ndarray | None = None,
    adjust: Callable[[Rule], Rule] = lambda rule: rule,
    stop: Callable[[], None] | None = None,
) -> list[ScoredRule]:
    """Compare the rules that suit the votes.

    Parameters
    ----------
    honest : HonestVotes
    scoring : str, scorer, callable or None
        The metric to maximise; see `GreedyRule`.
    seconds : float
        Rules that would take longer are skipped.
    X : ndarray of shape (n_rows, n_columns), default=None
        The rows as a matrix, for dynamic selection.
    adjust : callable, default=identity
        Applied to each rule before it is compared.
    stop : callable, default=None
        Called at Ctrl-C, which then ends the comparison with the rules scored so far. None raises
        `KeyboardInterrupt`.

    Returns
    -------
    list of ScoredRule
        The chosen rule, then the others from best to worst. Of equal rules, the simplest comes first. A rule
        for which the metric has no value is skipped, for example if a fold has no row of some class.

    Raises
    ------
    NoValueError
        If the metric has no value for any rule that uses the members.
    """
    began = time.monotonic()
    unit = 0.0
    honest = replace(honest, X=X)
    found: list[ScoredRule] = []
    no_value: NoValueError | None = None
    rules = rules_for(honest, scoring)
    usual_name = usual_rule(honest, scoring)
    # If there is time for one rule only, it is the usual one.
    try:
        for name, plain in sorted(rules, key=lambda rule: rule[0] != usual_name):
            rule = adjust(plain)
            elapsed = time.monotonic() - began
            if elapsed + COSTS.get(name, 1) * unit > seconds and found:
                continue
            try:
                decision = honest_decision(with_time_limit(rule, seconds / (len(rules) * N_FOLDS)), honest)
                found.append(ScoredRule(name, rule, loss_of(decision, honest, scoring), decision))
            except NoValueError as error:
                no_value = no_value or error
                continue
            unit = unit or (time.monotonic() - began) / COSTS.get(name, 1)
    except KeyboardInterrupt:
        if stop is None:
            raise
        stop()
    if no_value is not None and all(each.name == "constant" for each in found):
        raise no_value
    if not found:
        return []
    simplest = [name for name, _ in rules]
    found.sort(key=lambda scored: (scored.loss, simplest.index(scored.name)))
    # A rule that uses the rows is slower and stores them, and the constant rule answers every row alike, so
    # they must be significantly better too.
    by_votes = next(
        (each for each in found if each.name != "constant" and not each.rule._looks_at_X()), found[0]
    )
    chosen = next((each for each in found if each.name == usual_name), by_votes)
    if is_surely_better(found[0].decision, chosen.decision, honest, scoring):
        chosen = found[0]
    # The leaderboard shows the honest losses of single members, so a significantly better one must decide.
    # The loss of the rule is higher, because it includes the choice of the member.
    alone = next((each for each in found if each.name == "best_member"), chosen)
    if alone is not chosen and is_surely_better(
        best_votes(honest, scoring), chosen.decision, honest, scoring
    ):
        chosen = alone
    return [chosen, *(each for each in found if each is not chosen)]


@dataclass(frozen=True)
class RuleChoice:
    """The settings of the choice of a rule.

    Parameters
    ----------
    scoring : str, callable or None
        The metric to maximise; see `GreedyRule`.
    tunes_threshold : bool
        Whether to tune the decision thresholds of classes for the metric.
    """

    scoring: object
    tunes_threshold: bool

    def adjusted(self, rule: Rule) -> Rule:
        """Add tuned thresholds to a rule if they are requested."""
        if not self.tunes_threshold or isinstance(rule, AdjustedRule):
            return rule
        return rule_named("adjusted").set_params(rule=rule, scoring=self.scoring)

    def without_comparison(self, honest: HonestVotes) -> Rule:
        """Return the rule to use if none could be compared: the usual one, or the mean."""
        rules = dict(rules_for(replace(honest, X=None), self.scoring))
        usual = usual_rule(honest, self.scoring) or "mean"
        return self.adjusted(rules.get(usual) or rule_named("mean"))

    def best(
        self,
        honest: HonestVotes,
        seconds: float = math.inf,
        X: np.ndarray | None = None,
        stop: Callable[[], None] | None = None,
    ) -> Rule:
        """Return the best rule by honest votes, not fitted."""
        scored = compare_rules(honest, self.scoring, seconds, X, self.adjusted, stop)
        return scored[0].rule if scored else self.without_comparison(honest)

    def best_in_time(self, honest: HonestVotes, training: TrainingSet, preset: str, clock: Clock) -> Rule:
        """Return the best rule, with half of the time of the rule for its comparison and half for its fit."""
        seconds, when = clock.left_for_rule() / 2, " while rules were compared"
        least = least_rows(honest.n_outputs)
        if honest.n_rows < least and honest.n_members > 1:
            warnings.warn(
                f"The mean of the members decides, because {honest.n_rows} rows are too few to learn another "
                f"rule: {least} are needed. Expect large errors of all scores.",
                UserWarning,
                stacklevel=5,
            )
        compared = sampled(honest, votes_in(seconds))

        def compare() -> Rule:
            X = rows_to_look_at(training, compared, min(seconds, SECONDS_TO_LOOK[preset]))
            return self.best(compared, seconds, X, partial(clock.interrupt, when))

        try:
            with one_blas_thread():
                return clock.finish(compare, partial(self.without_comparison, compared), when)
        except ValueError as error:
            # When time ends early, the rows with votes may be too few to split, or without some class. Or
            # the metric has no value for the votes of some member.
            if len(honest.rows) == len(training.rows) and not isinstance(error, NoValueError):
                raise
            warn_of_mean("Rules cannot be compared", compared, error, stacklevel=6)
            return rule_named("mean")


def warn_of_mean(problem: str, honest: HonestVotes, error: Exception, stacklevel: int) -> None:
    """Warn that the mean decides because of an error on some honest votes."""
    reason = " ".join(str(error).split())
    warnings.warn(
        f"{problem} on {honest.n_rows} rows with votes, so the mean decides: {reason}",
        RuntimeWarning,
        stacklevel=stacklevel,
    )


def rows_to_look_at(training: TrainingSet, honest: HonestVotes, seconds: float) -> np.ndarray | None:
    """Return the rows as a matrix if there is time to search the neighbours of each row."""
    n_rows = len(honest.rows)
    n_differences = n_rows**2 * encoded_width(training.schema)
    if n_rows > MOST_ROWS_TO_LOOK_AT or n_differences > DIFFERENCES_IN_A_SECOND * seconds:
        return None
    encoder = new_encoder().fit(training.X, sample_weight=training.weights)
    matrix: np.ndarray = encoder.transform(take_rows(training.X, honest.rows))
    return matrix


def with_time_limit(rule: Rule, seconds: float) -> Rule:
    """Limit the time of a fit, if the rule has such a limit.

    Examples
    --------
    >>> with_time_limit(AdjustedRule("mean"), 2.0).time_limit
    2.0
    """
    if not isinstance(rule, AdjustedRule) or not math.isfinite(seconds):
        return rule
    limit = seconds if rule.time_limit is None else min(seconds, rule.time_limit)
    limited: Rule = clone(rule).set_params(time_limit=limit)
    return limited


def least_rows(n_outputs: int) -> int:
    """Return the smallest number of rows with which rules other than the mean can be learnt.

    Examples
    --------
    >>> [least_rows(n_outputs) for n_outputs in (1, 2, 3, 100)]
    [20, 20, 30, 30]
    """
    return ROWS_OF_OUTPUT * min(max(n_outputs, LEAST_OUTPUTS), MOST_OUTPUTS)


def usual_rule(honest: HonestVotes, scoring: object) -> str | None:
    """Return the name of the rule that does best on most tables; None if it is unknown for a metric."""
    if honest.n_rows < least_rows(honest.n_outputs):
        return "mean"
    losses = learnt_by(scoring, honest.n_outputs).losses
    return None if losses is None else USUAL.get(losses)


def best_votes(honest: HonestVotes, scoring: object) -> np.ndarray:
    """Return the votes of the member with the lowest honest loss."""
    losses = member_losses(learnt_by(scoring, honest.n_outputs, honest.classes), honest)
    return honest.votes[int(np.argmin(losses))].astype(np.float64)


def is_surely_better(first: np.ndarray, second: np.ndarray, honest: HonestVotes, scoring: object) -> bool:
    """Return whether a decision has a significantly lower loss than another, compared row by row.

    A metric without a loss of single rows is replaced by the accuracy or the squared error. For classes, an
    average row with a random class is added if it speaks against the first decision: without it, being always
    right on few rows would justify any confidence.
    """
    both = honest.with_votes(np.stack([first, second]))
    row_losses = learnt_by(scoring, both.n_outputs).learnt_losses or (
        errors if both.are_classes else squared_errors
    )
    losses, weights = row_losses(both.votes, both.y), both.weights
    difference = losses[1] - losses[0]
    if both.are_classes:
        of_classes = [row_losses(both.votes, np.full_like(both.y, code)) for code in range(both.n_outputs)]
        of_average = np.average(np.mean(of_classes, axis=0), axis=1, weights=weights)
        difference = np.append(difference, min(0.0, of_average[1] - of_average[0]))
        weights = np.append(weights, weights.mean())
    weights = weights / weights.sum()
    difference /= np.abs(difference).max() or 1.0  # so that its squares are finite
    mean = float(weights @ difference)
    error = float(np.sqrt(weights**2 @ (difference - mean) ** 2))
    return mean > SIGNIFICANT * error


def votes_in(seconds: float) -> int:
    """Return how many votes rules can be compared on within a time.

    Examples
    --------
    >>> votes_in(2.0), votes_in(float("inf"))
    (800000, 3000000)
    """
    return int(min(max(COMPARED_IN_A_SECOND * seconds, LEAST_COMPARED), MOST_COMPARED))


def seconds_for(n_votes: int) -> float:
    """Estimate the time of the rules: half for their comparison and half for the fit of the best.

    Examples
    --------
    >>> seconds_for(800_000)
    4.0
    """
    return 2 * n_votes / COMPARED_IN_A_SECOND


def sampled(honest: HonestVotes, n_votes: int) -> HonestVotes:
    """Take honest votes on a random sample of rows, so that there are about n_votes votes."""
    share = n_votes / honest.votes.size
    if share >= 1:
        return honest
    # Metrics of probabilities need every class in each fold of the comparison.
    return honest.on(
        drawn_of_each(honest.y if honest.are_classes else np.zeros(honest.n_rows), share, N_FOLDS)
    )


def drawn_of_each(classes: np.ndarray, share: float, fewest: int) -> np.ndarray:
    """Return a share of the rows of each class, and at least the fewest. The sample is always the same.

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


def rules_for(honest: HonestVotes, scoring: object) -> list[tuple[str, Rule]]:
    """Return the rules to compare, the simplest first."""
    n_members, _, n_outputs = honest.votes.shape
    constant = ("constant", rule_named("constant"))
    best = ("best_member", rule_named("best_member").set_params(scoring=scoring))
    if n_members == 1:
        return [best, constant]
    if honest.n_rows < least_rows(n_outputs):
        return [("mean", rule_named("mean")), constant]
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
    rules.append(constant)
    if honest.X is not None:
        rules.append(("dynamic", rule_named("dynamic")))
    return rules


def loss_of(decision: np.ndarray, honest: HonestVotes, scoring: object) -> float:
    """Return the loss of a decision on the rows with honest votes."""
    decided = honest.with_votes(decision[None])
    return float(member_losses(learnt_by(scoring, decided.n_outputs, decided.classes), decided)[0])


def check_scoring(scoring: object, training: TrainingSet) -> None:
    """Raise if a metric cannot score decisions for this y, before any member is fitted."""
    metric = learnt_by(scoring, training.task.n_outputs, training.task.classes)
    if metric is METRICS.get(metric.name):
        return  # Fast paths can score any y.
    y = training.y[training.rows]
    weights = None if training.weights is None else training.weights[training.rows]
    decision = some_decision(y, training.task.n_outputs)
    honest = HonestVotes.of(decision[None], y, sample_weight=weights, classes=training.task.classes)
    try:
        member_losses(metric, honest)
    except Exception as error:
        reason = " ".join(str(error).split())
        usual = ", ".join(map(repr, USUAL_METRICS[metric.task]))
        raise ValueError(f"{metric.name} cannot score this y: {reason} Use one of {usual}.") from error
