"""Sparse matrices among fitted attributes: code in C follows their indices unasked, so all are checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from committee.saving.attributes import LARGEST, Kind, Size, Sizes, Wrong, check_range, check_shape, described


def sparse(*shape: Size, of: str = "") -> Kind:
    """A sparse matrix of finite numbers by rows, whose indices are in order."""

    def check(value: Any, sizes: Sizes) -> None:
        if getattr(value, "format", "") != "csr" or value.ndim != 2 or value.dtype.kind != "f":
            raise Wrong(f"is {described(value)} instead of a sparse matrix of floats by rows")
        if of and value.dtype != of:
            raise Wrong(f"holds {value.dtype} instead of {of}")
        check_shape(value.shape, shape, sizes)
        check_range(value.data, -LARGEST, LARGEST)
        check_rows(value)

    return check


def check_rows(matrix: Any) -> None:
    """Check the index arrays of a sparse matrix by rows: code in C follows them without asking."""
    n_rows, n_columns = matrix.shape
    starts, columns = matrix.indptr, matrix.indices
    if len(starts) != n_rows + 1 or starts[0] != 0 or starts[-1] != len(columns):
        raise Wrong("has rows that do not fill the matrix")
    if len(columns) != len(matrix.data) or (np.diff(starts) < 0).any():
        raise Wrong("has rows that overlap")
    if len(columns) and not (columns.min() >= 0 and columns.max() < n_columns):
        raise Wrong("has columns out of range")
    is_first = np.zeros(len(columns) + 1, dtype=bool)
    is_first[starts] = True
    if not (is_first[1:-1] | (np.diff(columns) > 0)).all():
        raise Wrong("has columns that are not in order")
