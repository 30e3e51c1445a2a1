"""Estimate Shapley values of any model by sampling permutations of the columns.

Each permutation starts at a background row and replaces one column after the other by the value of the
explained row. The change of the decision at a column is an estimate of its attribution. Every permutation is
also used in reverse (antithetic sampling; Mitchell, Cooper, Frank and Holmes 2022), which cancels a large
part of the error. The estimates of every pair sum to the decision less that on the background row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from committee.explaining.exact_attributions import Additive
from committee.table.source import open_source

# The number of mixed rows that are predicted at a time.
ROWS_AT_ONCE = 1 << 14


def sample_attributions(
    decide: Callable[[Any], np.ndarray], X: Any, background: Any, n_permutations: int, seed: int, scale: str
) -> tuple[Additive, np.ndarray]:
    """Estimate the attributions of a decision, of shape (n_rows, n_outputs), and their standard errors.

    The background rows are used equally often, apart from rounding. If there are more than half as many as
    permutations, a random part is used.
    """
    explained, others = open_source(X), open_source(background)
    n_rows, n_columns, n_pairs = explained.n_rows, len(explained.names), n_permutations // 2
    rng = np.random.default_rng(seed)
    orders = np.array([rng.permutation(n_columns) for _ in range(n_pairs)])
    chosen = np.resize(rng.permutation(others.n_rows), n_pairs)
    mix = mixer(explained.native, others.native)

    # by[pair, direction, step, column]: whether the column has the value of the explained row.
    steps = np.arange(n_columns + 1)[:, np.newaxis]
    places = np.argsort(orders, axis=1)[:, np.newaxis, :]
    by = np.stack([places < steps, n_columns - 1 - places < steps], axis=1)
    inner = by[:, :, 1:-1].reshape(-1, n_columns)
    from_others = n_rows + np.broadcast_to(chosen[:, np.newaxis, np.newaxis], (*by.shape[:2], n_columns - 1))
    start = decide(mix(np.broadcast_to(n_rows + chosen[:, np.newaxis], (n_pairs, n_columns))))
    n_outputs = start.shape[1]
    end = decide(mix(np.broadcast_to(np.arange(n_rows)[:, np.newaxis], (n_rows, n_columns))))

    attributions = np.empty((n_rows, n_columns, n_outputs))
    errors = np.empty_like(attributions)
    n_at_once = max(1, ROWS_AT_ONCE // max(1, len(inner)))
    for first in range(0, n_rows, n_at_once):
        rows = np.arange(first, min(first + n_at_once, n_rows))
        values = np.empty((len(rows), n_pairs, 2, n_columns + 1, n_outputs))
        values[:, :, :, 0] = start[:, np.newaxis]
        values[:, :, :, -1] = end[rows, np.newaxis, np.newaxis]
        if n_columns > 1:
            sources = np.where(inner, rows[:, np.newaxis, np.newaxis], from_others.reshape(-1, 1))
            values[:, :, :, 1:-1] = decide(mix(sources.reshape(-1, n_columns))).reshape(
                len(rows), n_pairs, 2, n_columns - 1, n_outputs
            )
        changes = np.diff(values, axis=3)
        backward = np.stack([orders, orders[:, ::-1]], axis=1)[np.newaxis, :, :, :, np.newaxis]
        by_column = np.empty_like(changes)
        np.put_along_axis(by_column, np.broadcast_to(backward, changes.shape), changes, axis=3)
        by_pair = by_column.mean(axis=2)
        attributions[rows] = by_pair.mean(axis=1)
        errors[rows] = by_pair.std(axis=1, ddof=1) / np.sqrt(n_pairs)
    return Additive(attributions, start.mean(axis=0), scale), errors


def mixer(X: Any, background: Any) -> Callable[[np.ndarray], Any]:
    """Return a function that makes tables whose values come from different rows.

    It takes the number of the row of every value, of shape (n_rows, n_columns). Background rows come after
    the rows of X.

    Examples
    --------
    >>> mixer(np.array([[1, 2], [3, 4]]), np.array([[5, 6]]))(np.array([[0, 2], [2, 1]]))
    array([[1, 6],
           [5, 4]])
    """
    if not nw.dependencies.is_into_dataframe(X):
        both = np.concatenate([X, background])
        return lambda rows: both[rows, np.arange(both.shape[1])]
    frame, others = (nw.from_native(each, eager_only=True) for each in (X, background))
    joined = nw.concat([frame, others.select(frame.columns)])
    native = joined.to_native()

    def mix(rows: np.ndarray) -> Any:
        if nw.dependencies.is_pandas_dataframe(native):
            arrays = [native.iloc[:, place].array.take(rows[:, place]) for place in range(rows.shape[1])]
            return type(native)(dict(zip(native.columns, arrays, strict=True)))
        columns = {name: joined[name][rows[:, place]] for place, name in enumerate(joined.columns)}
        return nw.from_dict(columns, backend=joined.implementation).to_native()

    return mix
