"""Benches: members sit down one after the other, and each that could sit down next is judged.

A bench holds what one loss needs of honest votes. `losses` gives, for every member, the loss of the mean of
those who sit and that member; `seat` lets one sit down, who may sit more than once; `only` is an empty bench
for some members. No bench makes the decisions of all candidates: log loss needs the votes for the right class
alone, squared losses a matrix of (n_members, n_members), the error only those rows on which one more vote can
change the outcome.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from committee.combining.losses import SMALLEST, Loss, loss_weights, residuals, sound_votes, votes_for
from committee.combining.rule import Honest
from committee.combining.votes import BLOCK_SIZE, blocks_of

# Sums of votes are exact to much less than this, so a larger lead is no tie.
ROUNDING = 1e-6


class Bench(Protocol):
    """What greedy selection asks of a loss."""

    def losses(self) -> np.ndarray:
        """The loss with each member added, of shape (n_members,)."""

    def seat(self, member: int) -> None:
        """Add a member."""

    def only(self, members: np.ndarray) -> Bench:
        """An empty bench of some members."""


def bench_for(metric: str | Loss, honest: Honest) -> Bench:
    """The bench of a loss."""
    if callable(metric):
        return AnyBench(sound_votes(honest), honest.y, honest.weights, metric)
    if metric == "log_loss":
        parts = [votes_for(votes, y) for votes, y, _ in honest.blocks()]
        return LogLossBench(np.concatenate(parts, axis=1), honest.weights)
    if metric in ("brier", "squared_error"):
        return SquareBench(common_squares(honest))
    votes = honest.votes if honest.votes.dtype.kind == "f" else honest.votes.astype(np.float32)
    return ErrorBench(votes, honest.y, loss_weights(metric, honest.y, honest.weights))


def common_squares(honest: Honest) -> np.ndarray:
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
        self.total = np.zeros(votes.shape[1:])
        # How much one more vote can add to the lead of the right class, and how much it can take off.
        self.gain = np.empty(len(y))
        self.harm = np.empty(len(y))
        for rows, block in blocks_of(votes):
            right = votes_for(block, y[rows])
            self.gain[rows] = right.max(axis=0)
            self.harm[rows] = -np.min([lead_of(vote, y[rows]) for vote in block], axis=0)

    def losses(self) -> np.ndarray:
        """The loss with each member added."""
        lead = lead_of(self.total, self.y)
        is_wrong = lead < -self.gain - ROUNDING
        losses = np.full(len(self.votes), self.weights[is_wrong].sum())
        unsettled = np.flatnonzero(~is_wrong & (lead <= self.harm + ROUNDING))
        step = max(1, BLOCK_SIZE // (len(self.votes) * self.votes.shape[2]))
        for start in range(0, len(unsettled), step):
            rows = unsettled[start : start + step]
            # In the precision of the votes: a sum of equal votes is as equal in it.
            after = np.take(self.votes, rows, axis=1)
            after += self.total[rows].astype(after.dtype)
            labels = after.argmax(axis=2)
            losses += ((labels != self.y[rows]) * self.weights[rows]).sum(axis=1)
        return losses / self.weights.sum()

    def seat(self, member: int) -> None:
        """Add a member."""
        self.total += self.votes[member]

    def only(self, members: np.ndarray) -> ErrorBench:
        """An empty bench of some members."""
        return ErrorBench(self.votes[members], self.y, self.weights)


class AnyBench:
    """Any other loss: the decision of each candidate is made."""

    def __init__(self, votes: np.ndarray, y: np.ndarray, weights: np.ndarray, loss: Loss) -> None:
        self.votes = votes
        self.y = y
        self.weights = weights
        self.loss = loss
        self.total = np.zeros(votes.shape[1:])
        self.n_seated = 0

    def losses(self) -> np.ndarray:
        """The loss with each member added."""
        n_after = self.n_seated + 1
        decisions = ((self.total + vote) / n_after for vote in self.votes)
        return np.array([self.loss(self.y, decision, self.weights) for decision in decisions], dtype=float)

    def seat(self, member: int) -> None:
        """Add a member."""
        self.total += self.votes[member]
        self.n_seated += 1

    def only(self, members: np.ndarray) -> AnyBench:
        """An empty bench of some members."""
        return AnyBench(self.votes[members], self.y, self.weights, self.loss)


def lead_of(votes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """By how much the vote for the class of the row exceeds the highest other, of shape (n_rows,)."""
    rows = np.arange(len(y))
    others = votes.copy()
    others[rows, y] = -np.inf
    lead: np.ndarray = votes[rows, y] - others.max(axis=1)
    return lead
