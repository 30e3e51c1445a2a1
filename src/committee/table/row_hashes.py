"""Hashes of rows, by which a later table is searched for rows of the training table.

In: columns as `read` returns them, and y. Out: a number of 64 bits for each row. Equal values have equal
hashes, also if one table stores them as integers and the other as floats.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

# The number of hashes that a model stores, and of rows from which they are drawn.
N_STORED, N_DRAWN = 1000, 10_000
# The constants of splitmix64 (Steele, Lea, Flood 2014).
STEP, FIRST, SECOND = (
    np.uint64(each) for each in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
)


def row_hashes(columns: Sequence[np.ndarray], n_rows: int) -> np.ndarray:
    """Return the hash of each row.

    Parameters
    ----------
    columns : sequence of ndarray of shape (n_rows,)
        Numbers, codes of categories or booleans.
    n_rows : int

    Returns
    -------
    ndarray of uint64 of shape (n_rows,)

    Examples
    --------
    >>> first, second, third = row_hashes([np.array([1, 2, 1]), np.array([0.5, 0.5, 0.5])], 3)
    >>> first == third, first == second
    (np.True_, np.False_)
    """
    found = np.zeros(n_rows, dtype=np.uint64)
    for column in columns:
        values = np.asarray(column, dtype=np.float64) + 0.0  # so that -0.0 is 0.0
        values[np.isnan(values)] = np.nan
        found = mixed(found + STEP + values.view(np.uint64))
    return found


def mixed(values: np.ndarray) -> np.ndarray:
    """Mix the bits of each value, as in splitmix64."""
    values = (values ^ (values >> np.uint64(30))) * FIRST
    values = (values ^ (values >> np.uint64(27))) * SECOND
    result: np.ndarray = values ^ (values >> np.uint64(31))
    return result


def rare_rows(hashes: np.ndarray) -> np.ndarray:
    """Return up to 1,000 hashes that occur once. Rows that occur often may be in other tables by chance."""
    found, counts = np.unique(hashes, return_counts=True)
    rare = found[counts == 1]
    drawn: np.ndarray = np.sort(np.random.default_rng(0).permutation(rare)[:N_STORED])
    return drawn
