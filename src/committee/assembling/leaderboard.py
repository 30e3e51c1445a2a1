"""The leaderboard: scores of members and rules on honest votes.

In: honest votes and the true answers. Out: standings, the best first. A rule that learns is cross-validated
on the honest votes, so that neither the rule nor the members were fitted on the rows it is scored on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from committee.combining.rule import Rule
from committee.combining.rule_registry import as_rule, rule_names
from committee.members.seeds import generator_of, seeded
from committee.metrics.metric_table import shown
from committee.metrics.scoring import metric_of
from committee.running.resources import one_blas_thread
from committee.table.input_types import RandomState
from committee.votes.folds import nothing_to_hold_out
from committee.votes.honest_votes import HonestVotes


@dataclass(frozen=True)
class Standing:
    """A line of the leaderboard.

    Parameters
    ----------
    kind : {"committee", "member", "rule"}
    name : str
    score : float
        Higher is better.
    """

    kind: str
    name: str
    score: float


class Leaderboard(Sequence[Standing]):
    """Standings, the best first. They are printed as a table, which shows losses as positive numbers.

    Parameters
    ----------
    standings : iterable of Standing
    scoring : str
        The scikit-learn name of the metric.

    Examples
    --------
    >>> Leaderboard([Standing("member", "tree", -0.8), Standing("rule", "mean", -0.5)], "neg_log_loss")
    rule    mean  0.5000 log loss
    member  tree  0.8000 log loss
    """

    def __init__(self, standings: Iterable[Standing], scoring: str) -> None:
        self.standings = sorted(standings, key=lambda standing: -standing.score)
        self.scoring = scoring

    def __len__(self) -> int:
        return len(self.standings)

    def __getitem__(self, index: Any) -> Any:
        return self.standings[index]

    def __repr__(self) -> str:
        kinds, names = (max(len(getattr(each, part)) for each in self) for part in ("kind", "name"))
        lines = []
        for each in self:
            metric, number = shown(self.scoring, each.score)
            lines.append(f"{each.kind:<{kinds}}  {each.name:<{names}}  {number:.4f} {metric}")
        return "\n".join(lines)


def leaderboard_of(
    honest: HonestVotes,
    names: list[str],
    rules: Iterable[object] | None,
    scoring: object,
    random_state: RandomState,
    own: Rule | None = None,
) -> Leaderboard:
    """Score members and rules.

    Parameters
    ----------
    honest : HonestVotes
        With X, if rules that use the columns of X should be scored.
    names : list of str
        The names of the members.
    rules : iterable of rules, or None
        None is the rule of the committee and every named rule that suits the task.
    scoring : str, scorer, callable or None
        A metric, as for `score`. None is accuracy, or R2.
    random_state : int, RandomState or None
        Draws the `random_state` of rules where it is None.
    own : Rule or None, default=None
        The rule of the committee, if there is one.

    Returns
    -------
    Leaderboard
    """
    if isinstance(rules, str):
        raise ValueError(f"rules must be a list of rules, or None. Got {rules!r}: pass [{rules!r}].")

    known = honest.with_votes(honest.votes)
    usual = "accuracy" if known.are_classes else "r2"
    metric = metric_of(usual if scoring is None else scoring, known.n_outputs, known.classes)

    def score(decision: np.ndarray) -> float:
        return metric.prepare(known.y, decision)(known.weights)

    found = [
        Standing("member", member, score(votes.astype(np.float64)))
        for member, votes in zip(names, honest.votes, strict=True)
    ]
    task = "classification" if known.are_classes else "regression"
    has_X = honest.X is not None
    wanted = [] if rules is None else [("rule", name_of(rule), rule) for rule in rules]
    if rules is None:
        if own is not None and (has_X or not own._looks_at_X()):
            wanted.append(("committee", name_of(own), clone(own)))
        wanted += [("rule", name, rule) for name, rule in usable_rules(task, has_X)]
    # The linear systems of rules are small, so several threads would only wait for each other.
    with one_blas_thread():
        for kind, title, given in wanted:
            decision = honest_decision(seeded(as_rule(given), generator_of(random_state)), honest)
            found.append(Standing(kind, title, score(decision)))
    return Leaderboard(found, metric.name)


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


def honest_decision(rule: Rule, honest: HonestVotes) -> np.ndarray:
    """Return the decision of a rule on each row. A rule that learns is fitted on other rows."""
    if not rule.needs_fit:
        return rule.combine(honest.votes)
    folds = honest.folds()
    if not folds:
        raise nothing_to_hold_out(honest.groups, honest.weights, honest.are_classes)
    decision = honest.decide_out_of_fold(partial(clone, rule), folds)
    # Rows of weight 0 are in no fold. Their decision has no influence on the score.
    decision[honest.weights == 0] = 0.0
    return decision


def name_of(rule: object) -> str:
    """Return the name of a rule on the leaderboard."""
    if isinstance(rule, str):
        return rule
    return getattr(rule, "__name__", None) or " ".join(repr(rule).split())
