"""The table of an estimator: what scikit-learn expects of `fit` and `predict` about X."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sklearn.utils.validation import validate_data

from committee.table.matching import is_reordered
from committee.table.reading import read_source, read_source_like
from committee.table.schema import Table
from committee.table.source import open_source


def fit_table(estimator: Any, X: Any, *, categorical_features: str | Iterable[Any] = "from_dtype") -> Table:
    """Read the table that an estimator is fitted on.

    Sets `schema_`, `n_features_in_` and, if all names are text, `feature_names_in_`.

    Parameters
    ----------
    estimator : estimator
    X : ndarray, list of lists, sparse matrix, pandas, polars or Arrow frame, or Arrow stream
    categorical_features : "from_dtype" or iterable of bool, int or str, default="from_dtype"
        See `read`.

    Returns
    -------
    Table

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> import polars as pl
    >>> estimator = BaseEstimator()
    >>> table = fit_table(estimator, pl.DataFrame({"age": [31, 54], "city": ["Oslo", "Bonn"]}))
    >>> estimator.feature_names_in_
    array(['age', 'city'], dtype=object)
    """
    source = open_source(X)
    table = read_source(source, categorical_features)
    validate_data(estimator, source.native, reset=True, skip_check_array=True)
    estimator.schema_ = table.schema
    return table


def predict_table(estimator: Any, X: Any) -> Table:
    """Read a table for a fitted estimator, with scikit-learn's messages and its warning about names.

    Unlike scikit-learn, a frame whose columns are in another order is read by their names.

    Parameters
    ----------
    estimator : estimator
        Fitted with `fit_table`.
    X : ndarray, list of lists, sparse matrix, pandas, polars or Arrow frame, or Arrow stream

    Returns
    -------
    Table

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> import polars as pl
    >>> estimator = BaseEstimator()
    >>> table = fit_table(estimator, pl.DataFrame({"age": [31, 54], "city": ["Oslo", "Bonn"]}))
    >>> predict_table(estimator, pl.DataFrame({"city": ["Oslo"], "age": [40]})).columns
    (array([40]), array([2], dtype=int32))
    """
    source = open_source(X)
    if not is_reordered(source, estimator.schema_):
        validate_data(estimator, source.native, reset=False, skip_check_array=True)
    return read_source_like(source, estimator.schema_)
