"""The leaderboard: scores of members and rules on honest votes, and how certain they are.

In: honest votes and the true answers. Out: standings, with the committee first, then members and rules from
best to worst, and a baseline that uses no column last. A rule that learns is cross-validated on the honest
votes, so that neither the rule nor the members were fitted on the rows it is scored on. A leaderboard has no
arrays, so a file can contain it without any votes.
"""

from __future__ import annotations

import contextlib
import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from committee.combining.cost_rule import CostRule
from committee.combining.rule import Rule
from committee.combining.rule_registry import as_rule, rule_names, title_of
from committee.extensions import extension, picture
from committee.members.seeds import generator_of, seeded
from committee.metrics.metric_table import Metric, shown
from committee.metrics.row_losses import NoValueError, errors
from committee.metrics.scoring import metric_of
from committee.printing import aligned
from committee.running.resources import one_blas_thread
from committee.saving import Fields
from committee.table.input_types import RandomState
from committee.table.result_frame import Tabulated
from committee.votes.folds import nothing_to_hold_out
from committee.votes.honest_votes import HonestVotes

COMMITTEE, MEMBER, RULE, BASELINE = KINDS = ("committee", "member", "rule", "baseline")
# The names and the titles of the baselines. Of the shares of the classes, metrics of labels use the largest.
CLASS_SHARES, MAJORITY = ("class_shares", "class shares"), ("class_shares", "most frequent class")
TARGET_MEAN = "target_mean", "mean of the target"
# An interval of 95 % is this many standard errors wide on each side.
NORMAL_95 = 1.96
# Votes are rounded to float32, so a smaller relative difference of two scores is none.
SMALLEST_DIFFERENCE = 1e-6
# A difference of two scores is significant from this many standard errors on.
SIGNIFICANT = 2.0
# The jackknife leaves out groups of rows, this number of them, for a metric that is not a mean over rows.
N_GROUPS = 30
# The decimals of scores without any error, the most decimals, and the most lines of a printed leaderboard.
LEAST_PLACES, MOST_PLACES, MOST_LINES = 4, 8, 24


@dataclass(frozen=True)
class Standing:
    """A line of the leaderboard.

    Parameters
    ----------
    kind : {"committee", "member", "rule", "baseline"}
    name : str
        The identifier of a member, or the name of a rule.
    score : float
        Higher is better.
    title : str, default=""
        A readable name. Empty if it equals the identifier.
    low, high : float, default=None
        The bounds of the interval that contains the true score with a probability of 95 %. None if unknown.
    standard_errors : float, default=None
        By how many standard errors of the difference the committee is better, compared row by row. Negative
        if this line looks better. None if unknown.
    weight : float, default=None
        The weight of a member in the committee. None if the rule has no weights.
    n_models : int, default=None
        The number of models of a member, one for each fold.
    fit_seconds : float, default=None
        The total time of the fits of a member.
    """

    kind: str
    name: str
    score: float
    title: str = ""
    low: float | None = None
    high: float | None = None
    standard_errors: float | None = None
    weight: float | None = None
    n_models: int | None = None
    fit_seconds: float | None = None

    @property
    def label(self) -> str:
        """The readable name, with the kind unless it is a member."""
        name = self.title or self.name
        return {MEMBER: name, RULE: f"rule {name}", BASELINE: f"{name} (baseline)"}.get(
            self.kind, f"committee ({name})"
        )

    @property
    def is_significant(self) -> bool | None:
        """Whether the difference to the committee is at least two standard errors. None if unknown."""
        return None if self.standard_errors is None else abs(self.standard_errors) >= SIGNIFICANT

    @property
    def verdict(self) -> str:
        """How the score compares with that of the committee; empty if this is unknown."""
        if self.standard_errors is None:
            return ""
        if not self.is_significant:
            return "not significant"
        return "worse" if self.standard_errors > 0 else "better"

    @classmethod
    def take(cls, written: object) -> Self:
        """Read a standing from the values of a file."""
        given = Fields(written if isinstance(written, dict) else {}, "standing")
        optional: dict[str, type] = {"weight": float, "n_models": int, "fit_seconds": float}
        optional |= dict.fromkeys(("low", "high", "standard_errors"), float)
        found = cls(
            given.take("kind", str),
            given.take("name", str),
            given.take("score", float),
            given.take("title", str),
            **{name: given.optional(name, kind) for name, kind in optional.items()},
        )
        given.require(found.kind in KINDS, f"there is no kind {found.kind!r}")
        given.finish()
        return found


