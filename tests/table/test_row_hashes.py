"""Test that hashes of rows depend on all values of a row, and on nothing else."""

import numpy as np

from committee.table.row_hashes import N_STORED, rare_rows, row_hashes


def test_equal_rows_have_equal_hashes_whatever_their_types_and_order():
    whole = [np.array([1, 2, 3], dtype=np.int32), np.array([0.0, np.nan, 5.0])]
    other = [np.array([3.0, 1.0, 2.0]), np.array([5.0, -0.0, np.float32("nan")], dtype=np.float32)]
    first, second = row_hashes(whole, 3), row_hashes(other, 3)
    assert first[[2, 0, 1]].tolist() == second.tolist() and len(set(first.tolist())) == 3


def test_every_value_and_the_order_of_the_columns_count():
    rng = np.random.default_rng(0)
    columns = list(rng.integers(0, 50, (3, 2000)).astype(float))
    n_rows = len({tuple(row) for row in np.transpose(columns).tolist()})
    assert len(np.unique(row_hashes(columns, 2000))) == n_rows
    assert not np.isin(row_hashes(columns[::-1], 2000), row_hashes(columns, 2000)).mean() > 0.05


def test_only_rows_that_occur_once_are_drawn():
    hashes = np.array([5, 7, 5, 9], dtype=np.uint64)
    assert rare_rows(hashes).tolist() == [7, 9]
    assert len(rare_rows(np.arange(5000, dtype=np.uint64))) == N_STORED
