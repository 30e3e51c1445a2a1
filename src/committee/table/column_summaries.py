"""What the values of a column are like: their middle, their spread, the most frequent of them.

In: the numbers of a column with NaN where there is none, or the codes of its categories, and the weights of
the rows. A row of weight 2 is the row twice.
"""

from __future__ import annotations

import numpy as np

# Numbers beyond this are taken for it, so that the sum of their squares is finite.
LARGEST = 1e140
# The same for what they are after scaling, by which a tiny deviation divides.
FARTHEST = 1e100
# What numbers stay below that are drawn in.
LIMIT = 3.0


def as_numbers(values: np.ndarray) -> np.ndarray:
    """Numbers as float64, NaN where there is no finite one, and none beyond `LARGEST`."""
    numbers = values.astype(np.float64)
    numbers[~np.isfinite(numbers)] = np.nan
    return numbers.clip(-LARGEST, LARGEST)


def mean_and_deviation(numbers: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """The mean and the standard deviation; those of equal numbers are this number and 1.

    Examples
    --------
    >>> mean_and_deviation(np.array([1e300, 3e300, 0.0]), np.array([1.0, 1.0, 0.0]))
    (2e+300, 1e+300)
    >>> mean_and_deviation(np.array([0.1, 0.1, 0.1]), np.ones(3))
    (0.1, 1.0)
    """
    numbers, weights = numbers[weights > 0], weights[weights > 0]
    # The mean of equal numbers is not always quite that number.
    if (numbers == numbers[0]).all():
        return float(numbers[0]), 1.0
    # Squares of huge numbers are infinite and those of tiny ones are 0. A power of two changes no other bit.
    unit = float(np.ldexp(1.0, np.frexp(np.abs(numbers).max())[1] - 1))
    mean = np.average(numbers / unit, weights=weights)
    deviation = np.sqrt(np.average((numbers / unit - mean) ** 2, weights=weights))
    return float(mean * unit), float(deviation * unit) or 1.0


def median_of(numbers: np.ndarray, weights: np.ndarray) -> float:
    """The lowest number at which half of the weight is reached; 0 if there is none.

    Examples
    --------
    >>> median_of(np.array([5.0, np.nan, 1.0]), np.array([1.0, 1.0, 2.0]))
    1.0
    """
    return float(quantiles_of(numbers, weights, np.array([0.5]))[0])


def spread_of(numbers: np.ndarray, weights: np.ndarray) -> float:
    """The distance of the quartiles; if they are the same, half that of the ends; 1 if that is 0 too.

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
    """The lowest numbers at which shares of the weight are reached; zeros if there is none.

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


def drawn_in(scaled: np.ndarray) -> np.ndarray:
    """Numbers with those that are far from 0 drawn in, to less than 3 (Holzmüller et al. 2024).

    Examples
    --------
    >>> drawn_in(np.array([0.1, -1.0, 50.0])).round(2)
    array([ 0.1 , -0.95,  2.99])
    """
    drawn: np.ndarray = scaled / np.sqrt(1 + (scaled / LIMIT) ** 2)
    return drawn


def frequent_codes(codes: np.ndarray, weights: np.ndarray, n_most: int) -> np.ndarray:
    """The codes that most weight has, in their own order; 0 stands for missing and is none.

    Examples
    --------
    >>> frequent_codes(np.array([0, 3, 1, 3, 2, 2]), np.ones(6), n_most=2)
    array([2, 3])
    """
    totals = np.bincount(codes, weights=weights)
    totals[0] = 0
    most = (-totals).argsort(kind="stable")[:n_most]
    return np.sort(most[totals[most] > 0]).astype(np.int64)