@dataclass(frozen=True, repr=False)
class Leaderboard(Tabulated, Sequence[Standing]):
    """Standings: the committee first, a baseline last, and the others from best to worst.

    They are printed as a table, which shows losses as positive numbers.

    Parameters
    ----------
    standings : iterable of Standing
    scoring : str
        The scikit-learn name of the metric.
    n_rows : int, default=0
        The number of rows that were scored.

    Examples
    --------
    >>> Leaderboard([Standing("member", "tree", -0.8), Standing("rule", "mean", -0.5)], "neg_log_loss")
               log loss
    rule mean    0.5000
    tree         0.8000
    """

    standings: Sequence[Standing]
    scoring: str
    n_rows: int = 0

    plot = extension(picture("leaderboard"), extra="plot")

    def __post_init__(self) -> None:
        places = {COMMITTEE: 0, BASELINE: 2}
        ordered = sorted(self.standings, key=lambda each: (places.get(each.kind, 1), -each.score))
        object.__setattr__(self, "standings", tuple(ordered))

    def __len__(self) -> int:
        return len(self.standings)

    def __getitem__(self, index: Any) -> Any:
        return self.standings[index]

    def __repr__(self) -> str:
        header, rows = self.table()
        if len(rows) > MOST_LINES:
            # The last line is the baseline.
            more = [f"and {len(rows) - MOST_LINES + 1} more", *[""] * (len(header) - 1)]
            rows = [*rows[: MOST_LINES - 2], more, rows[-1]]
        return aligned(header, rows, range(1, len(header)))

    def _columns(self) -> dict[str, list[Any]]:
        """Return the fields of the standings that are known for at least one of them."""
        columns = {each.name: [getattr(line, each.name) for line in self] for each in fields(Standing)}
        return {
            name: values for name, values in columns.items() if any(value is not None for value in values)
        }

    def _shown_columns(self) -> dict[str, Sequence[object]]:
        """Return the columns of the printed table, with losses as positive numbers."""
        header, rows = self.table()
        return dict(zip(header, zip(*rows, strict=True), strict=True))

    @property
    def metric(self) -> str:
        """The plain name of the metric."""
        return shown(self.scoring, 0.0)[0]

    @property
    def committee(self) -> Standing | None:
        """The line of the committee, if there is one."""
        return next((each for each in self if each.kind == COMMITTEE), None)

    @property
    def baseline(self) -> Standing | None:
        """The line of the baseline, if there is one."""
        return next((each for each in self if each.kind == BASELINE), None)

    @property
    def members(self) -> list[Standing]:
        """The lines of the members, the best first."""
        return [each for each in self if each.kind == MEMBER]

    def number(self, score: float) -> str:
        """Format a score of this leaderboard, with losses as positive numbers.

        The width of the first interval, or else the first score, determines the number of decimals.
        """
        first = self[0]
        unit = first.score / 10 if first.low is None else (first.score - first.low) / NORMAL_95
        places = 2 - math.floor(math.log10(abs(unit))) if 0 < abs(unit) < math.inf else LEAST_PLACES
        return f"{shown(self.scoring, score)[1]:.{min(max(places, 0), MOST_PLACES)}f}"

    def interval(self, standing: Standing) -> str:
        """Format the interval of a score as `0.05 to 0.1`; empty if it is unknown."""
        if standing.low is None or standing.high is None:
            return ""
        bounds = sorted((standing.low, standing.high), key=lambda bound: shown(self.scoring, bound)[1])
        return " to ".join(map(self.number, bounds))

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return the header and the rows as text, without columns that are empty."""
        columns = {
            "": [each.label for each in self],
            self.metric: [self.number(each.score) for each in self],
            "95 % interval": [self.interval(each) for each in self],
            "difference": [each.verdict for each in self],
            "weight": ["" if each.weight is None else f"{each.weight:.3f}" for each in self],
            "models": ["" if each.n_models is None else str(each.n_models) for each in self],
            "fit seconds": ["" if each.fit_seconds is None else f"{each.fit_seconds:.1f}" for each in self],
        }
        kept = {title: texts for title, texts in columns.items() if any(texts)}
        return list(kept), [list(row) for row in zip(*kept.values(), strict=True)]

    def described(self, members: Mapping[str, Mapping[str, Any]]) -> Leaderboard:
        """Add what is known about the members: title, weight, number of models and fit seconds."""
        known = [
            replace(each, **members[each.name]) if each.kind == MEMBER and each.name in members else each
            for each in self
        ]
        return replace(self, standings=known)

    def after(self, before: Leaderboard | None) -> Leaderboard:
        """Add the members of an earlier leaderboard of the same metric and rows that are not in this one."""
        if before is None or (before.scoring, before.n_rows) != (self.scoring, self.n_rows):
            return self
        names = {each.name for each in self.members}
        dropped = [each for each in before.members if each.name not in names]
        return replace(self, standings=[*self, *dropped])

    def fields(self) -> dict[str, object]:
        """Return the values for `take`."""
        return asdict(self) | {"standings": [asdict(each) for each in self]}

    @classmethod
    def take(cls, given: Fields) -> Self:
        """Read a leaderboard from the values of a file."""
        standings, scoring = given.take("standings", list), given.take("scoring", str)
        found = cls([Standing.take(each) for each in standings], scoring, given.take("n_rows", int))
        given.finish()
        return found


@dataclass(frozen=True, eq=False)
class Estimate:
    """A score and the changes that single rows make to it.

    Parameters
    ----------
    score : float
    changes : ndarray of shape (n_units,) or None
        The influence of each row, or of each group of rows, on the score. The squares of the influences sum
        to the squared standard error. None if the metric has no value on some of the rows.
    is_share : bool, default=False
        Whether the score is the share of the rows that are right.
    """

    score: float
    changes: np.ndarray | None
    is_share: bool = False

    @classmethod
    def of(cls, metric: Metric, honest: HonestVotes, decision: np.ndarray) -> Estimate:
        """Score a decision on honest rows."""
        weighed = metric.prepare(honest.y, decision)
        score = weighed(honest.weights)
        if metric.losses is None:
            return cls(score, left_out_changes(weighed, honest))
        losses = metric.losses(decision[None], honest.y)[0]
        weights = metric.weights(honest.y, honest.weights)
        weights = weights / weights.sum()
        changes = -weights * (losses - weights @ losses)
        if metric.is_root:
            changes /= 2 * abs(score) or 1.0
        return cls(score, by_unit(changes, honest.groups), metric.losses is errors and metric.more_is_better)

    @property
    def standard_error(self) -> float | None:
        """The standard error of the score, if it is known."""
        return None if self.changes is None else float(np.sqrt(self.changes @ self.changes))

    def bounds(self, best: float) -> tuple[float | None, float | None]:
        """Return the interval of 95 %, which ends at the best possible score. That of a share is Wilson's."""
        error = self.standard_error
        if error is None or self.changes is None or not math.isfinite(error):
            return None, None
        if self.is_share:
            return wilson_interval(self.score, error, len(self.changes))
        return self.score - NORMAL_95 * error, min(self.score + NORMAL_95 * error, max(best, self.score))

    def better_by(self, other: Estimate) -> float | None:
        """Return by how many standard errors of the difference this score is better than another."""
        if self.changes is None or other.changes is None:
            return None
        changes = self.changes - other.changes
        error, difference = float(np.sqrt(changes @ changes)), self.score - other.score
        if abs(difference) <= SMALLEST_DIFFERENCE * abs(self.score):
            return 0.0
        if error == 0:
            return None
        return difference / error if math.isfinite(difference / error) else None


