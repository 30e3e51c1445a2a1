"""Summarise columns: median, quantiles, mean, spread and most frequent categories.

In: the numbers of a column with NaN for missing values, or the codes of its categories, and the weights of
the rows. A row of weight 2 counts as two rows.
"""

from __future__ import annotations

import numpy as np

# Larger numbers are clipped to this one, so that the sum of their squares is finite.
LARGEST = 1e140


def as_numbers(values: np.ndarray) -> np.ndarray:
    """Return numbers as float64, clipped to `LARGEST`, with NaN for those that are not finite."""
    numbers = values.astype(np.float64)
    numbers[~np.isfinite(numbers)] = np.nan
    return numbers.clip(-LARGEST, LARGEST)


def mean_and_deviation(numbers: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """Compute the mean and the standard deviation, which is 1 if all numbers are equal.

    Examples
    --------
    >>> mean_and_deviation(np.array([1e300, 3e300, 0.0]), np.array([1.0, 1.0, 0.0]))
    (2e+300, 1e+300)
    >>> mean_and_deviation(np.array([0.1, 0.1, 0.1]), np.ones(3))
    (0.1, 1.0)
    """
    numbers, weights = numbers[weights > 0], weights[weights > 0]
    # Rounding may make the mean of equal numbers differ from the number.
    if (numbers == numbers[0]).all():
        return float(numbers[0]), 1.0
    # Squares overflow or vanish unless the numbers are scaled. Scaling by a power of two does not round.
    unit = float(np.ldexp(1.0, np.frexp(np.abs(numbers).max())[1] - 1))
    mean = np.average(numbers / unit, weights=weights)
    deviation = np.sqrt(np.average((numbers / unit - mean) ** 2, weights=weights))
    return float(mean * unit), float(deviation * unit) or 1.0


def median_of(numbers: np.ndarray, weights: np.ndarray) -> float:
    """Compute the weighted median: the lowest number that reaches half of the weight, or 0 without numbers.

    Examples
    --------
    >>> median_of(np.array([5.0, np.nan, 1.0]), np.array([1.0, 1.0, 2.0]))
    1.0
    """
    return float(quantiles_of(numbers, weights, np.array([0.5]))[0])


def spread_of(numbers: np.ndarray, weights: np.ndarray) -> float:
    """Compute the interquartile range; if it is 0, half of the range; if that is 0 too, 1.

    Examples
    --------
    >>> spread_of(np.array([1.0, 2.0, 3.0, 4.0, 9.0]), np.ones(5))
    2.0
    >>> spread_of(np.array([1.0, 1.0, 1.0, 1.0, 9.0]), np.ones(5))
    4.0
    """
    quarter, three_quarters = quantiles_of(numbers, weights, np.array([0.25, 0.75])).tolist()
    counted = numbers[weights > 0]
    return three_quarters - quarter or float(np.ptp(counted)) / 2 or 1.0


def quantiles_of(numbers: np.ndarray, weights: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Compute weighted quantiles: the lowest numbers that reach shares of the weight, or 0 without numbers.

    Examples
    --------
    >>> quantiles_of(np.array([5.0, np.nan, 1.0]), np.array([1.0, 1.0, 2.0]), np.array([0.5, 1.0]))
    array([1., 5.])
    """
    counts = ~np.isnan(numbers) & (weights > 0)
    if not counts.any():
        return np.zeros(len(shares))
    numbers, weights = numbers[counts], weights[counts]
    order = numbers.argsort(kind="stable")
    reached = weights[order].cumsum()
    found: np.ndarray = numbers[order][np.searchsorted(reached, reached[-1] * shares)]
    return found


def frequent_codes(codes: np.ndarray, weights: np.ndarray, n_most: int) -> np.ndarray:
    """Return the codes of largest total weight in ascending order, without 0, the code of missing values.

    Examples
    --------
    >>> frequent_codes(np.array([0, 3, 1, 3, 2, 2]), np.ones(6), n_most=2)
    array([2, 3])
    """
    totals = np.bincount(codes, weights=weights)
    totals[0] = 0
    most = (-totals).argsort(kind="stable")[:n_most]
    return np.sort(most[totals[most] > 0]).astype(np.int64)
