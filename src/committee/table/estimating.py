"""The table of an estimator: what scikit-learn expects of `fit` and `predict` about X."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data

from committee.table.reading import read_like
from committee.table.schema import Schema, Table
from committee.table.source import Source, open_source
from committee.table.typing import TableLike


def takes_any_table(tags: Tags) -> Tags:
    """Set the tags that let X be a table of any kind, with missing values.

    Parameters
    ----------
    tags : Tags

    Returns
    -------
    Tags
        The same object.

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> from sklearn.utils import get_tags
    >>> takes_any_table(get_tags(BaseEstimator())).input_tags.allow_nan
    True
    """
    tags.input_tags.allow_nan = True
    tags.input_tags.categorical = True
    tags.input_tags.string = True
    tags.input_tags.sparse = True
    return tags


def keep_schema(estimator: Any, schema: Schema) -> None:
    """Let an estimator remember the columns that it was fitted on: to be called when the fit has succeeded.

    Sets `schema_`, `n_features_in_` and, if all names are text, `feature_names_in_`.

    Parameters
    ----------
    estimator : estimator
    schema : Schema

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> from committee.table import read
    >>> import polars as pl
    >>> estimator = BaseEstimator()
    >>> keep_schema(estimator, read(pl.DataFrame({"age": [31, 54], "city": ["Oslo", "Bonn"]})).schema)
    >>> estimator.feature_names_in_
    array(['age', 'city'], dtype=object)
    """
    estimator.schema_ = schema
    estimator.n_features_in_ = schema.n_columns
    if schema.named:
        estimator.feature_names_in_ = np.array(schema.names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def predict_table(estimator: Any, X: TableLike | Source) -> Table:
    """Read a table for a fitted estimator, with scikit-learn's messages and its warning about names.

    Unlike scikit-learn, a frame whose columns are in another order is read by their names.

    Parameters
    ----------
    estimator : estimator
        Fitted, with its schema kept by `keep_schema`.
    X : ndarray, list of lists, sparse matrix, pandas, polars or Arrow frame, or Arrow stream

    Returns
    -------
    Table

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> from committee.table import read
    >>> import polars as pl
    >>> estimator = BaseEstimator()
    >>> keep_schema(estimator, read(pl.DataFrame({"age": [31, 54], "city": ["Oslo", "Bonn"]})).schema)
    >>> predict_table(estimator, pl.DataFrame({"city": ["Oslo"], "age": [40]})).columns
    (array([40]), array([2], dtype=int32))
    """
    source, schema = open_source(X), estimator.schema_
    # Where both have names, these tell which column is which, and which is missing.
    if not (source.named and schema.named) and (source.named != schema.named or source.names != schema.names):
        validate_data(estimator, source.native, reset=False, skip_check_array=True)
    return read_like(source, schema)
