"""Linear models of gates and experts: softmax regression on soft targets, and ridge regression.

Both start from given coefficients and never lower the penalised likelihood, so EM never lowers it either.
scikit-learn's models accept no soft targets and do not return the penalty. Coefficients have one row for each
feature and a last row for the intercepts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

import numpy as np
from scipy.linalg import lstsq
from scipy.optimize import minimize
from sklearn.base import BaseEstimator

from committee.saving.plain_models.mixture_models import LinearModel, SoftmaxModel

# The penalty of an intercept relative to other coefficients. It makes the solution unique.
INTERCEPT_SHARE = 1e-3
# EM only needs a better model in each iteration, not the best one, so a few steps are enough.
STEPS = {"maxiter": 20, "ftol": 1e-5}


Gate: TypeAlias = SoftmaxModel | BaseEstimator
Model: TypeAlias = Gate | LinearModel


def penalty_of(model: Model, alpha: float) -> float:
    """Return the penalty to subtract from the log-likelihood. It is 0 for estimators that are not our own."""
    if isinstance(model, SoftmaxModel):
        return softmax_penalty(model.coefficients, alpha)
    return (
        0.5 * alpha * float((model.coefficients[:-1] ** 2).sum()) if isinstance(model, LinearModel) else 0.0
    )


def raised(model: SoftmaxModel, matrix: np.ndarray, targets: np.ndarray, alpha: float) -> SoftmaxModel:
    """Return a model after more steps towards soft targets."""
    return replace(model, coefficients=fit_softmax(matrix, targets, alpha, model.coefficients))


def softmax_penalty(coefficients: np.ndarray, alpha: float) -> float:
    """Return the penalty to subtract from the log-likelihood of a softmax regression."""
    return 0.5 * float((penalties(coefficients, alpha) * coefficients**2).sum())


def penalties(coefficients: np.ndarray, alpha: float) -> np.ndarray:
    """Return the penalty of each squared coefficient as a column."""
    column = np.full((len(coefficients), 1), alpha)
    column[-1] *= INTERCEPT_SHARE
    return column


def fit_softmax(matrix: np.ndarray, targets: np.ndarray, alpha: float, start: np.ndarray) -> np.ndarray:
    r"""Increase :math:`\sum_{ik} t_{ik} \log p_{ik} - \frac12 \sum_{jk} \alpha_j \theta_{jk}^2`.

    Parameters
    ----------
    matrix : ndarray of shape (n_rows, n_features)
    targets : ndarray of shape (n_rows, n_classes)
        Targets >= 0. The sum of a row is its weight.
    alpha : float
    start : ndarray of shape (n_features + 1, n_classes)

    Returns
    -------
    ndarray of shape (n_features + 1, n_classes)
        Coefficients whose objective is at least that of the start.

    Examples
    --------
    >>> rows, targets = np.array([[0.0], [1.0]]), np.array([[3.0, 1.0], [1.0, 3.0]])
    >>> found = fit_softmax(rows, targets, 1e-6, np.zeros((2, 2)))
    >>> SoftmaxModel(np.arange(2), found).predict_proba(rows).round(3)
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """
    weights = targets.sum(axis=1, keepdims=True)
    penalty = penalties(start, alpha)

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        coefficients = flat.reshape(start.shape)
        scores = matrix @ coefficients[:-1] + coefficients[-1]
        scores -= scores.max(axis=1, keepdims=True)
        shares = np.exp(scores)
        totals = shares.sum(axis=1, keepdims=True)
        errors = weights / totals * shares - targets
        slope = np.vstack([matrix.T @ errors, errors.sum(axis=0)]) + penalty * coefficients
        value = np.vdot(weights, np.log(totals)) - np.vdot(targets, scores)
        return float(value) + softmax_penalty(coefficients, alpha), slope.ravel()

    found = minimize(loss, start.ravel(), jac=True, method="L-BFGS-B", options=STEPS)
    return found.x.reshape(start.shape) if found.fun < loss(start.ravel())[0] else start


def fit_ridge(matrix: np.ndarray, y: np.ndarray, weights: np.ndarray, penalty: float) -> np.ndarray:
    r"""Minimise :math:`\sum_i w_i (y_i - \theta x_i - \theta_0)^2 + \lambda \sum_j \theta_j^2`.

    Parameters
    ----------
    matrix : ndarray of shape (n_rows, n_features)
    y, weights : ndarray of shape (n_rows,)
    penalty : float
        A number > 0.

    Returns
    -------
    ndarray of shape (n_features + 1, 1)

    Examples
    --------
    >>> rows = np.array([[0.0], [1.0], [2.0]])
    >>> fit_ridge(rows, np.array([1.0, 3.0, 5.0]), np.ones(3), 1e-9).ravel().round(6)
    array([2., 1.])
    """
    shares = weights / weights.sum()
    center, mean = shares @ matrix, shares @ y
    centered = matrix - center
    weighed = centered * weights[:, None]
    squares = weighed.T @ centered + penalty * np.eye(matrix.shape[1])
    # Solve by least squares, because the matrix is singular if rounding absorbs a small penalty.
    slopes = lstsq(squares, weighed.T @ (y - mean), lapack_driver="gelsy")[0]
    return np.append(slopes, mean - center @ slopes)[:, None]
