"""How much each column counts for a member, by what the member tells of itself.

In: a fitted model. Out: a share for each column of the table, or None. Trees, forests and boosters tell what
their splits gain. A linear model on an encoded table tells its coefficients, which are of columns of one
scale; those of the values of a category are added up.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.pipeline import Pipeline

from committee.members.encoding import TableEncoder


def importances_of(model: Any, n_columns: int) -> np.ndarray | None:
    """The shares of the columns for one model.

    Parameters
    ----------
    model : estimator
        Fitted.
    n_columns : int
        Of the table.

    Returns
    -------
    ndarray of shape (n_columns,), or None
        They sum to 1, or are all 0 if no column counts. None if the model does not tell.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from committee.assembling.members import encoded
    >>> model = encoded(LogisticRegression()).fit([[1, 0], [2, 0], [3, 0], [4, 0]], [0, 0, 1, 1])
    >>> importances_of(model, 2).round(2)
    array([1., 0.])
    """
    is_told = hasattr(model, "feature_importances_")
    sizes = np.asarray(model.feature_importances_ if is_told else coefficient_sizes(model, n_columns))
    if sizes.shape != (n_columns,):
        return None
    total = sizes.sum()
    return sizes / total if total > 0 else np.zeros(n_columns)


def coefficient_sizes(model: Any, n_columns: int) -> np.ndarray:
    """How large the coefficients of each column are, in the mean over classes; empty if there are none."""
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else []
    if len(steps) != 2 or not isinstance(steps[0], TableEncoder):
        return np.empty(0)
    encoder, last = steps
    last = last.regressor_ if isinstance(last, TransformedTargetRegressor) else last
    if not hasattr(last, "coef_"):
        return np.empty(0)
    sizes = np.abs(np.atleast_2d(last.coef_)).mean(axis=0)
    summed: np.ndarray = np.bincount(columns_of(encoder), sizes, minlength=n_columns)
    return summed


def columns_of(encoder: TableEncoder) -> np.ndarray:
    """The column of the table that each column of an encoded matrix is of."""
    widths = np.where(encoder.schema_.is_category, [len(codes) for codes in encoder.kept_], 1)
    return np.repeat(np.arange(len(widths)), widths)
