"""From distinct values to the categories of a schema: their order, and how many are kept."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from committee.table.raw import Dictionary
from committee.table.schema import MAX_CATEGORIES


def settle_categories(dictionary: Dictionary) -> tuple[tuple[Hashable, ...], np.ndarray]:
    """Order the distinct values and number the rows accordingly.

    The order is the declared one, or else sorted; values that cannot be compared are sorted by how they
    print, so that the order of the rows never matters. Of more than 65,535 values, the most frequent are kept
    (of equally frequent ones, the first); the rows of the rest are missing.

    Returns
    -------
    categories : tuple
    codes : ndarray of int32 of shape (n_rows,)
        0 for missing, i for the i-th category.
    """
    values = dictionary.values
    order = np.arange(len(values)) if dictionary.declared else sorted_order(values)
    if len(values) > MAX_CATEGORIES:
        counts = np.bincount(dictionary.codes, minlength=len(values) + 1)[1:][order]
        most_frequent = np.argsort(-counts, kind="stable")[:MAX_CATEGORIES]
        order = order[np.sort(most_frequent)]
    new_codes = np.zeros(len(values) + 1, dtype=np.int32)
    new_codes[order + 1] = np.arange(1, len(order) + 1)
    return tuple(values[i] for i in order), new_codes[dictionary.codes]


def sorted_order(values: list[Hashable]) -> np.ndarray:
    """The positions of the values in sorted order."""
    try:
        order = sorted(range(len(values)), key=values.__getitem__)  # type: ignore[arg-type]
    except TypeError:
        order = sorted(range(len(values)), key=lambda i: (str(values[i]), type(values[i]).__name__))
    return np.array(order, dtype=np.int64)
