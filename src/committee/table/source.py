"""Open X of any container and extract its raw columns.

In: a numpy array, a list of lists, a scipy sparse matrix, a pandas, polars or Arrow frame, or anything that
exports a stream of Arrow data. Out: a `Source`.
"""

from __future__ import annotations

import importlib.util
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np
import scipy.sparse
from sklearn.utils.validation import check_array

from committee.running import available_bytes
from committee.table.frame import is_one_row, raw_cells, raw_columns
from committee.table.input_types import TableLike
from committee.table.raw_column import Raw, raw_array, take_raw
from committee.table.schema import BinnedTable, Schema, Table, take_rows

if TYPE_CHECKING:
    from narwhals.stable.v2.typing import IntoDataFrame
    from scipy.sparse import sparray, spmatrix


@dataclass(frozen=True, eq=False)
class Source:
    """X and its raw columns.

    Parameters
    ----------
    native : ndarray or frame
        X itself, or X after a conversion to a container that can be read.
    names : tuple of str
    named : bool
        Whether the user has named the columns.
    columns : tuple of Raw
    n_rows : int
    tables : dict of Schema to Table
        The tables that were read with each schema, as a cache: most members of a committee share a schema.
    rows : ndarray of int, or None
        The selected rows; None selects all. If it is given, the columns still have all rows, and `native` is
        None.
    """

    native: Any
    names: tuple[str, ...]
    named: bool
    columns: tuple[Raw, ...]
    n_rows: int
    tables: dict[Schema, Table] = field(default_factory=dict)
    rows: np.ndarray | None = None

    def select(self, positions: list[int]) -> Source:
        """Select columns by position."""
        names = tuple(self.names[position] for position in positions)
        columns = tuple(self.columns[position] for position in positions)
        named = names if self.named else position_names(len(names))
        native = None if self.native is None else take_columns(self.native, positions)
        return Source(native, named, self.named, columns, self.n_rows, rows=self.rows)

    def between(self, rows: slice) -> Source:
        """Select a range of rows, of the tables that were read too. Numbers are not copied."""
        tables = {schema: table.between(rows.start, rows.stop) for schema, table in self.tables.items()}
        columns = tuple(take_raw(raw, rows) for raw in self.columns)
        native = take_rows(self.native, rows)
        return Source(native, self.names, self.named, columns, rows.stop - rows.start, tables)

    def part(self, rows: np.ndarray) -> Source:
        """Select rows, whose numbers are copied only while they are used."""
        return Source(None, self.names, self.named, self.columns, len(rows), rows=rows)

    def column(self, position: int) -> Raw:
        """Return a column of the selected rows."""
        raw = self.columns[position]
        return raw if self.rows is None else take_raw(raw, self.rows)


def open_source(X: TableLike | Source) -> Source:
    """Open X, or raise an error that explains why it cannot be read."""
    if isinstance(X, Source):
        return X
    if isinstance(X, BinnedTable):
        raise TypeError(
            "X is a BinnedTable, which only the fit of estimators that use bins accepts. Pass the table "
            "that it was made from."
        )
    if type(X) is np.ndarray:
        return open_matrix(as_matrix(X))
    if scipy.sparse.issparse(X):
        return open_matrix(densify(X))
    if nw.dependencies.is_into_dataframe(X):
        return open_frame(X)
    if hasattr(X, "__arrow_c_stream__") and not nw.dependencies.is_into_series(X):
        return open_frame(arrow_frame(X))
    if isinstance(nw.from_native(X, pass_through=True), nw.LazyFrame):
        raise TypeError(f"X is lazy ({type(X).__name__}). Pass X.collect().")
    return open_matrix(as_matrix(X))


def open_frame(X: Any) -> Source:
    """Open a frame. Names of columns are ignored if none of them is text, as in scikit-learn."""
    if is_one_row(X):
        check_shape(X.shape)
        names, named = names_of(X.columns.tolist())
        return Source(X, names, named, raw_cells(X, names), 1)
    try:
        frame = nw.from_native(X, eager_only=True)
        labels = list(frame.columns)
    except nw.exceptions.DuplicateError as error:
        repeated = " ".join(str(error).split())
        raise ValueError(f"Two columns of X have the same name: {repeated}. Rename them.") from error
    check_shape(frame.shape)
    names, named = names_of(labels)
    return Source(nw.to_native(frame), names, named, raw_columns(frame, names), len(frame))


def names_of(labels: list[str]) -> tuple[tuple[str, ...], bool]:
    """Return the names of columns, and whether the user has set them, which holds if all are text."""
    are_text = [isinstance(label, str) for label in labels]
    named = all(are_text)
    if any(are_text) and not named:
        raise TypeError(
            "Feature names are only supported if all input features have string names. X also has "
            f"{[label for label in labels if not isinstance(label, str)]}. Rename them."
        )
    return tuple(labels) if named else position_names(len(labels)), named


