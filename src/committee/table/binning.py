"""From a table to codes: what the engine's trees learn from."""

from __future__ import annotations

import numpy as np

from committee import _engine
from committee.running import n_threads
from committee.table.input_types import TableLike
from committee.table.schema import BinnedTable, PartColumns, Table, no_values
from committee.table.table_reading import Marks, forget_unseen, read

# Codes are at most 16 bits wide, so splits are exact for columns of up to as many distinct values.
MAX_BINS = 65_535


def bin_table(
    X: TableLike, *, categorical_features: str | Marks = "from_dtype", n_jobs: int | None = None
) -> BinnedTable:
    """Read and bin a table once, to fit many estimators on it.

    Trees, random trees, stumps and forests take the result as X in `fit` and learn what they would from X
    itself. A fold is the whole table with `sample_weight` 0 for the rows that are left out.

    Parameters
    ----------
    X : ndarray, list of lists, sparse matrix, pandas, polars or Arrow frame, or Arrow stream
    categorical_features : "from_dtype" or iterable of bool, int or str, default="from_dtype"
        Columns to take as categories beside those whose dtype says so: a mask, indices or names.
    n_jobs : int, default=None
        The number of threads. None and -1 are all cores, -2 is one fewer.

    Returns
    -------
    BinnedTable

    Notes
    -----
    Thresholds stand between the values of all rows, also in a fold. An estimator that is given the table
    itself puts them between the values of the rows that weigh something, and cuts a column of more than
    65,535 distinct values at their quantiles. And a category that only rows outside the fold have is known
    in it, not missing. Where every value of a column is in the fold too, there is no difference.

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
    """Let the engine bin a table whose rows have fixed-point weights.

    Parameters
    ----------
    table : Table
    weights : ndarray of uint32 of shape (n_rows,), or None
    threads : int
    max_bins : int, default=65_535
        How many bins a column of numbers may have.
    keep_cuts : bool, default=True
        Whether the codes know where they are cut. If not, who grows trees finds the cuts in the values, which
        takes less memory. A part of a table has its values nowhere else: its cuts are always kept.

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
