"""The losses that gradient boosting lowers: their names, the targets that they fit, and a user's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from committee.parameters import Constraint, Declaration, either, one_of
from committee.task import check_size

Loss = Callable[[np.ndarray, np.ndarray], tuple[Any, Any]]

OWN_LOSS = (
    "A callable is called as loss(y, scores) and returns the first and the second derivatives of the loss by "
    "the scores, both of the shape of `scores`: (n_rows,), or (n_rows, n_classes) if there are more than two "
    "classes. The rows are those that are learned from: none of weight 0, none that is held out, and each as "
    "often as small whole weights say. So it cannot bring numbers for the rows of the table along; other "
    "weights are multiplied with what it returns."
)
CLASS_LOSS: Declaration = (
    either(one_of("log_loss", "exponential"), Constraint("a callable", callable)),
    'What to lower. "log_loss" is the deviance of logistic and multinomial regression, "exponential" the '
    f"loss of AdaBoost, for two classes. {OWN_LOSS} y then are the positions of the labels in `classes_`, "
    "and the probabilities are made of the scores as with log_loss.",
)
NUMBER_LOSSES = ("squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma", "tweedie")
NUMBER_LOSS: Declaration = (
    either(one_of(*NUMBER_LOSSES), Constraint("a callable", callable)),
    'What to lower. "huber" is quadratic for small residuals and linear for large ones, "quantile" is the '
    'pinball loss; see `quantile`. "poisson", "gamma" and "tweedie" are half deviances with the logarithm as '
    'link, for counts, for positive numbers and for both mixed; the variance that "tweedie" expects grows '
    f"with the power 1.5 of the mean. {OWN_LOSS}",
)
HUBER_QUANTILE = 0.9


# Derivatives are 32 bits wide, and their squares are summed.
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
