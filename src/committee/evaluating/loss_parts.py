"""The loss of each row in parts: what the main answer of fits loses, and what their variance adds to that.

In: what fits say of rows, with 1 where a fit counts for a row and 0 where it does not, and the answers. Out:
for each row the mean loss of the fits, that of the main answer (bias), the mean loss of the main answer if
the fits are right (variance), what variance adds to the loss and what it takes away from it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from committee.combining.losses import SMALLEST, name_of_function, takes_arguments

# From answers and predictions, of shape (n,) both, to a loss of each.
RowLoss = Callable[[np.ndarray, np.ndarray], Any]
# So many losses are asked for at once, so that no large arrays are made.
LOSSES_AT_ONCE = 1_000_000
# Steps of the search for a main number: each leaves 0.618 of the way, so the last one 1e-10 of it.
N_STEPS = 48
SHRINK = (5**0.5 - 1) / 2


def class_parts(
    decided: np.ndarray, counts: np.ndarray, y: np.ndarray, losses: np.ndarray
) -> list[np.ndarray]:
    """The parts for classes: the main one is what loses least if those that the fits name are right.

    Parameters
    ----------
    decided : ndarray of int of shape (n_bags, n_rows)
    counts : ndarray of float64 of shape (n_bags, n_rows)
        1 where a decision counts, and else 0.
    y : ndarray of int of shape (n_rows,)
    losses : ndarray of float64 of shape (n_classes, n_classes)
        What it costs to name a class, by column, where another is right, by row.

    Returns
    -------
    list of five ndarray of shape (n_rows,)
        The loss, its bias, the variance, what variance adds and what it takes away.

    Examples
    --------
    Of three fits two are wrong about the first row, and one about the second:

    >>> error, bias, variance, unbiased, biased = class_parts(
    ...     np.array([[1, 0], [1, 0], [0, 1]]), np.ones((3, 2)), np.array([0, 0]), 1 - np.eye(2)
    ... )
    >>> error.round(2), bias, variance.round(2), unbiased.round(2), biased.round(2)
    (array([0.67, 0.33]), array([1., 0.]), array([0.33, 0.33]), array([0.  , 0.33]), array([0.33, 0.  ]))
    """
    # How often each class is named: whole numbers, so that equal losses are equal.
    named = np.stack([(counts * (decided == code)).sum(axis=0) for code in range(len(losses))], axis=1)
    n_fits, rows = counts.sum(axis=0), np.arange(len(y))
    if_main = named @ losses
    main = if_main.argmin(axis=1)
    error = (named * losses[y]).sum(axis=1) / n_fits
    return told(error, losses[y, main], if_main[rows, main] / n_fits)


def square_parts(decided: np.ndarray, counts: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    """The parts for squared errors, in which the main answer is the mean, and all variance hurts.

    Parameters
    ----------
    decided : ndarray of float64 of shape (n_bags, n_rows) or (n_bags, n_rows, n_classes)
        Numbers, or probabilities.
    counts : ndarray of float64 of shape (n_bags, n_rows)
    y : ndarray of float64 of shape (n_rows,) or (n_rows, n_classes)

    Examples
    --------
    >>> [part.tolist() for part in square_parts(np.array([[1.0], [3.0]]), np.ones((2, 1)), np.array([5.0]))]
    [[10.0], [9.0], [1.0], [1.0], [0.0]]
    """
    decided, y = decided.reshape(*counts.shape, -1), y.reshape(len(y), -1)
    shares = counts / counts.sum(axis=0)
    main = (shares[:, :, None] * decided).sum(axis=0)
    error = (shares * np.square(decided - y).sum(axis=2)).sum(axis=0)
    variance = (shares * np.square(decided - main).sum(axis=2)).sum(axis=0)
    return [error, np.square(main - y).sum(axis=1), variance, variance, np.zeros_like(variance)]


def likelihood_parts(decided: np.ndarray, counts: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    """The parts for the log loss, in which the main answer is the geometric mean, scaled to sum to one.

    The variance, the mean Kullback-Leibler divergence of the fits from it, is the logarithm of that scale,
    and adds to the loss whatever the answer (Heskes 1998).

    Parameters
    ----------
    decided : ndarray of float64 of shape (n_bags, n_rows, n_classes)
    counts : ndarray of float64 of shape (n_bags, n_rows)
    y : ndarray of int of shape (n_rows,)

    Examples
    --------
    >>> votes = np.array([[[0.8, 0.2]], [[0.2, 0.8]]])
    >>> [part.round(3).item() for part in likelihood_parts(votes, np.ones((2, 1)), np.array([0]))]
    [0.916, 0.693, 0.223, 0.223, 0.0]
    """
    shares = counts / counts.sum(axis=0)
    logs = (shares[:, :, None] * np.log(np.maximum(decided, SMALLEST))).sum(axis=0)
    variance = np.maximum(-np.log(np.exp(logs).sum(axis=1)), 0.0)
    error = -logs[np.arange(len(y)), y]
    return [error, error - variance, variance, variance, np.zeros_like(variance)]


def absolute_parts(decided: np.ndarray, counts: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    """The parts for absolute errors, in which the main answer is the median.

    Parameters
    ----------
    decided, counts, y : as for `number_parts`

    Examples
    --------
    Two of three fits are nearer to the answer than the one between them, so variance helps:

    >>> decided = np.array([[0.0], [1.0], [9.0]])
    >>> [part.round(2).item() for part in absolute_parts(decided, np.ones((3, 1)), np.array([8.0]))]
    [5.33, 7.0, 3.0, 0.0, 1.67]
    """
    main = np.nanmedian(np.where(counts > 0, decided, np.nan), axis=0)
    return parts_about(main, decided, counts, y, lambda truth, said: np.abs(truth - said))


def number_parts(decided: np.ndarray, counts: np.ndarray, y: np.ndarray, loss: RowLoss) -> list[np.ndarray]:
    """The parts for any loss of numbers: the main one is what loses least if those of the fits are right.

    It is the best of the fits' numbers or, if that is better, of all between it and the next ones to both
    sides. For a loss that is convex, that is the best of all. Of equal ones it is the lowest.

    Parameters
    ----------
    decided : ndarray of float64 of shape (n_bags, n_rows)
    counts : ndarray of float64 of shape (n_bags, n_rows)
    y : ndarray of float64 of shape (n_rows,)
    loss : callable

    Examples
    --------
    Where it costs three times as much to say too little, the main answer is a high one:

    >>> def loss(truth, said):
    ...     return np.maximum(3 * (truth - said), said - truth)
    >>> decided = np.array([[1.0], [2.0], [3.0], [4.0], [5.0]])
    >>> [part.item() for part in number_parts(decided, np.ones((5, 1)), np.array([4.0]), loss)]
    [3.8, 0.0, 1.8, 3.8, 0.0]
    """
    n_rows_at_once = max(1, LOSSES_AT_ONCE // len(decided))
    of_blocks = []
    for begin in range(0, len(y), n_rows_at_once):
        rows = slice(begin, begin + n_rows_at_once)
        main = main_numbers(decided[:, rows], counts[:, rows], loss)
        of_blocks.append(parts_about(main, decided[:, rows], counts[:, rows], y[rows], loss))
    return [np.concatenate(part) for part in zip(*of_blocks, strict=True)]


def main_numbers(decided: np.ndarray, counts: np.ndarray, loss: RowLoss) -> np.ndarray:
    """What loses least if the numbers of the fits are right, for each row."""
    is_counted, rows = counts.T > 0, np.arange(decided.shape[1])
    loses = MeanLoss(is_counted, decided.T[is_counted], loss).of_mains
    # For a fit that does not count, the least that does stands in.
    least = np.where(counts > 0, decided, np.inf).min(axis=0)
    tried = np.sort(np.where(counts > 0, decided, least), axis=0)
    of_tried = np.array([loses(said) for said in tried])
    best = (of_tried <= above(of_tried.min(axis=0))).argmax(axis=0)
    value, of_value = tried[best, rows], of_tried[best, rows]
    low = np.where(tried < value, tried, -np.inf).max(axis=0)
    high = np.where(tried > value, tried, np.inf).min(axis=0)
    low, high = np.where(np.isinf(low), value, low), np.where(np.isinf(high), value, high)
    # The golden section, in all rows at once.
    left, right = high - SHRINK * (high - low), low + SHRINK * (high - low)
    of_left, of_right = loses(left), loses(right)
    for _ in range(N_STEPS):
        goes_left = of_left <= of_right
        low, high = np.where(goes_left, low, left), np.where(goes_left, right, high)
        other = np.where(goes_left, high - SHRINK * (high - low), low + SHRINK * (high - low))
        of_other = loses(other)
        left, right = np.where(goes_left, other, right), np.where(goes_left, left, other)
        of_left, of_right = np.where(goes_left, of_other, of_right), np.where(goes_left, of_left, of_other)
    is_better = above(np.minimum(of_left, of_right)) < of_value
    return np.where(is_better, np.where(of_left <= of_right, left, right), value)


def above(losses: np.ndarray) -> np.ndarray:
    """A little more than losses, so that rounding alone makes none the lowest."""
    return losses + 1e-9 * np.abs(losses)


def parts_about(
    main: np.ndarray, decided: np.ndarray, counts: np.ndarray, y: np.ndarray, loss: RowLoss
) -> list[np.ndarray]:
    """The parts for numbers, from the main ones."""
    is_counted = counts.T > 0
    means = MeanLoss(is_counted, decided.T[is_counted], loss)
    return told(means.of_fits(y), row_losses(y, main, loss), means.of_mains(main))


@dataclass(frozen=True, eq=False)
class MeanLoss:
    """The mean loss of numbers over the fits, for each row.

    Parameters
    ----------
    is_counted : ndarray of bool of shape (n_rows, n_bags)
    said : ndarray of shape (n_counted,)
        What the fits say that count, row by row.
    loss : callable
    """

    is_counted: np.ndarray
    said: np.ndarray
    loss: RowLoss

    def of_fits(self, y: np.ndarray) -> np.ndarray:
        """Of the fits, by the answers."""
        return self._means(row_losses(y[self._rows], self.said, self.loss))

    def of_mains(self, mains: np.ndarray) -> np.ndarray:
        """Of a number for each row, if what the fits say is right."""
        return self._means(row_losses(self.said, mains[self._rows], self.loss))

    def _means(self, losses: np.ndarray) -> np.ndarray:
        n_rows = len(self.is_counted)
        return np.bincount(self._rows, weights=losses, minlength=n_rows) / self.is_counted.sum(axis=1)

    @cached_property
    def _rows(self) -> np.ndarray:
        return np.nonzero(self.is_counted)[0]


def told(error: np.ndarray, bias: np.ndarray, variance: np.ndarray) -> list[np.ndarray]:
    """The parts, with what variance adds to the loss of the main answer or takes from it (James 2003)."""
    effect = error - bias
    return [error, bias, variance, np.maximum(effect, 0.0), np.maximum(-effect, 0.0)]


def row_losses(truth: np.ndarray, said: np.ndarray, loss: RowLoss) -> np.ndarray:
    """The loss of each row, if a user's function gives one for each.

    Examples
    --------
    >>> row_losses(np.array([1.0, 2.0]), np.array([1.0, 4.0]), lambda y, p: ((y - p) ** 2).mean())
    Traceback (most recent call last):
    ValueError: The loss <lambda> must give a number for each of 2 rows. Got the shape (). Let it return the \
