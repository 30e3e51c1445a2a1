"""Compute the loss of each single member on the rows that it has voted on."""

from __future__ import annotations

import numpy as np

from committee.metrics.metric_table import Metric
from committee.metrics.row_losses import NoValueError
from committee.metrics.scoring import DecisionScore
from committee.votes.honest_votes import HonestVotes
from committee.votes.vote_arrays import NEARLY_ONE, as_shares, rounding_of, settled


def member_losses(metric: Metric, honest: HonestVotes) -> np.ndarray:
    """Return the loss of each member, of shape (n_members,)."""
    rounding = rounding_of(honest.votes)
    losses = metric.learnt_losses
    if losses is None or honest.has_voted is not None:
        decisions = (decided(vote.astype(np.float64), rounding) for vote in honest.votes)
        pairs = zip(decisions, honest.own_rows(), strict=True)
        return with_highest([loss_on(rows, metric.loss, decision, honest) for decision, rows in pairs])
    weights = metric.weights(honest.y, honest.weights)
    total = np.zeros(honest.n_members)
    start = 0
    for votes, y, _ in honest.blocks():
        rows = slice(start, start + len(y))
        start = rows.stop
        total += (losses(decided(votes, rounding), y) * weights[rows]).sum(axis=1)
    return total / weights.sum()


def decided(votes: np.ndarray, rounding: float) -> np.ndarray:
    """Turn the votes of members into decisions. Votes for classes are settled and rescaled to sum to one."""
    return votes if votes.shape[-1] == 1 else as_shares(settled(votes, rounding), NEARLY_ONE)


def loss_on(rows: np.ndarray | None, loss: DecisionScore, decision: np.ndarray, honest: HonestVotes) -> float:
    """Return the loss of a decision on some rows, or NaN if the metric has no value there."""
    if rows is None:
        return loss(honest.y, decision, honest.weights)
    weights = honest.weights[rows]
    try:
        return loss(honest.y[rows], decision[rows], weights) if weights.any() else float("nan")
    except NoValueError:
        return float("nan")


def with_highest(losses: list[float]) -> np.ndarray:
    """Replace unknown losses by the highest known one.

    Examples
    --------
    >>> with_highest([0.25, float("nan"), 0.5])
    array([0.25, 0.5 , 0.5 ])
    """
    found = np.array(losses)
    is_known = ~np.isnan(found)
    if not is_known.any():
        raise NoValueError(
            "The metric has no value for any member on the rows that it has voted on. Use another metric."
        )
    return np.where(is_known, found, found[is_known].max())
