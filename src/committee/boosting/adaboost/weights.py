"""Update the weights of the rows in a round of AdaBoost: functions of arrays, for any member.

In: a distribution over the rows, and the votes of a member for them. Out: the weight that the member gets
right and wrong, the weight of its vote, and the distribution for the next member. The engine does the same
for the members that it grows.

All schemes have the same structure. A member has a loss between 0 and 1 for each row, or in M2 for each wrong
label of a row. Its error is the mean loss, its vote is the logarithm of right / wrong, and the weights of
rows that it gets right are multiplied by exp(-vote). The literature has three forms of this update: beta for
the right rows, exp(alpha) for the wrong rows, and both with half of alpha. After normalisation, they give the
same distribution.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from committee.task import are_repetitions

# Sums over rows are integers in units of 2^-60 of the total weight, so they do not depend on the row order.
ONE = 2.0**60
# In regression, errors up to this share of half the range of y are rounding errors of fixed-point numbers.
ROUNDING = 2.0**-25
SMALLEST_UNIT = np.finfo(np.float64).tiny


@dataclass(frozen=True, eq=False)
class Distribution:
    """The weights of the rows, counts * units, which sum to one.

    Parameters
    ----------
    counts : ndarray of uint32 of shape (n_rows,)
        The number of repetitions of each row. Rows of count 0 are not used.
    units : ndarray of float64 of shape (n_rows,) or (n_rows, n_classes - 1)
        The weight of one repetition of a row; in M2, of each of its wrong labels in the order of the labels.

    Examples
    --------
    >>> Distribution.start(np.array([2.0, 0.0, 2.0]), 3).row_weights
    array([0.5, 0. , 0.5])
    """

    counts: np.ndarray
    units: np.ndarray

    @classmethod
    def start(cls, weights: np.ndarray | None, n_rows: int, n_mislabels: int | None = None) -> Distribution:
        """Make the distribution of the first round from the weights of the rows, equal for wrong labels."""
        if weights is None:
            counts, units = np.ones(n_rows, dtype=np.uint32), np.full(n_rows, 1 / n_rows)
        elif are_repetitions(weights):
            counts = weights.astype(np.uint32)
            units = np.where(counts > 0, 1 / float(counts.sum(dtype=np.uint64)), 0.0)
        else:
            largest = weights.max()
            # The sum is exact, so that it does not depend on the order of the rows.
            total = math.fsum(weights / largest)
            counts, units = (weights > 0).astype(np.uint32), weights / largest / total
            units = np.where(counts > 0, np.maximum(units, SMALLEST_UNIT), 0.0)
        if n_mislabels is not None:
            units = np.repeat((units / n_mislabels)[:, np.newaxis], n_mislabels, axis=1)
        return cls(counts, np.ascontiguousarray(units))

    @property
    def n_draws(self) -> int:
        """The number of rows, including repetitions."""
        return int(self.counts.sum(dtype=np.uint64))

    @property
    def row_weights(self) -> np.ndarray:
        """The weights of the rows, which sum to one."""
        return self.counts * self._by_row

    @property
    def member_weights(self) -> np.ndarray:
        """The weights for a Python member: of mean one, and rounded like the engine's weights.

        The mean is one because the regularisation of some members depends on the size of the weights.
        """
        return self.fixed_weights / self._scale

    @property
    def fixed_weights(self) -> np.ndarray:
        """The weights in the engine's fixed point: uint32, and positive for rows of positive count."""
        by_row = self._by_row * (self.n_draws * self._scale)
        return self.counts * np.maximum(1, (by_row + 0.5).astype(np.int64)).astype(np.uint32)

    @property
    def _scale(self) -> float:
        return math.ldexp(1, 29 - math.frexp(self.n_draws)[1] + 1)

    @property
    def _by_row(self) -> np.ndarray:
        return self.units if self.units.ndim == 1 else self.units.sum(axis=1)


@dataclass(frozen=True)
class RoundWeights:
    """The weight that a member gets right and wrong, in units of 2^-60 of the total weight.

    Parameters
    ----------
    right, wrong : int
    is_perfect : bool
        Whether no loss is above 0.

    Examples
    --------
    >>> RoundWeights(3, 1, False).error
    0.25
    """

    right: int
    wrong: int
    is_perfect: bool

    @property
    def error(self) -> float:
        """The share of the weight that is wrong."""
        return self.wrong / (self.wrong + self.right)

    @property
    def odds(self) -> float:
        """The ratio of right to wrong, where both are at least one unit."""
        return max(self.right, 1) / max(self.wrong, 1)


