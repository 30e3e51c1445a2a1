"""Declare the losses of gradient boosting, and check that a loss can be computed for a target."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from committee.parameters import Constraint, Declaration, either, one_of
from committee.task import check_size

Loss = Callable[[np.ndarray, np.ndarray], tuple[Any, Any]]

OWN_LOSS = (
    "A callable is called as loss(y, scores) and returns the first and second derivatives of the loss with "
    "respect to the scores, both of the shape of `scores`: (n_rows,), or (n_rows, n_classes) if there are "
    "more than two classes. It is called for the rows that are used in training: rows of weight 0 and "
    "held-out rows are left out, and rows with small integer weights are repeated. So the callable cannot "
    "use additional data per row of the table. Other weights are multiplied with the derivatives. Boosting "
    "starts at the constant at which the first derivatives sum to 0."
)
CLASS_LOSS: Declaration = (
    either(one_of("log_loss", "exponential"), Constraint("a callable", callable)),
    'The loss to minimise. "log_loss" is the deviance of logistic and multinomial regression. "exponential" '
    f"is the loss of AdaBoost, for two classes. {OWN_LOSS} Its y contains the positions of the labels in "
    "`classes_`. Probabilities are computed from the scores as for log_loss.",
)
NUMBER_LOSSES = ("squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma", "tweedie")
NUMBER_LOSS: Declaration = (
    either(one_of(*NUMBER_LOSSES), Constraint("a callable", callable)),
    'The loss to minimise. "huber" is quadratic for small residuals and linear for large ones, "quantile" is '
    'the pinball loss; see `quantile`. "poisson", "gamma" and "tweedie" are half deviances with a log link: '
    '"poisson" for counts, "gamma" for positive numbers and "tweedie" for positive numbers and zeros, with a '
    f"variance proportional to the power 1.5 of the mean. {OWN_LOSS}",
)
HUBER_QUANTILE = 0.9


# The engine stores derivatives in 32 bits and sums their squares.
LARGEST_NUMBER, SMALLEST_NUMBER = 1e30, 1e-30


def check_numbers(loss: Any, y: np.ndarray, name: str = "y") -> None:
    """Raise unless a loss can be computed for numbers.

    Examples
    --------
    >>> check_numbers("poisson", np.array([2.0, -1.0]))
    Traceback (most recent call last):
    ValueError: loss="poisson" needs y >= 0. Got -1.0. Use "squared_error".
    """
    check_size(y, LARGEST_NUMBER, name)
    largest = np.abs(y).max()
    if 0 < largest < SMALLEST_NUMBER:
        raise ValueError(
            f"{name} is so close to 0 that its squares vanish: the largest is {largest:g}. Scale it."
        )
    if loss == "gamma" and (y <= 0).any():
        raise ValueError(f'loss="gamma" needs {name} > 0. Got {y.min()}. Use "tweedie" or "squared_error".')
    if loss not in ("poisson", "tweedie"):
        return
    if (y < 0).any():
        raise ValueError(f'loss="{loss}" needs {name} >= 0. Got {y.min()}. Use "squared_error".')
    if name == "y" and not y.any():
        raise ValueError(f'loss="{loss}" needs some {name} > 0. All are 0. Use "squared_error".')
