"""What a round of AdaBoost does to the weights of the rows: functions of arrays, for any member.

In: a distribution over the rows, and the votes of a member for them. Out: the weight that the member gets
right and wrong, its vote, and the distribution that the next member sees. The engine does the same for
members that it grows itself.

Every scheme is one rule: a member has a loss between 0 and 1 for each row (for each wrong label of a row, in
M2), its error is the mean loss, its vote the logarithm of right / wrong, and what it gets right is multiplied
by exp(-vote). The notes know three forms of this: beta for what is right, exp(alpha) for what is wrong, and
both with half of alpha. After normalising, they are the same distribution.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from committee.task import are_repetitions

# Sums over rows are integers, in units of 2^-60 of all weight, so that no order of the rows changes a bit.
ONE = 2.0**60
# Errors of numbers up to this part of half the range of y are due to the fixed point that trees compute in.
ROUNDING = 2.0**-25
SMALLEST_UNIT = np.finfo(np.float64).tiny


@dataclass(frozen=True, eq=False)
class Distribution:
    """What the rows weigh: counts * units, which sum to one.

    Parameters
    ----------
    counts : ndarray of uint32 of shape (n_rows,)
        How often each row stands there. A row of count 0 takes no part.
    units : ndarray of float64 of shape (n_rows,) or (n_rows, n_classes - 1)
        What a row weighs each time; in M2, each of its wrong labels, in the order of the labels.

    Examples
    --------
    >>> Distribution.start(np.array([2.0, 0.0, 2.0]), 3).row_weights
    array([0.5, 0. , 0.5])
    """

    counts: np.ndarray
    units: np.ndarray

    @classmethod
    def start(cls, weights: np.ndarray | None, n_rows: int, n_mislabels: int | None = None) -> Distribution:
        """The distribution of the first round: by the weights of the rows, uniform over wrong labels."""
        if weights is None:
            counts, units = np.ones(n_rows, dtype=np.uint32), np.full(n_rows, 1 / n_rows)
        elif are_repetitions(weights):
            counts = weights.astype(np.uint32)
            units = np.where(counts > 0, 1 / float(counts.sum(dtype=np.uint64)), 0.0)
        else:
            largest = weights.max()
            # An exact sum, which does not depend on the order of the rows.
            total = math.fsum(weights / largest)
            counts, units = (weights > 0).astype(np.uint32), weights / largest / total
            units = np.where(counts > 0, np.maximum(units, SMALLEST_UNIT), 0.0)
        if n_mislabels is not None:
            units = np.repeat((units / n_mislabels)[:, np.newaxis], n_mislabels, axis=1)
        return cls(counts, np.ascontiguousarray(units))

    @property
    def n_draws(self) -> int:
        """The number of rows, repetitions counted."""
        return int(self.counts.sum(dtype=np.uint64))

    @property
    def row_weights(self) -> np.ndarray:
        """What each row weighs; all of them sum to one."""
        return self.counts * self._by_row

    @property
    def member_weights(self) -> np.ndarray:
        """What a member is given: a mean of one over the rows, on the grid of the engine's weights.

        A member whose regularisation depends on the size of the weights sees the size that it knows.
        """
        return self.fixed_weights / self._scale

    @property
    def fixed_weights(self) -> np.ndarray:
        """The same in fixed point, as the engine has them: uint32, positive where a row takes part."""
        by_row = self._by_row * (self.n_draws * self._scale)
        return self.counts * np.maximum(1, (by_row + 0.5).astype(np.int64)).astype(np.uint32)

    @property
    def _scale(self) -> float:
        return math.ldexp(1, 29 - math.frexp(self.n_draws)[1] + 1)

    @property
    def _by_row(self) -> np.ndarray:
        return self.units if self.units.ndim == 1 else self.units.sum(axis=1)


@dataclass(frozen=True)
class Verdict:
    """What a member gets right and wrong, in units of 2^-60 of all weight.

    Parameters
    ----------
    right, wrong : int
    is_perfect : bool
        Whether no loss is above 0.

    Examples
    --------
    >>> Verdict(3, 1, False).error
    0.25
    """

    right: int
    wrong: int
    is_perfect: bool

    @property
    def error(self) -> float:
        """The share that is wrong."""
        return self.wrong / (self.wrong + self.right)

    @property
    def odds(self) -> float:
        """Right by wrong; a member that is not perfect has some error, however small."""
        return self.right / max(self.wrong, 1)


@dataclass(frozen=True)
class Scheme:
    """How AdaBoost weighs rows and votes.

    Parameters
    ----------
    name : {"m1", "samme", "m2", "r2"}
        Freund and Schapire's M1 and M2 (1997), the SAMME of Zhu, Zou, Rosset and Hastie (2009), the R2 of
        Drucker (1997).
    n_classes : int
        0 for R2.
    learning_rate : float, default=1.0
        By which the votes of SAMME and R2 are multiplied.
    loss : {"linear", "square", "exponential"}, default="linear"
        How wrong a number is, by its share of the largest error (R2).

    Examples
    --------
    >>> y, votes = np.array([0, 1, 1]), np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> scheme = Scheme("m1", 2)
    >>> distribution = Distribution.start(None, 3)
    >>> losses = scheme.losses(votes, y, distribution)
    >>> verdict = weigh(distribution, losses)
    >>> round(verdict.error, 3), round(scheme.vote(verdict), 3)
    (0.333, 0.693)
    >>> reweigh(distribution, losses, scheme.vote(verdict)).row_weights.round(3)
    array([0.25, 0.5 , 0.25])
    """

    name: str
    n_classes: int
    learning_rate: float = 1.0
    loss: str = "linear"

    @property
    def is_crisp(self) -> bool:
        """Whether a member votes for one class alone."""
        return self.name in ("m1", "samme")

    @property
    def n_mislabels(self) -> int | None:
        """The number of wrong labels of a row, if they are weighed one by one."""
        return self.n_classes - 1 if self.name == "m2" else None

    def losses(self, votes: np.ndarray, y: np.ndarray, distribution: Distribution) -> np.ndarray:
        """The losses of a member's votes, of the shape of the distribution's units."""
        if self.name == "r2":
            return number_losses(votes[:, 0], y, self.loss, distribution.counts > 0)
        return label_losses(votes, y) if self.is_crisp else mislabel_losses(votes, y)

    def is_no_better_than_chance(self, verdict: Verdict) -> bool:
        """Whether a member ends the run."""
        if self.name == "samme":
            return verdict.wrong >= verdict.right * (self.n_classes - 1)
        return verdict.wrong >= verdict.right if self.name == "r2" else verdict.wrong > verdict.right

    def vote(self, verdict: Verdict) -> float:
        """What the vote of a member weighs."""
        log_odds = math.log(verdict.odds)
        if self.name == "samme":
            return self.learning_rate * (log_odds + math.log(self.n_classes - 1))
        return self.learning_rate * log_odds if self.name == "r2" else log_odds

    def last_vote(self, verdict: Verdict, distribution: Distribution) -> float:
        """The vote of a member that ends the run.

        A perfect member has an infinite vote. In M1 and M2 it gets that of half an error in one row more than
        there are; in SAMME and R2 it gets 1, as in scikit-learn. So does a first member that is no better
        than chance, for there must be one.
        """
        is_by_odds = verdict.is_perfect and self.name in ("m1", "m2")
        return math.log(2 * distribution.n_draws + 1) if is_by_odds else 1.0


def weigh(distribution: Distribution, losses: np.ndarray) -> Verdict:
    """Sum what a member gets right and wrong."""
    takes_part = distribution.counts > 0
    return Verdict(
        fixed_sum(distribution.counts, distribution.units * (1 - losses)),
        fixed_sum(distribution.counts, distribution.units * losses),
        not losses[takes_part].any(),
    )


def reweigh(distribution: Distribution, losses: np.ndarray, vote: float) -> Distribution:
    """The distribution after a member: what it gets right becomes lighter."""
    units = distribution.units * np.exp(-vote * (1 - losses))
    units = units * (ONE / fixed_sum(distribution.counts, units))
    return replace(
        distribution, units=np.where(distribution.units > 0, np.maximum(units, SMALLEST_UNIT), 0.0)
    )


def label_losses(votes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """1 for every row whose highest vote, the first of equal ones, is not for its label."""
    return (votes.argmax(axis=1) != y).astype(np.float64)


def mislabel_losses(votes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """(1 - h(x, label) + h(x, wrong label)) / 2 for every wrong label (Freund and Schapire 1997)."""
    own = np.take_along_axis(votes, y[:, np.newaxis].astype(np.intp), axis=1)
    labels = np.arange(votes.shape[1] - 1)
    wrong = np.take_along_axis(votes, labels + (labels >= y[:, np.newaxis]), axis=1)
    return (1 - own + wrong) / 2


def number_losses(numbers: np.ndarray, y: np.ndarray, loss: str, takes_part: np.ndarray) -> np.ndarray:
    """The errors as shares of the largest: themselves, squared, or as 1 - exp(-share) (Drucker 1997)."""
    errors = np.where(takes_part, np.abs(numbers - y), 0.0)
    seen = y[takes_part]
    errors[errors <= (seen.max() / 2 - seen.min() / 2) * ROUNDING] = 0.0
    largest = errors.max()
    shares = errors / largest if largest > 0 else errors
    if loss == "square":
        return shares**2
    return 1 - np.exp(-shares) if loss == "exponential" else shares


def fixed_sum(counts: np.ndarray, units: np.ndarray) -> int:
    """The weight of some units, each as often as its row stands there, in fixed point."""
    fixed: Any = (units * ONE + 0.5).astype(np.int64)
    if fixed.ndim == 2:
        fixed = fixed.sum(axis=1)
    return int((fixed * counts.astype(np.int64)).sum())


def margins_of(shares: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The margin of each row: the votes for its class less the most for another (Schapire et al. 1998).

    Parameters
    ----------
    shares : ndarray of shape (n_rows, n_classes)
        Shares of the votes.
    y : ndarray of int of shape (n_rows,)
        Numbers of the classes.

    Returns
    -------
    ndarray of shape (n_rows,)
        Between -1 and 1; positive where the decision is right.

    Examples
    --------
    >>> margins_of(np.array([[0.7, 0.2, 0.1], [0.7, 0.2, 0.1]]), np.array([0, 1])).round(1)
    array([ 0.5, -0.5])
    """
    rows = np.arange(len(y))
    others = shares.copy()
    others[rows, y] = -np.inf
    return shares[rows, y] - others.max(axis=1)


def error_bounds(errors: np.ndarray, votes: np.ndarray, n_mislabels: int = 1) -> np.ndarray:
    """The bound on the training error after each member: the mean exponential loss, a product over members.

    A misclassified row has an exponential loss of at least 1. The mean loss is the product, over the members,
    of (1 - error) exp(-vote / 2) + error exp(vote / 2), which is 2 sqrt(error (1 - error)) for the votes of
    M1 (Freund and Schapire 1997, theorems 6 and 11).

    Parameters
    ----------
    errors, votes : ndarray of shape (n_members,)
    n_mislabels : int, default=1
        The number of wrong labels of a row, if the errors are pseudo-losses (M2).

    Returns
    -------
    ndarray of shape (n_members,)

    Examples
    --------
    >>> error_bounds(np.array([0.2, 0.5]), np.log([4.0, 1.0])).round(2)
    array([0.8, 0.8])
    """
    # By logarithms, because a vote may be too large for its exponential; then the bound is infinite.
    with np.errstate(divide="ignore", over="ignore"):
        logarithms = np.logaddexp(np.log1p(-errors) - votes / 2, np.log(errors) + votes / 2)
        return n_mislabels * np.exp(np.cumsum(logarithms))
