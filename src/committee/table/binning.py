"""Bin tables: turn the values of columns into the integer codes that the engine's trees are grown on."""

from __future__ import annotations

import numpy as np

from committee import _engine
from committee.running import n_threads
from committee.table.input_types import TableLike
from committee.table.schema import BinnedTable, PartColumns, Table, no_values
from committee.table.table_reading import Marks, forget_unseen, read

# Codes have at most 16 bits. Columns of at most this number of distinct values are split exactly.
MAX_BINS = 65_535


def bin_table(
    X: TableLike, *, categorical_features: str | Marks = "from_dtype", n_jobs: int | None = None
) -> BinnedTable:
    """Read and bin a table once, to fit many estimators on it.

    Trees, random trees, stumps and forests accept the result as X in `fit`, and the model is the same as on
    X itself. To fit on a fold, pass the whole table and set `sample_weight` to 0 for the held-out rows.

    Parameters
    ----------
    X : ndarray, list of lists, sparse matrix, pandas, polars or Arrow frame, or Arrow stream
    categorical_features : "from_dtype" or iterable of bool, int or str, default="from_dtype"
        Columns to treat as categories in addition to those of text or a categorical dtype, given as a mask,
        indices or names.
    n_jobs : int, default=None
        The number of threads. None and -1 use all cores, -2 uses one fewer.

    Returns
    -------
    BinnedTable

    Notes
    -----
    In a fold, the candidate thresholds and the categories are those of all rows. An estimator that gets the
    table itself uses only the rows of positive weight: its thresholds are midpoints of their values, columns
    of more than 65,535 distinct values are cut at their quantiles, and a category that only other rows have
    is treated as missing. There is no difference if every value of a column also occurs in the fold.

    Examples
    --------
    >>> from committee import DecisionTreeClassifier
    >>> X, y = [[1.0], [2.0], [8.0], [9.0]], ["low", "low", "high", "high"]
    >>> binned = bin_table(X)
    >>> DecisionTreeClassifier().fit(binned, y).predict([[0.0], [10.0]])
    array(['low', 'high'], dtype='<U4')
    >>> DecisionTreeClassifier().fit(binned, y, sample_weight=[1, 1, 1, 0]).predict(X[3:])
    array(['high'], dtype='<U4')
    """
    table = forget_unseen(read(X, categorical_features=categorical_features), None)
    return to_codes(table, None, n_threads(n_jobs))


def to_codes(
    table: Table,
    weights: np.ndarray | None,
    threads: int,
    max_bins: int = MAX_BINS,
    *,
    keep_cuts: bool = True,
) -> BinnedTable:
    """Bin a table whose rows have fixed-point weights.

    Parameters
    ----------
    table : Table
    weights : ndarray of uint32 of shape (n_rows,), or None
    threads : int
    max_bins : int, default=65_535
        The largest number of bins of a column of numbers.
    keep_cuts : bool, default=True
        Whether to store the cuts with the codes. False takes less memory: the result then keeps the columns,
        and the cuts are found in their values when trees are grown. If the columns are `PartColumns`, the
        cuts are always stored, because no other copy of the values exists.

    Returns
    -------
    BinnedTable
    """
    schema = table.schema
    n_categories = schema.n_categories.astype(np.uint32)
    if isinstance(table.columns, PartColumns):
        return BinnedTable(schema, table.columns.bin(n_categories, weights, max_bins), table.n_rows)
    columns = [
        no_values(table.n_rows) if is_empty else column
        for column, is_empty in zip(table.columns, schema.is_category & (n_categories == 0), strict=True)
    ]
    codes = _engine.bin_table(columns, n_categories, table.n_rows, weights, max_bins, threads, keep_cuts)
    return BinnedTable(schema, codes, table.n_rows, () if keep_cuts else tuple(columns))