@dataclass(frozen=True)
class Scheme:
    """The rules by which an AdaBoost weights rows and votes.

    Parameters
    ----------
    name : {"m1", "samme", "m2", "r2"}
        Freund and Schapire's M1 and M2 (1997), the SAMME of Zhu, Zou, Rosset and Hastie (2009), the R2 of
        Drucker (1997).
    n_classes : int
        0 for R2.
    learning_rate : float, default=1.0
        The factor by which votes are multiplied in SAMME and R2.
    loss : {"linear", "square", "exponential"}, default="linear"
        The loss of a row in R2, as a function of its error relative to the largest one.
    negative_votes : bool, default=False
        Whether a member that is worse than chance gets a negative vote in SAMME, instead of ending the run.

    Examples
    --------
    >>> y, votes = np.array([0, 1, 1]), np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> scheme = Scheme("m1", 2)
    >>> distribution = Distribution.start(None, 3)
    >>> losses = scheme.losses(votes, y, distribution)
    >>> outcome = weigh(distribution, losses)
    >>> round(outcome.error, 3), round(scheme.vote(outcome), 3)
    (0.333, 0.693)
    >>> reweigh(distribution, losses, scheme.vote(outcome)).row_weights.round(3)
    array([0.25, 0.5 , 0.25])
    """

    name: str
    n_classes: int
    learning_rate: float = 1.0
    loss: str = "linear"
    negative_votes: bool = False

    @property
    def is_crisp(self) -> bool:
        """Whether a member votes for a single class."""
        return self.name in ("m1", "samme")

    @property
    def n_mislabels(self) -> int | None:
        """The number of wrong labels of a row, if each has its own weight, else None."""
        return self.n_classes - 1 if self.name == "m2" else None

    def losses(self, votes: np.ndarray, y: np.ndarray, distribution: Distribution) -> np.ndarray:
        """Compute the losses of a member, in the shape of the distribution's units."""
        if self.name == "r2":
            return number_losses(votes[:, 0], y, self.loss, distribution.counts > 0)
        if self.is_crisp:
            return (votes.argmax(axis=1) != y).astype(np.float64)
        return mislabel_losses(votes, y)

    def is_perfect(self, outcome: RoundWeights) -> bool:
        """Return whether no loss is above 0, or with negative votes every row is wrong. This ends the run."""
        return outcome.is_perfect or (self.negative_votes and outcome.right == 0)

    def is_no_better_than_chance(self, outcome: RoundWeights) -> bool:
        """Return whether a member is no better than chance, which ends the run."""
        if self.name == "samme":
            chance = outcome.right * (self.n_classes - 1)
            return outcome.wrong == chance if self.negative_votes else outcome.wrong >= chance
        return outcome.wrong >= outcome.right if self.name == "r2" else outcome.wrong > outcome.right

    def vote(self, outcome: RoundWeights) -> float:
        """Compute the weight of a member's vote."""
        log_odds = math.log(outcome.odds)
        if self.name == "samme":
            return self.learning_rate * (log_odds + math.log(self.n_classes - 1))
        return self.learning_rate * log_odds if self.name == "r2" else log_odds

    def last_vote(self, outcome: RoundWeights, distribution: Distribution) -> float:
        """Compute the weight of the vote of a member that ends the run.

        The vote of a perfect member would be infinite. In M1 and M2 it is instead computed as if there were
        one more row and half of it were wrong. In SAMME and R2 it is 1, as in scikit-learn, and -1 for a
        member that gets every row wrong. It is also 1 for a first member that is no better than chance, which
        is kept because an ensemble needs a member.
        """
        if self.negative_votes and outcome.right == 0:
            return -1.0
        is_by_odds = outcome.is_perfect and self.name in ("m1", "m2")
        return math.log(2 * distribution.n_draws + 1) if is_by_odds else 1.0


def weighed(votes: np.ndarray, weight: float) -> np.ndarray:
    """Multiply the votes of a member by its weight. A negative vote counts for the other classes.

    Examples
    --------
    >>> weighed(np.array([[0.0, 1.0, 0.0]]), -2.0)
    array([[2., 0., 2.]])
    """
    return weight * votes if weight >= 0 else -weight * (1 - votes)


def weigh(distribution: Distribution, losses: np.ndarray) -> RoundWeights:
    """Sum the weight that a member gets right and wrong."""
    takes_part = distribution.counts > 0
    return RoundWeights(
        fixed_sum(distribution.counts, distribution.units * (1 - losses)),
        fixed_sum(distribution.counts, distribution.units * losses),
        not losses[takes_part].any(),
    )


def reweigh(distribution: Distribution, losses: np.ndarray, vote: float) -> Distribution:
    """Update the distribution after a member: decrease the weight of what it gets right."""
    units = distribution.units * np.exp(-vote * (1 - losses))
    units = units * (ONE / fixed_sum(distribution.counts, units))
    return replace(
        distribution, units=np.where(distribution.units > 0, np.maximum(units, SMALLEST_UNIT), 0.0)
    )


def mislabel_losses(votes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Compute (1 - h(x, label) + h(x, wrong label)) / 2 for each wrong label (Freund and Schapire 1997)."""
    own = np.take_along_axis(votes, y[:, np.newaxis].astype(np.intp), axis=1)
    labels = np.arange(votes.shape[1] - 1)
    wrong = np.take_along_axis(votes, labels + (labels >= y[:, np.newaxis]), axis=1)
    return (1 - own + wrong) / 2


def number_losses(numbers: np.ndarray, y: np.ndarray, loss: str, takes_part: np.ndarray) -> np.ndarray:
    """Compute losses from errors relative to the largest: e, e² or 1 - exp(-e) (Drucker 1997)."""
    errors = np.where(takes_part, np.abs(numbers - y), 0.0)
    seen = y[takes_part]
    errors[errors <= (seen.max() / 2 - seen.min() / 2) * ROUNDING] = 0.0
    largest = errors.max()
    shares = errors / largest if largest > 0 else errors
    if loss == "square":
        return shares**2
    return 1 - np.exp(-shares) if loss == "exponential" else shares


def fixed_sum(counts: np.ndarray, units: np.ndarray) -> int:
    """Sum units times counts in fixed point."""
    fixed: Any = (units * ONE + 0.5).astype(np.int64)
    if fixed.ndim == 2:
        fixed = fixed.sum(axis=1)
    return int((fixed * counts.astype(np.int64)).sum())


def error_bounds(errors: np.ndarray, votes: np.ndarray, n_mislabels: int = 1) -> np.ndarray:
    """Compute an upper bound on the training error after each member: the mean exponential loss.

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
    # Use logarithms, because exp(vote) may overflow; the bound is infinite then.
    with np.errstate(divide="ignore", over="ignore"):
        logarithms = np.logaddexp(np.log1p(-errors) - votes / 2, np.log(errors) + votes / 2)
        return n_mislabels * np.exp(np.cumsum(logarithms))
