"""Which rule decides: each is cross-validated on the honest votes, and the best of them is taken.

In: honest votes and a metric. Out: the rules with their losses, the best first. The comparison is nested: a
rule decides on rows that neither it nor the members have learnt from.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from committee.assembling.leaderboard import honest_decision
from committee.assembling.votes import HonestVotes
from committee.combining.adjusting import OF_PROBABILITIES
from committee.combining.losses import check_metric, member_losses
from committee.combining.naming import rule_named
from committee.combining.rule import Honest, Rule

# Stacking looks at so many numbers at most: rows times members times classes.
MOST_STACKED = 30_000_000


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
    """

    name: str
    rule: Rule
    loss: float


def judge_rules(
    honest: HonestVotes, metric: Any, seconds: float, X: np.ndarray | None = None
) -> list[Judged]:
    """Compare the rules that suit some votes.

    Parameters
    ----------
    honest : HonestVotes
    metric : str, callable or None
        What is to be low; see `GreedyRule`.
    seconds : float
        No other rule is begun after half of them.
    X : ndarray of shape (n_rows, n_columns), default=None
        The rows as a matrix, for dynamic selection.

    Returns
    -------
    list of Judged
        The best first, and of equal ones the simplest.
    """
    began = time.monotonic()
    found: list[Judged] = []
    for name, rule in rules_for(honest, metric, X is not None):
        if found and time.monotonic() - began > seconds / 2:
            break
        decision = honest_decision(rule, honest, X)
        found.append(Judged(name, rule, loss_of(decision, honest, metric)))
    return sorted(found, key=lambda judged: judged.loss)


def rules_for(honest: HonestVotes, metric: Any, has_X: bool) -> list[tuple[str, Rule]]:
    """The rules that are compared, the simplest first."""
    n_members, _, n_outputs = honest.votes.shape
    best = ("best_member", rule_named("best_member").set_params(metric=metric))
    if n_members == 1:
        return [best]
    greedy = rule_named("greedy").set_params(metric=metric)
    rules = [best, ("mean", rule_named("mean")), ("greedy", greedy)]
    if n_outputs == 1:
        return [*rules, ("stacking", rule_named("stacking").set_params(final_estimator="ridge"))]
    rules.insert(2, ("cawpe", rule_named("cawpe")))
    if honest.votes.size <= MOST_STACKED:
        rules.append(("log_pool", rule_named("log_pool")))
    if isinstance(metric, str | None) and metric in OF_PROBABILITIES:
        rules.append(("calibrated greedy", rule_named("adjusted").set_params(rule=greedy)))
    if has_X:
        rules.append(("dynamic", rule_named("dynamic")))
    return rules


def loss_of(decision: np.ndarray, honest: HonestVotes, metric: Any) -> float:
    """The loss of a decision on honest rows."""
    judged = Honest.of(decision[None], honest.y, sample_weight=honest.weights)
    return float(member_losses(check_metric(metric, judged), judged)[0])
