"""Importances of columns in a committee, from the members that have some.

Trees, forests and boosters have the gains of their splits. Linear models have the coefficients on an encoded
table, whose columns have one scale; the coefficients of the values of a category are added up.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.compose import TransformedTargetRegressor
from sklearn.pipeline import Pipeline

from committee.assembling.named_members import FittedMember
from committee.members.table_encoder import TableEncoder


def importances_of(members: Sequence[FittedMember], weights: np.ndarray, n_columns: int) -> np.ndarray:
    """Return the weighted mean of the relative importances in members. Raise if no member has some.

    Parameters
    ----------
    members : sequence of FittedMember
    weights : ndarray of shape (n_members,)
        If those of all members with importances are 0, these count equally.
    n_columns : int
        The columns of the table.

    Returns
    -------
    ndarray of shape (n_columns,)
        They sum to 1, or are all 0.
    """
    found, found_weights = [], []
    for each, weight in zip(members, weights, strict=True):
        of_models = [importance_shares(model, n_columns) for model in each.models]
        shares = [share for share in of_models if share is not None]
        if each.columns is None and len(shares) == len(each.models):
            found.append(np.mean(shares, axis=0))
            found_weights.append(abs(weight))
    if not found:
        raise AttributeError(
            "No member has importances of columns. Use sklearn.inspection.permutation_importance."
        )
    total = np.average(found, axis=0, weights=found_weights if any(found_weights) else None)
    importances: np.ndarray = total / (total.sum() or 1.0)
    return importances


def importance_shares(model: BaseEstimator, n_columns: int) -> np.ndarray | None:
    """Return the relative importances of the columns in one model.

    Parameters
    ----------
    model : estimator
        A fitted model.
    n_columns : int
        The columns of the table.

    Returns
    -------
    ndarray of shape (n_columns,), or None
        They sum to 1, or are all 0 if the model uses no column. None if the model has no importances.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from committee.assembling.named_members import encoded
    >>> model = encoded(LogisticRegression()).fit([[1, 0], [2, 0], [3, 0], [4, 0]], [0, 0, 1, 1])
    >>> importance_shares(model, 2).round(2)
    array([1., 0.])
    """
    has_own = hasattr(model, "feature_importances_")
    sizes = np.asarray(model.feature_importances_ if has_own else coefficient_sizes(model, n_columns))
    if sizes.shape != (n_columns,):
        return None
    total = sizes.sum()
    return sizes / total if total > 0 else np.zeros(n_columns)


def coefficient_sizes(model: BaseEstimator, n_columns: int) -> np.ndarray:
    """Return the sum of absolute coefficients of each column, averaged over classes; empty without any."""
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else []
    if len(steps) != 2 or not isinstance(steps[0], TableEncoder):
        return np.empty(0)
    encoder, last = steps
    last = last.regressor_ if isinstance(last, TransformedTargetRegressor) else last
    if not hasattr(last, "coef_"):
        return np.empty(0)
    sizes = np.abs(np.atleast_2d(last.coef_)).mean(axis=0)
    widths = np.where(encoder.schema_.is_category, [len(codes) for codes in encoder.kept_], 1)
    columns = np.repeat(np.arange(len(widths)), widths)
    summed: np.ndarray = np.bincount(columns, sizes, minlength=n_columns)
    return summed
