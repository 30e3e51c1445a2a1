"""Ordered target statistics: numbers in place of categories, for columns of very many of them.

In: the categories of a column, the target and the weights of the rows. Out: for each category, the mean of
the target among its rows, drawn towards the mean of all rows by a prior. A training row must not see its own
target, so it gets the statistic of the rows that stand before it in a random order (Prokhorenkova, Gusev,
Vorobev, Dorogush and Gulin, 2018: CatBoost); a new row gets that of all training rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from committee.table import Table, TargetStatistics

# How many rows of average target a category has before it is seen.
PRIOR_ROWS = 1.0


def learn_statistics(
    table: Table, targets: np.ndarray, weights: np.ndarray | None, columns: Sequence[int], order: np.ndarray
) -> tuple[TargetStatistics, Table]:
    """Learn the statistics of some columns, and replace these in the training rows.

    Parameters
    ----------
    table : Table
    targets : ndarray of shape (n_rows, n_statistics)
        The number to average, or for each class whether the row is of it.
    weights : ndarray of shape (n_rows,), or None
    columns : sequence of int
        The columns of categories to replace.
    order : ndarray of shape (n_rows,)
        The rows in a random order.

    Returns
    -------
    statistics : TargetStatistics
        For new rows.
    table : Table
        The training rows, each with the statistics of the rows before it.

    Examples
    --------
    >>> from committee.table import read
    >>> table = read([["Oslo"], ["Oslo"], ["Bonn"], ["Oslo"]])
    >>> targets = np.array([[1.0], [1.0], [0.0], [0.0]])
    >>> statistics, training = learn_statistics(table, targets, None, [0], np.array([2, 1, 0, 3]))
    >>> statistics.encode(read([["Bonn"], ["Oslo"]])).columns
    (array([0.25 , 0.625]),)
    >>> training.columns
    (array([0.75      , 0.5       , 0.5       , 0.83333333]),)
    """
    weights = np.ones(table.n_rows) if weights is None else weights
    prior = PRIOR_ROWS * np.average(targets, axis=0, weights=weights)
    before, of_all = {}, {}
    for column in columns:
        codes = table.columns[column]
        before[column] = statistics_before(codes, targets, weights, prior, order)
        n_codes = len(table.schema.columns[column].categories) + 1
        totals = np.bincount(codes, weights, minlength=n_codes)
        sums = np.column_stack([np.bincount(codes, weights * each, minlength=n_codes) for each in targets.T])
        of_all[column] = (sums + prior) / (totals + PRIOR_ROWS)[:, np.newaxis]
    statistics = TargetStatistics(of_all)
    return statistics, statistics.replace(table, before)


def statistics_before(
    codes: np.ndarray, targets: np.ndarray, weights: np.ndarray, prior: np.ndarray, order: np.ndarray
) -> np.ndarray:
    """For each row, the statistics of its category among the rows that `order` has before it.

    Examples
    --------
    >>> codes, targets = np.array([1, 1, 2, 1]), np.array([[1.0], [0.0], [0.0], [0.0]])
    >>> statistics_before(codes, targets, np.ones(4), np.array([0.25]), np.arange(4)).ravel()
    array([0.25      , 0.625     , 0.25      , 0.41666667])
    """
    by_category = order[np.argsort(codes[order], kind="stable")]
    sorted_codes = codes[by_category]
    begins = np.searchsorted(sorted_codes, sorted_codes)
    total = sums_before(weights[by_category], begins)
    statistics = np.empty(targets.shape)
    for output, target in enumerate(targets.T):
        sums = sums_before((weights * target)[by_category], begins)
        statistics[by_category, output] = (sums + prior[output]) / (total + PRIOR_ROWS)
    return statistics


def sums_before(values: np.ndarray, begins: np.ndarray) -> np.ndarray:
    """For each position, the sum of the values from where its group begins up to it, itself left out."""
    running = np.concatenate([[0.0], np.cumsum(values)])
    return running[:-1] - running[begins]