def wilson_interval(share: float, error: float, n_units: int) -> tuple[float, float]:
    """Return Wilson's interval of 95 % for a share, which has a width even if all rows are right.

    Parameters
    ----------
    share : float
    error : float
        The standard error of the share, which determines the effective number of rows.
    n_units : int
        The number of rows or groups, which is used if the error is 0.

    Examples
    --------
    >>> [round(bound, 3) for bound in wilson_interval(1.0, 0.0, 20)]
    [0.839, 1.0]
    """
    variance = share * (1 - share)
    n = variance / error**2 if error > 0 and variance > 0 else n_units
    shrunk = 1 + NORMAL_95**2 / n
    centre = (share + NORMAL_95**2 / (2 * n)) / shrunk
    half = NORMAL_95 / shrunk * math.sqrt(variance / n + NORMAL_95**2 / (4 * n * n))
    return max(0.0, centre - half), min(1.0, centre + half)


def by_unit(changes: np.ndarray, groups: np.ndarray | None) -> np.ndarray:
    """Add the changes of rows that belong together, and correct their size for the estimated mean."""
    if groups is not None:
        changes = np.bincount(np.unique(groups, return_inverse=True)[1], changes)
    n_units = np.count_nonzero(changes)
    return changes * math.sqrt(n_units / (n_units - 1)) if n_units > 1 else changes


