"""Encode a table as the inputs of a neural network: float32 numbers around 0.

In: the columns of a table. Out: for a column of numbers, the scaled and compressed number, its piecewise
linear encoding over bins, and an indicator if values are missing; for a category, a one-hot encoding. The
fitted encoding consists of a few arrays, and the engine applies it.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from committee._engine import TableEncoding
from committee.running.deadline import check
from committee.table.column_summaries import (
    as_numbers,
    frequent_codes,
    median_of,
    quantiles_of,
    spread_of,
)
from committee.table.matrix_encoding import COMPRESSED, INDICATOR, MISSING, POSITION, encoding_of
from committee.table.schema import Schema, Table

# The largest number of values of a category that get an input; the most frequent ones do.
MOST_VALUES = 64
# The number of values that are encoded at a time.
NUMBERS_AT_ONCE = 2**22


@dataclass(frozen=True, eq=False)
class Inputs:
    """The encoding of a table. Each input depends on one column.

    The inputs are the scaled numbers, the piecewise linear encodings (Gorishniy et al. 2022, with an offset
    of -0.5), the values of categories, and the indicators of missing values. If there are none of these, the
    only input is 0.

    Parameters
    ----------
    medians : ndarray of float64 of shape (n_columns,)
        The replacements of missing numbers; 0 for categories.
    scaled_columns : ndarray of int64 of shape (n_scaled,)
    centers, spreads : ndarray of float64 of shape (n_scaled,)
    bin_columns : ndarray of int64 of shape (n_bins,)
    lows, widths : ndarray of float64 of shape (n_bins,)
    value_columns, values : ndarray of int64 of shape (n_values,)
        The column and the code of each category that has an input.
    missing_columns : ndarray of int64 of shape (n_missing,)

    Examples
    --------
    >>> from committee.table import read
    >>> table = read([[1.0], [2.0], [5.0], [None]])
    >>> inputs = learn_inputs(table, np.ones(4), n_bins=2)
    >>> inputs.encode(table).round(1)
    array([[-0.2, -0.5, -0.5,  0. ],
           [ 0. ,  0.5, -0.5,  0. ],
           [ 0.7,  0.5,  0.5,  0. ],
           [ 0. ,  0.5, -0.5,  1. ]], dtype=float32)
    """

    medians: np.ndarray
    scaled_columns: np.ndarray
    centers: np.ndarray
    spreads: np.ndarray
    bin_columns: np.ndarray
    lows: np.ndarray
    widths: np.ndarray
    value_columns: np.ndarray
    values: np.ndarray
    missing_columns: np.ndarray

    @property
    def n_inputs(self) -> int:
        """The number of inputs."""
        parts = (self.scaled_columns, self.bin_columns, self.value_columns, self.missing_columns)
        return max(1, sum(map(len, parts)))

    def encode(self, table: Table, n_threads: int = 1) -> np.ndarray:
        """Return the inputs of the rows as a float32 matrix of shape (n_rows, n_inputs)."""
        n_at_once = max(1, NUMBERS_AT_ONCE // (self.n_inputs + len(self.medians)))
        parts = []
        for begin in range(0, table.n_rows, n_at_once):
            check()
            part = table.between(begin, min(begin + n_at_once, table.n_rows))
            parts.append(self._encoding.encode(list(part.columns), part.n_rows, True, n_threads))
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    @cached_property
    def _encoding(self) -> TableEncoding:
        scaled = zip(self.scaled_columns.tolist(), self.centers, self.spreads, strict=True)
        bins = zip(self.bin_columns.tolist(), self.lows, self.widths, strict=True)
        values = zip(self.value_columns.tolist(), self.values.tolist(), strict=True)
        outputs: list[tuple[int, int, float, float]] = [
            *((COMPRESSED, *each) for each in scaled),
            *((POSITION, *each) for each in bins),
            *((INDICATOR, *each, 1.0) for each in values),
            *((MISSING, column, 0.0, 1.0) for column in self.missing_columns.tolist()),
        ]
        return encoding_of(self.medians, outputs)

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in vars(self).items() if name != "_encoding"}


def learn_inputs(table: Table, weights: np.ndarray, n_bins: int) -> Inputs:
    """Fit the encoding of the columns of a table.

    Parameters
    ----------
    table : Table
    weights : ndarray of float64 of shape (n_rows,)
        All positive.
    n_bins : int
        The largest number of bins of a column of numbers. Quantiles separate them.
    """
    medians = np.zeros(table.schema.n_columns)
    scaled: list[tuple[int, float, float]] = []
    bins: list[tuple[int, float, float]] = []
    values: list[tuple[int, int]] = []
    missing: list[int] = []
    for i, (column, is_category) in enumerate(zip(table.columns, table.schema.is_category, strict=True)):
        check()
        if is_category:
            values += [(i, code) for code in frequent_codes(column, weights, MOST_VALUES).tolist()]
            continue
        numbers = as_numbers(column.astype(np.float64))
        is_missing = np.isnan(numbers)
        if is_missing.any() and not is_missing.all():
            missing.append(i)
        known, known_weights = numbers[~is_missing], weights[~is_missing]
        medians[i] = median_of(known, known_weights)
        edges = edges_of(known, known_weights, n_bins)
        if len(edges) > 1:
            scaled.append((i, *center_and_spread(known, known_weights, medians[i])))
        if len(edges) > 2:
            bins += [(i, low, high - low) for low, high in itertools.pairwise(edges)]
    scaled_columns, centers, spreads = arrays_of(scaled, np.int64, np.float64, np.float64)
    bin_columns, lows, widths = arrays_of(bins, np.int64, np.float64, np.float64)
    value_columns, codes = arrays_of(values, np.int64, np.int64)
    return Inputs(
        medians=medians,
        scaled_columns=scaled_columns,
        centers=centers,
        spreads=spreads,
        bin_columns=bin_columns,
        lows=lows,
        widths=widths,
        value_columns=value_columns,
        values=codes,
        missing_columns=np.array(missing, dtype=np.int64),
    )


def edges_of(numbers: np.ndarray, weights: np.ndarray, n_bins: int) -> list[float]:
    """Return the edges of the bins: all distinct numbers if there are few, else quantiles.

    Examples
    --------
    >>> edges_of(np.array([3.0, 1.0, 1.0, 7.0]), np.ones(4), n_bins=2)
    [1.0, 3.0, 7.0]
    >>> edges_of(np.arange(100.0), np.ones(100), n_bins=2)
    [0.0, 49.0, 99.0]
    """
    if len(numbers) == 0:
        return []
    edges = np.unique(quantiles_of(numbers, weights, np.linspace(0, 1, n_bins + 1)))
    if len(edges) <= n_bins:
        # Quantiles coincide because some numbers are frequent. If there are few numbers, each is an edge.
        distinct = np.unique(numbers)
        edges = distinct if len(distinct) <= n_bins + 1 else edges
    return list(map(float, edges))


def center_and_spread(numbers: np.ndarray, weights: np.ndarray, median: float) -> tuple[float, float]:
    """Return the shift and scale of a column: median and spread, or middle and half range of two values.

    Examples
    --------
    >>> center_and_spread(np.array([1.0, 3.0, 3.0]), np.ones(3), 3.0)
    (2.0, 1.0)
    """
    low, high = float(numbers.min()), float(numbers.max())
    if ((numbers == low) | (numbers == high)).all():
        return (low + high) / 2, (high - low) / 2 or 1.0
    return median, spread_of(numbers, weights)


def arrays_of(rows: Sequence[tuple[float, ...]], *dtypes: type) -> list[np.ndarray]:
    """Transpose tuples: return one array for each position."""
    columns = zip(*rows, strict=True) if rows else ((),) * len(dtypes)
    return [np.array(column, dtype=dtype) for column, dtype in zip(columns, dtypes, strict=True)]


def fits(inputs: Inputs, schema: Schema) -> bool:
    """Return whether an encoding is valid for a schema: indices and codes exist, and scales are positive."""
    is_category = schema.is_category

    def are(columns: np.ndarray, *, categories: bool) -> bool:
        in_range = ((columns >= 0) & (columns < schema.n_columns)).all()
        return bool(in_range and (is_category[columns] == categories).all())

    return bool(
        are(inputs.scaled_columns, categories=False)
        and are(inputs.bin_columns, categories=False)
        and are(inputs.missing_columns, categories=False)
        and are(inputs.value_columns, categories=True)
        and (inputs.spreads > 0).all()
        and (inputs.widths > 0).all()
        and (inputs.values > 0).all()
        and (inputs.values <= schema.n_categories[inputs.value_columns]).all()
    )
