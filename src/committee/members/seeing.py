"""What a member of any kind sees of a table: some rows, some columns, in the container that it came in."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import scipy.sparse
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_array

from committee.learners import C45Classifier
from committee.learners.network import NetworkVoter
from committee.learners.voting import Voter
from committee.members.encoding import TableEncoder
from committee.table.source import Source


def native_table(X: Any) -> Any:
    """X as members of any kind take it: frames and matrices as they are, lists as arrays."""
    if scipy.sparse.issparse(X):
        return X.tocsr()
    if nw.dependencies.is_into_dataframe(X) or (isinstance(X, np.ndarray) and X.ndim == 2):
        return X
    return check_array(X, dtype=None, ensure_all_finite=False)


def column_names(X: Any) -> list[Any] | None:
    """The names of the columns of a frame."""
    if not nw.dependencies.is_into_dataframe(X):
        return None
    return list(nw.from_native(X, eager_only=True).columns)


def take_rows(X: Any, rows: np.ndarray) -> Any:
    """Some rows of what `native_table` returns.

    Examples
    --------
    >>> import polars as pl
    >>> take_rows(pl.DataFrame({"age": [31, 54, 27]}), np.array([2, 0]))["age"].to_list()
    [27, 31]
    """
    if nw.dependencies.is_into_dataframe(X):
        return nw.from_native(X, eager_only=True)[rows.tolist()].to_native()
    if isinstance(X, np.ndarray) and X.flags.c_contiguous:
        # There is nothing to clip, but numpy copies whole rows like this.
        return X.take(rows, axis=0, mode="clip")
    return X[rows]


def as_taken_by(model: Any, source: Source) -> Any:
    """A table as a model takes it: open, if the model only reads it, so that this is done once for all."""
    first = model.steps[0][1] if isinstance(model, Pipeline) else model
    if isinstance(first, TableEncoder | C45Classifier | NetworkVoter):
        return source
    # The engine takes a matrix as it is.
    is_read = isinstance(first, Voter) and "_forest" in vars(first)
    return source if is_read and not isinstance(source.native, np.ndarray) else source.native