def open_matrix(X: np.ndarray) -> Source:
    """Open a matrix. Its columns are views if the dtype allows it."""
    names = position_names(X.shape[1])
    columns = tuple(map(raw_array, X.T, names))
    return Source(X, names, False, columns, len(X))


def as_matrix(X: object) -> np.ndarray:
    """Convert an array-like to a matrix of at least one row and one column, or raise an error.

    Examples
    --------
    >>> as_matrix(np.array([3.5, 1.0]))
    Traceback (most recent call last):
    ValueError: Expected 2D array, got 1D array: X is a ndarray of 2 values. Reshape your data:
    X.reshape(-1, 1) is one column, X.reshape(1, -1) one row.
    """
    if type(X) is np.ndarray and X.ndim == 2 and X.size and X.dtype.kind in "biuf":
        return X
    if isinstance(X, np.ma.MaskedArray):
        X = np.ma.filled(X.astype(np.float64), np.nan)
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise ValueError(
            "The rows of X have different numbers of values. Give each row a value for every column, and "
            "None where it is missing."
        ) from error
    check_dimensions(X, array)
    if array.dtype.kind in "US" and not hasattr(X, "dtype"):
        # If a list contains text, numpy would convert its numbers and NaN to text as well.
        array = np.asarray(X, dtype=object)
    matrix: np.ndarray = check_array(array, dtype=None, ensure_all_finite=False)
    return matrix


def check_dimensions(X: Any, array: np.ndarray) -> None:
    """Raise an error unless an array is a table, with messages that scikit-learn's checks accept."""
    if array.ndim == 0:
        got = f"{X!r}" if X is None or isinstance(X, str | int | float) else f"a {type(X).__name__}"
        raise ValueError(
            f"X must be a table of rows and columns: an array, a frame or a list of rows. Got {got[:80]}."
        )
    if array.ndim == 1:
        way_out = "X.reshape(-1, 1) is one column, X.reshape(1, -1) one row"
        if array.dtype.names is not None:
            way_out = "its values have fields, and pandas.DataFrame(X) makes columns of them"
        elif nw.dependencies.is_into_series(X):
            way_out = "X.to_frame() is one column"
        elif not isinstance(X, np.ndarray):
            way_out = "[[value] for value in X] is one column, [X] one row"
        raise ValueError(
            f"Expected 2D array, got 1D array: X is a {type(X).__name__} of {len(array)} values. Reshape "
            f"your data: {way_out}."
        )
    if array.dtype.kind == "c":
        raise ValueError(
            f"Complex data not supported: X is of dtype {array.dtype}. Split it into real and imaginary "
            "parts."
        )


def take_columns(X: Any, positions: list[int] | None) -> Any:
    """Select columns of a matrix or frame by position.

    Examples
    --------
    >>> take_columns(np.array([[1, 2, 3]]), [2, 0])
    array([[3, 1]])
    """
    if positions is None:
        return X
    if nw.dependencies.is_into_dataframe(X):
        return nw.from_native(X, eager_only=True)[:, positions].to_native()
    return X[:, positions]


def arrow_frame(X: Any) -> IntoDataFrame:
    """Read a stream of Arrow data with pyarrow, or else with polars."""
    for reader in (nw.Implementation.PYARROW, nw.Implementation.POLARS):
        if importlib.util.find_spec(reader.value) is not None:
            frame: IntoDataFrame = nw.from_arrow(X, backend=reader).to_native()
            return frame
    raise ImportError(f"X is a {type(X).__name__}, which pyarrow or polars can read. Install one of them.")


def densify(X: spmatrix | sparray) -> np.ndarray:
    """Convert a sparse matrix to a dense one in column order, if it fits in memory."""
    check_shape(X.shape)
    needed, free = math.prod(X.shape) * X.dtype.itemsize, available_bytes()
    if needed > free:
        raise ValueError(
            f"The sparse X of shape {X.shape} takes {needed / 1e9:.1f} GB when dense, and "
            f"{free / 1e9:.1f} GB are free. Select columns, or reduce them with TruncatedSVD."
        )
    return as_matrix(X.toarray(order="F"))


def check_shape(shape: tuple[int, ...]) -> None:
    """Raise scikit-learn's error for a shape without rows or columns, using an array without memory."""
    if len(shape) == 2 and all(shape):
        return
    check_array(np.broadcast_to(False, shape), dtype=None, ensure_all_finite=False)


def position_names(n_columns: int) -> tuple[str, ...]:
    """Return the names of columns that the user has not named."""
    return tuple(f"x{position}" for position in range(n_columns))
