"""Linear models of gates and experts: softmax regression on soft targets, and ridge regression.

Both start from given coefficients and never lower the penalised likelihood, so EM never lowers it either.
scikit-learn's models accept no soft targets and do not return the penalty. Coefficients have one row for each
feature and a last row for the intercepts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from scipy.linalg import lstsq
from scipy.optimize import minimize
from scipy.special import log_softmax
from sklearn.base import BaseEstimator

from committee.saving import Fields

# The penalty of an intercept relative to other coefficients. It makes the solution unique.
INTERCEPT_SHARE = 1e-3
# The products of a matrix and coefficients up to this size are finite.
LARGEST_COEFFICIENT = 1e100
# EM only needs a better model in each iteration, not the best one, so a few steps are enough.
STEPS = {"maxiter": 20, "ftol": 1e-5}


@dataclass(frozen=True, eq=False)
class SoftmaxModel:
    """A fitted softmax regression: a gate, or an expert for classes.

    Parameters
    ----------
    classes_ : ndarray of shape (n_classes,)
    coefficients : ndarray of shape (n_features + 1, n_classes)

    Examples
    --------
    >>> model = SoftmaxModel(np.array(["a", "b"]), np.array([[0.0, 2.0], [0.0, -1.0]]))
    >>> model.predict_proba(np.array([[0.5]]))
    array([[0.5, 0.5]])
    """

    classes_: np.ndarray
    coefficients: np.ndarray

    @classmethod
    def even(cls, classes: np.ndarray, n_features: int) -> SoftmaxModel:
        """Return a model for which all classes are equally probable."""
        return cls(classes, np.zeros((n_features + 1, len(classes))))

    def raised(self, matrix: np.ndarray, targets: np.ndarray, alpha: float) -> SoftmaxModel:
        """Return the model after more steps towards soft targets."""
        return replace(self, coefficients=fit_softmax(matrix, targets, alpha, self.coefficients))

    def penalty(self, alpha: float) -> float:
        """Return the penalty to subtract from the log-likelihood."""
        return softmax_penalty(self.coefficients, alpha)

    def predict_log_proba(self, matrix: np.ndarray) -> np.ndarray:
        """Return the logarithms of the probabilities of the classes, of shape (n_rows, n_classes)."""
        return np.asarray(log_softmax(scores_of(matrix, self.coefficients), axis=1))

    def predict_proba(self, matrix: np.ndarray) -> np.ndarray:
        """Return the probabilities of the classes, of shape (n_rows, n_classes)."""
        return np.exp(self.predict_log_proba(matrix))

    def predict(self, matrix: np.ndarray) -> np.ndarray:
        """Return the class with the highest probability, the first one in a tie."""
        return self.classes_[self.predict_proba(matrix).argmax(axis=1)]


@dataclass(frozen=True, eq=False)
class LinearModel:
    """A fitted linear regression: an expert for numbers.

    Parameters
    ----------
    coefficients : ndarray of shape (n_features + 1, 1)

    Examples
    --------
    >>> LinearModel(np.array([[2.0], [1.0]])).predict(np.array([[3.0]]))
    array([7.])
    """

    coefficients: np.ndarray

    def penalty(self, alpha: float) -> float:
        """Return the penalty to subtract from the log-likelihood."""
        return 0.5 * alpha * float((self.coefficients[:-1] ** 2).sum())

    def predict(self, matrix: np.ndarray) -> np.ndarray:
        """Predict a number for each row."""
        return scores_of(matrix, self.coefficients)[:, 0]


Gate: TypeAlias = SoftmaxModel | BaseEstimator
Model: TypeAlias = Gate | LinearModel


def scores_of(matrix: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """Return linear scores, column by column, so that the scores of a row do not depend on other rows."""
    scores = np.tile(coefficients[-1], (len(matrix), 1))
    for column, row in zip(matrix.T, coefficients[:-1], strict=True):
        scores += column[:, None] * row
    return scores


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


def fields_of(model: Model) -> dict[str, np.ndarray | None] | BaseEstimator:
    """Return a gate or an expert as it is saved: its arrays, or the estimator unchanged."""
    if not isinstance(model, SoftmaxModel | LinearModel):
        return model
    return {"classes": getattr(model, "classes_", None), "coefficients": model.coefficients}


def model_from(
    model: dict[str, object] | BaseEstimator, n_features: int, classes: np.ndarray | None, fields: Fields
) -> Model:
    """Take a gate or an expert from a file. It votes for given classes, or predicts numbers."""
    if isinstance(model, dict):
        inner = Fields(model)
        found = inner.optional_array("classes", None if classes is None else classes.dtype, (None,))
        fields.require((found is None) == (classes is None), "a model is for another task")
        n_outputs = 1 if found is None else len(found)
        coefficients = inner.array("coefficients", np.float64, (n_features + 1, n_outputs))
        inner.finish()
        fields.require(np.abs(coefficients).max() <= LARGEST_COEFFICIENT, "a coefficient is too large")
        if found is None:
            return LinearModel(coefficients)
        model = SoftmaxModel(found, coefficients)
    else:
        method = "predict" if classes is None else "predict_proba"
        fields.require(hasattr(model, method), f"a gate or an expert has no {method}")
        fits = getattr(model, "n_features_in_", n_features) == n_features
        fields.require(fits, "a gate or an expert was fitted on other columns")
    if classes is not None:
        known = np.asarray(getattr(model, "classes_", []))
        is_known = known.dtype.kind == classes.dtype.kind and np.isin(known, classes).all()
        is_sound = is_known and 0 < len(known) == len(np.unique(known))
        fields.require(is_sound, "a gate or an expert was fitted on other classes")
    return model
