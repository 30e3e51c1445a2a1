"""Benches: members sit down one after the other, and each that could sit down next is judged.

A bench holds what one loss needs of honest votes. `losses` gives, for every member, the loss of the mean of
those who sit and that member; `seat` lets one sit down, who may sit more than once; `only` is an empty bench
for some members. The usual benches make no decisions: log loss needs the votes for the right class alone,
squared losses a matrix of (n_members, n_members), the error only those rows on which one more vote can change
the outcome.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import numpy as np

from committee.metrics.losses import (
    SMALLEST,
    brier_losses,
    brier_scale,
    errors,
    log_losses,
    residuals,
    squared_errors,
    votes_for,
)
from committee.metrics.members import decided, loss_on, with_highest
from committee.metrics.names import Metric
from committee.metrics.scoring import DecisionScore
from committee.votes.arrays import BLOCK_SIZE, NEARLY_ONE, blocks_of, highest_of, rounding_of
from committee.votes.honest import HonestVotes


class Bench(Protocol):
    """What greedy selection asks of a loss."""

    def losses(self) -> np.ndarray:
        """The loss with each member added, of shape (n_members,)."""

    def seat(self, member: int) -> None:
        """Add a member."""

    def only(self, members: np.ndarray) -> Bench:
        """An empty bench of some members."""


def bench_for(metric: Metric, honest: HonestVotes) -> Bench:
    """Return the bench of a metric: one that knows a short cut, where there is one for these votes."""
    if metric.losses in (log_losses, brier_losses) and not sum_to_one(honest):
        return AnyBench(honest, metric.loss)
    if metric.losses is log_losses:
        right = np.concatenate([votes_for(votes, y) for votes, y, _ in honest.blocks()], axis=1)
        if honest.has_voted is None:
            return LogLossBench(right, honest.weights)
        return AnyBench(replace(honest, votes=right[:, :, None]), log_loss_of_right)
    if honest.has_voted is None and metric.losses in (brier_losses, squared_errors):
        return SquareBench(common_squares(honest) * brier_scale(honest.n_outputs))
    if honest.has_voted is None and metric.losses is errors:
        return ErrorBench(honest.votes, honest.y, metric.weights(honest.y, honest.weights))
    return AnyBench(honest, metric.loss)


def sum_to_one(honest: HonestVotes) -> bool:
    """Whether the votes on each row are shares of one."""
    sums = (votes.sum(axis=2) for votes, _, _ in honest.blocks())
    return all(bool((np.abs(of_block - 1) <= NEARLY_ONE).all()) for of_block in sums)


def log_loss_of_right(y: np.ndarray, right: np.ndarray, weights: np.ndarray) -> float:
    """The log loss of decisions of which only the probability of the right class is given."""
    return float(-np.log(np.maximum(right[:, 0], SMALLEST)) @ weights / weights.sum())


def common_squares(honest: HonestVotes) -> np.ndarray:
    """The weighted mean product of the residuals of two members, of shape (n_members, n_members)."""
    products = np.zeros((honest.n_members, honest.n_members))
    for votes, y, weights in honest.blocks():
        from_answer = residuals(votes, y) * np.sqrt(weights)[None, :, None]
        flat = from_answer.reshape(honest.n_members, -1)
        products += flat @ flat.T
    return products / honest.weights.sum()


class SquareBench:
    """The squared error and the Brier score: the square of a mean of residuals is a mean of products."""

    def __init__(self, products: np.ndarray) -> None:
        self.products = products
        self.with_seated = np.zeros(len(products))
        self.seated_square = 0.0
        self.n_seated = 0

    def losses(self) -> np.ndarray:
        """The loss with each member added."""
        squares = self.seated_square + 2 * self.with_seated + self.products.diagonal()
        return squares / (self.n_seated + 1) ** 2

    def seat(self, member: int) -> None:
        """Add a member."""
        self.seated_square += 2 * self.with_seated[member] + self.products[member, member]
        self.with_seated = self.with_seated + self.products[member]
        self.n_seated += 1

    def only(self, members: np.ndarray) -> SquareBench:
        """An empty bench of some members."""
        return SquareBench(self.products[np.ix_(members, members)])


class LogLossBench:
    """Log loss: it looks only at the votes for the right class."""

    def __init__(self, votes: np.ndarray, weights: np.ndarray) -> None:
        self.votes = votes
        self.weights = weights
        self.total = np.zeros(votes.shape[1])
        self.n_seated = 0

    def losses(self) -> np.ndarray:
        """The loss with each member added."""
        n_members, n_rows = self.votes.shape
        n_after = self.n_seated + 1
        losses = np.zeros(n_members)
        step = max(1, BLOCK_SIZE // n_members)
        for start in range(0, n_rows, step):
            rows = slice(start, start + step)
            mean = np.maximum((self.votes[:, rows] + self.total[rows]) / n_after, SMALLEST)
            losses -= (np.log(mean, out=mean) * self.weights[rows]).sum(axis=1)
        return losses / self.weights.sum()

    def seat(self, member: int) -> None:
        """Add a member."""
        self.total += self.votes[member]
        self.n_seated += 1

    def only(self, members: np.ndarray) -> LogLossBench:
        """An empty bench of some members."""
        return LogLossBench(self.votes[members], self.weights)


class ErrorBench:
    """The error: on most rows those who sit agree so much that no one more vote can change the outcome."""

    def __init__(self, votes: np.ndarray, y: np.ndarray, weights: np.ndarray) -> None:
        self.votes = votes
        self.y = y
        self.weights = weights
        self.rounding = rounding_of(votes)
        self.total = np.zeros(votes.shape[1:])
        # How much one more vote can add to the lead of the right class, and how much it can take off.
        self.gain = np.empty(len(y))
        self.harm = np.empty(len(y))
        self.highest = np.empty(len(y))
        for rows, block in blocks_of(votes):
            self.gain[rows] = votes_for(block, y[rows]).max(axis=0)
            self.harm[rows] = -np.min([lead_of(vote, y[rows]) for vote in block], axis=0)
            self.highest[rows] = block.max(axis=(0, 2))

    def losses(self) -> np.ndarray:
        """The loss with each member added."""
        lead = lead_of(self.total, self.y)
        # What is within it of the highest is a tie.
        slack = 2 * self.rounding * (self.total.max(axis=1) + self.highest)
        is_wrong = lead < -self.gain - slack
        losses = np.full(len(self.votes), self.weights[is_wrong].sum())
        unsettled = np.flatnonzero(~is_wrong & (lead <= self.harm + slack))
        step = max(1, BLOCK_SIZE // (len(self.votes) * self.votes.shape[2]))
        for start in range(0, len(unsettled), step):
            rows = unsettled[start : start + step]
            after = self.votes[:, rows] + self.total[rows]
            # The first class of those that are as high as the highest.
            enough = highest_of(after) * (1 - self.rounding)
            labels = (after >= enough[:, :, None]).argmax(axis=2)
            losses += ((labels != self.y[rows]) * self.weights[rows]).sum(axis=1)
        return losses / self.weights.sum()

    def seat(self, member: int) -> None:
        """Add a member."""
        self.total += self.votes[member]

    def only(self, members: np.ndarray) -> ErrorBench:
        """An empty bench of some members."""
        return ErrorBench(self.votes[members], self.y, self.weights)


class AnyBench:
    """Any other loss, and members that have not voted on all rows: the decision of each candidate is made.

    It is the mean of those who have voted on a row. Rows on which nobody has are left out.
    """

    def __init__(self, honest: HonestVotes, loss: DecisionScore) -> None:
        self.honest = honest
        self.loss = loss
        self.rounding = rounding_of(honest.votes)
        self.total = np.zeros(honest.votes.shape[1:])
        self.n_seated = np.zeros((honest.n_rows, 1))

    def losses(self) -> np.ndarray:
        """The loss with each member added."""
        return with_highest([self._loss(member) for member in range(self.honest.n_members)])

    def seat(self, member: int) -> None:
        """Add a member."""
        self.total, self.n_seated = self._with(member)

    def only(self, members: np.ndarray) -> AnyBench:
        """An empty bench of some members."""
        return AnyBench(self.honest.of_members(members), self.loss)

    def _with(self, member: int) -> tuple[np.ndarray, np.ndarray]:
        """The sum of the votes on each row, and their number, with a member added."""
        rows = self.honest.own_rows()[member]
        own = 1.0 if rows is None else rows[:, None].astype(np.float64)
        return self.total + own * self.honest.votes[member], self.n_seated + own

    def _loss(self, member: int) -> float:
        total, n_seated = self._with(member)
        rows = None if self.honest.has_voted is None else n_seated[:, 0] > 0
        decision = decided(total / np.maximum(n_seated, 1), self.rounding)
        return loss_on(rows, self.loss, decision, self.honest)


def lead_of(votes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """By how much the vote for the class of the row exceeds the highest other, of shape (n_rows,)."""
    rows = np.arange(len(y))
    others = votes.copy()
    others[rows, y] = -np.inf
    lead: np.ndarray = votes[rows, y] - others.max(axis=1)
    return lead
