"""Turn the scores of classifiers without probabilities into votes.

In: scores of shape (n_rows, n_classes), minus infinity for a class that a model does not know. Out: votes,
which sum to one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from committee.saving.format.fields import Fields
from committee.saving.predictors.probabilities import logistic, shares_of, softmax

METHODS = ("isotonic", "sigmoid", "temperature")


@dataclass(frozen=True, eq=False)
class Calibration:
    """A fitted map from the scores of a member to votes.

    Parameters
    ----------
    method : {"isotonic", "sigmoid", "temperature"}
    curves : list of ndarray of shape (2, n_knots)
        One curve for each class. "isotonic": the knots of the rising curve, scores and probabilities.
        "sigmoid": one column, slope and intercept. "temperature": a single curve for all classes, the
        temperature and 0.
    """

    method: str
    curves: list[np.ndarray]

    def votes(self, scores: np.ndarray, as_labels: bool = False) -> np.ndarray:
        """Return votes for the classes, which sum to one. A class unknown to the model gets no votes.

        With `as_labels`, the class of the highest score, which the model predicts, gets the whole vote.

        Examples
        --------
        >>> Calibration("sigmoid", [np.zeros((2, 1))] * 3).votes(np.array([[1.0, -1.0, -np.inf]]))
        array([[0.5, 0.5, 0. ]])
        """
        if as_labels:
            return for_highest(scores)
        if self.method == "temperature":
            return softmax(scores / self.curves[0][0, 0])
        is_known = scores > -np.inf
        scores = np.where(is_known, scores, 0.0)
        if self.method == "isotonic":
            each = [np.interp(scores[:, code], *curve) for code, curve in enumerate(self.curves)]
        else:
            each = [logistic(curve[0] * scores[:, code] + curve[1]) for code, curve in enumerate(self.curves)]
        support = np.column_stack(each) * is_known
        return shares_of(np.where(support.any(axis=1, keepdims=True), support, is_known))

    @classmethod
    def take(cls, fields: Fields, n_classes: int) -> Calibration:
        """Take a calibration from a saved file."""
        method, curves = fields.take("method", str), fields.take("curves", list)
        fields.finish()
        fields.require(method in METHODS, f"there is no calibration {method!r}")
        n_curves = 1 if method == "temperature" else n_classes
        are_curves = len(curves) == n_curves and all(is_curve(method, curve) for curve in curves)
        fields.require(are_curves, "a calibration does not have one curve for each class")
        return cls(method, curves)


def for_highest(scores: np.ndarray) -> np.ndarray:
    """Return crisp votes for the class with the highest score, in the dtype of the scores.

    Examples
    --------
    >>> for_highest(np.array([[-3.0, -2.0]]))
    array([[0., 1.]])
    """
    return np.eye(scores.shape[1], dtype=scores.dtype)[scores.argmax(axis=1)]


def is_curve(method: str, curve: object) -> bool:
    """Return whether a value from a file is a valid calibration curve."""
    if not isinstance(curve, np.ndarray) or curve.dtype != np.float64 or curve.ndim != 2:
        return False
    if len(curve) != 2 or curve.shape[1] == 0 or not np.isfinite(curve).all():
        return False
    if method == "isotonic":
        are_shares = curve[1].min() >= 0 and curve[1].max() <= 1
        return bool((np.diff(curve[0]) >= 0).all() and are_shares)
    return curve.shape[1] == 1 and (method == "sigmoid" or curve[0, 0] > 0)


def mean_of_models(
    cast: Iterable[tuple[np.ndarray | slice, np.ndarray]], n_rows: int, n_outputs: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean vote of a member's models for each row, and whether any model has voted on the row.

    Models give the score minus infinity to classes that they have not seen. The mean ignores such scores.

    Examples
    --------
    >>> scores = np.array([[1.0, 2.0, -np.inf]]), np.array([[3.0, -np.inf, -np.inf]])
    >>> mean_of_models([(slice(None), each) for each in scores], n_rows=1, n_outputs=3)
    (array([[  2.,   2., -inf]]), array([ True]))
    """
    total, counts = np.zeros((n_rows, n_outputs)), np.zeros((n_rows, n_outputs), dtype=np.int32)
    for rows, votes in cast:
        is_known = votes > -np.inf
        total[rows] += np.where(is_known, votes, 0.0)
        counts[rows] += is_known
    has_no_vote = counts == 0
    total /= np.maximum(counts, 1)
    total[has_no_vote] = -np.inf
    return total, ~has_no_vote.all(axis=1)


def folded_scores(scores: Sequence[np.ndarray], n_folds: int) -> list[np.ndarray]:
    """Return the mean scores of each fold's models. Each repeat of the folds appends one model per fold."""
    found = []
    for fold in range(n_folds):
        of_fold = scores[fold::n_folds]
        mean, _ = mean_of_models([(slice(None), each) for each in of_fold], *of_fold[0].shape)
        found.append(mean)
    return found


def class_scores(
    scores: np.ndarray | None, codes: np.ndarray, predicted: np.ndarray, n_classes: int
) -> np.ndarray:
    """Return a score for each class as float32, the highest for the class that is predicted.

    A support vector machine may predict another class than that of its highest score; these two scores are
    then exchanged.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_known), or None
        The scores of the classes that the model knows. None gives 1 to the predicted class and 0 to others.
    codes : ndarray of int of shape (n_known,)
        The codes of these classes.
    predicted : ndarray of int of shape (n_rows,)
        The code of the class that the model predicts.
    n_classes : int

    Examples
    --------
    >>> class_scores(np.array([[0.2, 0.7]]), np.array([0, 2]), np.array([0]), 3)
    array([[0.70000005,       -inf, 0.2       ]], dtype=float32)
    """
    every = np.full((len(predicted), n_classes), -np.inf, dtype=np.float32)
    every[:, codes] = predicted[:, np.newaxis] == codes if scores is None else scores
    highest = every.argmax(axis=1)
    rows = np.flatnonzero(highest != predicted)
    here, there = (rows, highest[rows]), (rows, predicted[rows])
    # The next larger number, because the two scores may be equal.
    every[here], every[there] = every[there], np.nextafter(every[here], np.float32(np.inf))
    return every


def scores_by_class(scores: np.ndarray, n_classes: int) -> np.ndarray | None:
    """Return the results of `decision_function` for each class; None if they have another shape.

    Examples
    --------
    >>> scores_by_class(np.array([0.5]), 2)
    array([[-0.5,  0.5]])
    """
    if scores.ndim == 1:
        scores = np.column_stack([-scores, scores])
    return scores if scores.shape[1] == n_classes else None