def left_out_changes(weighed: Any, honest: HonestVotes) -> np.ndarray | None:
    """Return the changes of a score if random groups of rows are left out, as in the jackknife."""
    units = np.arange(honest.n_rows)
    if honest.groups is not None:
        units = np.unique(honest.groups, return_inverse=True)[1]
    n_units = int(units.max()) + 1
    n_groups = min(N_GROUPS, n_units)
    if n_groups < 2:
        return None
    group_of = (np.random.default_rng(0).permutation(n_units) % n_groups)[units]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            values = np.array([weighed(honest.weights * (group_of != group)) for group in range(n_groups)])
        except (ValueError, ZeroDivisionError):
            return None
    if not np.isfinite(values).all():
        return None
    changes: np.ndarray = (values.mean() - values) * math.sqrt((n_groups - 1) / n_groups)
    return changes


def leaderboard_of(
    honest: HonestVotes,
    names: list[str],
    rules: Iterable[object] | None,
    scoring: object,
    random_state: RandomState,
    own: Rule | None = None,
    places: list[int] | None = None,
    decided: np.ndarray | None = None,
) -> Leaderboard:
    """Score the committee, members, rules and a baseline.

    Parameters
    ----------
    honest : HonestVotes
        With X, if rules that use the columns of X should be scored.
    names : list of str
        The names of the members.
    rules : iterable of rules, or None
        None is every named rule that suits the task.
    scoring : str, scorer, callable or None
        A metric, as for `score`. None is accuracy, or R2.
    random_state : int, RandomState or None
        Draws the `random_state` of rules where it is None.
    own : Rule or None, default=None
        The rule of the committee, if there is one.
    places : list of int, default=None
        The places of the members of the committee. None means all.
    decided : ndarray of shape (n_rows, n_outputs), default=None
        The decision of the committee on each row, by `decision_of_rule`. None computes it.

    Returns
    -------
    Leaderboard
    """
    if isinstance(rules, str):
        raise ValueError(f"rules must be a list of rules, or None. Got {rules!r}: pass [{rules!r}].")

    known = honest.with_votes(honest.votes)
    known = replace(known, groups=honest.groups)
    usual = "accuracy" if known.are_classes else "r2"
    metric = metric_of(usual if scoring is None else scoring, known.n_outputs, known.classes)
    task = "classification" if known.are_classes else "regression"
    has_X = honest.X is not None

    rules_scored = (
        usable_rules(task, has_X) if rules is None else [(name_of(rule), as_rule(rule)) for rule in rules]
    )

    found: list[Standing] = []
    first: Estimate | None = None
    best = math.inf if metric.losses is None else metric.best

    def add(kind: str, name: str, decision: np.ndarray, title: str = "") -> Estimate:
        estimate = Estimate.of(metric, known, decision)
        behind = None if first is None else first.better_by(estimate)
        found.append(Standing(kind, name, estimate.score, title, *estimate.bounds(best), behind))
        return estimate

    # The linear systems of rules are small, so several threads would only wait for each other.
    with one_blas_thread():
        if own is not None and (has_X or not own._looks_at_X()):
            if decided is None:
                decided = decision_of_rule(own, honest if places is None else honest.of_members(places))
            first = add(COMMITTEE, title_of(own), decided)
        for name, votes in zip(names, honest.votes, strict=True):
            add(MEMBER, name, votes.astype(np.float64))
        for name, rule in rules_scored:
            add(RULE, name, honest_decision(seeded(rule, generator_of(random_state)), honest))
    # Some metrics have no value for decisions that are the same for all rows, or scikit-learn warns of them.
    with contextlib.suppress(NoValueError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shares = CLASS_SHARES if metric.of_counts is None else MAJORITY
        name, title = shares if known.are_classes else TARGET_MEAN
        add(BASELINE, name, constant_decision(known), title)
    return Leaderboard(found, metric.name, known.n_rows)


def constant_decision(honest: HonestVotes) -> np.ndarray:
    """Return the shares of the classes, or the mean of the target, as the decision for each row."""
    weights = honest.weights / honest.weights.sum()
    if honest.are_classes:
        constant = np.bincount(honest.y, weights, honest.n_outputs)
    else:
        constant = np.array([weights @ honest.y])
    return np.broadcast_to(constant, honest.votes.shape[1:]).astype(np.float64)


def usable_rules(task: str, has_X: bool) -> list[tuple[str, Rule]]:
    """Return the named rules for the task, without rules that need the rows if there is no X."""
    return [
        (name, rule)
        for name, rule in ((name, as_rule(name)) for name in rule_names())
        if task in rule.tasks and (has_X or not rule.needs_X) and (task == "classification" or decides(rule))
    ]


def decides(rule: Rule) -> bool:
    """Return whether a rule can combine numbers. Rules that need a fit declare this in their tasks."""
    if rule.needs_fit:
        return True
    try:
        rule.combine(np.ones((2, 1, 1)))
    except ValueError:
        return False
    return True


def decision_of_rule(rule: Rule, honest: HonestVotes) -> np.ndarray:
    """Return the decision of the rule of a committee on each row, fitted on other rows, before any costs."""
    # Costs change decisions, and not the quality of the probabilities.
    scored = as_rule(rule.rule) if isinstance(rule, CostRule) else rule
    # The linear systems of rules are small, so several threads would only wait for each other.
    with one_blas_thread():
        return honest_decision(clone(scored), honest)


def honest_decision(rule: Rule, honest: HonestVotes) -> np.ndarray:
    """Return the decision of a rule on each row. A rule that learns is fitted on other rows."""
    if not rule.needs_fit:
        return honest.decided_by(rule)
    folds = honest.folds()
    if not folds:
        raise nothing_to_hold_out(honest.groups, honest.weights, honest.are_classes)
    decision = honest.decide_out_of_fold(partial(clone, rule), folds)
    # Rows of weight 0 are in no fold. Their decision has no influence on the score.
    decision[honest.weights == 0] = 0.0
    return decision


def name_of(rule: object) -> str:
    """Return the name of a rule on the leaderboard, with its settings if they are not the defaults."""
    if isinstance(rule, str):
        return rule
    return getattr(rule, "__name__", None) or " ".join(repr(rule).split())