losses before their mean is taken.
    """
    name = name_of_function(loss)
    try:
        losses = np.asarray(loss(truth, said))
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise ValueError(
            f"The loss {name} fails ({reason}). It gets answers and predictions, arrays of the same length."
        ) from error
    if losses.shape != truth.shape:
        raise ValueError(
            f"The loss {name} must give a number for each of {len(truth)} rows. Got the shape {losses.shape}."
            " Let it return the losses before their mean is taken."
        )
    if losses.dtype.kind not in "biuf" or not np.isfinite(losses).all():
        raise ValueError(f"The loss {name} must give finite numbers. Got {losses[:5].tolist()!r:.100}.")
    return losses.astype(np.float64)


def class_losses(loss: RowLoss, classes: np.ndarray) -> np.ndarray:
    """What a user's loss says of every two labels, of shape (n_classes, n_classes).

    Examples
    --------
    >>> class_losses(lambda y, p: np.where(y == "ill", 5, 1) * (y != p), np.array(["ill", "well"]))
    array([[0., 5.],
           [1., 0.]])
    """
    n_classes = len(classes)
    truth, said = np.repeat(classes, n_classes), np.tile(classes, n_classes)
    return row_losses(truth, said, loss).reshape(n_classes, n_classes)


def check_row_loss(loss: Any) -> None:
    """Raise unless a function can be called with answers and predictions.

    Examples
    --------
    >>> check_row_loss(lambda estimator, X, y: 0.0)
    Traceback (most recent call last):
    ValueError: The loss <lambda> cannot be called with answers and predictions. Bias and variance are parts \
of what single predictions lose, and models have none.
    """
    if not takes_arguments(loss, 2):
        raise ValueError(
            f"The loss {name_of_function(loss)} cannot be called with answers and predictions. Bias and "
            "variance are parts of what single predictions lose, and models have none."
        )
