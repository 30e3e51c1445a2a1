"""Define the types of user input: tables, targets, labels and seeds."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, TypeAlias

from numpy.typing import ArrayLike as ArrayLike

if TYPE_CHECKING:
    import numpy as np
    from narwhals.stable.v2.typing import IntoDataFrame, IntoSeries
    from scipy.sparse import sparray, spmatrix

    from committee.table.schema import BinnedTable

# Every table that `committee.table` reads: a matrix, a list of rows, or a pandas, polars or Arrow frame.
TableLike: TypeAlias = "ArrayLike | IntoDataFrame | sparray | spmatrix | BinnedTable"
TargetLike: TypeAlias = "ArrayLike | IntoSeries | IntoDataFrame"
Label: TypeAlias = Hashable
RandomState: TypeAlias = "int | np.random.RandomState | np.random.Generator | None"
